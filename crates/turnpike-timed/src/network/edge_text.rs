//! Guards, invariants, synchronisations and updates as text, in the notation of a template.

use super::{
    ChannelCell, ClockAtom, ClockCell, ClockValue, Constraint, Edge, Expression, Local, Location, Network,
    Process, Rate, Statement, Sync,
};

/// Writes the parts of a process as text.
pub(crate) struct Writer<'a> {
    network: &'a Network,
    /// Clock constants are multiplied by this.
    unit: i32,
    /// The prefix of the names of the process: `Train(2).`.
    prefix: String,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(network: &'a Network, process: &Process, unit: i32) -> Self {
        Writer { network, unit, prefix: format!("{}.", process.name) }
    }

    pub(crate) fn invariant(&self, location: &Location) -> String {
        let mut parts = self.conditions(&location.invariant);
        parts.extend(location.rates.iter().map(|rate| self.rate(rate)));
        self.finish(parts.join(" && "), &[])
    }

    pub(crate) fn guard(&self, edge: &Edge) -> String {
        self.finish(self.conditions(&edge.guard).join(" && "), &edge.locals)
    }

    pub(crate) fn action(&self, edge: &Edge) -> String {
        let text = match &edge.sync {
            Sync::Internal => String::new(),
            Sync::Event(event) => self.network.events[event.0 as usize].clone(),
            Sync::Send(cell) => format!("{}!", self.channel(cell)),
            Sync::Receive(cell) => format!("{}?", self.channel(cell)),
        };
        self.finish(text, &edge.locals)
    }

    pub(crate) fn update(&self, edge: &Edge) -> String {
        let parts: Vec<String> = edge.update.iter().map(|statement| self.statement(statement)).collect();
        self.finish(parts.join(", "), &edge.locals)
    }

    /// Inserts the names of local cells, and removes the prefix of the process.
    fn finish(&self, text: String, locals: &[Local]) -> String {
        let mut text = text.replace(&self.prefix, "");
        // Highest numbers first: `$1` is a prefix of `$12`.
        for (index, local) in locals.iter().enumerate().rev() {
            text = text.replace(&format!("${index}"), &local.name);
        }
        text
    }

    fn conditions(&self, constraint: &Constraint) -> Vec<String> {
        let clocks = self.clock_conditions(&constraint.clocks);
        let data = constraint.data.iter().map(|part| self.network.expression_text(part));
        clocks.into_iter().chain(data).collect()
    }

    /// Combines `x <= 5` and `x >= 5` into `x == 5`.
    fn clock_conditions(&self, atoms: &[ClockAtom]) -> Vec<String> {
        let mut texts = Vec::new();
        let mut at = 0;
        while let Some(atom) = atoms.get(at) {
            let equal = atoms.get(at + 1).and_then(|next| self.equality(atom, next));
            at += if equal.is_some() { 2 } else { 1 };
            texts.push(equal.unwrap_or_else(|| self.atom(atom)));
        }
        texts
    }

    fn equality(&self, one: &ClockAtom, other: &ClockAtom) -> Option<String> {
        let (upper, lower) = if one.left.is_some() { (one, other) } else { (other, one) };
        let (Expression::Constant(most), Expression::Constant(least)) = (&upper.bound, &lower.bound) else {
            return None;
        };
        let same = upper.left == lower.right && upper.right.is_none() && lower.left.is_none();
        let plain = upper.when == lower.when && !upper.strict && !lower.strict;
        if !same || !plain || i64::from(*most) != -i64::from(*least) {
            return None;
        }
        let text = format!("{} == {}", self.clock(upper.left.as_ref()?), self.number(*most));
        Some(self.with_condition(upper.when.as_ref(), text))
    }

    fn atom(&self, atom: &ClockAtom) -> String {
        let (less, more) = if atom.strict { ("<", ">") } else { ("<=", ">=") };
        let text = match (&atom.left, &atom.right) {
            (None, None) => format!("0 {less} {}", self.bound(&atom.bound)),
            (Some(clock), None) => format!("{} {less} {}", self.clock(clock), self.bound(&atom.bound)),
            (None, Some(clock)) => format!("{} {more} {}", self.clock(clock), self.negated(&atom.bound)),
            (Some(one), Some(other)) => {
                format!("{} - {} {less} {}", self.clock(one), self.clock(other), self.bound(&atom.bound))
            }
        };
        self.with_condition(atom.when.as_ref(), text)
    }

    fn with_condition(&self, when: Option<&Expression>, text: String) -> String {
        match when {
            None => text,
            Some(when) => format!("({} imply {text})", self.network.expression_text(when)),
        }
    }

    fn rate(&self, rate: &Rate) -> String {
        let text = format!("{}' == {}", self.clock(&rate.clock), self.network.expression_text(&rate.value));
        self.with_condition(rate.when.as_ref(), text)
    }

    fn number(&self, value: i32) -> String {
        let value = i64::from(value) * i64::from(self.unit);
        match self.network.parts_per_unit() {
            1 => value.to_string(),
            parts => format!("{value}/{parts}"),
        }
    }

    fn bound(&self, bound: &Expression) -> String {
        match bound {
            Expression::Constant(value) => self.number(*value),
            other => self.network.expression_text(other),
        }
    }

    fn negated(&self, bound: &Expression) -> String {
        match bound {
            Expression::Constant(value) => self.number(value.saturating_neg()),
            Expression::Unary(super::Unary::Minus, operand) => self.network.expression_text(operand),
            other => format!("-({})", self.network.expression_text(other)),
        }
    }

    fn clock(&self, cell: &ClockCell) -> String {
        let name = &self.network.clocks[cell.base.0 as usize];
        match &cell.offset {
            None => name.clone(),
            Some(offset) => element(name, &self.network.expression_text(offset)),
        }
    }

    fn channel(&self, cell: &ChannelCell) -> String {
        let name = &self.network.channels[cell.base.0 as usize].name;
        match &cell.offset {
            None => name.clone(),
            Some(offset) => element(name, &self.network.expression_text(offset)),
        }
    }

    fn statement(&self, statement: &Statement) -> String {
        let network = self.network;
        match statement {
            Statement::Assign { target, value, .. } => {
                format!("{} = {}", network.cells_text(target), network.expression_text(value))
            }
            Statement::Copy { target, source, .. } => {
                format!("{} = {}", whole(&network.cells_text(target)), whole(&network.cells_text(source)))
            }
            Statement::Clock { clock, value, .. } => {
                let value = match value {
                    ClockValue::Constant(value) => self.bound(value),
                    ClockValue::Clock(other, Expression::Constant(0)) => self.clock(other),
                    ClockValue::Clock(other, more) => {
                        format!("{} + {}", self.clock(other), self.bound(more))
                    }
                };
                format!("{} = {value}", self.clock(clock))
            }
            Statement::Evaluate(expression) => network.expression_text(expression),
            Statement::If(condition, yes, no) => {
                let more = if no.is_empty() { String::new() } else { format!(" else {}", self.block(no)) };
                format!("if ({}) {}{more}", network.expression_text(condition), self.block(yes))
            }
            Statement::While(condition, body, _) => {
                format!("while ({}) {}", network.expression_text(condition), self.block(body))
            }
            Statement::For { local, low, high, body } => {
                format!("for (${local} : int[{low}, {high}]) {}", self.block(body))
            }
            Statement::Return(None) => "return".to_owned(),
            Statement::Return(Some(value)) => format!("return {}", network.expression_text(value)),
            Statement::Assert(condition, _) => format!("assert({})", network.expression_text(condition)),
        }
    }

    fn block(&self, statements: &[Statement]) -> String {
        let parts: Vec<String> = statements.iter().map(|statement| self.statement(statement)).collect();
        format!("{{ {} }}", parts.join("; "))
    }
}

/// An element of an array, whose first cell is called `a[0]`.
fn element(first: &str, index: &str) -> String {
    let array = first.rsplit_once('[').map_or(first, |(array, _)| array);
    format!("{array}[{index}]")
}

/// The name of an array, from that of its first cell.
fn whole(first: &str) -> &str {
    first.strip_suffix("[0]").unwrap_or(first)
}
