//! The number of values of a sort, and an enumeration of them if they are few.

use rustc_hash::FxHashMap;

use crate::syntax::Container;
use crate::typed::{Program, Sort, SortId};

/// Sorts with at most this many values are listed. Values of larger sorts are built field by field,
/// if at all.
pub const LIST_LIMIT: u64 = 1 << 16;

/// Sizes of sorts, memoized.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    known: FxHashMap<SortId, Option<u64>>,
}

impl Sizes {
    /// The number of values of a sort: `u64::MAX` if there are at least that many, `None` if there
    /// are infinitely many or they cannot be constructed.
    pub fn of(&mut self, program: &Program, sort: SortId) -> Option<u64> {
        if let Some(&size) = self.known.get(&sort) {
            return size;
        }
        // A recursive sort is infinite: the recursion finds this entry.
        self.known.insert(sort, None);
        let size = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.compute(program, sort));
        self.known.insert(sort, size);
        size
    }

    fn compute(&mut self, program: &Program, sort: SortId) -> Option<u64> {
        match program.sorts.get(sort) {
            Sort::Bool => Some(2),
            Sort::Pos | Sort::Nat | Sort::Int | Sort::Real | Sort::Unknown => None,
            Sort::Container(Container::Set | Container::FSet, element) => {
                Some(power(2, self.of(program, *element)?))
            }
            Sort::Container(..) => None,
            Sort::Function { domain, codomain } => {
                let arguments = self.product(program, domain)?;
                Some(power(self.of(program, *codomain)?, arguments))
            }
            Sort::Basic(_) | Sort::Struct(_) => {
                let constructors = program.constructors(sort);
                if constructors.is_empty() {
                    return None;
                }
                let mut sum = 0u64;
                for &constructor in constructors {
                    sum = sum.saturating_add(self.product(program, program.signature(constructor).0)?);
                }
                Some(sum)
            }
        }
    }

    fn product(&mut self, program: &Program, sorts: &[SortId]) -> Option<u64> {
        sorts.iter().try_fold(1u64, |product, &sort| Some(product.saturating_mul(self.of(program, sort)?)))
    }
}

fn power(base: u64, exponent: u64) -> u64 {
    match (base, exponent) {
        (_, 0) => 1,
        (0 | 1, _) => base,
        _ => base.saturating_pow(u32::try_from(exponent).unwrap_or(u32::MAX)),
    }
}

/// Whether a sort has finitely many values, all of which can be constructed.
pub fn is_finite(program: &Program, sort: SortId) -> bool {
    finite_size(program, sort).is_some()
}

/// The number of values of a sort; see [`Sizes::of`].
pub fn finite_size(program: &Program, sort: SortId) -> Option<u64> {
    Sizes::default().of(program, sort)
}

/// Why the values of a sort cannot be enumerated, for the user; `None` if they can be.
pub(super) fn obstacle(program: &Program, sort: SortId) -> Option<String> {
    let text = || program.sort_text(sort);
    match program.sorts.get(sort) {
        Sort::Bool | Sort::Pos | Sort::Nat | Sort::Int | Sort::Container(Container::List, _) => None,
        Sort::Real | Sort::Unknown => {
            Some(format!("cannot enumerate elements of sort {} without constructors", text()))
        }
        Sort::Basic(_) | Sort::Struct(_) => program
            .constructors(sort)
            .is_empty()
            .then(|| format!("cannot enumerate elements of sort {} without constructors", text())),
        Sort::Container(container, _) => match finite_size(program, sort) {
            Some(size) if size <= LIST_LIMIT => None,
            Some(_) => Some(format!("sort {} has too many elements to enumerate", text())),
            None => {
                let kind = match container {
                    Container::Set => "set sort",
                    Container::FSet => "finite set sort",
                    Container::Bag => "bag sort",
                    _ => "finite bag sort",
                };
                Some(format!("cannot enumerate elements of {kind} {}", text()))
            }
        },
        Sort::Function { .. } => match finite_size(program, sort) {
            Some(size) if size <= LIST_LIMIT => None,
            Some(_) => Some(format!("sort {} has too many elements to enumerate", text())),
            None => Some(format!("cannot enumerate elements of function sort {}", text())),
        },
    }
}
