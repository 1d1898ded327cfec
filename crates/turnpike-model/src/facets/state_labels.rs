//! Labels of states, such as those of the locations of timed automata.

use crate::diagnostic::Diagnostic;

/// Tests which labels a state has.
///
/// **Contract.** For systems with this facet, a `label` objective is about states, and for all
/// others about transitions.
pub trait StateLabels {
    /// Compiles a list of labels, separated by commas, for this explorer.
    fn compile_labels(&mut self, text: &str) -> Result<LabelSetId, Diagnostic>;

    /// Whether `state` has all labels of a list that this explorer compiled.
    fn has_labels(&mut self, labels: LabelSetId, state: &[u32]) -> bool;
}

/// A list of labels compiled by one explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelSetId(pub u32);
