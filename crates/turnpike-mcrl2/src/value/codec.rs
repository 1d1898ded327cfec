//! Encodes values as bytes that another process with the same specification can decode: every node
//! once, arguments first.

use rustc_hash::FxHashMap;

use super::{Head, Heap, Value};

/// Appends a number in groups of seven bits, least significant first.
fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 127 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads such a number from the front.
fn read(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

impl Heap {
    /// Appends a value to some bytes. Equal values that were kept have equal encodings in every
    /// run.
    ///
    /// The encoding is the number of nodes, then each node as code, arity and arguments, then the
    /// value itself. A reference to a node is twice its index. A number stored in a word is written
    /// as that word, which is odd.
    pub fn encode(&self, value: Value, bytes: &mut Vec<u8>) {
        if value.as_small().is_some() {
            write(0, bytes);
            return write(u64::from(value.word()), bytes);
        }
        let mut numbers: FxHashMap<Value, u64> = FxHashMap::default();
        let mut order = Vec::new();
        let mut pending = vec![(value, false)];
        while let Some((node, finished)) = pending.pop() {
            if node.as_small().is_some() || numbers.contains_key(&node) {
                continue;
            }
            if finished || self.arity(node) == 0 || self.is(node, Head::Big) {
                numbers.insert(node, numbers.len() as u64);
                order.push(node);
                continue;
            }
            pending.push((node, true));
            pending.extend(self.arguments(node).rev().map(|argument| (argument, false)));
        }
        let reference = |value: Value| match numbers.get(&value) {
            Some(number) => number * 2,
            None => u64::from(value.word()),
        };
        write(order.len() as u64, bytes);
        for node in order {
            let raw = self.is(node, Head::Big);
            write(u64::from(self.code(node)), bytes);
            write(self.arity(node) as u64, bytes);
            for argument in self.arguments(node) {
                write(if raw { u64::from(argument.word()) } else { reference(argument) }, bytes);
            }
        }
        write(reference(value), bytes);
    }

    /// Decodes a value from the front of some bytes and keeps it. `None` if [`Heap::encode`] did
    /// not write them.
    pub fn decode(&mut self, bytes: &mut &[u8]) -> Option<Value> {
        let count = read(bytes)?;
        let mut nodes: Vec<Value> = Vec::new();
        let mut arguments = Vec::new();
        for _ in 0..count {
            let code = u32::try_from(read(bytes)?).ok()?;
            let head = Head::from_code(code);
            if head.code() != code {
                return None;
            }
            let arity = usize::try_from(read(bytes)?).ok()?;
            let fits = match head {
                Head::Bool(_) | Head::Nil | Head::Bound(_) => arity == 0,
                Head::Bind(_, count) => arity as u64 == u64::from(count) * 2 + 1,
                Head::Free(_) => false,
                Head::Cons | Head::SetBy | Head::BagBy | Head::Rational => arity == 2,
                Head::Bag => arity % 2 == 0,
                Head::Update => arity % 2 == 1,
                Head::Apply | Head::Big => arity > 0,
                Head::Symbol(_) | Head::Set | Head::CoSet | Head::Lambda(_) | Head::Quantifier(_) => true,
            };
            // Every argument takes at least one byte.
            if !fits || arity > bytes.len() {
                return None;
            }
            arguments.clear();
            for _ in 0..arity {
                let word = read(bytes)?;
                let raw = || u32::try_from(word).ok().map(Value);
                arguments.push(if head == Head::Big { raw()? } else { resolve_reference(word, &nodes)? });
            }
            let node = self.make(head, &arguments);
            nodes.push(node);
        }
        let value = resolve_reference(read(bytes)?, &nodes)?;
        Some(self.keep(value))
    }
}

/// The value that a reference stands for.
fn resolve_reference(word: u64, nodes: &[Value]) -> Option<Value> {
    if word % 2 == 1 {
        u32::try_from(word).ok().map(Value)
    } else {
        nodes.get(usize::try_from(word / 2).ok()?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Terms;
    use super::*;
    use crate::typed::Program;

    #[test]
    fn values_survive_the_journey() {
        let terms = Terms::new(&Program::default());
        let mut heap = Heap::new(terms);
        let big = heap.whole(-5_000_000_000_000);
        let half = heap.divide(Value::ONE, big).unwrap();
        let long: Vec<Value> = (-50_000..50_000).map(|number| Value::small(number).unwrap()).collect();
        let list = heap.list_of(&long);
        let set = heap.set_of(&[big, half, Value::ONE, list]);
        let stuck = heap.make(Head::Apply, &[set, list, set]);
        for value in [Value::ZERO, Value::TRUE, Value::small(-1).unwrap(), big, half, list, set, stuck] {
            let value = heap.keep(value);
            let mut bytes = vec![];
            heap.encode(value, &mut bytes);
            bytes.push(77);
            let mut rest = &bytes[..];
            assert_eq!((heap.decode(&mut rest), rest), (Some(value), &[77][..]));
            // In a process where the words of other objects differ.
            let mut other = Heap::new(Terms::new(&Program::default()));
            let noise = other.list_of(&long[70_000..]);
            other.keep(noise);
            let mut rest = &bytes[..];
            let copy = other.decode(&mut rest).unwrap();
            assert_eq!(other.content_hash(copy), heap.content_hash(value));
            assert!(other.shared(copy));
            let mut again = vec![];
            other.encode(copy, &mut again);
            assert_eq!(again, bytes[..bytes.len() - 1]);
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        let mut heap = Heap::new(Terms::new(&Program::default()));
        let list = heap.list_of(&[Value::ONE, Value::ZERO]);
        let mut bytes = vec![];
        heap.encode(list, &mut bytes);
        for length in 0..bytes.len() {
            assert_eq!(heap.decode(&mut &bytes[..length]), None, "{length} bytes");
        }
        for bytes in
            [&[255; 12][..], &[0, 2], &[1, 3, 2, 0, 0], &[1, 2, 1, 1, 0], &[1, 3, 255, 255, 255, 7, 1]]
        {
            assert_eq!(heap.decode(&mut &bytes[..]), None, "{bytes:?}");
        }
    }
}
