//! The names available in conditions and queries.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use turnpike_model::Diagnostic;

use super::{Condition, Extremum, QUESTIONS, Query, QueryKind, printed};
use crate::lower;
use crate::network::{Binary, Expression, LocationId, Network, ProcessId};
use crate::syntax::uppaal::{self as syntax, tree};
use crate::typed::balanced;
use crate::typed::reals::are_finer;
use crate::typed::types::{ArrayType, Type};
use crate::typed::{
    Checker, Entity, Family, GLOBAL, Lvalue, Memory, Named, Outcome, ProcessNames, Purpose, SYSTEM, Scope,
    State, quantity,
};

/// The names available in conditions and queries. For a UPPAAL model: its declarations, types,
/// constants and processes; for any other network: its variables, clocks, processes, locations and
/// labels.
#[derive(Clone, Debug)]
pub struct Names {
    state: Arc<State>,
    /// The UPPAAL model that they come from, if there is one.
    model: Option<Arc<tree::Model>>,
}

impl Default for Names {
    fn default() -> Self {
        Names::of(&Network::default())
    }
}

impl Names {
    /// The names left from lowering a UPPAAL model.
    pub(crate) fn new(state: State, model: tree::Model) -> Names {
        Names { state: Arc::new(state), model: Some(Arc::new(model)) }
    }

    /// The names of a network that did not come from UPPAAL: `x`, `t[2]`, `P.loc`, and labels as
    /// plain words.
    pub fn of(network: &Network) -> Names {
        let mut state = State {
            scopes: vec![Scope::default(), Scope { parent: Some(GLOBAL), ..Scope::default() }],
            ..State::default()
        };
        let mut names: FxHashMap<String, Named> = FxHashMap::default();
        for (id, clock) in network.clocks.iter().enumerate() {
            add_cell(&mut names, clock, &Type::Clock, &Memory::Clock, id as u32);
        }
        for (id, variable) in network.variables.iter().enumerate() {
            let ty = Type::Int { low: variable.low, high: variable.high };
            add_cell(&mut names, &variable.name, &ty, &Memory::Global, id as u32);
        }
        for (id, process) in network.processes.iter().enumerate() {
            let locations = process
                .locations
                .iter()
                .enumerate()
                .map(|(index, location)| (location.name.clone(), index as u32))
                .collect();
            state.processes.push(ProcessNames { scope: SYSTEM, locations: Arc::new(locations) });
            state.families.insert(process.name.clone(), Family { first: id as u32, parameters: Vec::new() });
        }
        for (label, places) in labels(network) {
            names.entry(label).or_insert(Named { entity: Entity::Label(places), since: 0 });
        }
        state.scopes[GLOBAL].names = names;
        Names { state: Arc::new(state), model: None }
    }

    /// Parses a condition on states: `P.cs && id == 3 && x < 5`, or as states are printed:
    /// `P=cs, id=3`. Spans of errors count bytes of the text.
    pub fn condition(&self, network: &Network, text: &str) -> Result<Condition, Diagnostic> {
        let rewriting = printed::rewrite(network, text)?;
        let read = || {
            let expression = syntax::parse_condition_behind(rewriting.text(), QUESTIONS)?;
            self.checker(network).condition(&expression)
        };
        read().map_err(within_question).map_err(|mut error| {
            if let Some(span) = &mut error.span {
                span.range = rewriting.restore(span.range.clone());
            }
            error
        })
    }

    /// The network that these names belong to, and its names, with the unit of time divided so that
    /// fractions in the questions become integers. `None` if the unit is small enough already or
    /// would become too small. `network` is theirs, and `settings` are those with which the model was read.
    pub fn refined(
        &self,
        network: &Network,
        settings: &[(String, String)],
        questions: &[&str],
    ) -> Option<Result<(Network, Names), Vec<Diagnostic>>> {
        let model = self.model.as_ref()?;
        let as_query = |text: &&str| match syntax::parse_query(text) {
            Ok(_) => (*text).to_owned(),
            Err(_) => {
                let rewriting = printed::rewrite(network, text);
                format!("E<> ({})", rewriting.as_ref().map_or(*text, |rewriting| rewriting.text()))
            }
        };
        let questions: Vec<String> = questions.iter().map(as_query).collect();
        if !are_finer(self.state.parts, &questions.iter().map(String::as_str).collect::<Vec<_>>()) {
            return None;
        }
        // As if the model contained the questions.
        let mut extended = tree::Model::clone(model);
        let query = |text| tree::Query { text, comment: String::new(), expect: None, span: 0..0 };
        extended.queries.extend(questions.into_iter().map(query));
        Some(lower::uppaal::lower(&extended, settings).map(|(mut network, state, _)| {
            network.queries.truncate(model.queries.len());
            (network, Names { state: Arc::new(state), model: Some(Arc::clone(model)) })
        }))
    }

    /// Parses a query: `A[] not (P1.cs and P2.cs)`. Spans of errors count bytes of the text.
    pub fn query(&self, network: &Network, text: &str) -> Result<Query, Diagnostic> {
        let kind = self.query_kind(network, text).map_err(within_question)?;
        Ok(Query { kind, text: text.to_owned() })
    }

    fn query_kind(&self, network: &Network, text: &str) -> Result<QueryKind, Diagnostic> {
        let formula = syntax::parse_query_behind(text, QUESTIONS)?;
        let mut checker = self.checker(network);
        Ok(match &formula {
            tree::Formula::Possibly(condition) => QueryKind::Possibly(checker.condition(condition)?),
            tree::Formula::Invariantly(condition) => QueryKind::Invariantly(checker.condition(condition)?),
            tree::Formula::PotentiallyAlways(condition) => {
                QueryKind::PotentiallyAlways(checker.condition(condition)?)
            }
            tree::Formula::Eventually(condition) => QueryKind::Eventually(checker.condition(condition)?),
            tree::Formula::LeadsTo(before, after) => {
                QueryKind::LeadsTo(checker.condition(before)?, checker.condition(after)?)
            }
            tree::Formula::Extremum { kind, condition, expressions } => QueryKind::Extremum {
                extremum: match kind {
                    tree::Extremum::Supremum => Extremum::Supremum,
                    tree::Extremum::Infimum => Extremum::Infimum,
                    tree::Extremum::Bounds => Extremum::Bounds,
                },
                condition: condition.as_ref().map(|condition| checker.condition(condition)).transpose()?,
                quantities: expressions
                    .iter()
                    .map(|expression| quantity(&mut checker, expression))
                    .collect::<Outcome<_>>()?,
            },
        })
    }

    fn checker(&self, network: &Network) -> Checker<'_> {
        let _ = network;
        let model = self.model.as_deref().unwrap_or(&NO_MODEL);
        let mut checker = Checker::new(model, State::clone(&self.state));
        checker.scope = SYSTEM;
        checker.ordered = false;
        checker.purpose = Purpose::Query;
        checker
    }
}

/// An error in a question, whose span counts bytes of its text.
fn within_question(mut error: Diagnostic) -> Diagnostic {
    if let Some(span) = &mut error.span {
        span.range = span.range.start.saturating_sub(QUESTIONS)..span.range.end.saturating_sub(QUESTIONS);
    }
    error
}

/// Adds a cell by its name; `t[2]` belongs to the array `t`, whose cells are consecutive.
fn add_cell(names: &mut FxHashMap<String, Named>, name: &str, ty: &Type, memory: &Memory, id: u32) {
    let plain = |ty: Type, base| {
        let lvalue = Lvalue::new(ty, memory.clone(), base);
        Named { entity: Entity::Stored { lvalue, computable: false }, since: 0 }
    };
    let Some((array, index)) = name.strip_suffix(']').and_then(|rest| rest.split_once('[')) else {
        names.insert(name.to_owned(), plain(ty.clone(), id));
        return;
    };
    let Ok(index) = index.parse::<i32>() else { return };
    match names.get_mut(array).map(|named| &mut named.entity) {
        Some(Entity::Stored { lvalue, .. }) => {
            if let Type::Array(known) = &lvalue.ty
                && lvalue.base + known.size == id
                && i64::from(known.low) + i64::from(known.size) == i64::from(index)
            {
                let (base, size) = (lvalue.base, known.size + 1);
                let (low, element) = (known.low, known.element.clone());
                let ty = Type::Array(Arc::new(ArrayType { low, size, scalar: None, element }));
                *lvalue = Lvalue::new(ty, memory.clone(), base);
            }
        }
        _ => {
            let ty =
                Type::Array(Arc::new(ArrayType { low: index, size: 1, scalar: None, element: ty.clone() }));
            names.insert(array.to_owned(), plain(ty, id));
        }
    }
}

/// For each label, the condition that some process is in a location that carries it.
fn labels(network: &Network) -> Vec<(String, Expression)> {
    let mut labels: Vec<(String, Vec<Expression>)> = Vec::new();
    let mut positions: FxHashMap<&str, usize> = FxHashMap::default();
    for (process, names) in network.processes.iter().enumerate() {
        for (location, details) in names.locations.iter().enumerate() {
            for label in &details.labels {
                let position = *positions.entry(label).or_insert_with(|| {
                    labels.push((label.clone(), Vec::new()));
                    labels.len() - 1
                });
                let at = Expression::At(ProcessId(process as u32), LocationId(location as u32));
                labels[position].1.push(at);
            }
        }
    }
    let or = &mut |left, right| Expression::Binary(Binary::Or, Box::new(left), Box::new(right), 0..0);
    labels
        .into_iter()
        .map(|(label, places)| (label, balanced(places, or).unwrap_or(Expression::Constant(0))))
        .collect()
}

/// The model of names that do not come from UPPAAL.
static NO_MODEL: tree::Model = tree::Model {
    dialect: tree::Dialect::New,
    declarations: Vec::new(),
    templates: Vec::new(),
    system: tree::System {
        declarations: Vec::new(),
        instantiations: Vec::new(),
        levels: Vec::new(),
        span: 0..0,
        alphabets: Vec::new(),
    },
    queries: Vec::new(),
};
