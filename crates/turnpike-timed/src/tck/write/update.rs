//! Updates as the text of `do` attributes: statements, local variables, and inlined functions.
//!
//! Local variables of the format are declared where they are used, live to the end of the enclosing
//! `while`, and have no ranges: the output does not check the ranges of the network.

use super::Output;
use super::names::{Group, Layout, Use, groups, unused};
use super::plan::Plan;
use super::simplify::{Refusal, Simplify, Values, refusal};
use super::text::{Level, Text};
use super::visit;
use crate::network::{
    Cells, ClockCell, ClockValue, Edge, Expression, Function, Local, Place, Space, Statement,
};

type Result<T> = std::result::Result<T, Refusal>;

/// The values of the `do` attributes of an edge, in order.
pub(super) fn update(output: &Output<'_>, edge: &Edge) -> Result<Vec<String>> {
    let plan = Plan::new(output, edge);
    let mut writer = Update {
        output,
        simplify: Simplify::new(output.network, &edge.place),
        plan: &plan,
        visible: Vec::new(),
        depth: 0,
    };
    let mut attributes = Vec::new();
    let mut frame = Frame { layout: Layout::default(), locals: &edge.locals };
    for (index, part) in plan.parts.iter().enumerate() {
        let mut steps = Vec::new();
        writer.visible.clear();
        if index == 0 {
            for group in
                plan.groups.iter().zip(&plan.in_place).filter(|(_, place)| !**place).map(|(group, _)| group)
            {
                let name = writer.declare(group, &mut frame);
                steps.push(declaration(group, &name));
            }
        }
        writer.block(&edge.update[part.clone()], &mut frame, &mut steps)?;
        if !steps.is_empty() {
            attributes.push(steps.join("; "));
        }
    }
    Ok(attributes)
}

fn declaration(group: &Group, name: &str) -> String {
    if group.count == 1 { format!("local {name}") } else { format!("local {name}[{}]", group.count) }
}

/// The local cells of an edge or of an inlined function.
struct Frame<'a> {
    layout: Layout,
    locals: &'a [Local],
}

struct Update<'a> {
    output: &'a Output<'a>,
    simplify: Simplify<'a>,
    plan: &'a Plan,
    /// Names of visible local variables.
    visible: Vec<String>,
    /// Depth of inlined calls.
    depth: usize,
}

impl<'a> Update<'a> {
    fn text<'t>(&'t self, frame: &'t Frame<'_>, place: &'t Place) -> Text<'t> {
        Text {
            network: self.output.network,
            globals: &self.output.globals,
            clocks: &self.output.clocks,
            frame: &frame.layout,
            locals: frame.locals,
            place,
        }
    }

    fn declare(&mut self, group: &Group, frame: &mut Frame<'_>) -> String {
        let taken = |name: &str| {
            self.output.variable_names.contains(name) || self.visible.iter().any(|visible| visible == name)
        };
        let name = unused(&group.wanted, Use::Local, taken);
        self.visible.push(name.clone());
        frame.layout.name(group, &name);
        name
    }

    fn number(&mut self, expression: &Expression, frame: &Frame<'_>, place: &Place) -> Result<String> {
        let expression = self.simplify.expression(expression, &Values::default())?;
        self.text(frame, place).number(&expression, Level::Sum)
    }

    fn condition(&mut self, expression: &Expression, frame: &Frame<'_>) -> Result<String> {
        let place = self.simplify.place.clone();
        let expression = self.simplify.expression(expression, &Values::default())?;
        self.text(frame, &place).condition(&expression)
    }

    /// Simplifies the index of cells.
    fn cells(&mut self, cells: &Cells) -> Result<Cells> {
        Ok(match self.simplify.expression(&Expression::Read(cells.clone()), &Values::default())? {
            Expression::Read(cells) => cells,
            _ => cells.clone(),
        })
    }

    fn block(
        &mut self,
        statements: &[Statement],
        frame: &mut Frame<'a>,
        out: &mut Vec<String>,
    ) -> Result<()> {
        let mut skip = 0;
        for statement in statements {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if let Some(&group) = self.plan.declares.get(&std::ptr::from_ref(statement))
                && let Statement::Assign { value, place, .. } = statement
            {
                let group = &self.plan.groups[group];
                let zero = *value == Expression::Constant(0);
                let value = if zero { String::new() } else { self.number(value, frame, place)? };
                let name = self.declare(group, frame);
                out.push(match (group.count, zero) {
                    (1, false) => format!("local {name}={value}"),
                    _ => declaration(group, &name),
                });
                skip = group.count - 1;
                continue;
            }
            self.statement(statement, frame, out)?;
        }
        Ok(())
    }

    /// The statements of a nested block; an empty one is written `nop`.
    fn inner(&mut self, statements: &[Statement], frame: &mut Frame<'a>) -> Result<String> {
        let mut steps = Vec::new();
        self.block(statements, frame, &mut steps)?;
        Ok(if steps.is_empty() { "nop".to_owned() } else { steps.join("; ") })
    }

    fn statement(
        &mut self,
        statement: &Statement,
        frame: &mut Frame<'a>,
        out: &mut Vec<String>,
    ) -> Result<()> {
        self.simplify.spend()?;
        match statement {
            Statement::Assign { target, value: Expression::Call { function, arguments, .. }, place }
                if self.needs_statements(*function, arguments) =>
            {
                let result = self.inline(*function, arguments, frame, place, true, out)?;
                self.assign(target, &result, frame, place, out)?;
            }
            Statement::Assign { target, value, place } => {
                let value = self.number(value, frame, place)?;
                self.assign(target, &value, frame, place, out)?;
            }
            Statement::Copy { target, source, count, place } => {
                for cell in 0..*count {
                    let value = self.number(&Expression::Read(shifted(source, cell)), frame, place)?;
                    self.assign(&shifted(target, cell), &value, frame, place, out)?;
                }
            }
            Statement::Clock { clock, value, place } => {
                out.push(self.clock_assignment(clock, value, frame, place)?);
            }
            Statement::Evaluate(expression) => self.evaluate(expression, frame, out)?,
            Statement::If(condition, then, otherwise) => {
                let condition = self.condition(condition, frame)?;
                let then = self.inner(then, frame)?;
                out.push(if otherwise.is_empty() {
                    format!("if {condition} then {then} end")
                } else {
                    format!("if {condition} then {then} else {} end", self.inner(otherwise, frame)?)
                });
            }
            Statement::While(condition, body, _) => {
                let condition = self.condition(condition, frame)?;
                let visible = self.visible.len();
                let body = self.inner(body, frame)?;
                self.visible.truncate(visible);
                out.push(format!("while {condition} do {body} end"));
            }
            Statement::For { local, low, high, body } => {
                if let Some(&group) = self.plan.declares.get(&std::ptr::from_ref(statement)) {
                    let name = self.declare(&self.plan.groups[group], frame);
                    out.push(format!("local {name}={low}"));
                } else {
                    let place = self.simplify.place.clone();
                    out.push(format!("{}={low}", self.text(frame, &place).cell(Space::Local, *local)?));
                }
                let place = self.simplify.place.clone();
                let name = self.text(frame, &place).cell(Space::Local, *local)?;
                let visible = self.visible.len();
                let body = self.inner(body, frame)?;
                self.visible.truncate(visible);
                out.push(format!("while {name}<={high} do {body}; {name}={name}+1 end"));
            }
            Statement::Return(_) => {
                return Err(refusal("a `return` in the middle of a function", &self.simplify.place));
            }
            Statement::Assert(_, place) => return Err(refusal("`assert`", place)),
        }
        Ok(())
    }

    fn clock_assignment(
        &mut self,
        clock: &ClockCell,
        value: &ClockValue,
        frame: &mut Frame<'a>,
        place: &Place,
    ) -> Result<String> {
        let mut clock = clock.clone();
        self.output.simplify_clock(&mut self.simplify, &mut clock)?;
        let target = self.text(frame, place).clock(&clock)?;
        let value = match value {
            ClockValue::Constant(number) => self.number(number, frame, place)?,
            ClockValue::Clock(from, number) => {
                let mut from = from.clone();
                self.output.simplify_clock(&mut self.simplify, &mut from)?;
                let from = self.text(frame, place).clock(&from)?;
                match self.number(number, frame, place)?.as_str() {
                    "0" => from,
                    // TChecker requires the number on the left.
                    number => format!("{number}+{from}"),
                }
            }
        };
        Ok(format!("{target}={value}"))
    }

    fn assign(
        &mut self,
        target: &Cells,
        value: &str,
        frame: &Frame<'_>,
        place: &Place,
        out: &mut Vec<String>,
    ) -> Result<()> {
        let target = self.cells(target)?;
        let mut targets = self.text(frame, place).targets(&target)?;
        let Some((_, last)) = targets.pop() else { return Ok(()) };
        // The last cell needs no test: the index is certain to be in range.
        let mut text = format!("{last}={value}");
        for (condition, cell) in targets.iter().rev() {
            text = format!("if {condition} then {cell}={value} else {text} end");
        }
        out.push(text);
        Ok(())
    }

    fn evaluate(
        &mut self,
        expression: &Expression,
        frame: &mut Frame<'a>,
        out: &mut Vec<String>,
    ) -> Result<()> {
        match expression {
            Expression::Assign { target, value, place } => {
                let value = self.number(value, frame, place)?;
                self.assign(target, &value, frame, place, out)
            }
            Expression::Sequence(parts) => {
                self.evaluate(&parts[0], frame, out)?;
                self.evaluate(&parts[1], frame, out)
            }
            Expression::Call { function, arguments, place } => {
                self.inline(*function, arguments, frame, place, false, out).map(|_| ())
            }
            // No effects, so nothing is written.
            other => self.simplify.expression(other, &Values::default()).map(|_| ()),
        }
    }

    /// Whether a call cannot be written as an expression.
    fn needs_statements(&self, function: crate::network::FunctionId, arguments: &[Expression]) -> bool {
        let call = Expression::Call { function, arguments: arguments.to_vec(), place: 0..0 };
        Simplify::new(self.output.network, &(0..0)).expression(&call, &Values::default()).is_err()
    }

    /// Inlines a function's body and returns the name of its result.
    fn inline(
        &mut self,
        function: crate::network::FunctionId,
        arguments: &[Expression],
        caller: &mut Frame<'a>,
        place: &Place,
        wanted: bool,
        out: &mut Vec<String>,
    ) -> Result<String> {
        let Some(function) = self.output.network.functions.get(function.0 as usize) else {
            return Err(refusal("a function that does not exist", place));
        };
        if self.depth == 20 {
            return Err(refusal("functions whose calls nest this deeply", place));
        }
        self.depth += 1;
        let mut result = String::new();
        if wanted {
            result = format!("{}_result", function.name);
            let group = Group { base: 0, count: 1, wanted: result };
            let mut nowhere = Frame { layout: Layout::default(), locals: &[] };
            result = self.declare(&group, &mut nowhere);
            out.push(format!("local {result}"));
        }
        let before = std::mem::replace(&mut self.simplify.place, place.clone());
        let body: Vec<&Statement> = function.body.iter().collect();
        if function.shared {
            self.tail(&body, caller, &result, out)?;
        } else {
            let mut frame = self.function_frame(function, arguments, caller, place, out)?;
            self.tail(&body, &mut frame, &result, out)?;
        }
        self.simplify.place = before;
        self.depth -= 1;
        Ok(result)
    }

    fn function_frame(
        &mut self,
        function: &'a Function,
        arguments: &[Expression],
        caller: &Frame<'_>,
        place: &Place,
        out: &mut Vec<String>,
    ) -> Result<Frame<'a>> {
        let mut frame = Frame { layout: Layout::default(), locals: &function.locals };
        let names: Vec<String> = function.locals.iter().map(|local| local.name.clone()).collect();
        let mut regions = Vec::new();
        visit::block_cells(self.output.network, &function.body, &mut |cells| {
            if cells.space == Space::Local && cells.offset.is_some() {
                regions.push((cells.base, cells.count));
            }
        });
        for group in groups(&names, regions, |_, _| true) {
            let mut values = Vec::new();
            for cell in group.base..group.base + group.count {
                values.push(match arguments.get(cell as usize) {
                    Some(argument) => self.number(argument, caller, place)?,
                    None => {
                        let local = &function.locals[cell as usize];
                        0.clamp(local.low, local.high).to_string()
                    }
                });
            }
            let name = self.declare(&group, &mut frame);
            if group.count == 1 {
                out.push(format!("local {name}={}", values[0]));
            } else {
                out.push(declaration(&group, &name));
                for (cell, value) in values.iter().enumerate().filter(|(_, value)| *value != "0") {
                    out.push(format!("{name}[{cell}]={value}"));
                }
            }
        }
        Ok(frame)
    }

    /// Statements of which the last may return; nothing follows a branch that returns.
    fn tail(
        &mut self,
        statements: &[&Statement],
        frame: &mut Frame<'a>,
        result: &str,
        out: &mut Vec<String>,
    ) -> Result<()> {
        for (index, &statement) in statements.iter().enumerate() {
            match statement {
                Statement::Return(value) => {
                    if let (Some(value), false) = (value, result.is_empty()) {
                        let place = self.simplify.place.clone();
                        let value = self.number(value, frame, &place)?;
                        out.push(format!("{result}={value}"));
                    }
                    return Ok(());
                }
                Statement::If(condition, then, otherwise)
                    if visit::returns(then) || visit::returns(otherwise) =>
                {
                    self.simplify.spend()?;
                    let condition = self.condition(condition, frame)?;
                    let mut texts = Vec::new();
                    for branch in [then, otherwise] {
                        let all: Vec<&Statement> =
                            branch.iter().chain(statements[index + 1..].iter().copied()).collect();
                        let mut steps = Vec::new();
                        self.tail(&all, frame, result, &mut steps)?;
                        texts.push(if steps.is_empty() { "nop".to_owned() } else { steps.join("; ") });
                    }
                    out.push(format!("if {condition} then {} else {} end", texts[0], texts[1]));
                    return Ok(());
                }
                other => self.statement(other, frame, out)?,
            }
        }
        Ok(())
    }
}

/// The cell `count` positions later.
fn shifted(cells: &Cells, count: u32) -> Cells {
    match &cells.offset {
        None => Cells::fixed(cells.space, cells.base + count),
        Some(offset) => Cells {
            offset: Some(Box::new(Expression::Binary(
                crate::network::Binary::Add,
                offset.clone(),
                Box::new(Expression::Constant(i32::try_from(count).unwrap_or(i32::MAX))),
                0..0,
            ))),
            ..cells.clone()
        },
    }
}
