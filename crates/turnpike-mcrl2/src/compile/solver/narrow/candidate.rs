//! Candidates: values for all variables, with undecided places.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::typed::{SortId, SymbolId};
use crate::value::{Head, Heap, Value};

use super::Narrowing;
use super::partial::Range;

/// How to enumerate the values of a sort.
#[derive(Clone, Debug)]
pub(super) enum Growth {
    /// Integers, from the least if there is one.
    Number(Option<i128>),
    /// A finite list of values.
    Values(Arc<[Value]>),
    /// `[]`, or an element of this sort before a list.
    List(SortId),
    /// Constructors, with the sorts of their fields.
    Constructors(Vec<(SymbolId, Box<[SortId]>)>),
    /// They cannot be enumerated.
    None,
}

/// The content of a place of a candidate.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// An undecided value of this sort.
    Hole(SortId),
    /// A number in this range.
    Number(Range),
    /// A constructor, with the index and the number of its arguments. Arguments have higher
    /// indices.
    Node(Head, usize, usize),
    /// A value.
    Value(Value),
}

/// Values for all variables. The first places are the variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidate {
    pub(super) places: Vec<Place>,
    /// The values of the completely known places.
    pub(super) values: Vec<Option<Value>>,
    /// The undecided places, each with its variable. The front is decided next.
    pub(super) holes: VecDeque<(usize, usize)>,
}

impl Candidate {
    /// Adds an undecided place for a variable to the end of the queue.
    pub(super) fn add(&mut self, place: Place, variable: usize) -> usize {
        let index = self.places.len();
        self.values.push(match place {
            Place::Value(value) => Some(value),
            _ => {
                self.holes.push_back((index, variable));
                None
            }
        });
        self.places.push(place);
        index
    }

    fn set(mut self, index: usize, place: Place, variable: usize, heap: &mut Heap) -> Candidate {
        match place {
            Place::Value(value) => {
                self.values[index] = Some(value);
                self.places[index] = place;
                self.settle(heap);
            }
            Place::Node(..) => self.places[index] = place,
            _ => {
                self.places[index] = place;
                self.holes.push_back((index, variable));
            }
        }
        self
    }

    /// Computes the values of places that have become completely known. Going backwards works
    /// because arguments have higher indices.
    fn settle(&mut self, heap: &mut Heap) {
        for index in (0..self.places.len()).rev() {
            if let (None, &Place::Node(head, first, count)) = (self.values[index], &self.places[index]) {
                let arguments: Option<Vec<Value>> =
                    self.values[first..first + count].iter().copied().collect();
                self.values[index] = arguments.map(|arguments| heap.make(head, &arguments));
            }
        }
    }

    /// All ways to refine the first hole by one step; `None` if its sort cannot be enumerated.
    pub(super) fn refine(mut self, narrowing: &Narrowing, heap: &mut Heap) -> Option<Vec<Candidate>> {
        let (index, variable) = self.holes.pop_front()?;
        let range = match self.places[index] {
            Place::Number(range) => range,
            Place::Hole(sort) => match &narrowing.growth[&sort] {
                Growth::Number(least) => Range { from: *least, to: None },
                Growth::Values(values) => {
                    let with = |&value: &Value| self.clone().set(index, Place::Value(value), variable, heap);
                    return Some(values.iter().map(with).collect());
                }
                Growth::List(element) => {
                    let nil = heap.make(Head::Nil, &[]);
                    let empty = self.clone().set(index, Place::Value(nil), variable, heap);
                    let cons = self.node(index, Head::Cons, &[*element, sort], variable, heap);
                    return Some(vec![empty, cons]);
                }
                Growth::Constructors(constructors) => {
                    let with = |(symbol, sorts): &(SymbolId, Box<[SortId]>)| {
                        self.clone().node(index, Head::Symbol(*symbol), sorts, variable, heap)
                    };
                    return Some(constructors.iter().map(with).collect());
                }
                Growth::None => return None,
            },
            Place::Node(..) | Place::Value(_) => return None,
        };
        let (number, rest) = match (range.from, range.to) {
            (None, None) => {
                let up = self.clone().set(index, Place::Number(Range::from(0)), variable, heap);
                let down = Range { from: None, to: Some(-1) };
                return Some(vec![up, self.set(index, Place::Number(down), variable, heap)]);
            }
            (Some(from), to) => (from, Range { from: from.checked_add(1), to }),
            (None, Some(to)) => (to, Range { from: None, to: to.checked_sub(1) }),
        };
        let value = Place::Value(heap.whole_big(&number.into()));
        let here = self.clone().set(index, value, variable, heap);
        let empty = matches!((rest.from, rest.to), (Some(from), Some(to)) if from > to) || rest == Range::ALL;
        if empty {
            return Some(vec![here]);
        }
        Some(vec![here, self.set(index, Place::Number(rest), variable, heap)])
    }

    fn node(
        mut self,
        index: usize,
        head: Head,
        sorts: &[SortId],
        variable: usize,
        heap: &mut Heap,
    ) -> Candidate {
        let first = self.places.len();
        for &sort in sorts {
            self.add(Place::Hole(sort), variable);
        }
        if sorts.is_empty() {
            let value = heap.make(head, &[]);
            return self.set(index, Place::Value(value), variable, heap);
        }
        self.set(index, Place::Node(head, first, sorts.len()), variable, heap)
    }
}
