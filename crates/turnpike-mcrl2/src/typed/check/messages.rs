//! Error messages about data, with the sorts found and expected, candidates and suggestions.

use super::checker::Checker;
use super::infer::{Alternative, Resolution};
use super::pattern::PatternId;
use crate::syntax::{Data, DataId, Symbol};
use crate::typed::builtin::Overload;
use crate::typed::sorts::SortId;

/// The most candidates in a message.
const MAX_CANDIDATES: usize = 8;

impl Checker<'_> {
    fn pattern_text(&self, pattern: PatternId) -> String {
        self.patterns.text(&self.program.sorts, &self.program.words, pattern)
    }

    /// The possible sorts of an expression, for the user.
    fn sorts_text(&self, id: DataId) -> String {
        let mut texts: Vec<String> =
            self.inference.alternatives(id).iter().map(|one| self.pattern_text(one.pattern)).collect();
        texts.dedup();
        if texts.len() > 3 {
            texts.truncate(3);
            texts.push("…".to_owned());
        }
        texts.join(" or ")
    }

    fn arguments_text(&self, arguments: &[DataId]) -> String {
        arguments.iter().map(|&one| self.sorts_text(one)).collect::<Vec<_>>().join(", ")
    }

    /// The signatures of functions with this name.
    fn candidates(&self, word: Symbol) -> Vec<String> {
        let name = self.text(word);
        let declared = self.program.symbols_named(word).iter().map(|&one| {
            let sort = self.program.symbol(one).sort;
            format!("{name}: {}", self.sort_text(sort))
        });
        let builtin = self.builtins.get(&word).copied().unwrap_or(&[]).iter();
        declared.chain(builtin.map(|one| format!("{name}: {}", one.text()))).collect()
    }

    /// Suggests an explicit conversion that may have been forgotten.
    fn conversion(&self, id: DataId, sort: SortId) -> Option<String> {
        let [Alternative { pattern, .. }] = *self.inference.alternatives(id) else { return None };
        if !sort.is_number() {
            return None;
        }
        let found = self.pattern_text(pattern);
        let larger = [SortId::NAT, SortId::INT, SortId::REAL]
            .into_iter()
            .find(|&one| one > sort && self.sort_text(one) == found)?;
        let (from, to) = (self.sort_text(larger), self.sort_text(sort));
        Some(format!("{from}2{to}(…) converts it, when the value is in {to}"))
    }

    /// Reports an expression that cannot have the required sort.
    pub(super) fn explain_mismatch(&mut self, id: DataId, sort: SortId, what: &str) {
        let message =
            format!("{what} must have sort {}, but has sort {}", self.sort_text(sort), self.sorts_text(id));
        let span = self.tree.data_span(id);
        match self.conversion(id, sort) {
            Some(help) => self.error_with_help(span, message, help),
            None => self.error(span, message),
        }
    }

    /// Reports functions that fit equally well.
    pub(super) fn explain_ambiguity(&mut self, id: DataId) {
        let span = self.tree.data_span(id);
        // The ambiguous name: at this node, or directly below.
        let mut blamed = None;
        let mut look = |one: DataId| {
            let found = match self.inference.nodes[one.index()].resolution {
                Resolution::Functions(word) => Some(word),
                _ => None,
            };
            if let Some(word) = found.filter(|&word| self.program.symbols_named(word).len() > 1) {
                blamed.get_or_insert(word);
            }
        };
        look(id);
        self.tree.data(id).for_each_child(look);
        match blamed {
            Some(word) => {
                let help = format!("it may be {}", self.shorten(self.candidates(word)));
                self.error_with_help(span, format!("{} is ambiguous here", self.text(word)), help);
            }
            None => self.error(span, "the sort of this expression is ambiguous"),
        }
    }

    fn shorten(&self, mut candidates: Vec<String>) -> String {
        if candidates.len() > MAX_CANDIDATES {
            candidates.truncate(MAX_CANDIDATES);
            candidates.push("…".to_owned());
        }
        candidates.join("; ")
    }

    /// Reports arguments that no function with this name accepts.
    pub(super) fn explain_call(&mut self, id: DataId, word: Symbol, arguments: &[DataId]) {
        let name = self.text(word).to_owned();
        let candidates = self.candidates(word);
        let span = self.tree.data_span(id);
        if let &[symbol] = self.program.symbols_named(word)
            && !self.builtins.contains_key(&word)
        {
            let domain = self.program.signature(symbol).0.to_vec();
            if domain.is_empty() {
                let message = format!("{name} is a constant and takes no arguments");
                return self.error_with_help(span, message, candidates.join("; "));
            }
            if domain.len() != arguments.len() {
                let message =
                    format!("{name} takes {}, not {}", count(domain.len(), "argument"), arguments.len());
                return self.error_with_help(span, message, candidates.join("; "));
            }
            for (position, (&argument, sort)) in arguments.iter().zip(domain).enumerate() {
                if self.fit(argument, sort).is_none() {
                    let what = match arguments.len() {
                        1 => format!("the argument of {name}"),
                        _ => format!("argument {} of {name}", position + 1),
                    };
                    return self.explain_mismatch(argument, sort, &what);
                }
            }
        }
        let message = format!("no {name} takes arguments of the sorts ({})", self.arguments_text(arguments));
        let help = self.shorten(candidates);
        self.error_with_help(span, message, format!("there is {help}"));
    }

    /// Reports an operator that does not accept its operands.
    pub(super) fn explain_operator(
        &mut self,
        id: DataId,
        overloads: &'static [Overload],
        arguments: &[DataId],
    ) {
        let found = self.arguments_text(arguments);
        let span = self.tree.data_span(id);
        let name = match self.tree.data(id) {
            Data::Unary(operator, _) => operator.text(),
            Data::Binary(operator, ..) => operator.text(),
            _ => "a function update",
        };
        let message = match arguments {
            [_] => format!("{name} cannot be applied to the sort {found}"),
            _ => format!("{name} cannot be applied to the sorts ({found})"),
        };
        // A divisor that may be 0 is the most common mistake.
        let divisor = match (self.tree.data(id), overloads) {
            (
                Data::Binary(
                    crate::syntax::BinaryOperator::Div | crate::syntax::BinaryOperator::Mod,
                    _,
                    right,
                ),
                _,
            ) => self.conversion(*right, SortId::POS),
            _ => None,
        };
        let help = divisor.unwrap_or_else(|| {
            format!("it takes {}", self.shorten(overloads.iter().map(Overload::text).collect()))
        });
        self.error_with_help(span, message, help);
    }

    /// Reports the application of an expression that is not a function of these arguments.
    pub(super) fn explain_application(&mut self, function: DataId, arguments: &[DataId]) {
        let message = format!(
            "this has sort {} and cannot be applied to the sorts ({})",
            self.sorts_text(function),
            self.arguments_text(arguments)
        );
        self.error(self.tree.data_span(function), message);
    }

    /// Reports an element that does not fit the previous ones.
    pub(super) fn explain_element(&mut self, _literal: DataId, element: DataId, before: &[Alternative]) {
        let others = before.first().map(|one| self.pattern_text(one.pattern)).unwrap_or_default();
        let message =
            format!("this element has sort {}, those before it have sort {others}", self.sorts_text(element));
        self.error(self.tree.data_span(element), message);
    }
}

/// A number with a noun, in the singular or plural.
pub(super) fn count(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        _ => format!("{number} {thing}s"),
    }
}
