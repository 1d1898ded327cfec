//! Tests of single states: conditions, labels of states, comparisons of measures.

use turnpike_model::predicate::MeasureExpression;
use turnpike_model::{Diagnostic, Explorer, LabelSetId, ModelInfo, PredicateId, StepError};

/// All explorers of a model have the same facets.
pub(super) const SAME_FACETS: &str = "the explorer that compiled the test has this facet";

/// How a state is tested.
pub(super) enum StateTest {
    Predicate(PredicateId),
    Labels(LabelSetId),
    Measures(MeasureExpression),
}

impl StateTest {
    /// A condition in the front-end's own language, or over measures where it has none.
    pub(super) fn of_expression(
        text: &str,
        explorer: &mut dyn Explorer,
        info: &ModelInfo,
    ) -> Result<Self, Diagnostic> {
        Ok(match explorer.predicates() {
            Some(predicates) => StateTest::Predicate(predicates.compile(text)?),
            None => StateTest::Measures(MeasureExpression::parse(text, info)?),
        })
    }

    /// A list of labels where states have them, or a condition.
    pub(super) fn of_set(
        text: &str,
        explorer: &mut dyn Explorer,
        info: &ModelInfo,
    ) -> Result<Self, Diagnostic> {
        let labels = explorer.state_labels().map(|labels| labels.compile_labels(text));
        if let Some(Ok(id)) = labels {
            return Ok(StateTest::Labels(id));
        }
        match (StateTest::of_expression(text, explorer, info), labels) {
            // A text that can only be a list of names is not a condition.
            (Err(_), Some(Err(error)))
                if text.chars().all(|c| c.is_alphanumeric() || "_,.$@ ".contains(c)) =>
            {
                Err(error)
            }
            (condition, _) => condition,
        }
    }

    pub(super) fn holds(&self, explorer: &mut dyn Explorer, state: &[u32]) -> Result<bool, StepError> {
        match self {
            StateTest::Predicate(id) => explorer.predicates().expect(SAME_FACETS).holds(*id, state),
            StateTest::Labels(id) => Ok(explorer.state_labels().expect(SAME_FACETS).has_labels(*id, state)),
            StateTest::Measures(expression) => Ok(expression.holds(explorer, state)),
        }
    }
}
