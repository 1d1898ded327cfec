//! Functions on lists. On an open list they use the elements that are known.

use super::Domain;
use crate::typed::Builtin;

/// A function on lists other than `#` and `in`. `None` if it is stuck or another function.
pub(crate) fn apply<D: Domain>(domain: &mut D, builtin: Builtin, operands: &[D::Term]) -> Option<D::Term> {
    match (builtin, operands) {
        (Builtin::Cons, [element, list]) => domain.prepend(vec![element.clone()], list.clone()),
        (Builtin::Snoc, [list, element]) => append(domain, list, element),
        (Builtin::Concat, [left, right]) => concat(domain, left, right),
        (Builtin::At, [list, position]) => at(domain, list, position),
        (Builtin::Head, [list]) => head(domain, list),
        (Builtin::Tail, [list]) => tail(domain, list),
        (Builtin::RHead, [list]) => last(domain, list),
        (Builtin::RTail, [list]) => front(domain, list),
        _ => None,
    }
}

/// The number of known elements of a list, and whether these are all.
pub(crate) fn length<D: Domain>(domain: &D, list: &D::Term) -> (usize, bool) {
    let mut cursor = domain.cursor(list);
    let mut length = 0;
    while domain.next(&mut cursor).is_some() {
        length += 1;
    }
    (length, domain.is_end(&cursor))
}

/// The known elements of a list, and the position after them.
pub(crate) fn elements<D: Domain>(domain: &D, list: &D::Term) -> (Vec<D::Term>, D::Cursor) {
    let mut cursor = domain.cursor(list);
    let mut elements = Vec::new();
    while let Some(element) = domain.next(&mut cursor) {
        elements.push(element);
    }
    (elements, cursor)
}

/// `head(list)`
#[inline]
pub(crate) fn head<D: Domain>(domain: &D, list: &D::Term) -> Option<D::Term> {
    domain.next(&mut domain.cursor(list))
}

/// `tail(list)`
#[inline]
pub(crate) fn tail<D: Domain>(domain: &mut D, list: &D::Term) -> Option<D::Term> {
    let mut cursor = domain.cursor(list);
    domain.next(&mut cursor)?;
    Some(domain.rest(cursor))
}

/// `rhead(list)`: the last element.
pub(crate) fn last<D: Domain>(domain: &D, list: &D::Term) -> Option<D::Term> {
    let mut cursor = domain.cursor(list);
    let mut last = None;
    while let Some(element) = domain.next(&mut cursor) {
        last = Some(element);
    }
    last.filter(|_| domain.is_end(&cursor))
}

/// `rtail(list)`: all elements but the last.
pub(crate) fn front<D: Domain>(domain: &mut D, list: &D::Term) -> Option<D::Term> {
    let (mut elements, cursor) = elements(domain, list);
    elements.pop().filter(|_| domain.is_end(&cursor))?;
    let end = domain.empty_list();
    domain.prepend(elements, end)
}

/// `list <| element`
pub(crate) fn append<D: Domain>(domain: &mut D, list: &D::Term, element: &D::Term) -> Option<D::Term> {
    let (mut elements, cursor) = elements(domain, list);
    let end = if domain.is_end(&cursor) {
        elements.push(element.clone());
        domain.empty_list()
    } else {
        residual(domain, cursor, |_| element.clone())?
    };
    domain.prepend(elements, end)
}

/// `left ++ right`
pub(crate) fn concat<D: Domain>(domain: &mut D, left: &D::Term, right: &D::Term) -> Option<D::Term> {
    if domain.is_end(&domain.cursor(right)) {
        return Some(left.clone());
    }
    let (elements, cursor) = elements(domain, left);
    let is_end = domain.is_end(&cursor);
    if is_end && elements.is_empty() {
        return Some(right.clone());
    }
    let end = if is_end { right.clone() } else { residual(domain, cursor, |_| right.clone())? };
    domain.prepend(elements, end)
}

/// `list . position`. If the known elements are too few, the rest of the list and of the position remain.
pub(crate) fn at<D: Domain>(domain: &mut D, list: &D::Term, position: &D::Term) -> Option<D::Term> {
    let mut left = domain.index(position)?;
    let mut cursor = domain.cursor(list);
    while let Some(element) = domain.next(&mut cursor) {
        if left == 0 {
            return Some(element);
        }
        left -= 1;
    }
    residual(domain, cursor, |domain| domain.count(left))
}

fn residual<D: Domain>(
    domain: &mut D,
    cursor: D::Cursor,
    other: impl FnOnce(&mut D) -> D::Term,
) -> Option<D::Term> {
    if !D::HAS_RESIDUALS {
        return None;
    }
    let rest = domain.rest(cursor);
    let other = other(domain);
    domain.residual([rest, other])
}
