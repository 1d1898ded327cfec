//! Why nothing can happen in a state: what each component could do alone, and what it lacks.

use turnpike_model::{Counterpart, Obstacle, Obstacles, Offer, StepError, StuckComponent};

use super::walker::Walker;
use crate::compile::evaluator::{Machine, Scope};
use crate::compile::process::{Network, location_of};
use crate::lower::{Automaton, Edge, Need, Step, Ways};
use crate::syntax::Symbol;
use crate::typed::expression::{free_variables, text_with};
use crate::typed::{ExpressionId, Program, VariableId};
use crate::value::Value;

/// Offers of others that are listed for one missing partner.
const MOST_COUNTERPARTS: usize = 4;

impl Obstacles for Walker<'_> {
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError> {
        if condition.is_some() || self.is_before(state) {
            return Ok(Vec::new());
        }
        let (network, machine) = self.parts();
        let mut view = View::new(network, machine, state);
        let components = network.structure.components();
        let offers: Vec<Vec<Possibility>> =
            (0..components.len()).map(|component| view.possibilities(component)).collect();
        let stuck = components.iter().enumerate().map(|(index, component)| StuckComponent {
            component: component.name.clone(),
            position: view.position(index),
            offers: offers[index].iter().map(|one| explain(&view, &offers, index, one)).collect(),
            stops_time: None,
        });
        let stuck = stuck.collect();
        view.machine.heap.reset();
        Ok(stuck)
    }
}

/// Something that a component could do where it is.
struct Possibility {
    /// The names of its actions, with the texts of their data; `None` for termination.
    actions: Option<Vec<Named>>,
    /// A condition of its own that does not hold, and what holds instead.
    fails: Option<(String, Option<String>)>,
    /// A condition on variables of sums, of which is not known whether it can be met.
    open: Option<String>,
}

struct Named {
    name: Symbol,
    arguments: Vec<Argument>,
}

/// The text of an argument, and whether it depends on the variable of a sum.
#[derive(Clone)]
struct Argument {
    text: String,
    open: bool,
}

/// A state, with the means to evaluate expressions in it.
struct View<'a> {
    network: &'a Network,
    program: std::sync::Arc<Program>,
    machine: &'a mut Machine,
    state: &'a [u32],
}

impl<'a> View<'a> {
    fn new(network: &'a Network, machine: &'a mut Machine, state: &'a [u32]) -> Self {
        View { network, program: network.program(), machine, state }
    }

    fn automaton(&self, component: usize) -> &'a Automaton {
        &self.network.structure.components()[component]
    }

    /// The location where a component is.
    fn location(&self, component: usize) -> u32 {
        let control = self.network.structure.control(component);
        control.map_or(0, |word| location_of(self.state[word]))
    }

    /// The word that holds a variable.
    fn word(&self, variable: VariableId) -> Option<usize> {
        self.network.parameters.iter().position(|parameter| parameter.variable == variable)
    }

    /// The name of a parameter without that of its component.
    fn plain_name(&self, word: usize) -> &'a str {
        let parameter = &self.network.parameters[word];
        let name = parameter.name.strip_prefix(&*parameter.component);
        name.and_then(|name| name.strip_prefix('.')).unwrap_or(&parameter.name)
    }

    fn value_text(&self, word: usize) -> String {
        self.network.text(&self.machine.heap, Value::from_word(self.state[word]))
    }

    /// Where a component is, with the values that matter there.
    fn position(&self, component: usize) -> String {
        let automaton = self.automaton(component);
        let Some(location) = automaton.locations.get(self.location(component) as usize) else {
            return String::new();
        };
        let values: Vec<String> = location
            .live
            .iter()
            .filter_map(|&variable| self.word(variable))
            .map(|word| format!("{} = {}", self.plain_name(word), self.value_text(word)))
            .collect();
        let text = match self.network.structure.control(component) {
            Some(word) => match &self.network.parameters[word].locations {
                Some(texts) => texts[self.location(component) as usize].clone(),
                None => location.text.clone(),
            },
            None => location.text.clone(),
        };
        if values.is_empty() { text } else { format!("{text} with {}", values.join(", ")) }
    }

    /// Whether an expression depends on variables other than those of the state and of the whole
    /// specification.
    fn is_open(&self, id: ExpressionId) -> bool {
        let known =
            |variable: &VariableId| self.word(*variable).is_some() || self.program.globals.contains(variable);
        !free_variables(&self.program, id).iter().all(known)
    }

    /// The value of an expression that is not open.
    fn evaluate(&mut self, id: ExpressionId) -> Option<Value> {
        let mut scope = Scope::default();
        let free = free_variables(&self.program, id);
        let mut values = Vec::new();
        for &variable in &free {
            let value = match self.word(variable) {
                Some(word) => Value::from_word(self.state[word]),
                None => {
                    let constants = &self.network.constants;
                    let (_, (_, value)) = constants.iter().find(|(_, (owner, _))| *owner == variable)?;
                    *value
                }
            };
            values.push((scope.slot(variable), value));
        }
        let code = self.network.rules.compile(&self.program, id, &mut scope);
        let base = self.machine.enter(scope.size());
        for (slot, value) in values {
            self.machine.set_slot(base, slot, value);
        }
        let value = self.machine.evaluate(&code, base);
        self.machine.leave(base);
        value.ok()
    }

    /// An expression with the names of parameters, or with their values.
    fn text(&self, id: ExpressionId, with_values: bool) -> String {
        text_with(&self.program, id, &|variable| match self.word(variable) {
            Some(word) if with_values => {
                let text = self.value_text(word);
                let atom = text.starts_with(['[', '{']) || !text.contains(' ');
                if atom { text } else { format!("({text})") }
            }
            Some(word) => self.plain_name(word).to_owned(),
            None => self.program.text(self.program.variable(variable).name).to_owned(),
        })
    }

    fn argument(&mut self, id: ExpressionId) -> Argument {
        if !self.is_open(id)
            && let Some(value) = self.evaluate(id)
        {
            return Argument { text: self.network.text(&self.machine.heap, value), open: false };
        }
        Argument { text: self.text(id, true), open: true }
    }

    /// What a component could do alone where it is.
    fn possibilities(&mut self, component: usize) -> Vec<Possibility> {
        let location = self.location(component);
        let edges = self.automaton(component).edges.iter().filter(|edge| edge.from == location);
        edges.map(|edge| self.possibility(edge)).collect()
    }

    fn possibility(&mut self, edge: &Edge) -> Possibility {
        let (mut fails, mut open) = (None, Vec::new());
        for &condition in &edge.conditions {
            if self.is_open(condition) {
                open.push(self.text(condition, true));
            } else if self.evaluate(condition).and_then(Value::as_bool) == Some(false) && fails.is_none() {
                fails = Some((self.text(condition, false), self.values_in(condition)));
            }
        }
        if let Some((time, now)) = edge.time.zip(self.network.now)
            && !self.is_open(time)
            && fails.is_none()
            && let Some(value) = self.evaluate(time)
            && self.machine.heap.to_fraction(value)
                <= self.machine.heap.to_fraction(Value::from_word(self.state[now as usize]))
        {
            let time = self.network.text(&self.machine.heap, value);
            fails = Some((format!("now < {time}"), Some(format!("now = {}", self.value_text(now as usize)))));
        }
        let actions = match &edge.what {
            Step::Terminate => None,
            Step::Actions(actions) => {
                let named = actions.iter().map(|action| Named {
                    name: action.name,
                    arguments: action.arguments.iter().map(|&one| self.argument(one)).collect(),
                });
                Some(named.collect())
            }
        };
        let open = (!open.is_empty()).then(|| open.join(" && "));
        Possibility { actions, fails, open }
    }

    /// The values of the parameters in an expression: `k = 2, n = 1`.
    fn values_in(&self, id: ExpressionId) -> Option<String> {
        let mut words: Vec<usize> =
            free_variables(&self.program, id).iter().filter_map(|&variable| self.word(variable)).collect();
        words.sort_unstable();
        let values =
            words.iter().map(|&word| format!("{} = {}", self.plain_name(word), self.value_text(word)));
        let values: Vec<String> = values.collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Arguments of another position: those without variables are known, all others are open.
    fn constants(&self, arguments: &[ExpressionId]) -> Vec<Argument> {
        let constant = |&id: &ExpressionId| Argument {
            text: self.text(id, false),
            open: !free_variables(&self.program, id).is_empty(),
        };
        arguments.iter().map(constant).collect()
    }

    fn action_text(&self, name: Symbol, arguments: &[Argument]) -> String {
        let name = self.program.text(name);
        let texts: Vec<&str> = arguments.iter().map(|one| one.text.as_str()).collect();
        if texts.is_empty() { name.to_owned() } else { format!("{name}({})", texts.join(", ")) }
    }

    fn step_text(&self, one: &Possibility) -> String {
        match &one.actions {
            None => "Terminate".to_owned(),
            Some(actions) if actions.is_empty() => "tau".to_owned(),
            Some(actions) => {
                let texts: Vec<String> =
                    actions.iter().map(|action| self.action_text(action.name, &action.arguments)).collect();
                texts.join("|")
            }
        }
    }
}

/// An offer, with what prevents it.
fn explain(view: &View<'_>, offers: &[Vec<Possibility>], component: usize, one: &Possibility) -> Offer {
    let obstacle = match (&one.fails, &one.actions) {
        (Some((condition, actual)), _) => {
            Obstacle::Condition { condition: condition.clone(), actual: actual.clone() }
        }
        (None, None) => missing_termination(view, offers, component),
        (None, Some(actions)) => {
            let names: Vec<Symbol> = actions.iter().map(|action| action.name).collect();
            match view.network.structure.ways(component, &names) {
                Ways::Never(by) => Obstacle::Disallowed { by: by.to_owned() },
                Ways::Some(ways) if ways.iter().any(Vec::is_empty) => {
                    // Alone it would be possible, so its condition cannot be met.
                    let condition = one.open.clone().unwrap_or_else(|| "true".to_owned());
                    Obstacle::Condition { condition, actual: None }
                }
                Ways::Some(ways) => missing_partner(view, offers, component, actions, &ways),
            }
        }
    };
    Offer { action: view.step_text(one), obstacles: vec![obstacle] }
}

/// All components terminate together.
fn missing_termination(view: &View<'_>, offers: &[Vec<Possibility>], component: usize) -> Obstacle {
    let components = view.network.structure.components();
    let can_now = |index: usize| offers[index].iter().any(|one| one.actions.is_none() && one.fails.is_none());
    let can_ever =
        |index: usize| components[index].edges.iter().any(|edge| matches!(edge.what, Step::Terminate));
    let others = || (0..components.len()).filter(|&index| index != component && !can_now(index));
    let elsewhere = others().filter(|&index| can_ever(index)).map(|index| components[index].name.clone());
    let instead = others().filter(|&index| !can_ever(index)).filter_map(|index| {
        let action = offers[index].first().map(|one| view.step_text(one))?;
        let reason = Some("it never terminates".to_owned());
        Some(Counterpart { component: components[index].name.clone(), action, reason })
    });
    Obstacle::Partner {
        action: "Terminate".to_owned(),
        elsewhere: elsewhere.collect(),
        instead: instead.collect(),
    }
}

/// The partners that a step waits for, and what others offer instead.
fn missing_partner(
    view: &View<'_>,
    offers: &[Vec<Possibility>],
    component: usize,
    actions: &[Named],
    ways: &[Vec<Need>],
) -> Obstacle {
    let arguments = |need: &Need| -> Vec<Argument> {
        need.like.map_or_else(Vec::new, |index| actions[index].arguments.clone())
    };
    let mut texts: Vec<String> = ways
        .iter()
        .map(|needs| {
            let parts: Vec<String> =
                needs.iter().map(|need| view.action_text(need.name, &arguments(need))).collect();
            parts.join("|")
        })
        .collect();
    texts.dedup();
    let (mut elsewhere, mut instead) = (Vec::new(), Vec::new());
    for (index, automaton) in view.network.structure.components().iter().enumerate() {
        if index == component {
            continue;
        }
        let needed = |name: Symbol| {
            let names = view.network.structure.names_of(index, name);
            ways.iter().flatten().find(|need| names.contains(&need.name))
        };
        let mut offers_it = false;
        for other in &offers[index] {
            let similar =
                other.actions.iter().flatten().find_map(|action| Some((action, needed(action.name)?)));
            let Some((action, need)) = similar else { continue };
            offers_it = true;
            let reason = match &other.fails {
                Some((condition, _)) => Some(format!("its condition {condition} does not hold")),
                None if !differs(&action.arguments, &arguments(need)) => {
                    Some("the two do not happen together here".to_owned())
                }
                None => None,
            };
            instead.push(Counterpart {
                component: automaton.name.clone(),
                action: view.step_text(other),
                reason,
            });
        }
        let uses = |edge: &Edge| match &edge.what {
            Step::Actions(actions) => actions.iter().any(|action| {
                needed(action.name).is_some_and(|need| {
                    let wanted = arguments(need);
                    wanted.is_empty() || !differs(&view.constants(&action.arguments), &wanted)
                })
            }),
            Step::Terminate => false,
        };
        if !offers_it && automaton.edges.iter().any(uses) {
            elsewhere.push(automaton.name.clone());
        }
    }
    instead.dedup();
    // What nearly fits says most.
    instead.sort_by_key(|one: &Counterpart| one.reason.is_none());
    instead.truncate(MOST_COUNTERPARTS);
    Obstacle::Partner { action: texts.join(" or "), elsewhere, instead }
}

/// Whether data cannot be the same.
fn differs(left: &[Argument], right: &[Argument]) -> bool {
    let apart = |(left, right): (&Argument, &Argument)| !left.open && !right.open && left.text != right.text;
    left.len() != right.len() || left.iter().zip(right).any(apart)
}
