use super::*;
use crate::typed::SymbolId;
use crate::value::shared::FIXED_NODES;

fn heap() -> Heap {
    Heap::new(Terms::new(&crate::typed::Program::default()))
}

fn small(number: i32) -> Value {
    Value::small(number).unwrap()
}

fn list(heap: &mut Heap, numbers: impl DoubleEndedIterator<Item = i32>) -> Value {
    numbers.rev().fold(Value::NIL, |tail, number| heap.make(Head::Cons, &[small(number), tail]))
}

#[test]
fn fixed_nodes() {
    let mut heap = heap();
    for (head, value) in FIXED_NODES {
        assert_eq!((heap.make(head, &[]), heap.head(value), heap.arity(value)), (value, Some(head), 0));
        assert!(heap.shared(value));
    }
    assert_eq!((Value::bool(true).as_bool(), Value::bool(false).as_bool()), (Some(true), Some(false)));
    assert_eq!(heap.head(small(7)), None);
}

#[test]
fn heads_have_codes() {
    let symbol = SymbolId::new(77);
    for head in [
        Head::Symbol(symbol),
        Head::Lambda(3),
        Head::Quantifier(3),
        Head::SetBy,
        Head::BagBy,
        Head::Update,
        Head::Apply,
        Head::Big,
        Head::Rational,
    ] {
        assert_eq!(Head::from_code(head.code()), head);
    }
}

#[test]
fn equal_content_has_one_word() {
    let mut heap = heap();
    let one = list(&mut heap, 0..1000);
    let hash = heap.content_hash(one);
    assert!(!heap.shared(one));
    assert_eq!(list(&mut heap, 0..1000), one);
    assert_ne!(list(&mut heap, 0..999), one);
    let kept = heap.keep(one);
    assert!(heap.shared(kept) && heap.same(one, kept));
    assert_eq!((heap.keep(one), heap.content_hash(one), heap.content_hash(kept)), (kept, hash, hash));
    assert_eq!(list(&mut heap, 0..1000), kept);
    heap.reset();
    assert_eq!(list(&mut heap, 0..1000), kept);
    assert_eq!((heap.argument(kept, 0), heap.nodes.len()), (small(0), 0));
    let other = list(&mut heap, 1..4);
    assert_eq!(heap.arguments(other).next(), Some(small(1)));
    assert!(heap.is_plain(other) && !heap.same(other, kept));
}

#[test]
fn late_duplicates_are_recognised() {
    let terms = Terms::new(&crate::typed::Program::default());
    let (mut first, mut second) = (Heap::new(terms.clone()), Heap::new(terms));
    let mine = list(&mut first, 0..10);
    let theirs = list(&mut second, 0..10);
    let theirs = second.keep(theirs);
    // This word remains the same when other threads add values.
    assert_eq!(list(&mut first, 0..10), mine);
    assert!(mine != theirs && first.same(mine, theirs));
    let (above, below) = (first.make(Head::Set, &[mine]), first.make(Head::Set, &[theirs]));
    assert!(first.same(above, below));
    assert_eq!((first.keep(above), first.keep(mine)), (first.keep(below), theirs));
}

#[test]
fn long_lists_are_kept_without_recursion() {
    let mut heap = heap();
    let long = list(&mut heap, 0..300_000);
    let kept = heap.keep(long);
    heap.reset();
    let mut rest = kept;
    for number in 0..300_000 {
        assert_eq!(heap.argument(rest, 0), small(number));
        rest = heap.argument(rest, 1);
    }
    assert_eq!((rest, heap.terms().nodes()), (Value::NIL, 300_006));
}

#[test]
fn released_values_are_forgotten() {
    let mut heap = heap();
    let base = list(&mut heap, 0..100);
    for round in 0..100 {
        let mark = heap.mark();
        let words = heap.nodes.len();
        let more = list(&mut heap, 1000..1100 + round);
        let kept = if round == 50 { Some(heap.keep(more)) } else { None };
        heap.release(mark);
        assert_eq!((heap.nodes.len(), heap.count), (words, 100));
        if let Some(kept) = kept {
            assert_eq!(list(&mut heap, 1000..1150), kept);
        }
        assert_eq!(list(&mut heap, 0..100), base);
    }
}

#[test]
fn threads_agree() {
    let terms = Terms::new(&crate::typed::Program::default());
    let results: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_i32)
            .map(|thread| {
                let terms = terms.clone();
                scope.spawn(move || {
                    let mut heap = Heap::new(terms);
                    let mut kept = vec![Value::NIL; 20_000];
                    for step in 0..20_000 {
                        // Each thread has its own order of the same values.
                        let number = (step * [1, 3, 7, 9][thread as usize] + thread * 1000) % 20_000;
                        let value = list(&mut heap, number..number + 5);
                        kept[number as usize] = heap.keep(value);
                        if step % 64 == 0 {
                            heap.reset();
                        }
                    }
                    kept
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.iter().all(|result| *result == results[0]));
    let heap = Heap::new(terms.clone());
    for (number, &value) in results[0].iter().enumerate() {
        let first: Vec<Value> = heap.arguments(value).collect();
        assert_eq!(first[0], small(number as i32));
    }
    // Different lists have different words.
    let unique: std::collections::BTreeSet<u32> = results[0].iter().map(|value| value.word()).collect();
    assert_eq!(unique.len(), 20_000);
}
