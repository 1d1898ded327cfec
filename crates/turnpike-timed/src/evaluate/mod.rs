//! Executes expressions and statements on the cells of a state.
//!
//! A [`Machine`] holds one discrete state: cells and locations. Updates change it in place and
//! [`Machine::undo`] reverts them, so trying a transition costs what it writes, not the size of the
//! network. Clock assignments are not executed but composed: after the updates of a transition,
//! [`Machine::origin`] returns for every clock which clock of the source state it is a copy of, and
//! the offset.

mod frame;
mod operator;
mod rates;
mod run;
#[cfg(test)]
mod tests;

use crate::network::{ClockCell, ClockId, Expression, Local, Network, Place};

pub use frame::{atom_frame_size, frame_size, rate_frame_size};
pub use run::STEPS;

/// An error in the model that occurs during execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A message for the user.
    pub message: String,
    /// Where in the source; empty if unknown.
    pub place: Place,
    /// What kind of fault.
    pub kind: FaultKind,
}

/// Why something cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The model is erroneous.
    Model,
    /// A value left its range, which some analyses treat as a disabled transition.
    Range,
    /// A difference of clocks overflowed exact bounds.
    TooLarge,
}

impl Fault {
    #[cold]
    fn new(message: impl Into<String>, place: &Place) -> Box<Fault> {
        Box::new(Fault { message: message.into(), place: place.clone(), kind: FaultKind::Model })
    }

    /// Something depends on a state, but there is none.
    #[cold]
    fn no_state() -> Box<Fault> {
        Fault::new("the value depends on the state", &(0..0))
    }

    #[cold]
    fn range(message: impl Into<String>, place: &Place) -> Box<Fault> {
        Box::new(Fault { message: message.into(), place: place.clone(), kind: FaultKind::Range })
    }
}

/// Faults are rare and large, so they are boxed.
pub type Outcome<T> = Result<T, Box<Fault>>;

/// The source of a clock's value: a clock of the state before the transition, or zero, plus an
/// offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The clock; `None`: zero.
    pub clock: Option<ClockId>,
    /// The offset.
    pub offset: i32,
}

/// A discrete state, and the buffers to compute with it.
#[derive(Debug)]
pub struct Machine<'n> {
    network: &'n Network,
    /// Values of the network's variables.
    pub cells: Vec<i32>,
    /// Location of each process.
    pub locations: Vec<u32>,
    /// Cells written since the last [`undo`](Self::undo), with their old values.
    trail: Vec<(u32, i32)>,
    /// Frames of the edge and of the active functions.
    frames: Vec<i32>,
    base: usize,
    scope: &'n [Local],
    /// Remaining step budget of the transition.
    steps: u32,
    /// By clock: its composed assignment, and whether it has one.
    sources: Vec<Source>,
    assigned: Vec<bool>,
    touched: Vec<u32>,
    buffer: Vec<i32>,
}

impl<'n> Machine<'n> {
    /// A machine with the initial values and arbitrary locations.
    pub fn new(network: &'n Network) -> Self {
        let sources = (0..network.clocks.len() as u32)
            .map(|clock| Source { clock: Some(ClockId(clock)), offset: 0 })
            .collect::<Vec<_>>();
        Machine {
            network,
            cells: network.variables.iter().map(|variable| variable.initial).collect(),
            locations: vec![0; network.processes.len()],
            trail: Vec::new(),
            frames: Vec::new(),
            base: 0,
            scope: &[],
            steps: STEPS,
            assigned: vec![false; sources.len()],
            sources,
            touched: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// A machine without a state, for what must be known before the system runs: anything that
    /// depends on a state is a fault. It has a budget of `steps`, and `locals` local cells.
    pub(crate) fn without_state(network: &'n Network, steps: u32, locals: usize) -> Self {
        Machine {
            network,
            cells: Vec::new(),
            locations: Vec::new(),
            trail: Vec::new(),
            frames: vec![0; locals],
            base: 0,
            scope: &[],
            steps,
            sources: Vec::new(),
            assigned: Vec::new(),
            touched: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Starts evaluating an edge or a condition with these local cells, and resets the step budget.
    #[inline]
    pub fn enter(&mut self, locals: &'n [Local]) {
        self.steps = STEPS;
        self.base = 0;
        self.scope = locals;
        self.frames.clear();
        if !locals.is_empty() {
            self.frames.extend(locals.iter().map(start));
        }
    }

    /// Like [`enter`](Self::enter) for a condition, of which only the number of local cells is
    /// known: nothing is assigned there.
    pub fn enter_condition(&mut self, locals: usize) {
        self.enter(&[]);
        self.frames.resize(locals, 0);
    }

    /// The cells written since the last [`undo`](Self::undo), possibly with repetitions.
    #[inline]
    pub fn written(&self) -> impl Iterator<Item = u32> + '_ {
        self.trail.iter().map(|&(cell, _)| cell)
    }

    /// Sets a cell to a value that is in its range.
    #[inline]
    pub fn set(&mut self, cell: u32, value: i32) {
        let old = std::mem::replace(&mut self.cells[cell as usize], value);
        if old != value {
            self.trail.push((cell, old));
        }
    }

    /// Sets a clock to a value that clocks can have.
    #[inline]
    pub fn reset(&mut self, clock: u32, value: i32) {
        if !std::mem::replace(&mut self.assigned[clock as usize], true) {
            self.touched.push(clock);
        }
        self.sources[clock as usize] = Source { clock: None, offset: value };
    }

    /// Reverts all assignments, including those of clocks.
    #[inline]
    pub fn undo(&mut self) {
        while let Some((cell, old)) = self.trail.pop() {
            self.cells[cell as usize] = old;
        }
        while let Some(clock) = self.touched.pop() {
            self.assigned[clock as usize] = false;
            self.sources[clock as usize] = Source { clock: Some(ClockId(clock)), offset: 0 };
        }
    }

    /// The source of a clock's value after the updates so far.
    #[inline]
    pub fn origin(&self, clock: u32) -> Source {
        self.sources[clock as usize]
    }

    /// Whether a condition holds.
    #[inline]
    pub fn holds(&mut self, condition: &Expression) -> Outcome<bool> {
        Ok(self.value(condition)? != 0)
    }

    /// The clock that a clock cell denotes.
    #[inline]
    pub fn clock(&mut self, cell: &ClockCell, place: &Place) -> Outcome<ClockId> {
        match &cell.offset {
            None => Ok(cell.base),
            Some(offset) => {
                let offset = self.value(offset)?;
                if offset < 0 || offset as u32 >= cell.count {
                    return Err(Fault::range(
                        format!("clock index {offset} is outside 0..{}", cell.count),
                        place,
                    ));
                }
                Ok(ClockId(cell.base.0 + offset as u32))
            }
        }
    }
}

/// The initial value of a local cell.
fn start(local: &Local) -> i32 {
    if local.low <= 0 && local.high >= 0 { 0 } else { local.low }
}
