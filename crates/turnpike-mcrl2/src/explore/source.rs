//! The text of a specification, for messages that refer to it.

use turnpike_model::StepError;

use super::emit::Trouble;
use crate::compile::evaluator::EvaluationError;
use crate::compile::process::Network;
use crate::compile::solver::EnumerationError;
use crate::syntax::Span;
use crate::typed::expression;
use crate::value::Heap;

/// A specification's name and text.
#[derive(Debug)]
pub(super) struct SourceText {
    pub(super) name: String,
    pub(super) text: String,
}

impl SourceText {
    /// `name:line:column`, both from 1.
    pub(super) fn place(&self, span: Span) -> String {
        let start = (span.start as usize).min(self.text.len());
        let before = self.text.get(..start).unwrap_or_default();
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// An error for the user. `span` is the position of the summand.
    pub(super) fn explain(
        &self,
        network: &Network,
        heap: &Heap,
        trouble: Trouble,
        span: Option<Span>,
    ) -> StepError {
        let program = &network.program();
        let text = |value| network.text(heap, value);
        let place = span.map_or_else(|| self.name.clone(), |span| self.place(span));
        let evaluation = |error: EvaluationError| match error {
            EvaluationError::OutOfSteps => {
                "the evaluation of an expression does not end: the equations may not terminate".to_owned()
            }
            EvaluationError::TooDeep => "an expression nests too deeply to be evaluated".to_owned(),
            EvaluationError::Other(message) => message,
        };
        let message = match trouble {
            Trouble::Stuck { condition, value } => format!(
                "condition {} does not rewrite to true or false; culprit: {}",
                expression::text(program, condition),
                text(value)
            ),
            Trouble::Evaluation(error) | Trouble::Enumeration(EnumerationError::Evaluation(error)) => {
                evaluation(error)
            }
            Trouble::Enumeration(EnumerationError::Stuck { condition, value }) => format!(
                "condition {} does not rewrite to true or false; culprit: {}",
                expression::text(program, condition),
                text(value)
            ),
            Trouble::Enumeration(EnumerationError::Endless { variable, reason }) => {
                let found = program.variable(variable);
                let declared = if found.span == Span::default() {
                    String::new()
                } else {
                    format!(" (declared at {})", self.place(found.span))
                };
                format!(
                    "cannot enumerate sum {}: {}{declared}: {reason}",
                    program.text(found.name),
                    program.sort_text(found.sort)
                )
            }
            Trouble::Weights(weights) => {
                let weights: Vec<String> =
                    weights.iter().map(|&weight| text(weight).replace(' ', "")).collect();
                format!("probabilities [{}] do not add up to one", weights.join(", "))
            }
        };
        StepError::new(format!("{place}: {message}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_columns() {
        let source = SourceText { name: "m.mcrl2".to_owned(), text: "act a;\n% ü é\ninit a;\n".to_owned() };
        let at = |word: &str| {
            let start = source.text.find(word).expect("there") as u32;
            source.place(Span::new(start, start + 1))
        };
        assert_eq!(at("act"), "m.mcrl2:1:1");
        assert_eq!(at("é"), "m.mcrl2:2:5");
        assert_eq!(at("init"), "m.mcrl2:3:1");
        assert_eq!(source.place(Span::new(10_000, 10_001)), "m.mcrl2:4:1");
    }
}
