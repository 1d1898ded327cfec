//! `!`, `&&`, `||`, `=>` and `if`.

use super::Domain;
use crate::typed::Builtin;

/// The value of the first operand of `&&`, `||` or `=>` that decides the result alone, and that
/// result. The second operand decides alone if it equals the result.
#[inline]
pub(crate) fn deciding(connective: Builtin) -> (bool, bool) {
    match connective {
        Builtin::And => (false, false),
        Builtin::Or => (true, true),
        _ => (false, true),
    }
}

/// `left && right`, `left || right` or `left => right`; `None` if both are open.
#[inline]
pub(crate) fn connective<D: Domain>(
    domain: &mut D,
    connective: Builtin,
    left: &D::Term,
    right: &D::Term,
) -> Option<D::Term> {
    let (decides, result) = deciding(connective);
    match (domain.truth(left), domain.truth(right)) {
        (Some(first), _) if first != decides => Some(right.clone()),
        (Some(_), _) => Some(domain.bool(result)),
        (None, Some(second)) if second == result => Some(right.clone()),
        (None, Some(_)) if connective == Builtin::Implies => not(domain, left),
        (None, Some(_)) => Some(left.clone()),
        (None, None) => None,
    }
}

/// `!operand`; `None` if the domain cannot express it.
#[inline]
pub(crate) fn not<D: Domain>(domain: &mut D, operand: &D::Term) -> Option<D::Term> {
    match domain.truth(operand) {
        Some(value) => Some(domain.bool(!value)),
        None => domain.operand_of_negation(operand).or_else(|| domain.negation(operand)),
    }
}

/// `if(condition, then, otherwise)`; `None` if the condition is open and the results differ.
#[inline]
pub(crate) fn conditional<D: Domain>(
    domain: &D,
    condition: &D::Term,
    then: &D::Term,
    otherwise: &D::Term,
) -> Option<D::Term> {
    match domain.truth(condition) {
        Some(true) => Some(then.clone()),
        Some(false) => Some(otherwise.clone()),
        None => domain.same(then, otherwise).then(|| then.clone()),
    }
}
