//! Actions of a formula that cannot occur: `[a]false` holds if no transition has the label `a`,
//! which proves nothing about a hidden `a`.

use turnpike_mcrl2::explore::Requirement;
use turnpike_model::{Diagnostic, Model, Severity};

use crate::impossible;

/// Warnings about actions that cannot occur, and errors about those that may be the only reason why
/// the formula holds.
pub(super) fn find(model: &dyn Model, requirement: &Requirement) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let (mut warnings, mut errors) = (Vec::new(), Vec::new());
    for absent in requirement.absent_actions() {
        let Some(error) = impossible::explain(model, absent.word) else { continue };
        let error = error.at(absent.place, "");
        warnings.push(Diagnostic { severity: Severity::Warning, ..error.clone() });
        errors.extend(absent.helps.then(|| refuse(&error)));
    }
    (warnings, errors)
}

/// The error for a formula that may hold only because of what this says.
pub(super) fn refuse(absent: &Diagnostic) -> Diagnostic {
    let message = format!("{}, so the formula may hold for that reason alone", absent.message);
    impossible::with_consent(Diagnostic { severity: Severity::Error, message, ..absent.clone() })
}
