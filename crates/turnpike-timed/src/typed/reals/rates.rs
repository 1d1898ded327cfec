//! Clocks that zones cannot represent: those with a rate other than 0 and 1, or set to an unknown
//! value.
//!
//! They are ignored as long as nothing depends on them.

use turnpike_model::Diagnostic;

use super::{WHERE, is_about_reals, known, real, whole};
use crate::network::{ClockCell, ClockValue, Place, Statement};
use crate::syntax::uppaal::tree::{self, ExpressionKind};
use crate::typed::expressions::Operand;
use crate::typed::fold::Value;
use crate::typed::types::{Real, Type};
use crate::typed::{Checker, Lvalue, Outcome};

/// The phrase for them in messages.
const ODD: &str = "clocks with a rate other than 0 or 1, or set to a value that is not computed,";

impl Checker<'_> {
    /// `h' == e` for something that is not tracked, or for a clock with a rate that zones do not
    /// support: it always holds, and the clock cannot be used for anything else. `None` if this is
    /// not such a rate.
    pub(crate) fn ignored_rate(
        &mut self,
        left: &tree::Expression,
        right: &tree::Expression,
        place: &Place,
    ) -> Outcome<Option<Operand>> {
        let (clock, speed) = match (&left.kind, &right.kind) {
            (ExpressionKind::Rate(clock), _) => (clock, right),
            (_, ExpressionKind::Rate(clock)) => (clock, left),
            _ => return Ok(None),
        };
        let operand = self.operand(clock)?;
        let holds = Operand::Value(Value::bool(true));
        if let Some((kind, _)) = real(&operand) {
            self.ignored(speed)?;
            if kind == Real::Cost {
                self.warn_about_cost(place);
            }
            return Ok(Some(holds));
        }
        let Operand::Lvalue(lvalue @ Lvalue { ty: Type::Clock, .. }) = operand else { return Ok(None) };
        let speed_place = &speed.span;
        let odd = match self.operand(speed) {
            Ok(operand) if real(&operand).is_some() => !matches!(whole(known(&operand)), Some(0 | 1)),
            Ok(Operand::Rate(_) | Operand::Clocks(_)) => true,
            Ok(Operand::Lvalue(Lvalue { ty: Type::Clock, .. })) => true,
            Ok(operand) => {
                let value = self.value_of(operand, speed_place)?;
                value.ty.range().is_none_or(|(low, high)| low < 0 || high > 1)
            }
            Err(error) if is_about_reals(&error) => true,
            Err(error) => return Err(error),
        };
        if !odd {
            return Ok(None);
        }
        self.set_odd(&lvalue.clock(), place);
        Ok(Some(holds))
    }

    /// From here on nothing may depend on the clock.
    pub(crate) fn set_odd(&mut self, clock: &ClockCell, place: &Place) {
        for clock in clock.base.0..clock.base.0 + clock.count {
            self.state.odd_clocks.entry(clock).or_insert_with(|| place.clone());
        }
    }

    /// Rejects models in which something depends on a clock with an unsupported rate, and warns
    /// about other such clocks.
    pub(crate) fn check_odd_clocks(&mut self) {
        if self.state.odd_clocks.is_empty() {
            return;
        }
        let mut used: Option<u32> = None;
        let odd = &self.state.odd_clocks;
        let mut look = |cell: &ClockCell| {
            used = used.or((cell.base.0..cell.base.0 + cell.count).find(|clock| odd.contains_key(clock)));
        };
        for process in &self.network.processes {
            let invariants = process.locations.iter().map(|location| &location.invariant);
            for constraint in invariants.chain(process.edges.iter().map(|edge| &edge.guard)) {
                for atom in &constraint.clocks {
                    atom.left.iter().chain(&atom.right).for_each(&mut look);
                }
            }
            for edge in &process.edges {
                copied_clocks(&edge.update, &mut look);
            }
        }
        for function in &self.network.functions {
            copied_clocks(&function.body, &mut look);
        }
        let Some(clock) = used else {
            if let Some((&clock, place)) = odd.iter().next() {
                let name = self.network.clocks[clock as usize].clone();
                let place = place.clone();
                self.warn_once(
                    Diagnostic::warning(format!("the clock `{name}` is ignored"))
                        .at(place, "its rate is neither 0 nor 1, or its value is not computed")
                        .help("reachability does not depend on it"),
                );
            }
            return;
        };
        let name = &self.network.clocks[clock as usize];
        let error = Diagnostic::unsupported(format!("{ODD} are {WHERE} them"))
            .at(odd[&clock].clone(), format!("`{name}` is such a clock"))
            .help(format!("`{name}` is compared or copied elsewhere in the model"));
        self.note(error);
    }

    /// Rejects a query about a clock that is not tracked.
    pub(crate) fn check_asked_clock(&self, cell: &ClockCell, place: &Place) -> Outcome<()> {
        let asked =
            (cell.base.0..cell.base.0 + cell.count).find(|clock| self.state.odd_clocks.contains_key(clock));
        match asked {
            None => Ok(()),
            Some(_) => Err(Diagnostic::unsupported(format!("{ODD} are {WHERE} them"))
                .at(place.clone(), "this clock is not computed")),
        }
    }
}

/// Visits the clocks that others are copied from.
fn copied_clocks(statements: &[Statement], look: &mut impl FnMut(&ClockCell)) {
    for statement in statements {
        match statement {
            Statement::Clock { value: ClockValue::Clock(source, _), .. } => look(source),
            Statement::If(_, yes, no) => {
                copied_clocks(yes, look);
                copied_clocks(no, look);
            }
            Statement::While(_, body, _) | Statement::For { body, .. } => copied_clocks(body, look),
            _ => {}
        }
    }
}
