//! Decision trees: the merged rules of a function, which inspect every part of an argument at most
//! once.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::compile::{Compiler, conversion, projection};
use super::equations::{Group, Pattern};
use super::node::{Body, Function, Node, NodeId, Otherwise, Switch, Test};
use super::{Rules, Scope};
use crate::typed::{Builtin, Program, SymbolKind, VariableId};

/// Beyond this many states a tree tries its rules one after the other.
const MAX_TREE_STATES: usize = 2000;

/// A rule that may still apply at a node of the tree.
#[derive(Clone, Debug)]
struct Item<'a> {
    rule: usize,
    /// The remaining tests, by slot.
    tests: Vec<(u32, Test, &'a [Pattern])>,
    /// The slots of its variables. All slots of one variable must hold the same value.
    bound: Vec<(VariableId, u32)>,
}

struct Builder<'a> {
    group: &'a Group,
    compiler: Compiler<'a>,
    lazy: u64,
    /// The slots for the arguments of the value in a slot.
    slots: FxHashMap<(u32, u32), u32>,
    memo: FxHashMap<Vec<u32>, NodeId>,
    /// The condition and right side of rules, by the set of evaluated parameters.
    bodies: FxHashMap<(usize, u64), (Option<NodeId>, NodeId)>,
    fail: NodeId,
}

/// Compiles the rules of a function.
pub(super) fn function(rules: &Arc<Rules>, program: &Program, index: u32) -> Function {
    let group = &rules.known.groups[index as usize];
    let shape = rules.known.shape(index);
    let mut scope = Scope::default();
    for _ in 0..group.arity {
        scope.fresh();
    }
    let mut compiler = Compiler::new(rules, program, scope, Body::default());
    let fail = compiler.body().add(Node::Fail);
    let mut builder = Builder {
        group,
        compiler,
        lazy: shape.lazy,
        slots: FxHashMap::default(),
        memo: FxHashMap::default(),
        bodies: FxHashMap::default(),
        fail,
    };
    let items: Vec<Item> = (0..group.rules.len())
        .map(|rule| {
            let mut item = Item { rule, tests: Vec::new(), bound: Vec::new() };
            for (slot, pattern) in group.rules[rule].patterns.iter().enumerate() {
                item.expect(slot as u32, pattern);
            }
            item
        })
        .collect();
    let root = builder.build(items, 0);
    let (scope, body) = builder.compiler.finish();
    let symbol = program.symbol(group.symbol);
    let first = program.signature(group.symbol).0.len().min(group.arity);
    let otherwise = match &symbol.kind {
        _ if group.arity != program.signature(group.symbol).0.len() => Otherwise::Stuck,
        SymbolKind::Builtin(Builtin::Convert) => {
            let (from, to) = (program.signature(group.symbol).0[0], program.signature(group.symbol).1);
            conversion(from, to).map_or(Otherwise::Stuck, Otherwise::Convert)
        }
        SymbolKind::Builtin(builtin) => Otherwise::Builtin(*builtin),
        SymbolKind::Projection { .. } => Otherwise::Project(projection(program, group.symbol)),
        SymbolKind::Recogniser { sort, index } => {
            Otherwise::Recognise(program.constructors(*sort)[*index as usize])
        }
        _ => Otherwise::Stuck,
    };
    Function {
        symbol: Some(group.symbol),
        arity: group.arity as u32,
        first: first as u32,
        frame: scope.size() as u32,
        conditional: shape.conditional.filter(|_| !group.is_if(program)),
        body,
        root,
        otherwise,
    }
}

impl<'a> Item<'a> {
    fn expect(&mut self, slot: u32, pattern: &'a Pattern) {
        match pattern {
            Pattern::Variable(variable) => self.bound.push((*variable, slot)),
            Pattern::Test(test, below) => self.tests.push((slot, *test, below)),
        }
    }
}

impl<'a> Builder<'a> {
    /// The tree for these rules when the parameters in `forced` have been evaluated.
    fn build(&mut self, items: Vec<Item<'a>>, forced: u64) -> NodeId {
        let Some(first) = items.first() else { return self.fail };
        let mut key: Vec<u32> = vec![forced as u32, (forced >> 32) as u32];
        for item in &items {
            key.extend([u32::MAX, item.rule as u32]);
            key.extend(item.tests.iter().map(|&(slot, _, _)| slot));
        }
        if let Some(&known) = self.memo.get(&key) {
            return known;
        }
        let tested = first.tests.iter().map(|&(slot, _, _)| slot).max_by_key(|&slot| {
            let times = items.iter().filter(|item| item.tests.iter().any(|test| test.0 == slot)).count();
            (times, u32::MAX - slot)
        });
        let node = stacker::maybe_grow(128 * 1024, 1024 * 1024, || match tested {
            Some(slot) => self.force(slot, forced, |this, forced| this.switch(&items, slot, forced)),
            None => self.leaf(&items, forced),
        });
        self.memo.insert(key, node);
        node
    }

    /// Evaluates a parameter first if it may be delayed.
    fn force(&mut self, slot: u32, forced: u64, then: impl FnOnce(&mut Self, u64) -> NodeId) -> NodeId {
        if slot as usize >= self.group.arity.min(64) || (forced | !self.lazy) >> slot & 1 == 1 {
            return then(self, forced);
        }
        let next = then(self, forced | 1 << slot);
        self.compiler.body().add(Node::Force { slot, next })
    }

    fn switch(&mut self, items: &[Item<'a>], slot: u32, forced: u64) -> NodeId {
        let alone = self.memo.len() > MAX_TREE_STATES;
        let test_of = |item: &Item<'a>| item.tests.iter().find(|test| test.0 == slot).copied();
        let mut cases: Vec<Test> = Vec::new();
        for item in &items[..if alone { 1 } else { items.len() }] {
            if let Some((_, test, _)) = test_of(item)
                && !cases.contains(&test)
            {
                cases.push(test);
            }
        }
        let mut targets = Vec::new();
        for case in cases {
            let mut rest = Vec::new();
            let mut loads: BTreeSet<(u32, u32)> = BTreeSet::new();
            for (index, item) in items.iter().enumerate() {
                match test_of(item) {
                    Some((_, test, below)) if !alone || index == 0 => {
                        if test != case {
                            continue;
                        }
                        let mut item = item.clone();
                        item.tests.retain(|one| one.0 != slot);
                        for (argument, pattern) in below.iter().enumerate() {
                            let child = self.child(slot, argument as u32);
                            loads.insert((argument as u32, child));
                            item.expect(child, pattern);
                        }
                        rest.push(item);
                    }
                    _ => rest.push(item.clone()),
                }
            }
            let mut next = self.build(rest, forced);
            for (index, to) in loads.into_iter().rev() {
                next = self.compiler.body().add(Node::Load { from: slot, index, to, next });
            }
            targets.push((case, next));
        }
        let others: Vec<Item> = if alone {
            items[1..].to_vec()
        } else {
            items.iter().filter(|item| test_of(item).is_none()).cloned().collect()
        };
        let otherwise = self.build(others, forced);
        let body = self.compiler.body();
        body.switches.push(Switch::new(targets, otherwise));
        let switch = body.switches.len() as u32 - 1;
        body.add(Node::Switch { slot, switch })
    }

    fn child(&mut self, slot: u32, index: u32) -> u32 {
        let scope = self.compiler.scope();
        *self.slots.entry((slot, index)).or_insert_with(|| scope.fresh())
    }

    /// A rule whose pattern matches: compares repeated variables, then evaluates the condition.
    fn leaf(&mut self, items: &[Item<'a>], forced: u64) -> NodeId {
        let (item, rest) = (&items[0], &items[1..]);
        let mut same: Vec<(u32, u32)> = Vec::new();
        for (index, &(variable, slot)) in item.bound.iter().enumerate() {
            if let Some(&(_, first)) = item.bound[..index].iter().find(|one| one.0 == variable) {
                same.push((first, slot));
            }
        }
        self.compare(item, rest, &same, forced)
    }

    fn compare(&mut self, item: &Item<'a>, rest: &[Item<'a>], same: &[(u32, u32)], forced: u64) -> NodeId {
        let Some((&(left, right), others)) = same.split_first() else {
            return self.compile_match(item, rest, forced);
        };
        self.force(left, forced, |this, forced| {
            this.force(right, forced, |this, forced| {
                let next = this.compare(item, rest, others, forced);
                let otherwise = this.build(rest.to_vec(), forced);
                this.compiler.body().add(Node::Same { left, right, next, otherwise })
            })
        })
    }

    fn compile_match(&mut self, item: &Item<'a>, rest: &[Item<'a>], forced: u64) -> NodeId {
        let (condition, right) = match self.bodies.get(&(item.rule, forced)) {
            Some(&known) => known,
            None => {
                let rule = &self.group.rules[item.rule];
                let lazy: FxHashSet<u32> = (0..self.group.arity.min(64) as u32)
                    .filter(|&slot| (self.lazy & !forced) >> slot & 1 == 1)
                    .collect();
                let scope = self.compiler.scope();
                scope.slots.clear();
                for &(variable, slot) in item.bound.iter().rev() {
                    scope.slots.insert(variable, slot);
                }
                self.compiler.set_lazy(lazy);
                let condition = rule.condition.map(|id| self.compiler.root(id));
                let made = (condition, self.compiler.root(rule.right));
                self.bodies.insert((item.rule, forced), made);
                made
            }
        };
        match condition {
            None => right,
            Some(condition) => {
                let otherwise = self.build(rest.to_vec(), forced);
                self.compiler.body().add(Node::When { condition, then: right, otherwise })
            }
        }
    }
}
