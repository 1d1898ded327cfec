//! Prints trees in the new syntax. Parsing the output yields the same tree.

use std::fmt::{self, Write};

use super::tree::{
    Binary, Block, Declaration, Dimension, Direction, Edge, Expression, ExpressionKind as E, Extremum,
    Fields, Formula, Initializer, Instantiation, Model, Parameter, Prioritised, Quantifier, Statement,
    StatementKind as S, Step, Template, Type, TypeKind, Unary, Variable,
};

/// How tightly an expression must bind to need no parentheses.
mod level {
    pub(super) const ANY: u8 = 0;
    pub(super) const CONDITIONAL: u8 = 1;
    /// The weakest binary operator; the parser's binding strengths follow.
    pub(super) const BINARY: u8 = 2;
    pub(super) const PREFIX: u8 = 20;
    pub(super) const POSTFIX: u8 = 21;
}

/// The symbol of an operator and its binding strength.
fn sign(operator: Binary) -> (&'static str, u8) {
    let (text, strength) = match operator {
        Binary::Multiply => ("*", 10),
        Binary::Divide => ("/", 10),
        Binary::Remainder => ("%", 10),
        Binary::Add => ("+", 9),
        Binary::Subtract => ("-", 9),
        Binary::ShiftLeft => ("<<", 8),
        Binary::ShiftRight => (">>", 8),
        Binary::Minimum => ("<?", 7),
        Binary::Maximum => (">?", 7),
        Binary::Less => ("<", 6),
        Binary::LessEqual => ("<=", 6),
        Binary::GreaterEqual => (">=", 6),
        Binary::Greater => (">", 6),
        Binary::Equal => ("==", 5),
        Binary::NotEqual => ("!=", 5),
        Binary::BitAnd => ("&", 4),
        Binary::BitXor => ("^", 3),
        Binary::BitOr => ("|", 2),
        Binary::And => ("&&", 1),
        Binary::Or => ("||", 0),
        Binary::Imply => ("imply", 0),
    };
    (text, level::BINARY + strength)
}

impl Expression {
    fn level(&self) -> u8 {
        match &self.kind {
            E::Quantified(..) | E::Assign(..) => level::ANY,
            E::Conditional(..) => level::CONDITIONAL,
            E::Binary(operator, ..) => sign(*operator).1,
            E::Unary(..) | E::Integer(i32::MIN) | E::Step(..) => level::PREFIX,
            _ => level::POSTFIX,
        }
    }

    /// Writes the expression, in parentheses unless it binds at least as tightly as `least`.
    fn write(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        if self.level() < least {
            f.write_char('(')?;
            self.write(f, level::ANY)?;
            return f.write_char(')');
        }
        match &self.kind {
            E::Integer(value) => write!(f, "{value}"),
            E::Real(value) => write!(f, "{value:?}"),
            E::Bool(value) => write!(f, "{value}"),
            E::Name(name) => f.write_str(name),
            E::Deadlock => f.write_str("deadlock"),
            E::Index(array, index) => {
                array.write(f, level::POSTFIX)?;
                write!(f, "[{index}]")
            }
            E::Field(of, field) => {
                of.write(f, level::POSTFIX)?;
                write!(f, ".{}", field.name)
            }
            E::Call(function, arguments) => {
                function.write(f, level::POSTFIX)?;
                write!(f, "({})", Listed(arguments))
            }
            E::Unary(operator, operand) => {
                f.write_char(match operator {
                    Unary::Minus => '-',
                    Unary::Plus => '+',
                    Unary::Not => '!',
                })?;
                operand.write_operand(f)
            }
            E::Binary(operator @ (Binary::And | Binary::Or), ..) => self.write_chain(f, *operator, true),
            E::Binary(operator, left, right) => {
                let (text, strength) = sign(*operator);
                left.write(f, strength)?;
                write!(f, " {text} ")?;
                right.write(f, strength + 1)
            }
            E::Conditional(condition, then, otherwise) => {
                condition.write(f, level::BINARY)?;
                write!(f, " ? {then} : ")?;
                otherwise.write(f, level::CONDITIONAL)
            }
            E::Assign(operator, target, value) => {
                target.write(f, level::CONDITIONAL)?;
                write!(f, " {}= {value}", operator.map_or("", |operator| sign(operator).0))
            }
            E::Step(step, operand) => match step {
                Step::PreIncrement | Step::PreDecrement => {
                    f.write_str(if *step == Step::PreIncrement { "++" } else { "--" })?;
                    operand.write_operand(f)
                }
                Step::PostIncrement | Step::PostDecrement => {
                    operand.write(f, level::POSTFIX)?;
                    f.write_str(if *step == Step::PostIncrement { "++" } else { "--" })
                }
            },
            E::Quantified(quantifier, variable, ty, body) => {
                let word = match quantifier {
                    Quantifier::Forall => "forall",
                    Quantifier::Exists => "exists",
                    Quantifier::Sum => "sum",
                };
                write!(f, "{word} ({} : {ty}) {body}", variable.name)
            }
            E::Rate(clock) => {
                clock.write(f, level::POSTFIX)?;
                f.write_char('\'')
            }
        }
    }

    /// An operand of a sign: `- -x` and `+ ++x` need the blank.
    fn write_operand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.level() == level::PREFIX {
            f.write_char(' ')?;
        }
        self.write(f, level::PREFIX)
    }

    /// Operands of `&&` or `||` from left to right, whatever the shape of the tree.
    fn write_chain(&self, f: &mut fmt::Formatter<'_>, operator: Binary, first: bool) -> fmt::Result {
        let (text, strength) = sign(operator);
        match &self.kind {
            E::Binary(same, left, right) if *same == operator => {
                left.write_chain(f, operator, first)?;
                write!(f, " {text} ")?;
                right.write_chain(f, operator, false)
            }
            _ => self.write(f, if first { strength } else { strength + 1 }),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, level::ANY)
    }
}

/// A comma-separated list.
struct Listed<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = self.prefix;
        for (present, word) in [
            (prefix.constant, "const "),
            (prefix.meta, "meta "),
            (prefix.urgent, "urgent "),
            (prefix.broadcast, "broadcast "),
        ] {
            f.write_str(if present { word } else { "" })?;
        }
        match &self.kind {
            TypeKind::Int => f.write_str("int"),
            TypeKind::Range(low, high) => write!(f, "int[{low}, {high}]"),
            TypeKind::Bool => f.write_str("bool"),
            TypeKind::Clock => f.write_str("clock"),
            TypeKind::Channel => f.write_str("chan"),
            TypeKind::Void => f.write_str("void"),
            TypeKind::Double => f.write_str("double"),
            TypeKind::Hybrid => f.write_str("hybrid clock"),
            TypeKind::Scalar(size) => write!(f, "scalar[{size}]"),
            TypeKind::Struct(fields) => {
                f.write_str("struct { ")?;
                for Fields { ty, names } in fields {
                    write!(f, "{ty} {}; ", Listed(names))?;
                }
                f.write_char('}')
            }
            TypeKind::Name(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dimension::Size(size) => write!(f, "[{size}]"),
            Dimension::Index(ty) => write!(f, "[{ty}]"),
        }
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.name)?;
        self.dimensions.iter().try_for_each(|dimension| dimension.fmt(f))?;
        self.initial.as_ref().map_or(Ok(()), |initial| write!(f, " = {initial}"))
    }
}

impl fmt::Display for Initializer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Initializer::Value(value) => value.fmt(f),
            Initializer::List { items, .. } => {
                f.write_char('{')?;
                for (index, (field, item)) in items.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    if let Some(field) = field {
                        write!(f, "{}: ", field.name)?;
                    }
                    item.fmt(f)?;
                }
                f.write_char('}')
            }
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.ty, if self.reference { "&" } else { "" }, self.name.name)?;
        self.dimensions.iter().try_for_each(|dimension| dimension.fmt(f))
    }
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Declaration::Variables(variables) => {
                write!(f, "{} {};", variables.ty, Listed(&variables.variables))
            }
            Declaration::Typedef(typedef) => write!(f, "typedef {} {};", typedef.ty, Listed(&typedef.names)),
            Declaration::Function(function) => {
                let parameters = Listed(&function.parameters);
                write!(f, "{} {}({parameters}) {}", function.result, function.name.name, function.body)
            }
            Declaration::ChannelPriority(priority) => {
                f.write_str("chan priority ")?;
                for (index, level) in priority.levels.iter().enumerate() {
                    write!(f, "{}{}", if index > 0 { " < " } else { "" }, Listed(level))?;
                }
                f.write_char(';')
            }
        }
    }
}

impl fmt::Display for Prioritised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prioritised::Channel(channel) => channel.write(f, level::POSTFIX),
            Prioritised::Default(_) => f.write_str("default"),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{ ")?;
        self.declarations.iter().try_for_each(|declaration| write!(f, "{declaration} "))?;
        self.statements.iter().try_for_each(|statement| write!(f, "{statement} "))?;
        f.write_char('}')
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            S::Empty => f.write_char(';'),
            S::Block(block) => block.fmt(f),
            S::Expression(expression) => write!(f, "{expression};"),
            S::If { condition, then, otherwise } => {
                write!(f, "if ({}) {then}", Listed(condition))?;
                otherwise.as_ref().map_or(Ok(()), |otherwise| write!(f, " else {otherwise}"))
            }
            S::While { condition, body } => write!(f, "while ({}) {body}", Listed(condition)),
            S::DoWhile { body, condition } => write!(f, "do {body} while ({});", Listed(condition)),
            S::For { initial, condition, step, body } => {
                write!(f, "for ({}; {}; {}) {body}", Listed(initial), Listed(condition), Listed(step))
            }
            S::Iterate { variable, ty, body } => write!(f, "for ({} : {ty}) {body}", variable.name),
            S::Return(None) => f.write_str("return;"),
            S::Return(Some(value)) => write!(f, "return {value};"),
            S::Assert(condition) => write!(f, "assert {condition};"),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "process {}({}) {{", self.name.name, Listed(&self.parameters))?;
        self.declarations.iter().try_for_each(|declaration| writeln!(f, "  {declaration}"))?;
        for (index, location) in self.locations.iter().enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "  state " }, location.name)?;
            if let Some(invariant) = &location.invariant {
                write!(f, " {{ {invariant} }}")?;
            }
        }
        if let Some(initial) = self.initial {
            writeln!(f, ";")?;
            for location in &self.locations {
                if location.committed {
                    writeln!(f, "  commit {};", location.name)?;
                }
                if location.urgent {
                    writeln!(f, "  urgent {};", location.name)?;
                }
            }
            writeln!(f, "  init {};", self.locations[initial].name)?;
        }
        for (index, edge) in self.edges.iter().enumerate() {
            f.write_str(if index > 0 { ",\n    " } else { "  trans\n    " })?;
            self.write_edge(f, edge)?;
        }
        f.write_str(if self.edges.is_empty() { "}\n" } else { ";\n}\n" })
    }
}

impl Template {
    fn write_edge(&self, f: &mut fmt::Formatter<'_>, edge: &Edge) -> fmt::Result {
        write!(f, "{} -> {} {{ ", self.locations[edge.source].name, self.locations[edge.target].name)?;
        for (index, select) in edge.select.iter().enumerate() {
            write!(f, "{}{} : {}", if index > 0 { ", " } else { "select " }, select.name.name, select.ty)?;
        }
        f.write_str(if edge.select.is_empty() { "" } else { "; " })?;
        if let Some(guard) = &edge.guard {
            write!(f, "guard {guard}; ")?;
        }
        if let Some(sync) = &edge.sync {
            f.write_str("sync ")?;
            sync.channel.write(f, level::POSTFIX)?;
            f.write_str(match sync.direction {
                Direction::Send => "!; ",
                Direction::Receive => "?; ",
                Direction::Together => "; ",
            })?;
        }
        if !edge.update.is_empty() {
            write!(f, "assign {}; ", Listed(&edge.update))?;
        }
        f.write_char('}')
    }
}

impl fmt::Display for Instantiation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.name)?;
        if !self.parameters.is_empty() {
            write!(f, "({})", Listed(&self.parameters))?;
        }
        writeln!(f, " = {}({});", self.template.name, Listed(&self.arguments))
    }
}

/// As an XTA file, with its queries. Anonymous locations get names.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In source order: a name is a type only after its declaration.
        let mut parts: Vec<(usize, String)> = Vec::new();
        for declaration in self.declarations.iter().chain(&self.system.declarations) {
            parts.push((declaration.span().start, format!("{declaration}\n")));
        }
        parts.extend(self.templates.iter().map(|template| (template.span.start, template.to_string())));
        for instantiation in &self.system.instantiations {
            parts.push((instantiation.span.start, instantiation.to_string()));
        }
        parts.sort_by_key(|(start, _)| *start);
        parts.iter().try_for_each(|(_, part)| f.write_str(part))?;
        for (index, level) in self.system.levels.iter().enumerate() {
            f.write_str(if index > 0 { " < " } else { "system " })?;
            let names: Vec<&str> = level.iter().map(|name| name.name.as_str()).collect();
            write!(f, "{}", Listed(&names))?;
        }
        writeln!(f, ";")?;
        for alphabet in &self.system.alphabets {
            write!(f, "IO {}", alphabet.process.name)?;
            if !alphabet.arguments.is_empty() {
                write!(f, "({})", Listed(&alphabet.arguments))?;
            }
            f.write_str(" { ")?;
            for (index, channel) in alphabet.channels.iter().enumerate() {
                f.write_str(if index > 0 { ", " } else { "" })?;
                channel.write(f, level::POSTFIX)?;
            }
            f.write_str(" }\n")?;
        }
        self.queries.iter().try_for_each(|query| writeln!(f, "query {{ {} }}", query.text))
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Formula::Possibly(condition) => write!(f, "E<> {condition}"),
            Formula::Invariantly(condition) => write!(f, "A[] {condition}"),
            Formula::PotentiallyAlways(condition) => write!(f, "E[] {condition}"),
            Formula::Eventually(condition) => write!(f, "A<> {condition}"),
            Formula::LeadsTo(premise, conclusion) => write!(f, "{premise} --> {conclusion}"),
            Formula::Extremum { kind, condition, expressions } => {
                f.write_str(match kind {
                    Extremum::Supremum => "sup",
                    Extremum::Infimum => "inf",
                    Extremum::Bounds => "bounds",
                })?;
                if let Some(condition) = condition {
                    write!(f, "{{{condition}}}")?;
                }
                write!(f, ": {}", Listed(expressions))
            }
        }
    }
}
