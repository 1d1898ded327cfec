//! The outer part of random specifications: parallel processes under several operators `comm`,
//! `allow`, `hide`, `rename` and `block`, most of which have an effect.

use std::collections::BTreeSet;

use super::generate::{Maker, Place};
use super::specification::{Data, GROUPS, Infix, Operator, Process, Sort, Variable};

/// The kinds of [`Operator`].
#[derive(Clone, Copy)]
enum Setting {
    Block,
    Hide,
    Rename,
    Allow,
    Comm,
}

impl Maker<'_> {
    /// Parallel sequential processes under operators.
    pub(super) fn composition(&mut self, depth: usize, scope: &[Variable], named: bool) -> Process {
        if depth == 0 || self.draw.percent(8) {
            if named && self.draw.percent(30) {
                return self.call(self.sequential, scope);
            }
            if self.draw.percent(65) {
                let index = self.draw.below(self.sequential);
                return self.call(index, scope);
            }
            let depth = self.draw.below(3);
            return self.behaviour(depth, scope, Place { owner: None, guarded: false, last: true });
        }
        if self.parallels > 0 && self.draw.percent(45) {
            self.parallels -= 1;
            let left = self.composition(depth - 1, scope, named);
            let right = self.composition(depth - 1, scope, named);
            return Process::Infix(Infix::Parallel, Box::new(left), Box::new(right));
        }
        let body = self.composition(depth - 1, scope, named);
        self.under(body)
    }

    /// `n + 1` parallel processes, where `n` is a parameter.
    pub(super) fn tower(&mut self, scope: &[Variable]) -> Process {
        self.parallels = 0;
        let last = Box::new(self.composition(1, scope, false));
        let one = Box::new(self.composition(1, scope, false));
        let less = Data { sort: Sort::Nat, text: "Int2Nat(n - 1)".to_owned() };
        let rest = Box::new(Process::Assign(self.sequential, vec![("n".to_owned(), less)]));
        let mut more = Process::Infix(Infix::Parallel, one, rest);
        if self.draw.percent(50) {
            more = self.under(more);
        }
        let condition = Data { sort: Sort::Bool, text: "n == 0".to_owned() };
        Process::If(condition, last, Some(Box::new(more)))
    }

    /// Two or three parallel processes under several operators.
    pub(super) fn stack(&mut self, named: bool) -> Process {
        self.parallels = 0;
        let mut all = self.component(named);
        for _ in 0..self.draw.weighted(&[(3, 1), (1, 2)]) {
            let next = self.component(named);
            all = Process::Infix(Infix::Parallel, Box::new(all), Box::new(next));
        }
        // Usually each kind once, in any order.
        let mut kinds = vec![Setting::Comm, Setting::Hide, Setting::Allow, Setting::Rename, Setting::Block];
        if self.draw.percent(60) {
            all = self.under_a(kinds.remove(0), all);
        }
        for _ in 0..self.draw.between(1, 4) {
            let at = self.draw.below(kinds.len());
            let kind = if self.draw.percent(80) { kinds.remove(at) } else { kinds[at] };
            all = self.under_a(kind, all);
        }
        all
    }

    fn component(&mut self, named: bool) -> Process {
        match self.draw.below(4) {
            0 => self.multi_action(&[]),
            1 => {
                let left = self.multi_action(&[]);
                Process::Infix(Infix::Choice, Box::new(left), Box::new(self.multi_action(&[])))
            }
            depth => self.composition(depth - 2, &[], named),
        }
    }

    pub(super) fn under(&mut self, body: Process) -> Process {
        // Compositions usually communicate.
        let composed = matches!(body, Process::Infix(Infix::Parallel, ..));
        let kind = self.draw.weighted(&[
            (1, Setting::Block),
            (2, Setting::Hide),
            (2, Setting::Rename),
            (2, Setting::Allow),
            (if composed { 9 } else { 2 }, Setting::Comm),
        ]);
        self.under_a(kind, body)
    }

    fn under_a(&mut self, kind: Setting, body: Process) -> Process {
        let inside = self.names_in(&body);
        let operator = match kind {
            Setting::Block => Operator::Block(self.some_names(&inside)),
            Setting::Hide => Operator::Hide(self.some_names(&inside)),
            Setting::Rename => self.rename(&inside.all),
            Setting::Allow => self.allow(&inside),
            Setting::Comm => self.comm(&inside.all),
        };
        Process::Under(operator, Box::new(body))
    }

    /// One or two names, usually of those that occur, and often of those that communicate.
    fn some_names(&mut self, inside: &Names) -> Vec<String> {
        let count = self.draw.between(1, 2);
        let mut all = BTreeSet::new();
        for _ in 0..count {
            let from = if self.draw.percent(50) { &inside.communicating } else { &inside.all };
            all.insert(self.name(from));
        }
        all.into_iter().collect()
    }

    fn name(&mut self, names: &[String]) -> String {
        if names.is_empty() || self.draw.percent(15) {
            return self.draw.pick(&self.alphabet).0.to_owned();
        }
        self.draw.pick(names).clone()
    }

    /// Usually the results of communication, and less often its operands.
    fn allow(&mut self, inside: &Names) -> Operator {
        let mut all = Vec::new();
        let share = *self.draw.pick(&[30, 60, 90]);
        for name in &inside.all {
            let share = match inside.communicating.contains(name) {
                true => share / 2,
                false if inside.results.contains(name) => 90,
                false => share,
            };
            if self.draw.percent(share) {
                all.push(vec![name.clone()]);
            }
        }
        for _ in 0..self.draw.below(4) {
            let count = self.draw.weighted(&[(2, 1), (4, 2), (1, 3)]);
            let mut one: Vec<String> = (0..count).map(|_| self.name(&inside.all)).collect();
            one.sort();
            all.push(one);
        }
        all.sort();
        all.dedup();
        Operator::Allow(all)
    }

    fn rename(&mut self, names: &[String]) -> Operator {
        let mut all: Vec<(String, String)> = Vec::new();
        for _ in 0..self.draw.between(1, 2) {
            let old = self.name(names);
            let group = group_of(&old);
            let new = (*self.draw.pick(group)).to_owned();
            if old != new && !all.iter().any(|(known, _)| *known == old) {
                all.push((old, new));
            }
        }
        Operator::Rename(all)
    }

    fn comm(&mut self, names: &[String]) -> Operator {
        let mut rules: Vec<(Vec<String>, String)> = Vec::new();
        for _ in 0..self.draw.between(1, 2) {
            let first = self.name(names);
            let group = group_of(&first);
            let mut left = vec![first];
            for _ in 0..self.draw.weighted(&[(5, 1), (1, 2)]) {
                // Usually different names that occur, and a result that is not one of them.
                let different = self.draw.percent(70);
                let likely: Vec<String> = names
                    .iter()
                    .filter(|name| group.contains(&name.as_str()) && !(different && left.contains(name)))
                    .cloned()
                    .collect();
                left.push(match likely.is_empty() || self.draw.percent(20) {
                    true => (*self.draw.pick(group)).to_owned(),
                    false => self.draw.pick(&likely).clone(),
                });
            }
            let mut right = (*self.draw.pick(group)).to_owned();
            if left.contains(&right) {
                right = (*self.draw.pick(group)).to_owned();
            }
            let clash = rules.iter().any(|(known, result)| {
                left.contains(result)
                    || known.contains(&right)
                    || left.iter().any(|name| known.contains(name))
            });
            if !clash {
                rules.push((left, right));
            }
        }
        Operator::Comm(rules)
    }

    /// The names that occur in a process, including those in called processes.
    fn names_in(&self, process: &Process) -> Names {
        let [mut all, mut communicating, mut results] = [const { BTreeSet::new() }; 3];
        let mut done = BTreeSet::new();
        let mut todo = vec![process];
        while let Some(process) = todo.pop() {
            process.walk(&mut |one| match one {
                Process::Action(name, _) => {
                    all.insert(name.clone());
                }
                Process::Call(index, _) | Process::Assign(index, _) if done.insert(*index) => {
                    todo.extend(self.definitions.get(*index).map(|definition| &definition.body));
                }
                Process::Under(Operator::Rename(renamings), _) => {
                    all.extend(renamings.iter().map(|(_, new)| new.clone()));
                }
                Process::Under(Operator::Comm(rules), _) => {
                    communicating.extend(rules.iter().flat_map(|(names, _)| names.iter().cloned()));
                    results.extend(rules.iter().map(|(_, new)| new.clone()));
                }
                _ => {}
            });
        }
        all.extend(results.iter().cloned());
        let [all, communicating, results] =
            [all, communicating, results].map(|set| set.into_iter().collect());
        Names { all, communicating, results }
    }
}

/// The names in a process: all names, those that communicate, and the results.
struct Names {
    all: Vec<String>,
    communicating: Vec<String>,
    results: Vec<String>,
}

/// The names with the same sorts as this one.
fn group_of(name: &str) -> &'static [&'static str] {
    GROUPS.iter().find(|(names, _)| names.contains(&name)).map_or(GROUPS[0].0, |group| group.0)
}
