//! Parallel composition: from components and the operators above them to summands.
//!
//! The operator tree is found and its components are made (`skeleton`), each with its own variables (`apart`). From the root down, every node learns which multisets of action
//! names can matter (`names`); from the leaves up, every node gets its steps (`vectors`, `communicate`). Each step of the root becomes a
//! summand (`summands`), without the sum variables that communication gives a value (`eliminate`).

mod apart;
mod closed;
mod communicate;
mod eliminate;
mod names;
#[cfg(test)]
mod oracle;
mod skeleton;
mod summands;
#[cfg(test)]
mod tests;
mod vectors;

use std::collections::BTreeSet;

use turnpike_model::diagnostic::Diagnostic;

use self::names::{Filter, is_part};
use self::skeleton::{Node, Skeleton};
use self::summands::{product, summand};
use self::vectors::{Builder, Steps, TooMany};
use super::{LinearProcess, Options, Step};
use crate::expression::Substitution;
use crate::sorts::Program;
use crate::syntax::Symbol;

pub(super) fn linearise(mut program: Program, options: &Options) -> Result<LinearProcess, Vec<Diagnostic>> {
    let mut skeleton = skeleton::unfold(&mut program, &options.unhide)?;
    let layout = apart::parameters(&mut program, &mut skeleton.components);
    let steps = match steps(&mut program, &skeleton, options.limit) {
        Ok(steps) => steps,
        Err(TooMany) => return Err(vec![too_many(&program, &skeleton, options.limit)]),
    };
    let components = &skeleton.components;
    let terminate = program.words.intern("Terminate");
    let ends = steps.ends.iter().map(|end| (end, Some(terminate)));
    let mut vectors: Vec<_> =
        steps.groups.values().flatten().map(|vector| (vector, None)).chain(ends).collect();
    // In the order of the components and their edges, which is that of the text.
    vectors.sort_by(|(left, _), (right, _)| left.edges.cmp(&right.edges));
    let summands = vectors
        .into_iter()
        .filter_map(|(vector, end)| summand(&mut program, &layout, components, vector, end))
        .collect();
    let initial_distribution =
        product(&mut program, components.iter().filter_map(|one| one.initial_distribution.as_ref()));
    let initial = components
        .iter()
        .enumerate()
        .map(|(index, one)| layout.update(&mut program, index, &one.initial, &Substitution::default()))
        .collect();
    Ok(LinearProcess { program, parameters: layout.parameters, summands, initial_distribution, initial })
}

/// The steps of the whole.
fn steps(program: &mut Program, skeleton: &Skeleton, limit: usize) -> Result<Steps, TooMany> {
    let nodes = &skeleton.nodes;
    let names = names_below(skeleton);
    let mut filters: Vec<Filter> = vec![Filter::default(); nodes.len()];
    for (index, node) in nodes.iter().enumerate().rev() {
        let filter = &filters[index];
        match node {
            Node::Leaf(_) => {}
            Node::Parallel(operands) => {
                let below: Vec<Filter> = operands
                    .iter()
                    .map(|&operand| filter.below_parallel(&names[operand], &names[index]))
                    .collect();
                for (&operand, filter) in operands.iter().zip(below) {
                    filters[operand] = filter;
                }
            }
            Node::Comm(rules, body) => filters[*body] = filter.below_comm(rules, &names[*body]),
            Node::Allow(bags, body) => filters[*body] = filter.below_allow(bags),
            Node::Block(blocked, body) => filters[*body] = filter.below_block(blocked),
            Node::Hide(hidden, body) => filters[*body] = filter.below_hide(hidden),
            Node::Rename(renamings, body) => {
                filters[*body] = filter.below_rename(renamings, &names[*body]);
            }
        }
    }
    let mut builder = Builder::new(program, limit);
    let mut all: Vec<Steps> = Vec::with_capacity(nodes.len());
    for (node, filter) in nodes.iter().zip(&filters) {
        let mut take = |index: usize| std::mem::take(&mut all[index]);
        let steps = match node {
            Node::Leaf(component) => {
                Steps::of_component(*component, &skeleton.components[*component], filter)
            }
            Node::Parallel(operands) => {
                let operands: Vec<Steps> = operands.iter().map(|&one| take(one)).collect();
                builder.join(&operands, filter)?
            }
            Node::Comm(rules, body) => builder.communicate(rules, take(*body), filter)?,
            Node::Allow(bags, body) => {
                take(*body).retain(|names| names.is_empty() || bags.binary_search(names).is_ok())
            }
            Node::Block(blocked, body) => {
                take(*body).retain(|names| !names.iter().any(|name| blocked.contains(name)))
            }
            Node::Hide(hidden, body) => take(*body).hide(hidden),
            Node::Rename(renamings, body) => take(*body).rename(renamings),
        };
        all.push(steps);
    }
    Ok(all.pop().unwrap_or_default())
}

/// For each node the action names that its steps may have.
fn names_below(skeleton: &Skeleton) -> Vec<BTreeSet<Symbol>> {
    let mut all: Vec<BTreeSet<Symbol>> = Vec::with_capacity(skeleton.nodes.len());
    for node in &skeleton.nodes {
        let names: BTreeSet<Symbol> = match node {
            Node::Leaf(component) => {
                let edges = skeleton.components[*component].edges.iter();
                let actions = edges.filter_map(|edge| match &edge.what {
                    Step::Actions(actions) => Some(actions.iter().map(|action| action.name)),
                    Step::Terminate => None,
                });
                actions.flatten().collect()
            }
            Node::Parallel(operands) => operands.iter().flat_map(|&one| all[one].iter().copied()).collect(),
            Node::Comm(rules, body) => {
                let below = &all[*body];
                let results = rules.iter().filter(|(left, _)| left.iter().all(|name| below.contains(name)));
                below.iter().copied().chain(results.map(|&(_, result)| result)).collect()
            }
            Node::Allow(bags, body) => {
                let below = &all[*body];
                let possible = bags.iter().filter(|names| names.iter().all(|name| below.contains(name)));
                possible.flat_map(|names| names.iter().copied()).collect()
            }
            Node::Block(names, body) | Node::Hide(names, body) => {
                all[*body].iter().copied().filter(|name| !is_part(&[*name], names)).collect()
            }
            Node::Rename(renamings, body) => all[*body]
                .iter()
                .map(|name| renamings.iter().find(|(old, _)| old == name).map_or(*name, |&(_, new)| new))
                .collect(),
        };
        all.push(names);
    }
    all
}

fn too_many(program: &Program, skeleton: &Skeleton, limit: usize) -> Diagnostic {
    let components = skeleton.components.len();
    let message = format!("{components} components have more than {limit} different steps together");
    let allows = skeleton.nodes.iter().any(|node| matches!(node, Node::Allow(..)));
    let help = if allows {
        "allow fewer multi-actions, or put an allow around those parts that have none: what is hidden below an allow may happen together with everything"
    } else {
        "put allow({...}, ...) around the parallel composition: without it any set of components may act at the same time"
    };
    Diagnostic::error(message).at(skeleton::init_span(program).range(), "").help(help)
}
