//! Expressions as text, in the notation of the model.

use super::{Binary, Cells, Expression, Network, Quantifier, Space, Unary};

impl Network {
    /// An expression as text. Local cells have no names here, and are written `$0`, `$1`, ….
    pub(crate) fn expression_text(&self, expression: &Expression) -> String {
        stacker::maybe_grow(64 << 10, 1 << 20, || match expression {
            Expression::Constant(value) => value.to_string(),
            Expression::Read(cells) => self.cells_text(cells),
            Expression::Table(_, index) => format!("table[{}]", self.expression_text(index)),
            Expression::Unary(Unary::Minus, operand) => format!("-{}", self.operand_text(operand)),
            Expression::Unary(Unary::Not, operand) => format!("!{}", self.operand_text(operand)),
            Expression::Binary(operator, left, right, _) => {
                let (left, right) = (self.operand_text(left), self.operand_text(right));
                format!("{left} {} {right}", symbol(*operator))
            }
            Expression::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                let [condition, yes, no] = [condition, yes, no].map(|part| self.operand_text(part));
                format!("{condition} ? {yes} : {no}")
            }
            Expression::InRange { value, .. } => self.expression_text(value),
            Expression::Quantified { quantifier, local, low, high, body } => {
                let word = match quantifier {
                    Quantifier::ForAll => "forall",
                    Quantifier::Exists => "exists",
                    Quantifier::Sum => "sum",
                };
                format!("{word} (${local} : int[{low}, {high}]) {}", self.operand_text(body))
            }
            Expression::Call { function, arguments, .. } => {
                let arguments: Vec<String> =
                    arguments.iter().map(|argument| self.expression_text(argument)).collect();
                format!("{}({})", self.functions[function.0 as usize].name, arguments.join(", "))
            }
            Expression::Assign { target, value, .. } => {
                format!("{} = {}", self.cells_text(target), self.operand_text(value))
            }
            Expression::Sequence(parts) => {
                let [first, second] = &**parts;
                format!("({}, {})", self.expression_text(first), self.expression_text(second))
            }
            Expression::At(process, location) => {
                let process = &self.processes[process.0 as usize];
                format!("{}.{}", process.name, process.locations[location.0 as usize].name)
            }
        })
    }

    /// An operand, in parentheses if it contains operators.
    fn operand_text(&self, expression: &Expression) -> String {
        let text = self.expression_text(expression);
        match expression {
            Expression::Binary(..) | Expression::Conditional(_) | Expression::Assign { .. } => {
                format!("({text})")
            }
            Expression::InRange { value, .. } if matches!(**value, Expression::Binary(..)) => {
                format!("({text})")
            }
            _ => text,
        }
    }

    pub(crate) fn cells_text(&self, cells: &Cells) -> String {
        let name = match cells.space {
            Space::Global => {
                self.variables.get(cells.base as usize).map_or("?", |cell| cell.name.as_str()).to_owned()
            }
            Space::Local => format!("${}", cells.base),
        };
        match &cells.offset {
            None => name,
            // The first cell of an array is called `a[0]`.
            Some(offset) => {
                let array = name.split_once('[').map_or(name.as_str(), |(array, _)| array);
                format!("{array}[{}]", self.expression_text(offset))
            }
        }
    }
}

fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::Minimum => "<?",
        Binary::Maximum => ">?",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::GreaterEqual => ">=",
        Binary::Greater => ">",
        Binary::And => "&&",
        Binary::Or => "||",
    }
}
