//! Cycles of the region graph through a location, with and without the requirement that time
//! diverges.

use std::collections::{BTreeMap, BTreeSet};

use super::{Discrete, Region, Sketch, Slow};

type Node = (Discrete, Region);

/// A step: the number of its target, and for moves the clocks that are reset; `None` for a delay.
type Step = (usize, Option<BTreeSet<usize>>);

/// Whether there are cycles with moves through states in which the first process is in its second
/// location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cycles {
    pub any: bool,
    /// Whether time diverges along one of them: it passes at all, and every clock is reset again
    /// and again or is above every constant.
    pub non_zeno: bool,
}

pub(crate) fn cycles(sketch: &Sketch) -> Cycles {
    let slow = Slow::regions(sketch);
    let (nodes, steps) = graph(&slow);
    let mut cycles = Cycles { any: false, non_zeno: false };
    for component in components(&steps) {
        let inside = |node: usize| component.contains(&node);
        let within = || {
            component.iter().flat_map(|&node| &steps[node]).filter(|step| inside(step.0)).map(|step| &step.1)
        };
        let moves = within().any(Option::is_some);
        let accepting = component.iter().any(|&node| nodes[node].0.0[0] == 1);
        if !moves || !accepting {
            continue;
        }
        cycles.any = true;
        let free = |clock: usize| {
            component.iter().any(|&node| nodes[node].1[clock].0 > sketch.most)
                || within().flatten().any(|assigned| assigned.contains(&clock))
        };
        cycles.non_zeno |= within().any(Option::is_none) && (0..sketch.clocks).all(free);
    }
    cycles
}

/// All reachable regions, and their steps.
fn graph(slow: &Slow<'_>) -> (Vec<Node>, Vec<Vec<Step>>) {
    let initial: Node = ((vec![0; slow.sketch.automata.len()], 0), vec![(0, 0); slow.sketch.clocks]);
    let (mut nodes, mut steps) = (Vec::new(), Vec::new());
    let mut numbers: BTreeMap<Node, usize> = BTreeMap::new();
    if slow.invariant(&initial.0.0, &initial.1) {
        numbers.insert(initial.clone(), 0);
        nodes.push(initial);
    }
    while steps.len() < nodes.len() {
        let (discrete, region) = nodes[steps.len()].clone();
        let mut targets = Vec::new();
        for (target, moves) in slow.steps(&discrete, &region) {
            let one = |&(process, index): &(usize, usize)| &slow.sketch.automata[process].moves[index];
            let assigned = moves.iter().flat_map(|ids| one(ids).resets.iter().map(|&(clock, _)| clock));
            targets.push((target, Some(assigned.collect())));
        }
        // Above all constants time passes without any change.
        if let Some(next) = slow.wait(&discrete, &region) {
            targets.push(((discrete, next), None));
        }
        let mut row = Vec::new();
        for (target, assigned) in targets {
            let number = *numbers.entry(target.clone()).or_insert_with(|| {
                nodes.push(target);
                nodes.len() - 1
            });
            row.push((number, assigned));
        }
        steps.push(row);
    }
    (nodes, steps)
}

/// Strongly connected components, by computing mutual reachability.
fn components(steps: &[Vec<Step>]) -> Vec<BTreeSet<usize>> {
    let mut backwards = vec![Vec::new(); steps.len()];
    for (node, row) in steps.iter().enumerate() {
        row.iter().for_each(|step| backwards[step.0].push(node));
    }
    let forwards: Vec<Vec<usize>> = steps.iter().map(|row| row.iter().map(|step| step.0).collect()).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for node in 0..steps.len() {
        if !seen.contains(&node) {
            let component: BTreeSet<usize> =
                reached(&forwards, node).intersection(&reached(&backwards, node)).copied().collect();
            seen.extend(component.iter().copied());
            found.push(component);
        }
    }
    found
}

fn reached(next: &[Vec<usize>], from: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        open.extend(next[node].iter().filter(|&&target| found.insert(target)));
    }
    found
}
