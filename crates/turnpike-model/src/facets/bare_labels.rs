//! Labels without their arguments: data terms of mCRL2 can be long.

use crate::label::{Label, LabelId};

/// Names the actions of a label without formatting their arguments.
///
/// **Contract.** The label has the same action names in the same order as that of
/// [`Explorer::label`](crate::Explorer::label). Its text and arguments have no meaning.
pub trait BareLabels {
    /// The label with action names only.
    fn bare_label(&mut self, id: LabelId) -> Label;
}
