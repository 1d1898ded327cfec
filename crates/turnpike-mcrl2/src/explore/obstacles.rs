//! Explains why nothing can happen in a state: what each component could do alone, and what it
//! lacks.

use turnpike_model::{Counterpart, Obstacle, Obstacles, Offer, StepError, StuckComponent};

use super::view::{Argument, View};
use super::walker::Walker;
use crate::lower::{Edge, Need, Step, Ways};
use crate::syntax::Symbol;
use crate::value::Value;

/// How many offers of other components are listed for a missing partner.
const MOST_COUNTERPARTS: usize = 4;

impl Obstacles for Walker<'_> {
    fn stuck_components(
        &mut self,
        state: &[u32],
        condition: Option<&str>,
    ) -> Result<Vec<StuckComponent>, StepError> {
        if condition.is_some() || self.is_root(state) {
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

    fn leaves_out_possible(&self) -> bool {
        false
    }
}

/// A step that a component could take from its location.
struct Possibility {
    /// The names of its actions, with the texts of their data; `None` for termination.
    actions: Option<Vec<Named>>,
    /// The component's own condition that does not hold, and what holds instead.
    fails: Option<(String, Option<String>)>,
    /// A condition on variables of sums, which may or may not be satisfiable.
    open: Option<String>,
}

struct Named {
    name: Symbol,
    arguments: Vec<Argument>,
}

impl View<'_> {
    /// The steps that a component could take alone.
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

/// An offer with its obstacle.
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
                    // The step needs no partner, so its condition cannot be met.
                    let condition = one.open.clone().unwrap_or_else(|| "true".to_owned());
                    Obstacle::Condition { condition, actual: None }
                }
                Ways::Some(ways) => missing_partner(view, offers, component, one, &ways),
            }
        }
    };
    Offer { action: view.step_text(one), obstacles: vec![obstacle] }
}

/// A termination waits for all other components to terminate.
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

/// The partners that a step waits for, and what other components offer instead.
fn missing_partner(
    view: &View<'_>,
    offers: &[Vec<Possibility>],
    component: usize,
    one: &Possibility,
    ways: &[Vec<Need>],
) -> Obstacle {
    let actions = one.actions.as_deref().unwrap_or_default();
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
            let in_way = |way: &'_ Vec<Need>| way.iter().position(|need| names.contains(&need.name));
            ways.iter().find_map(|way| Some((way, in_way(way)?)))
        };
        let mut offers_it = false;
        for other in &offers[index] {
            let similar =
                other.actions.iter().flatten().find_map(|action| Some((action, needed(action.name)?)));
            let Some((action, (way, position))) = similar else { continue };
            offers_it = true;
            let reason = match &other.fails {
                Some((condition, _)) => Some(format!("its condition {condition} does not hold")),
                None if differs(&action.arguments, &arguments(&way[position])) => None,
                None => {
                    let others = way.iter().enumerate().filter(|(other, _)| *other != position);
                    let mut others = others.map(|(_, need)| (need, arguments(need)));
                    let missing = others.find(|(need, arguments)| {
                        !is_offered(view, offers, &[component, index], need.name, arguments)
                    });
                    let missing = missing.map(|(need, arguments)| view.action_text(need.name, &arguments));
                    let alone = way.len() == 1 && other.actions.as_ref().is_some_and(|all| all.len() == 1);
                    Some(explain_missed_pair(missing, alone.then_some((one, other)), &view.step_text(one)))
                }
            };
            instead.push(Counterpart {
                component: automaton.name.clone(),
                action: view.step_text(other),
                reason,
            });
        }
        let uses = |edge: &Edge| match &edge.what {
            Step::Actions(actions) => actions.iter().any(|action| {
                needed(action.name).is_some_and(|(way, position)| {
                    let wanted = arguments(&way[position]);
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
    // Offers with a reason explain more than those without.
    instead.sort_by_key(|one: &Counterpart| one.reason.is_none());
    instead.truncate(MOST_COUNTERPARTS);
    Obstacle::Partner { action: texts.join(" or "), elsewhere, instead }
}

/// Whether a component outside `except` offers a matching action.
fn is_offered(
    view: &View<'_>,
    offers: &[Vec<Possibility>],
    except: &[usize],
    wanted: Symbol,
    arguments: &[Argument],
) -> bool {
    offers.iter().enumerate().filter(|(index, _)| !except.contains(index)).any(|(index, all)| {
        let fits = |action: &Named| {
            view.network.structure.names_of(index, action.name).contains(&wanted)
                && !differs(&action.arguments, arguments)
        };
        all.iter().any(|one| one.fails.is_none() && one.actions.iter().flatten().any(fits))
    })
}

/// Why two matching offers do not happen together: a third action is missing, or, if the step takes
/// only these two, no values meet the conditions of both.
fn explain_missed_pair(
    missing: Option<String>,
    two: Option<(&Possibility, &Possibility)>,
    action: &str,
) -> String {
    let open = two.map(|(one, other)| (one.open.as_ref(), other.open.as_ref()));
    match (missing, open) {
        (Some(missing), _) => format!("no other component offers {missing} as well"),
        (None, Some((Some(one), Some(other)))) => format!("no value satisfies both {other} and {one}"),
        (None, Some((None, Some(other)))) => format!("its condition {other} does not hold for {action}"),
        (None, Some((Some(one), None))) => format!("{one} does not hold for it"),
        (None, _) => "the two do not happen together here".to_owned(),
    }
}

/// Whether arguments cannot be equal.
fn differs(left: &[Argument], right: &[Argument]) -> bool {
    let apart = |(left, right): (&Argument, &Argument)| !left.open && !right.open && left.text != right.text;
    left.len() != right.len() || left.iter().zip(right).any(apart)
}
