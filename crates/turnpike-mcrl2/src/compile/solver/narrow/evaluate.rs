//! Evaluates conditions on partial values: true, false or unknown.

use std::rc::Rc;

use crate::compile::evaluator::Machine;
use crate::typed::{SortId, SymbolId};
use crate::value::{Head, Value};

use super::Narrowing;
use super::candidate::{Candidate, Place};
use super::partial::{Partial, Range};
use super::term::{Rule, Shape, Term, TermId};

/// The deepest nesting of equation applications.
const MAX_DEPTH: usize = 300;
/// The number of candidates that a quantifier tries.
const QUANTIFIER_LIMIT: usize = 200;

/// An ongoing evaluation.
pub(super) struct Evaluation<'a> {
    pub(super) narrowing: &'a Narrowing,
    pub(super) machine: &'a mut Machine,
    pub(super) base: usize,
    /// The values of code without unknown parts, computed when first needed.
    pub(super) cache: &'a mut [Option<Partial>],
    pub(super) steps: usize,
    pub(super) depth: usize,
}

impl Evaluation<'_> {
    /// Evaluates a term with the local variables in `locals`.
    pub(super) fn term(&mut self, id: TermId, at: &Candidate, locals: &mut [Partial]) -> Partial {
        if self.steps == 0 {
            return Partial::Unknown;
        }
        self.steps -= 1;
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.term_of(id, at, locals))
    }

    fn term_of(&mut self, id: TermId, at: &Candidate, locals: &mut [Partial]) -> Partial {
        let narrowing = self.narrowing;
        match &narrowing.terms.terms[id] {
            Term::Place(place) => Partial::Place(*place),
            Term::Local(local) => locals[*local].clone(),
            Term::Known(index) => {
                if let Some(known) = &self.cache[*index] {
                    return known.clone();
                }
                let value = self.machine.evaluate(&narrowing.terms.codes[*index], self.base);
                let known = value.map_or(Partial::Unknown, Partial::Known);
                self.cache[*index] = Some(known.clone());
                known
            }
            Term::Constructor(symbol, fields) => {
                let fields = self.all(fields, at, locals);
                self.node(Head::Symbol(*symbol), fields, at)
            }
            Term::List(elements) => {
                let mut list = Partial::Known(self.machine.heap.make(Head::Nil, &[]));
                for element in self.all(elements, at, locals).into_iter().rev() {
                    list = self.node(Head::Cons, vec![element, list], at);
                }
                list
            }
            Term::Set(elements) => {
                let elements = self.all(elements, at, locals);
                self.set(elements, at)
            }
            Term::Bag(pairs) => {
                let pairs = self.all(pairs, at, locals);
                self.bag(pairs, at)
            }
            Term::Builtin(builtin, symbol, terms, sort) => {
                self.builtin(*builtin, *symbol, terms, *sort, at, locals)
            }
            Term::Recognise(symbol, body) => {
                let body = self.term(*body, at, locals);
                Partial::bool(self.recognise(*symbol, &body, at))
            }
            Term::Project(symbol, fields, body, sort) => {
                let body = self.term(*body, at, locals);
                self.project(*symbol, fields, &body, *sort, at)
            }
            Term::Function(symbol, terms, sort) => {
                let arguments = self.all(terms, at, locals);
                self.function(*symbol, arguments, *sort, at)
            }
            Term::Apply(function, terms, sort) => {
                let function = self.term(*function, at, locals);
                let arguments = self.all(terms, at, locals);
                if let Some(function) = self.known(&function, at)
                    && let Some(values) = self.all_known(&arguments, at)
                {
                    let value = self.machine.apply(function, &values);
                    return value.map_or_else(|_| Partial::of(*sort), Partial::Known);
                }
                Partial::of(*sort)
            }
            Term::Let(definitions, body) => {
                let values: Vec<Partial> =
                    definitions.iter().map(|&(_, value)| self.term(value, at, locals)).collect();
                for (&(local, _), value) in definitions.iter().zip(values) {
                    locals[local] = value;
                }
                self.term(*body, at, locals)
            }
            Term::Quantifier { exists, variables, body } => {
                Partial::bool(self.quantifier(*exists, variables, *body, at, locals))
            }
            Term::Unknown(sort) => Partial::of(*sort),
        }
    }

    /// Whether a value begins with the constructor `symbol`.
    fn recognise(&self, symbol: SymbolId, value: &Partial, at: &Candidate) -> Option<bool> {
        let (Head::Symbol(found), _) = self.open(value, at)? else { return None };
        if found == symbol {
            return Some(true);
        }
        let is_other = self.narrowing.terms.free.contains_key(&found) || self.narrowing.is_constructor(found);
        is_other.then_some(false)
    }

    /// A field of a value, selected by its constructor.
    fn project(
        &mut self,
        symbol: SymbolId,
        fields: &[(SymbolId, usize)],
        value: &Partial,
        sort: SortId,
        at: &Candidate,
    ) -> Partial {
        if let Some((Head::Symbol(found), parts)) = self.open(value, at)
            && let Some((_, position)) = fields.iter().find(|(symbol, _)| *symbol == found)
        {
            return parts[*position].clone();
        }
        match self.known(value, at) {
            Some(value) => self.apply(symbol, &[value], sort),
            None => Partial::of(sort),
        }
    }

    pub(super) fn all(&mut self, ids: &[TermId], at: &Candidate, locals: &mut [Partial]) -> Vec<Partial> {
        ids.iter().map(|&id| self.term(id, at, locals)).collect()
    }

    /// The value, if all of it is known.
    pub(super) fn known(&self, partial: &Partial, at: &Candidate) -> Option<Value> {
        match partial {
            Partial::Known(value) => Some(*value),
            Partial::Place(place) => at.values[*place],
            // A node has unknown parts: otherwise it is built as a value.
            Partial::Node(..) | Partial::Number(_) | Partial::Unknown => None,
        }
    }

    pub(super) fn all_known(&self, partials: &[Partial], at: &Candidate) -> Option<Vec<Value>> {
        partials.iter().map(|partial| self.known(partial, at)).collect()
    }

    pub(super) fn node(&mut self, head: Head, parts: Vec<Partial>, at: &Candidate) -> Partial {
        match self.all_known(&parts, at) {
            Some(values) => Partial::Known(self.machine.heap.make(head, &values)),
            None => Partial::Node(head, parts.into()),
        }
    }

    /// The constructor and arguments of a value, if known. A known value may also begin with
    /// another function.
    pub(super) fn open(&self, partial: &Partial, at: &Candidate) -> Option<(Head, Rc<[Partial]>)> {
        match partial {
            Partial::Node(Head::Set | Head::Bag, _) => None,
            Partial::Node(head, parts) => Some((*head, parts.clone())),
            Partial::Number(_) | Partial::Unknown => None,
            Partial::Place(place) => match (&at.values[*place], &at.places[*place]) {
                (Some(value), _) => self.open(&Partial::Known(*value), at),
                (None, Place::Node(head, first, count)) => {
                    Some((*head, (*first..first + count).map(Partial::Place).collect()))
                }
                _ => None,
            },
            Partial::Known(value) => {
                let heap = &self.machine.heap;
                let head = heap.head(*value)?;
                if !matches!(head, Head::Symbol(_) | Head::Cons | Head::Nil) {
                    return None;
                }
                let parts = (0..heap.arity(*value)).map(|index| Partial::Known(heap.argument(*value, index)));
                Some((head, parts.collect()))
            }
        }
    }

    /// The range of a number.
    pub(super) fn range(&self, partial: &Partial, at: &Candidate) -> Range {
        match partial {
            Partial::Known(value) => Range::of(&self.machine.heap, *value),
            Partial::Number(range) => *range,
            Partial::Place(place) => match (at.values[*place], &at.places[*place]) {
                (Some(value), _) => Range::of(&self.machine.heap, value),
                (None, Place::Number(range)) => *range,
                (None, Place::Hole(sort)) => match Partial::of(*sort) {
                    Partial::Number(range) => range,
                    _ => Range::ALL,
                },
                _ => Range::ALL,
            },
            _ => Range::ALL,
        }
    }

    pub(super) fn apply(&mut self, symbol: SymbolId, values: &[Value], sort: SortId) -> Partial {
        let function = self.machine.heap.make(Head::Symbol(symbol), &[]);
        self.machine.apply(function, values).map_or_else(|_| Partial::of(sort), Partial::Known)
    }

    fn function(
        &mut self,
        symbol: SymbolId,
        arguments: Vec<Partial>,
        sort: SortId,
        at: &Candidate,
    ) -> Partial {
        if let Some(values) = self.all_known(&arguments, at) {
            return self.apply(symbol, &values, sort);
        }
        let narrowing = self.narrowing;
        let Some(rules) = narrowing.terms.rules.get(&symbol) else { return Partial::of(sort) };
        if self.depth >= MAX_DEPTH {
            return Partial::of(sort);
        }
        self.depth += 1;
        let result = self.rules(rules, &arguments, sort, at);
        self.depth -= 1;
        result
    }

    fn rules(&mut self, rules: &[Rule], arguments: &[Partial], sort: SortId, at: &Candidate) -> Partial {
        // The join of the results of the rules that may apply so far.
        let mut perhaps: Option<Partial> = None;
        for rule in rules {
            let mut locals = vec![Partial::Unknown; rule.locals];
            let mut fits = Some(true);
            for (shape, argument) in rule.shapes.iter().zip(arguments) {
                match self.shape(shape, argument, at, &mut locals) {
                    Some(true) => {}
                    Some(false) => {
                        fits = Some(false);
                        break;
                    }
                    None => fits = None,
                }
            }
            match fits {
                Some(true) => {}
                Some(false) => continue,
                None => return Partial::of(sort),
            }
            let applies = match rule.condition {
                Some(condition) => {
                    let condition = self.term(condition, at, &mut locals);
                    self.truth(&condition, at)
                }
                None => Some(true),
            };
            if applies == Some(false) {
                continue;
            }
            let right = self.term(rule.right, at, &mut locals);
            let result = match perhaps {
                Some(old) => self.join(old, right, at),
                None => right,
            };
            if applies == Some(true) {
                return result;
            }
            if matches!(result, Partial::Unknown) {
                return Partial::of(sort);
            }
            perhaps = Some(result);
        }
        Partial::of(sort)
    }

    pub(super) fn truth(&self, partial: &Partial, at: &Candidate) -> Option<bool> {
        self.known(partial, at).and_then(Value::as_bool)
    }

    fn shape(
        &mut self,
        shape: &Shape,
        value: &Partial,
        at: &Candidate,
        locals: &mut [Partial],
    ) -> Option<bool> {
        match shape {
            Shape::Bind(local) => {
                locals[*local] = value.clone();
                Some(true)
            }
            Shape::Same(local) => {
                let other = locals[*local].clone();
                self.equal(&other, value, at)
            }
            Shape::Known(code) => {
                let known = match &self.cache[*code] {
                    Some(known) => known.clone(),
                    None => {
                        let code = &self.narrowing.terms.codes[*code];
                        self.machine.evaluate(code, self.base).map_or(Partial::Unknown, Partial::Known)
                    }
                };
                self.cache[*code] = Some(known.clone());
                self.equal(&known, value, at)
            }
            Shape::Nil => match self.open(value, at)?.0 {
                Head::Nil => Some(true),
                Head::Cons => Some(false),
                _ => None,
            },
            Shape::Cons(parts) => match self.open(value, at)? {
                (Head::Nil, _) => Some(false),
                (Head::Cons, found) => self.shapes(&parts[..], &found, at, locals),
                _ => None,
            },
            Shape::Constructor(symbol, parts) => match self.open(value, at)? {
                (Head::Symbol(found), fields) if found == *symbol => self.shapes(parts, &fields, at, locals),
                (Head::Symbol(found), _) if self.narrowing.is_constructor(found) => Some(false),
                _ => None,
            },
        }
    }

    fn shapes(
        &mut self,
        shapes: &[Shape],
        values: &[Partial],
        at: &Candidate,
        locals: &mut [Partial],
    ) -> Option<bool> {
        let mut fits = Some(true);
        for (shape, value) in shapes.iter().zip(values) {
            match self.shape(shape, value, at, locals) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => fits = None,
            }
        }
        fits
    }

    /// Whether two values are equal; `None` if that is undecided.
    pub(super) fn equal(&mut self, left: &Partial, right: &Partial, at: &Candidate) -> Option<bool> {
        let (mut left, mut right, mut equal) = (left.clone(), right.clone(), Some(true));
        loop {
            if let (Partial::Place(one), Partial::Place(other)) = (&left, &right)
                && one == other
            {
                return equal;
            }
            if let (Some(one), Some(other)) = (self.known(&left, at), self.known(&right, at)) {
                let heap = &self.machine.heap;
                return if heap.same(one, other) {
                    equal
                } else {
                    (heap.is_plain(one) && heap.is_plain(other)).then_some(false)
                };
            }
            if let Some(answer) = self.equal_collections(&left, &right, at) {
                return match answer {
                    Some(true) => equal,
                    other => other,
                };
            }
            let (Some((head, parts)), Some((other, others))) = (self.open(&left, at), self.open(&right, at))
            else {
                return self.range(&left, at).equal(self.range(&right, at));
            };
            if head != other {
                let free = |head: Head| match head {
                    Head::Symbol(symbol) => self.narrowing.terms.free.get(&symbol) == Some(&true),
                    Head::Nil | Head::Cons => true,
                    _ => false,
                };
                return (free(head) && free(other)).then_some(false);
            }
            let free = match head {
                Head::Symbol(symbol) => self.narrowing.terms.free.get(&symbol) == Some(&true),
                _ => true,
            };
            let Some(last) = parts.len().checked_sub(1) else { return equal };
            // The last part is compared by iteration, because lists may be long.
            for index in 0..last {
                let part = stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
                    self.equal(&parts[index], &others[index], at)
                });
                match part {
                    Some(true) => {}
                    Some(false) if free => return Some(false),
                    _ => equal = None,
                }
            }
            if !free {
                return None;
            }
            (left, right) = (parts[last].clone(), others[last].clone());
        }
    }

    /// A partial value that covers both.
    pub(super) fn join(&mut self, left: Partial, right: Partial, at: &Candidate) -> Partial {
        if let (Some(one), Some(other)) = (self.known(&left, at), self.known(&right, at))
            && one == other
        {
            return left;
        }
        if let (Partial::Node(one, parts), Partial::Node(other, others)) = (&left, &right)
            && one == other
            && parts.len() == others.len()
            && !matches!(one, Head::Set | Head::Bag)
        {
            let pairs: Vec<(Partial, Partial)> = parts.iter().cloned().zip(others.iter().cloned()).collect();
            let joined = pairs.into_iter().map(|(one, other)| {
                stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.join(one, other, at))
            });
            return Partial::Node(*one, joined.collect());
        }
        match self.range(&left, at).hull(self.range(&right, at)) {
            Range::ALL => Partial::Unknown,
            range => Partial::Number(range),
        }
    }

    fn quantifier(
        &mut self,
        exists: bool,
        variables: &[(usize, SortId)],
        body: TermId,
        at: &Candidate,
        locals: &mut [Partial],
    ) -> Option<bool> {
        let mut start = at.clone();
        start.holes.clear();
        for &(local, sort) in variables {
            let place = start.add(Place::Hole(sort), 0);
            locals[local] = Partial::Place(place);
        }
        let (mut queue, mut refined) = (std::collections::VecDeque::from([start]), 0);
        let mut result = Some(!exists);
        while let Some(candidate) = queue.pop_front() {
            let value = self.term(body, &candidate, locals);
            match self.truth(&value, &candidate) {
                Some(value) if value == exists => return Some(exists),
                Some(_) => continue,
                None => {}
            }
            refined += 1;
            if candidate.holes.is_empty() || refined > QUANTIFIER_LIMIT || self.steps == 0 {
                result = None;
                if refined > QUANTIFIER_LIMIT || self.steps == 0 {
                    return None;
                }
                continue;
            }
            match candidate.refine(self.narrowing, &mut self.machine.heap) {
                Some(refined) => queue.extend(refined),
                None => result = None,
            }
        }
        result
    }
}
