//! The data of the naive interpreter: numbered closed values, computed by the slow rewriter.

use std::collections::HashMap;

use crate::rewriter::{OutOfSteps, Term, normal_form};
use dashu_ratio::RBig;
use turnpike_mcrl2::syntax::Span;
use turnpike_mcrl2::typed::{Expression, ExpressionId, Program, Sort, SortId, SymbolId, VariableId};

/// The bound for numbers, both in sums and as results, so that a sum that receives a number
/// receives every number.
pub(crate) const HORIZON: u32 = 6;

/// A closed value in normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Value(u32);

/// Values of variables.
pub(crate) type Values = Box<[(VariableId, Value)]>;

/// Why the interpreter cannot determine the behaviour of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The equations do not terminate.
    NonTerminating,
    /// The number is too large for sums.
    BeyondHorizon,
    /// The values of a sum cannot be enumerated.
    NotEnumerable(String),
    /// A condition, time or probability has no value.
    Stuck(String),
    /// A process calls itself before its first step.
    Unguarded,
    /// Probabilities do not add up to 1.
    NotOne,
    /// There are too many outcomes, values or steps for a test.
    TooMany,
}

/// Evaluates the data of one program.
#[derive(Debug)]
pub(crate) struct Data {
    /// The program. The values of sums are added to its expressions.
    pub(crate) program: Program,
    terms: Vec<Term>,
    known: HashMap<String, Value>,
    mentioned: HashMap<ExpressionId, Box<[VariableId]>>,
    results: HashMap<(ExpressionId, Values), Value>,
    listed: HashMap<SortId, Vec<Value>>,
}

impl Data {
    /// Creates an evaluator for the equations of a program.
    pub(crate) fn new(program: Program) -> Self {
        Data {
            program,
            terms: Vec::new(),
            known: HashMap::new(),
            mentioned: HashMap::new(),
            results: HashMap::new(),
            listed: HashMap::new(),
        }
    }

    /// The value as a term.
    pub(crate) fn term(&self, value: Value) -> &Term {
        &self.terms[value.0 as usize]
    }

    /// The value as text.
    pub(crate) fn text(&self, value: Value) -> String {
        self.term(value).text(&self.program)
    }

    /// The value of an expression.
    pub(crate) fn evaluate(&mut self, expression: ExpressionId, values: &Values) -> Result<Value, Trouble> {
        let mentioned = self.variables_of(expression);
        let values: Values =
            values.iter().filter(|(variable, _)| mentioned.contains(variable)).copied().collect();
        let key = (expression, values);
        if let Some(&known) = self.results.get(&key) {
            return Ok(known);
        }
        let terms = key.1.iter().map(|&(variable, value)| (variable, self.term(value).clone())).collect();
        let term = normal_form(&mut self.program, expression, &terms)
            .map_err(|OutOfSteps| Trouble::NonTerminating)?;
        let sort = self.program.sort_of(expression);
        if [SortId::POS, SortId::NAT].contains(&sort)
            && term.as_number().is_none_or(|number| *number > RBig::from(HORIZON))
        {
            return Err(Trouble::BeyondHorizon);
        }
        let value = self.keep(term);
        self.results.insert(key, value);
        Ok(value)
    }

    /// The truth value of a condition.
    pub(crate) fn holds(&mut self, condition: ExpressionId, values: &Values) -> Result<bool, Trouble> {
        let value = self.evaluate(condition, values)?;
        self.term(value).as_bool().ok_or_else(|| Trouble::Stuck(self.text(value)))
    }

    /// The number that is the value of an expression.
    pub(crate) fn number(&mut self, expression: ExpressionId, values: &Values) -> Result<RBig, Trouble> {
        let value = self.evaluate(expression, values)?;
        self.term(value).as_number().cloned().ok_or_else(|| Trouble::Stuck(self.text(value)))
    }

    /// All values of a sort. Numbers are bounded.
    pub(crate) fn values_of(&mut self, sort: SortId) -> Result<Vec<Value>, Trouble> {
        if let Some(known) = self.listed.get(&sort) {
            return Ok(known.clone());
        }
        let expressions = self.expressions_of(sort, 4)?;
        let mut values = Vec::new();
        for expression in expressions {
            values.push(self.evaluate(expression, &Values::default())?);
        }
        self.listed.insert(sort, values.clone());
        Ok(values)
    }

    /// An expression for each value of a sort. The depth of constructors is limited.
    fn expressions_of(&mut self, sort: SortId, depth: u32) -> Result<Vec<ExpressionId>, Trouble> {
        let refusal = Trouble::NotEnumerable(self.program.sort_text(sort));
        let simple: Vec<Expression> = match *self.program.sorts.get(sort) {
            Sort::Bool => vec![Expression::Bool(true), Expression::Bool(false)],
            Sort::Nat | Sort::Pos => (u32::from(sort == SortId::POS)..=HORIZON)
                .map(|number| Expression::Number(self.program.words.intern(&number.to_string())))
                .collect(),
            Sort::Basic(_) | Sort::Struct(_) if depth > 0 => return self.constructed(sort, depth - 1),
            _ => return Err(refusal),
        };
        Ok(simple.into_iter().map(|one| self.program.add_expression(one, sort, Span::default())).collect())
    }

    fn constructed(&mut self, sort: SortId, depth: u32) -> Result<Vec<ExpressionId>, Trouble> {
        let constructors: Vec<SymbolId> = self.program.constructors(sort).to_vec();
        if constructors.is_empty() {
            return Err(Trouble::NotEnumerable(self.program.sort_text(sort)));
        }
        let mut all = Vec::new();
        for symbol in constructors {
            let fields = self.program.signature(symbol).0.to_vec();
            let mut rows = vec![Vec::new()];
            for field in &fields {
                let column = self.expressions_of(*field, depth)?;
                rows = rows
                    .iter()
                    .flat_map(|row| column.iter().map(move |&one| [&row[..], &[one]].concat()))
                    .collect();
            }
            for row in rows {
                let expression = match fields.is_empty() {
                    true => Expression::Symbol(symbol),
                    false => Expression::Call { symbol, arguments: row.into() },
                };
                all.push(self.program.add_expression(expression, sort, Span::default()));
            }
        }
        Ok(all)
    }

    fn keep(&mut self, term: Term) -> Value {
        let next = Value(self.terms.len() as u32);
        let value = *self.known.entry(format!("{term:?}")).or_insert(next);
        if value == next {
            self.terms.push(term);
        }
        value
    }

    /// The variables in an expression.
    pub(crate) fn variables_of(&mut self, expression: ExpressionId) -> Box<[VariableId]> {
        if let Some(known) = self.mentioned.get(&expression) {
            return known.clone();
        }
        let (mut found, mut todo) = (Vec::new(), vec![expression]);
        while let Some(id) = todo.pop() {
            let expression = self.program.expression(id);
            if let Expression::Variable(variable) = expression {
                found.push(*variable);
            }
            expression.for_each_child(|child| todo.push(child));
        }
        let found: Box<[VariableId]> = found.into();
        self.mentioned.insert(expression, found.clone());
        found
    }
}
