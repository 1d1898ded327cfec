//! The measures of a state: numbers for guides, fitness functions, `min` and `max`.

use turnpike_model::MeasureInfo;

use crate::compile::process::Network;
use crate::syntax::Container;
use crate::typed::Sort;
use crate::value::{Head, Heap, Value};

/// A measure of a state.
#[derive(Debug)]
pub(super) struct Measure {
    /// The word that is measured.
    pub(super) word: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The number itself.
    Number,
    /// The number of elements.
    Size,
}

/// The measures of a process: all numeric parameters, the sizes of lists and finite collections,
/// and the time.
pub(super) fn measures(network: &Network) -> Vec<(Measure, MeasureInfo)> {
    let mut measures = Vec::new();
    for (word, parameter) in network.parameters.iter().enumerate() {
        if parameter.locations.is_some() {
            continue;
        }
        let (word, name) = (word as u32, &parameter.name);
        let sort = network.program.variable(parameter.variable).sort;
        let size = |what: &str| MeasureInfo::new(format!("#{name}"), format!("{what} of {name}"));
        let (kind, info) = match network.program.sorts.get(sort) {
            Sort::Pos | Sort::Nat | Sort::Int | Sort::Real => {
                (Kind::Number, MeasureInfo::new(name, format!("the parameter {name}")))
            }
            Sort::Container(Container::List, _) => (Kind::Size, size("length")),
            Sort::Container(Container::FSet | Container::Set, _) => (Kind::Size, size("number of elements")),
            _ => continue,
        };
        measures.push((Measure { word, kind }, info));
    }
    if let Some(word) = network.now {
        let info = MeasureInfo::new("now", "the time of the last action with a time");
        measures.push((Measure { word, kind: Kind::Number }, info));
    }
    measures
}

impl Measure {
    /// The value of the measure; NaN if it has none, as for a stuck term.
    pub(super) fn of(&self, heap: &Heap, value: Value) -> f64 {
        match self.kind {
            Kind::Number => number(heap, value),
            Kind::Size => size(heap, value).map_or(f64::NAN, |size| size as f64),
        }
    }
}

fn number(heap: &Heap, value: Value) -> f64 {
    match value.as_small() {
        Some(small) => f64::from(small),
        None => heap.to_fraction(value).map_or(f64::NAN, |fraction| fraction.to_f64().value()),
    }
}

fn size(heap: &Heap, mut value: Value) -> Option<usize> {
    let mut size = 0;
    loop {
        match heap.head(value)? {
            Head::Nil => return Some(size),
            Head::Cons => {
                size += 1;
                value = heap.argument(value, 1);
            }
            Head::Set => return Some(heap.arity(value)),
            _ => return None,
        }
    }
}
