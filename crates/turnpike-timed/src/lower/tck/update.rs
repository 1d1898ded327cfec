//! Checks the statements of `do` attributes and lowers them.

use turnpike_model::Diagnostic;

use super::expressions::{Found, Lower, Result, Value, cell_name};
use crate::network::{Cells, ClockCell, ClockId, ClockValue, Expression, Local, Place, Space, Statement};
use crate::syntax::tck::lines::Word;
use crate::syntax::tck::tree::{Node, Step, StepNode, Tree};

/// Limit on the cells of all local variables of one edge.
const LOCAL_CELLS: usize = 4096;

impl<'a> Lower<'a, '_> {
    /// Lowers the statements of one `do`: its local variables are not visible in others.
    pub(super) fn update(&mut self, steps: &[Step<'a>], out: &mut Vec<Statement>) -> Result<()> {
        self.visible.clear();
        self.block(steps, out)
    }

    fn block(&mut self, steps: &[Step<'a>], out: &mut Vec<Statement>) -> Result<()> {
        let results: Vec<_> = steps.iter().map(|step| self.step(step, out)).collect();
        results.into_iter().collect()
    }

    fn step(&mut self, step: &Step<'a>, out: &mut Vec<Statement>) -> Result<()> {
        let place = step.place.clone();
        match &step.node {
            StepNode::Nop => {}
            StepNode::Assign(target, value) => {
                let statement = self.assignment(target, value, place)?;
                out.push(statement);
            }
            StepNode::Local(name, value) => {
                let value = match value {
                    Some(value) => self.number(value),
                    None => Ok(Expression::Constant(0)),
                };
                // Declared even if its value is erroneous, to avoid follow-up errors.
                let cell = self.declare(name, None)?;
                let target = Cells::fixed(Space::Local, cell);
                out.push(Statement::Assign { target, value: value?, place });
            }
            StepNode::LocalArray(name, size) => {
                let number = match self.number(size)? {
                    Expression::Constant(number) => number,
                    _ => {
                        return self.wrong(
                            Diagnostic::error("the size of a local array must be a constant")
                                .at(size.place.clone(), ""),
                        );
                    }
                };
                let Some(length) = u32::try_from(number).ok().filter(|&length| length > 0) else {
                    return self.wrong(
                        Diagnostic::error(format!("an array cannot have {number} cells"))
                            .at(size.place.clone(), ""),
                    );
                };
                let base = self.declare(name, Some(length))?;
                out.extend((base..base + length).map(|cell| Statement::Assign {
                    target: Cells::fixed(Space::Local, cell),
                    value: Expression::Constant(0),
                    place: place.clone(),
                }));
            }
            StepNode::If(condition, then, otherwise) => {
                let condition = self.truth(condition);
                let mut blocks = [Vec::new(), Vec::new()];
                let then = self.block(then, &mut blocks[0]);
                let otherwise = self.block(otherwise, &mut blocks[1]);
                let [first, second] = blocks;
                out.push(Statement::If(condition?, first, second));
                then.and(otherwise)?;
            }
            StepNode::While(condition, body) => {
                let condition = self.truth(condition);
                let visible = self.visible.len();
                let mut block = Vec::new();
                let result = self.block(body, &mut block);
                self.visible.truncate(visible);
                out.push(Statement::While(condition?, block, place));
                result?;
            }
        }
        Ok(())
    }

    /// Declares a local variable and returns its first cell. Every declaration has its own cells.
    fn declare(&mut self, name: &Word<'a>, array: Option<u32>) -> Result<u32> {
        let is_local = self.visible.iter().any(|&(local, ..)| local == name.text);
        if is_local || self.globals.contains_key(name.text) {
            let what = if is_local { "a local variable" } else { "a clock or variable of the system" };
            return self.wrong(
                Diagnostic::error(format!("`{}` is declared already", name.text))
                    .at(name.place.clone(), format!("there is {what} of this name"))
                    .help("choose another name, or assign the variable instead of declaring it again"),
            );
        }
        let size = array.unwrap_or(1);
        let base = self.locals.len();
        if size as usize > LOCAL_CELLS - base.min(LOCAL_CELLS) {
            return self.wrong(
                Diagnostic::error("this edge has too many local variables")
                    .at(name.place.clone(), "")
                    .help(format!("an edge may have {LOCAL_CELLS} cells of local variables")),
            );
        }
        self.locals.extend((0..size).map(|cell| Local {
            name: cell_name(name.text, size, cell),
            low: i32::MIN,
            high: i32::MAX,
        }));
        // The limit above ensures that it fits.
        let base = u32::try_from(base).unwrap_or(u32::MAX);
        self.visible.push((name.text, base, size));
        Ok(base)
    }

    fn assignment(&mut self, target: &Tree<'a>, value: &Tree<'a>, place: Place) -> Result<Statement> {
        let (name, index) = match &target.node {
            Node::Name(name) => (name, None),
            Node::Index(name, index) => (name, Some(index)),
            _ => return self.wrong(Diagnostic::error("this cannot be assigned").at(place, "")),
        };
        let found = self.find(name);
        match found? {
            Found::Cells(space, base, size) => {
                let target = match index {
                    Some(index) => self.cell(space, base, size, index)?,
                    None if size == 1 => Cells::fixed(space, base),
                    None => return self.whole_array(name),
                };
                let number = self.number(value)?;
                self.check_range(name, space, &number, &place);
                Ok(Statement::Assign { target, value: number, place })
            }
            Found::Clocks(base, size) => {
                let clock = match index {
                    Some(index) => self.clock(base, size, index)?,
                    None if size == 1 => ClockCell::fixed(ClockId(base)),
                    None => return self.whole_array(name),
                };
                let value = match self.value(value)? {
                    Value::Number(number) => ClockValue::Constant(self.added(number, &place)?),
                    Value::Clock(from) => ClockValue::Clock(from, Expression::Constant(0)),
                    Value::Sum(from, number) => ClockValue::Clock(from, self.added(number, &place)?),
                    Value::Truth => return self.not_a_number(value),
                    Value::Difference(..) => {
                        return self.wrong(
                            Diagnostic::error("a clock cannot become the difference of two clocks")
                                .at(place, "")
                                .help("a clock can be assigned an integer, another clock, or their sum"),
                        );
                    }
                };
                Ok(Statement::Clock { clock, value, place })
            }
        }
    }

    /// The number that is assigned to a clock or added to one.
    fn added(&mut self, number: Expression, place: &Place) -> Result<Expression> {
        if matches!(number, Expression::Constant(value) if value < 0) {
            return self.wrong(
                Diagnostic::error("a clock cannot become negative, and nothing can be subtracted from one")
                    .at(place.clone(), ""),
            );
        }
        Ok(number)
    }

    /// Range errors are detected when an edge is taken: a constant out of range gets only a
    /// warning.
    fn check_range(&mut self, name: &Word<'a>, space: Space, value: &Expression, place: &Place) {
        if let (Space::Global, Expression::Constant(number)) = (space, value)
            && let Some(global) = self.globals.get(name.text)
            && !(global.range.0..=global.range.1).contains(number)
        {
            let (low, high) = global.range;
            self.diagnostics.push(
                Diagnostic::warning(format!("`{}` cannot become {number}", name.text))
                    .at(place.clone(), "")
                    .help(format!("its values are {low} to {high}")),
            );
        }
    }
}
