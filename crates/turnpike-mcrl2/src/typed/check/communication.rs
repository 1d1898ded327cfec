//! Checks the action names in `block`, `hide`, `allow`, `rename` and `comm`.

use super::checker::Checker;
use crate::syntax::{CommRule, MultiAction, Name, Renaming, Symbol};
use crate::typed::sorts::SortId;

/// Names that communicate, and the resulting name.
type Communication = (Box<[Symbol]>, Symbol);

impl Checker<'_> {
    /// A declared action name.
    fn check_action_name(&mut self, name: Name) -> Option<Symbol> {
        let word = self.word(name.symbol);
        if self.actions.contains_key(&word) {
            return Some(word);
        }
        let mut names: Vec<Symbol> = self.program.actions.iter().map(|one| one.name).collect();
        if self.processes.contains_key(&word) {
            let message = format!("{} is a process, but an action is needed here", self.text(word));
            self.error(name.span, message);
        } else {
            self.unknown(name.span, "action", word, &mut names);
        }
        None
    }

    pub(super) fn check_action_names(&mut self, names: &[Name]) -> Option<Box<[Symbol]>> {
        let all: Vec<Option<Symbol>> = names.iter().map(|&name| self.check_action_name(name)).collect();
        all.into_iter().collect()
    }

    pub(super) fn check_allow(&mut self, actions: &[MultiAction]) -> Option<Box<[Box<[Symbol]>]>> {
        let all: Vec<_> = actions.iter().map(|one| self.check_action_names(&one.names)).collect();
        all.into_iter().collect()
    }

    /// The argument sorts of actions with this name, in source order.
    fn action_sorts(&self, word: Symbol) -> Vec<&[SortId]> {
        let all = self.actions.get(&word).map_or(&[][..], Vec::as_slice);
        all.iter().map(|&one| &*self.program.action(one).sorts).collect()
    }

    fn action_text(&self, word: Symbol) -> String {
        let all: Vec<String> =
            self.action_sorts(word).iter().map(|sorts| self.signature_text(word, sorts)).collect();
        all.join(", ")
    }

    /// `a: Nat # Bool`, or only `a`.
    pub(super) fn signature_text(&self, word: Symbol, sorts: &[SortId]) -> String {
        if sorts.is_empty() {
            return self.text(word).to_owned();
        }
        let sorts: Vec<String> = sorts.iter().map(|&sort| self.sort_text(sort)).collect();
        format!("{}: {}", self.text(word), sorts.join(" # "))
    }

    pub(super) fn check_rename(&mut self, renamings: &[Renaming]) -> Option<Box<[(Symbol, Symbol)]>> {
        let mut all: Vec<Option<(Symbol, Symbol)>> = Vec::with_capacity(renamings.len());
        for renaming in renamings {
            let from = self.check_action_name(renaming.from);
            let to = self.check_action_name(renaming.to);
            let (Some(from), Some(to)) = (from, to) else {
                all.push(None);
                continue;
            };
            if all.iter().flatten().any(|&(other, _)| other == from) {
                let message = format!("{} is renamed twice", self.text(from));
                self.error(renaming.from.span, message);
            }
            let targets = self.action_sorts(to);
            if !self.action_sorts(from).iter().any(|sorts| targets.contains(sorts)) {
                let message = format!(
                    "{} cannot be renamed to {}, which takes other data",
                    self.text(from),
                    self.text(to)
                );
                let help = format!("there is {} and {}", self.action_text(from), self.action_text(to));
                self.error_with_help(renaming.to.span, message, help);
            }
            all.push(Some((from, to)));
        }
        all.into_iter().collect()
    }

    pub(super) fn check_comm(&mut self, rules: &[CommRule]) -> Option<Box<[Communication]>> {
        let mut all = Vec::with_capacity(rules.len());
        for rule in rules {
            let (from, to) = (self.check_action_names(&rule.from), self.check_action_name(rule.to));
            all.push(from.zip(to));
        }
        for (index, (rule, names)) in rules.iter().zip(&all).enumerate() {
            let Some((from, to)) = names else { continue };
            for (position, &name) in from.iter().enumerate() {
                if let Some(other) = from.first().filter(|&&other| !self.same_sorts(name, other)) {
                    let message =
                        format!("{} and {} take different data", self.text(*other), self.text(name));
                    let help =
                        format!("there is {} and {}", self.action_text(*other), self.action_text(name));
                    self.error_with_help(rule.from[position].span, message, help);
                }
                let elsewhere = all[..index].iter().flatten().any(|(other, _)| other.contains(&name));
                if elsewhere && !from[..position].contains(&name) {
                    let message = format!("{} communicates in two ways", self.text(name));
                    self.error_with_help(
                        rule.from[position].span,
                        message,
                        "an action may be on the left of one rule only",
                    );
                }
            }
            let others = all.iter().enumerate().filter(|&(other, _)| other != index);
            if others.filter_map(|(_, one)| one.as_ref()).any(|(other, _)| other.contains(to)) {
                let message =
                    format!("{} is the result of one rule and communicates in another", self.text(*to));
                self.error(rule.to.span, message);
            }
            let targets = self.action_sorts(*to);
            if let Some(&first) = from.first()
                && !self.action_sorts(first).iter().all(|sorts| targets.contains(sorts))
            {
                let message =
                    format!("{} cannot become {}, which takes other data", self.text(first), self.text(*to));
                let help = format!("there is {} and {}", self.action_text(first), self.action_text(*to));
                self.error_with_help(rule.to.span, message, help);
            }
        }
        all.into_iter().collect()
    }

    fn same_sorts(&self, left: Symbol, right: Symbol) -> bool {
        let (left, right) = (self.action_sorts(left), self.action_sorts(right));
        left.len() == right.len() && left.iter().all(|sorts| right.contains(sorts))
    }
}
