//! Names components after their process instances, such as `Station(3)`.
//!
//! If a component continues as other processes, the process that it begins with says little about
//! it. It is then named after the process that put it in parallel.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lower::Automaton;
use crate::typed::expression;
use crate::typed::{Behaviour, BehaviourId, ExpressionId, ProcessId, Program};

/// Longer arguments are not part of names.
const WIDEST_ARGUMENT: usize = 24;

/// A process with closed arguments.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) process: ProcessId,
    pub(super) arguments: Vec<ExpressionId>,
}

/// The origin of a component.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    /// The instance that the component begins with; `None` if it does not begin with a call.
    pub(super) begins_as: Option<Instance>,
    /// The innermost instance that contains it, with the number of that call. Two calls of a
    /// process with the same arguments are different instances.
    pub(super) inside: Option<(usize, Instance)>,
}

/// Gives each component a unique name.
pub(super) fn name_components(program: &Program, origins: &[Origin], components: &mut [Automaton]) {
    let instances = choose_instances(program, origins);
    let mut alike: BTreeMap<Option<ProcessId>, Vec<usize>> = BTreeMap::new();
    for (component, instance) in instances.iter().enumerate() {
        alike.entry(instance.map(|one| one.process)).or_default().push(component);
    }
    for (process, members) in alike {
        let base = process.map_or("init", |process| program.text(program.process(process).name));
        // `P1` could also be a process of that name.
        let numbered = program.processes.iter().any(|other| {
            let number = program.text(other.name).strip_prefix(base);
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|one| one.is_ascii_digit()))
        });
        let arguments = distinguishing_arguments(program, &instances, components, &members);
        let mut uses: FxHashMap<&[String], usize> = FxHashMap::default();
        arguments.iter().for_each(|texts| *uses.entry(texts).or_default() += 1);
        let mut numbers: FxHashMap<&[String], usize> = FxHashMap::default();
        for (&component, texts) in members.iter().zip(&arguments) {
            let mut name = base.to_owned();
            if !texts.is_empty() {
                name.push_str(&format!("({})", texts.join(", ")));
            }
            if uses[&texts[..]] > 1 {
                let number = numbers.entry(texts).or_default();
                *number += 1;
                let separator = if texts.is_empty() && !numbered { "" } else { "#" };
                name.push_str(&format!("{separator}{number}"));
            }
            components[component].name = name;
        }
    }
}

/// The instance that names each component.
fn choose_instances<'o>(program: &Program, origins: &'o [Origin]) -> Vec<Option<&'o Instance>> {
    let calls = Calls::new(program);
    let mut claims: FxHashMap<usize, usize> = FxHashMap::default();
    let wants_outer = |origin: &Origin| match (&origin.begins_as, &origin.inside) {
        (Some(begins_as), Some((_, inside))) => {
            calls.goes_on(begins_as.process) && !calls.is_recursive(inside.process)
        }
        _ => false,
    };
    for origin in origins {
        if let Some((call, _)) = origin.inside.as_ref().filter(|_| wants_outer(origin)) {
            *claims.entry(*call).or_default() += 1;
        }
    }
    let choose = |origin: &'o Origin| match &origin.inside {
        Some((call, inside)) if wants_outer(origin) && claims[call] == 1 => Some(inside),
        Some((_, inside)) => origin.begins_as.as_ref().or(Some(inside)),
        None => origin.begins_as.as_ref(),
    };
    origins.iter().map(choose).collect()
}

/// For each of these instances of one process, the first arguments that distinguish them; none if
/// there is only one instance. Arguments that the component changes later are used only if nothing
/// else distinguishes them. If all arguments are equal, all are used.
fn distinguishing_arguments(
    program: &Program,
    instances: &[Option<&Instance>],
    components: &[Automaton],
    members: &[usize],
) -> Vec<Vec<String>> {
    let mut chosen: Vec<Vec<String>> = vec![Vec::new(); members.len()];
    let Some(process) = members.first().and_then(|&first| instances[first]).map(|one| one.process) else {
        return chosen;
    };
    let mut columns = Vec::new();
    for (index, &parameter) in program.process(process).parameters.iter().enumerate() {
        let name = program.variable(parameter).name;
        let changes = |&member: &usize| {
            let mut variables = components[member].variables.iter();
            variables.any(|&variable| program.variable(variable).name == name)
        };
        let texts: Vec<String> = members
            .iter()
            .filter_map(|&member| instances[member]?.arguments.get(index))
            .map(|&argument| expression::text(program, argument))
            .collect();
        let short = texts.iter().all(|text| text.chars().count() <= WIDEST_ARGUMENT);
        if short && texts.len() == members.len() {
            let differ = texts.iter().any(|text| *text != texts[0]);
            columns.push((texts, differ, members.iter().any(changes)));
        }
    }
    let mut add = |wanted: &dyn Fn(bool, bool) -> bool| {
        for (texts, ..) in columns.iter().filter(|(_, differ, changes)| wanted(*differ, *changes)) {
            if chosen.iter().collect::<FxHashSet<_>>().len() == members.len() {
                break;
            }
            chosen.iter_mut().zip(texts).for_each(|(chosen, text)| chosen.push(text.clone()));
        }
    };
    add(&|differ, changes| differ && !changes);
    add(&|differ, changes| differ && changes);
    if columns.iter().all(|(_, differ, _)| !differ) {
        add(&|_, _| true);
    }
    chosen
}

/// For each process the processes that it calls, directly or indirectly.
struct Calls(FxHashMap<ProcessId, FxHashSet<ProcessId>>);

impl Calls {
    fn new(program: &Program) -> Self {
        let mut calls = FxHashMap::default();
        for (index, process) in program.processes.iter().enumerate() {
            let mut seen: FxHashSet<ProcessId> = FxHashSet::default();
            let mut open: Vec<BehaviourId> = process.body.into_iter().collect();
            while let Some(id) = open.pop() {
                let behaviour = program.behaviour(id);
                open.extend(behaviour.parts());
                if let Behaviour::Call { process, .. } = behaviour
                    && seen.insert(*process)
                {
                    open.extend(program.process(*process).body);
                }
            }
            calls.insert(ProcessId::new(index), seen);
        }
        Calls(calls)
    }

    fn is_recursive(&self, process: ProcessId) -> bool {
        self.0.get(&process).is_some_and(|all| all.contains(&process))
    }

    /// Whether a process may continue as another one.
    fn goes_on(&self, process: ProcessId) -> bool {
        self.0.get(&process).is_some_and(|all| all.iter().any(|&other| other != process))
    }
}
