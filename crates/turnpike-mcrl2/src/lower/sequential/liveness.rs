//! Liveness analysis: the variables that each location needs.

use rustc_hash::FxHashMap;

use super::reduce::Reduction;
use super::updates::{for_each_condition, for_each_leaf};
use crate::lower::{Step, Update};
use crate::typed::{ExpressionId, VariableId};

/// The live variables of each location.
#[derive(Default)]
pub(super) struct Live {
    variables: Vec<VariableId>,
    numbers: FxHashMap<VariableId, usize>,
    words: usize,
    bits: Vec<u64>,
}

impl Live {
    /// The variables that are live at some location, in increasing order.
    pub(super) fn variables(&self) -> &[VariableId] {
        &self.variables
    }

    /// Whether a variable is live at a location.
    pub(super) fn contains(&self, location: u32, variable: VariableId) -> bool {
        self.numbers.get(&variable).is_some_and(|&number| self.has(location, number))
    }

    /// The live variables of a location, in increasing order.
    pub(super) fn at(&self, location: u32) -> Vec<VariableId> {
        (0..self.variables.len())
            .filter(|&number| self.has(location, number))
            .map(|number| self.variables[number])
            .collect()
    }

    fn has(&self, location: u32, number: usize) -> bool {
        self.bits[location as usize * self.words + number / 64] >> (number % 64) & 1 == 1
    }

    /// Returns whether it was absent.
    fn add(&mut self, location: u32, number: usize) -> bool {
        let word = &mut self.bits[location as usize * self.words + number / 64];
        let before = *word;
        *word |= 1 << (number % 64);
        *word != before
    }
}

/// The variables that an edge needs, by number.
struct Needs {
    from: u32,
    always: Vec<usize>,
    leaves: Vec<Leaf>,
}

/// A target of an edge, with the variables needed by each assignment.
struct Leaf {
    location: u32,
    values: Vec<(usize, Vec<usize>)>,
}

/// Computes the least solution: a variable is live at the source of an edge that uses it, or that
/// assigns it to a variable that is live at the target.
pub(super) fn liveness(automaton: &mut Reduction<'_>) -> Live {
    let mut variables: Vec<VariableId> = Vec::new();
    for update in automaton.edges.iter().map(|edge| &edge.target).chain([&automaton.initial]) {
        for_each_leaf(update, |_, assignments| variables.extend(assignments.iter().map(|one| one.0)));
    }
    variables.sort_unstable();
    variables.dedup();
    let numbers: FxHashMap<VariableId, usize> =
        variables.iter().enumerate().map(|(number, &one)| (one, number)).collect();
    let words = variables.len().div_ceil(64);
    let locations = automaton.locations.len();
    let mut live = Live { variables, numbers, words, bits: vec![0; locations * words] };

    let edges = std::mem::take(&mut automaton.edges);
    let mut needs_of = |expression: ExpressionId, needs: &mut Vec<usize>| {
        needs.extend(automaton.free(expression).iter().filter_map(|one| live.numbers.get(one)));
    };
    let mut needs = Vec::with_capacity(edges.len());
    for edge in &edges {
        let (mut always, mut leaves) = (Vec::new(), Vec::new());
        edge.conditions.iter().for_each(|&one| needs_of(one, &mut always));
        if let Step::Actions(actions) = &edge.what {
            let arguments = actions.iter().flat_map(|action| &action.arguments);
            arguments.for_each(|&one| needs_of(one, &mut always));
        }
        edge.time.iter().for_each(|&one| needs_of(one, &mut always));
        edge.distribution.iter().for_each(|one| needs_of(one.weight, &mut always));
        for_each_condition(&edge.target, |one| needs_of(one, &mut always));
        for_each_leaf(&edge.target, |location, assignments| {
            let values = assignments.iter().map(|(one, value)| {
                let mut needs = Vec::new();
                needs_of(*value, &mut needs);
                (live.numbers[one], needs)
            });
            leaves.push(Leaf { location, values: values.collect() });
        });
        needs.push(Needs { from: edge.from, always, leaves });
    }
    automaton.edges = edges;

    let mut into = vec![Vec::new(); locations];
    for (index, need) in needs.iter().enumerate() {
        need.leaves.iter().for_each(|leaf| into[leaf.location as usize].push(index));
        need.always.iter().for_each(|&number| {
            live.add(need.from, number);
        });
    }
    if automaton.program.execution.keep_dead {
        keep(&mut live, &needs, &automaton.initial);
    }
    let mut work: Vec<u32> = (0..locations as u32).collect();
    let mut waiting = vec![true; locations];
    while let Some(location) = work.pop() {
        waiting[location as usize] = false;
        for &index in &into[location as usize] {
            let need = &needs[index];
            let mut grown = false;
            for leaf in &need.leaves {
                if leaf.location != location {
                    continue;
                }
                for (number, uses) in &leaf.values {
                    if live.has(location, *number) {
                        uses.iter().for_each(|&one| grown |= live.add(need.from, one));
                    }
                }
            }
            if grown && !std::mem::replace(&mut waiting[need.from as usize], true) {
                work.push(need.from);
            }
        }
    }
    let used: Vec<VariableId> = (0..live.variables.len())
        .filter(|&number| (0..locations as u32).any(|location| live.has(location, number)))
        .map(|number| live.variables[number])
        .collect();
    live.restrict(&used, locations);
    live
}

/// Makes all variables live at a location that an edge to it assigns, whether they are used or not:
/// the free variables of its term, and the outcomes of choices on the way.
fn keep(live: &mut Live, needs: &[Needs], initial: &Update) {
    for_each_leaf(initial, |location, assignments| {
        for (one, _) in assignments {
            live.add(location, live.numbers[one]);
        }
    });
    for leaf in needs.iter().flat_map(|need| &need.leaves) {
        for (number, _) in &leaf.values {
            live.add(leaf.location, *number);
        }
    }
}

impl Live {
    /// Restricts the sets to these variables.
    fn restrict(&mut self, used: &[VariableId], locations: usize) {
        let words = used.len().div_ceil(64);
        let old = std::mem::take(self);
        *self = Live {
            variables: used.to_vec(),
            numbers: used.iter().enumerate().map(|(number, &one)| (one, number)).collect(),
            words,
            bits: vec![0; locations * words],
        };
        for location in 0..locations as u32 {
            for (number, &one) in used.iter().enumerate() {
                if old.contains(location, one) {
                    self.add(location, number);
                }
            }
        }
    }
}
