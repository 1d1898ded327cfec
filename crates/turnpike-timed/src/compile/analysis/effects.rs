//! The effects of an edge on clocks: for each clock it may assign, the sources of the new value.

use std::collections::{BTreeMap, BTreeSet};

use super::ranges::range;
use crate::network::{
    ClockCell, ClockId, ClockValue, Edge, Function, FunctionId, Local, Network, Statement, Visitor,
};

/// A source of a clock's value after an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// A number.
    Number,
    /// The value of this clock before the edge, plus at least this offset.
    Clock(ClockId, i32),
}

/// For each clock that an edge may assign, all sources of its value. A clock that may keep its
/// value is among its own sources.
pub(super) type Effects = BTreeMap<ClockId, BTreeSet<Source>>;

/// Longer chains of copies occur only in loops, where the offsets are unknown.
const MAX_SOURCES: usize = 64;

/// The clock effects of an edge.
pub(super) fn effects(network: &Network, edge: &Edge) -> Effects {
    let mut walk = Walk { network, effects: Effects::new(), calls: 0 };
    walk.block(&edge.update, &edge.locals, true);
    walk.effects
}

struct Walk<'a> {
    network: &'a Network,
    effects: Effects,
    /// Depth of function calls: a guard against recursion, which front-ends reject.
    calls: u32,
}

impl Walk<'_> {
    /// `always`: the statements are certain to be executed exactly once.
    fn block(&mut self, statements: &[Statement], locals: &[Local], always: bool) {
        for statement in statements {
            match statement {
                Statement::Clock { clock, value, .. } => self.assign(clock, value, locals, always),
                Statement::Assign { value, .. }
                | Statement::Evaluate(value)
                | Statement::Assert(value, _) => {
                    self.expression(value);
                }
                Statement::If(condition, yes, no) => {
                    self.expression(condition);
                    self.block(yes, locals, false);
                    self.block(no, locals, false);
                }
                Statement::While(condition, body, _) => {
                    self.expression(condition);
                    self.repeat(body, locals);
                }
                Statement::For { body, .. } => self.repeat(body, locals),
                Statement::Return(Some(value)) => self.expression(value),
                Statement::Return(None) | Statement::Copy { .. } => {}
            }
        }
    }

    /// A loop: its assignments can feed each other.
    fn repeat(&mut self, body: &[Statement], locals: &[Local]) {
        loop {
            let before = self.effects.clone();
            self.block(body, locals, false);
            if self.effects == before || self.effects.values().any(|sources| sources.len() > MAX_SOURCES) {
                return;
            }
        }
    }

    fn assign(&mut self, clock: &ClockCell, value: &ClockValue, locals: &[Local], always: bool) {
        let mut sources = BTreeSet::new();
        match value {
            ClockValue::Constant(number) => {
                self.expression(number);
                sources.insert(Source::Number);
            }
            ClockValue::Clock(from, offset) => {
                self.expression(offset);
                let least = range(self.network, locals, offset).0 as i32;
                for from in cells(from) {
                    for source in self.sources_of(from) {
                        sources.insert(match source {
                            Source::Number => Source::Number,
                            Source::Clock(clock, more) => Source::Clock(clock, more.saturating_add(least)),
                        });
                    }
                }
            }
        }
        let certain = always && clock.offset.is_none();
        for target in cells(clock) {
            let mut all = sources.clone();
            if !certain {
                all.extend(self.sources_of(target));
            }
            self.effects.insert(target, all);
        }
    }

    fn sources_of(&self, clock: ClockId) -> BTreeSet<Source> {
        self.effects.get(&clock).cloned().unwrap_or_else(|| BTreeSet::from([Source::Clock(clock, 0)]))
    }
}

impl Visitor for Walk<'_> {
    /// Functions can assign clocks, too.
    fn call(&mut self, function: FunctionId) {
        let network = self.network;
        if let Some(Function { body, locals, .. }) = network.functions.get(function.0 as usize)
            && self.calls < 32
        {
            self.calls += 1;
            self.repeat(body, locals);
            self.calls -= 1;
        }
    }
}

/// The clocks that a cell can denote.
pub(super) fn cells(cell: &ClockCell) -> impl Iterator<Item = ClockId> + use<> {
    let count = if cell.offset.is_some() { cell.count } else { 1 };
    (cell.base.0..cell.base.0 + count).map(ClockId)
}
