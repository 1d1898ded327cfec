//! Executes expressions and statements on the cells of a state.
//!
//! A [`Machine`] holds one discrete state: cells and locations. Updates change it in place and are
//! taken back by [`Machine::undo`], so that trying a transition costs what it writes, not what the
//! network has. Clock assignments are not executed but composed: after the updates of a transition,
//! [`Machine::origin`] tells for every clock which clock of the state before, plus which number, it
//! now is.

mod frame;
mod operator;
mod rates;
mod run;
#[cfg(test)]
mod tests;

use crate::network::{ClockCell, ClockId, Expression, Local, Network, Place};

pub use frame::{atom_frame_size, frame_size, rate_frame_size};
pub use run::STEPS;

/// What is wrong with the model where it was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong, for the user.
    pub message: String,
    /// Where in the source; empty when it is not known.
    pub place: Place,
    /// What kind of fault.
    pub kind: FaultKind,
}

/// Why something cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The model is wrong there.
    Model,
    /// A value left its range, which some analyses take for a transition that is not there.
    Range,
    /// A difference of clocks became too large for exact bounds.
    TooLarge,
}

impl Fault {
    #[cold]
    fn new(message: impl Into<String>, place: &Place) -> Box<Fault> {
        Box::new(Fault { message: message.into(), place: place.clone(), kind: FaultKind::Model })
    }

    /// Something depends on a state, where there is none.
    #[cold]
    fn no_state() -> Box<Fault> {
        Fault::new("the value depends on the state", &(0..0))
    }

    #[cold]
    fn range(message: impl Into<String>, place: &Place) -> Box<Fault> {
        Box::new(Fault { message: message.into(), place: place.clone(), kind: FaultKind::Range })
    }
}

/// Faults are rare and large: they travel in a box.
pub type Outcome<T> = Result<T, Box<Fault>>;

/// Where a clock's value comes from: a clock of the state before the transition, or zero, plus a
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The clock; `None`: zero.
    pub clock: Option<ClockId>,
    /// What is added.
    pub offset: i32,
}

/// One discrete state and what is needed to compute with it.
#[derive(Debug)]
pub struct Machine<'n> {
    network: &'n Network,
    /// Values of the network's variables.
    pub cells: Vec<i32>,
    /// Location of each process.
    pub locations: Vec<u32>,
    /// Cells that were written since the last [`undo`](Self::undo), with their old values.
    trail: Vec<(u32, i32)>,
    /// Frames of the edge and of the functions under way.
    frames: Vec<i32>,
    base: usize,
    scope: &'n [Local],
    /// Steps that are left to the transition.
    steps: u32,
    /// By clock: its composed assignment, and whether there is one.
    sources: Vec<Source>,
    assigned: Vec<bool>,
    touched: Vec<u32>,
    buffer: Vec<i32>,
}

impl<'n> Machine<'n> {
    /// A machine with the initial values and no locations chosen.
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

    /// A machine that has no state: whatever depends on one is a fault. For what must be known
    /// before the system runs. It takes so many steps, and has so many local cells at hand.
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

    /// Begins something new: an edge or a condition with these local cells. Steps are counted from
    /// here.
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

    /// The cells that were written since the last [`undo`](Self::undo); some perhaps several times.
    #[inline]
    pub fn written(&self) -> impl Iterator<Item = u32> + '_ {
        self.trail.iter().map(|&(cell, _)| cell)
    }

    /// Gives a cell a value that is in its range.
    #[inline]
    pub fn set(&mut self, cell: u32, value: i32) {
        let old = std::mem::replace(&mut self.cells[cell as usize], value);
        if old != value {
            self.trail.push((cell, old));
        }
    }

    /// Gives a clock a value that clocks can have.
    #[inline]
    pub fn reset(&mut self, clock: u32, value: i32) {
        if !std::mem::replace(&mut self.assigned[clock as usize], true) {
            self.touched.push(clock);
        }
        self.sources[clock as usize] = Source { clock: None, offset: value };
    }

    /// Takes all assignments back, those of clocks as well.
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

    /// Where the value of a clock comes from after the updates so far.
    #[inline]
    pub fn origin(&self, clock: u32) -> Source {
        self.sources[clock as usize]
    }

    /// Whether a clock was assigned since the last [`undo`](Self::undo).
    #[inline]
    pub fn assigns_clocks(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Whether a condition holds.
    #[inline]
    pub fn holds(&mut self, condition: &Expression) -> Outcome<bool> {
        Ok(self.value(condition)? != 0)
    }

    /// The clock that a cell of clocks names.
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

/// The value that a local cell starts with.
fn start(local: &Local) -> i32 {
    if local.low <= 0 && local.high >= 0 { 0 } else { local.low }
}
