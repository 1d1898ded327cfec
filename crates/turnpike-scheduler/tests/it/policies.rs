//! How policies continue after the prefix, and which choices reductions prune.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Piece, all, op, run, script, threads, trace, with};
use proptest::prelude::*;
use turnpike_scheduler::script::{Script, start_only, straight};
use turnpike_scheduler::{
    Choice, Detail, End, Execution, Kind, MayAccess, Object, ObjectId, Operation, Plan, Policy, Reduction,
    ThreadId,
};

const NONE: ObjectId = ObjectId::NONE;

/// Threads with these numbers of steps, all independent.
fn counts(steps: &'static [usize]) -> Script {
    Script::new(|_| start_only(steps.iter().map(|&n| straight(vec![op(Kind::Message, NONE); n])).collect()))
}

/// Threads that update one variable, with these numbers of steps.
fn updates(steps: &'static [usize]) -> Script {
    Script::new(|context| {
        let x = context.register(Object::Memory);
        start_only(steps.iter().map(|&n| straight(vec![op(Kind::Update, x); n])).collect())
    })
}

fn order(out: &Execution) -> Vec<u32> {
    out.steps.iter().map(|step| step.choice.thread.0).collect()
}

/// How often a policy takes each order of threads, for seeds 0 to n.
fn orders(script: &mut Script, n: u64, policy: impl Fn(u64) -> Policy<'static>) -> BTreeMap<Vec<u32>, u32> {
    let mut seen = BTreeMap::new();
    for seed in 0..n {
        let out = run(script, &Plan { policy: policy(seed), ..Plan::new(&[]) });
        assert_eq!(out.end, End::Finished);
        *seen.entry(order(&out)).or_insert(0) += 1;
    }
    seen
}

#[test]
fn weighted_walks_are_uniform_over_interleavings() {
    // One step against three: four interleavings. A plain random walk takes the first one half of
    // the time.
    let mut script = counts(&[1, 3]);
    let weighted = orders(&mut script, 8_000, |seed| Policy::Weighted { seed, events: &[0, 1, 3] });
    assert_eq!(weighted.len(), 4);
    assert!(weighted.values().all(|n| (1_850..2_150).contains(n)), "{weighted:?}");
    let uniform = orders(&mut script, 8_000, |seed| Policy::Uniform { seed });
    assert!((3_800..4_200).contains(&uniform[&vec![1, 2, 2, 2]]), "{uniform:?}");
    assert!((900..1_100).contains(&uniform[&vec![2, 2, 2, 1]]), "{uniform:?}");
}

#[test]
fn priorities_change_as_often_as_the_depth_says() {
    // Depth 1: no thread is interrupted. Depth 2: at most one is, once.
    let switches = |order: &[u32]| order.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let mut script = counts(&[4, 4, 4]);
    let one = orders(&mut script, 2_000, |seed| Policy::Pct { seed, depth: 1, length: 8 });
    assert_eq!(one.len(), 6, "all orders of three threads");
    assert!(one.iter().all(|(order, n)| switches(order) == 2 && (270..400).contains(n)), "{one:?}");
    let two = orders(&mut script, 2_000, |seed| Policy::Pct { seed, depth: 2, length: 8 });
    assert!(two.len() > 20 && two.keys().all(|order| switches(order) <= 3), "{}", two.len());
    // A bug of depth 2: the second thread's step between the first two of the first thread.
    // Probability at least 1 / (n * k) = 1 / (2 * 5).
    let mut bug = counts(&[4, 1]);
    let found = orders(&mut bug, 2_000, |seed| Policy::Pct { seed, depth: 2, length: 5 });
    assert!(found[&vec![1, 2, 1, 1, 1]] >= 160, "{found:?}");
}

#[test]
fn a_yield_lets_all_others_go_first() {
    let mut script = Script::new(|_| {
        let busy = || straight(vec![op(Kind::Message, NONE); 3]);
        start_only(vec![straight(vec![op(Kind::Yield, NONE), op(Kind::Message, NONE)]), busy(), busy()])
    });
    for seed in 0..50 {
        let out =
            run(&mut script, &Plan { policy: Policy::Pct { seed, depth: 1, length: 9 }, ..Plan::new(&[]) });
        assert_eq!(order(&out)[6..], [1, 1]);
    }
}

#[test]
fn partial_order_sampling_tries_all_orders_of_races() {
    let mut script = updates(&[2, 2]);
    let seen = orders(&mut script, 6_000, |seed| Policy::Pos { seed });
    assert_eq!(seen.len(), 6);
    assert!(seen.values().all(|&n| n > 300), "{seen:?}");
    // With redrawn priorities each choice between two racing operations is fair.
    let first = seen.iter().filter(|(order, _)| order[0] == 1).map(|(_, n)| n).sum::<u32>();
    assert!((2_800..3_200).contains(&first), "{seen:?}");
}

#[test]
fn sketches_forget_how_a_state_was_reached() {
    let mut script = Script::new(|context| {
        let x = context.register(Object::Memory);
        let thread = |kind| straight(vec![op(kind, x), op(Kind::Message, NONE)]);
        start_only(vec![thread(Kind::Load), thread(Kind::Load), thread(Kind::Store), thread(Kind::Store)])
    });
    let mut sketch_after = |prefix: &[u32]| {
        let policy = Policy::Sketch { seed: 1 };
        let out = run(&mut script, &Plan { policy, detail: Detail::Steps, ..Plan::new(prefix) });
        out.steps[prefix.len()].fingerprint
    };
    // Threads 1 and 2 read, 3 and 4 write; positions count all four.
    assert_eq!(sketch_after(&[0, 1]), sketch_after(&[1, 0]), "two reads in either order");
    assert_eq!(sketch_after(&[0, 2]), sketch_after(&[2, 0]), "a value that was read is forgotten");
    assert_ne!(sketch_after(&[2, 3]), sketch_after(&[3, 2]), "the last writer is not");
    assert_ne!(sketch_after(&[0]), sketch_after(&[]), "nor is what a thread does next");
}

#[test]
fn sketches_change_no_choice() {
    let mut script = updates(&[3, 3, 3]);
    for seed in 0..50 {
        let out = run(&mut script, &Plan { policy: Policy::Pos { seed }, ..Plan::new(&[]) });
        let expected = order(&out);
        let policy = Policy::Sketch { seed };
        let out = run(&mut script, &Plan { policy, detail: Detail::Steps, ..Plan::new(&[]) });
        assert_eq!(order(&out), expected);
    }
}

#[test]
fn the_last_thread_goes_on() {
    let mut script = counts(&[2, 2, 2]);
    let out = run(&mut script, &Plan { policy: Policy::Continue, ..Plan::new(&[1]) });
    assert_eq!(order(&out), [2, 2, 1, 1, 3, 3]);
    let out = run(&mut script, &Plan { policy: Policy::First, ..Plan::new(&[1]) });
    assert_eq!(order(&out), [2, 1, 1, 2, 3, 3]);
}

#[test]
fn an_order_is_followed_as_far_as_possible() {
    let mut script = Script::new(|context| {
        let mutex = context.register(Object::Mutex { recursive: false });
        let thread = || straight(vec![op(Kind::Lock, mutex), op(Kind::Unlock, mutex)]);
        start_only(vec![thread(), straight(vec![with(Kind::Toss, NONE, 2)]), thread()])
    });
    let order_of = |script: &mut Script, wanted: &[(u32, u32)]| {
        let wanted: Vec<_> = wanted.iter().map(|&(t, alternative)| (ThreadId(t), alternative)).collect();
        let out = run(script, &Plan { policy: Policy::Follow { order: &wanted }, ..Plan::new(&[]) });
        out.steps.iter().map(|step| (step.choice.thread.0, step.choice.alternative)).collect::<Vec<_>>()
    };
    // Thread 1 holds the mutex, so 3 is skipped; there is no thread 9; the toss has no alternative
    // 7.
    let taken = order_of(&mut script, &[(1, 0), (3, 0), (9, 0), (2, 2), (1, 0), (3, 0)]);
    assert_eq!(taken, [(1, 0), (2, 2), (1, 0), (3, 0), (3, 0)]);
    assert_eq!(order_of(&mut script, &[(2, 7)])[0], (2, 0));
}

#[test]
fn genes_are_read_most_significant_bit_first_and_repaired() {
    // Three threads with one step each and one with two: 4 choices, then 4 or 3, 2 bits each; then
    // 1 bit; then none.
    let mut script = counts(&[1, 1, 1, 2]);
    let genes = |script: &mut Script, bits: &[u64], seed| {
        run(script, &Plan { policy: Policy::Genes { bits, seed }, ..Plan::new(&[]) })
    };
    // Bits in the order in which they are read.
    let read = |list: &[u64]| vec![list.iter().enumerate().fold(0, |word, (i, bit)| word | bit << (63 - i))];
    let out = genes(&mut script, &read(&[1, 0, /**/ 0, 1, /**/ 0, 1, /**/ 0]), 1);
    let positions: Vec<(u32, u32)> = out.steps.iter().map(|step| (step.taken, step.count)).collect();
    assert_eq!(positions, [(2, 4), (1, 3), (0, 2), (0, 1), (0, 1)]);
    assert_eq!(out.genes_read, 2 + 2 + 1);
    assert_eq!(out.genes, read(&[1, 0, 0, 1, 0, 1, 0]), "nothing to repair");

    // 11 is not a position among three: it is replaced, the same way for the same seed, and written
    // back.
    let spurious = read(&[1, 0, /**/ 1, 1, /**/ 0]);
    let mut replaced = BTreeSet::new();
    for seed in 0..60 {
        let out = genes(&mut script, &spurious, seed);
        let position = out.steps[1].taken;
        assert!(position < 3);
        replaced.insert(position);
        let bits = [u64::from(position >> 1), u64::from(position & 1)];
        let first_four = out.genes[0] & 0xf << 60;
        assert_eq!(first_four, read(&[1, 0, bits[0], bits[1]])[0], "most significant bit first");
        // The repaired chromosome means the same execution, whatever the seed.
        let again = genes(&mut script, &out.genes, seed + 1000);
        assert_eq!(order(&again), order(&out));
        assert_eq!((again.genes, again.genes_read), (out.genes.clone(), out.genes_read));
    }
    assert_eq!(replaced.len(), 3);

    // Bits beyond the end are drawn, and returned.
    let out = genes(&mut counts(&[40, 40]), &[], 5);
    assert_eq!(out.genes_read as usize, out.steps.iter().filter(|step| step.count > 1).count());
    assert_eq!(out.genes.len() * 64, (out.genes_read as usize).next_multiple_of(64));
    let again = genes(&mut counts(&[40, 40]), &out.genes, 6);
    assert_eq!(order(&again), order(&out));
}

#[test]
fn sleepers_wake_up_when_something_depends_on_them() {
    let mut script = Script::new(|context| {
        let (x, y) = (context.register(Object::Memory), context.register(Object::Memory));
        start_only(vec![
            straight(vec![op(Kind::Store, x)]),
            straight(vec![op(Kind::Load, y), op(Kind::Load, x)]),
            straight(vec![op(Kind::Load, y)]),
        ])
    });
    let ordered =
        |script: &mut Script, prefix: &[u32], sleep: &[(ThreadId, u32)], order: &[(ThreadId, u32)]| {
            run(script, &Plan { policy: Policy::Awake { sleep, order }, ..Plan::new(prefix) })
        };
    let awake =
        |script: &mut Script, prefix: &[u32], sleep: &[(ThreadId, u32)]| ordered(script, prefix, sleep, &[]);
    // Thread 1 sleeps until thread 2 reads what it writes.
    let out = awake(&mut script, &[], &[(ThreadId(1), 0)]);
    assert_eq!((order(&out), &out.end), (vec![2, 2, 1, 3], &End::Finished));
    // Threads 1 and 3 sleep; nothing ever wakes 3.
    let out = awake(&mut script, &[], &[(ThreadId(1), 0), (ThreadId(3), 0)]);
    assert_eq!((order(&out), &out.end), (vec![2, 2, 1], &End::Asleep));
    // The sleep set starts at the end of the prefix.
    let out = awake(&mut script, &[1], &[(ThreadId(1), 0), (ThreadId(2), 0), (ThreadId(3), 0)]);
    assert_eq!((order(&out), &out.end), (vec![2], &End::Asleep));
    // An order is followed as far as it is possible and awake.
    let entries = |threads: &[u32]| threads.iter().map(|&t| (ThreadId(t), Choice::STAY)).collect::<Vec<_>>();
    let out = ordered(&mut script, &[], &[], &entries(&[3, 2]));
    assert_eq!(order(&out), vec![3, 2, 1, 2]);
    let out = ordered(&mut script, &[], &[(ThreadId(1), 0)], &entries(&[3, 1, 2]));
    assert_eq!(order(&out), vec![3, 2, 2, 1]);
    // Unknown threads are harmless.
    let out = awake(&mut script, &[], &[(ThreadId(77), 0)]);
    assert_eq!(out.end, End::Finished);
}

/// What the threads of a random program may do, by their names in the kernel.
fn table(script: &mut Script, threads: &[Vec<Piece>]) -> MayAccess {
    let out = run(script, &Plan { detail: Detail::Full, ..Plan::new(&[]) });
    let mut may = MayAccess { proved: true, ..MayAccess::default() };
    for (pieces, record) in threads.iter().zip(&out.threads[1..]) {
        let operations = pieces.iter().flat_map(|(operation, then)| core::iter::once(operation).chain(then));
        may.entries.push((record.name_hash, 0, false));
        for operation in operations {
            let reads = matches!(operation.kind, Kind::Load | Kind::Read | Kind::SemGet);
            if matches!(operation.kind, Kind::TryJoin | Kind::Unpark) {
                let other = &out.threads[operation.argument as usize];
                may.entries.push((record.name_hash, other.name_hash, operation.kind == Kind::Unpark));
            }
            for object in [operation.object, operation.second] {
                if let Some(object) = out.objects.get(object.0 as usize) {
                    may.entries.push((record.name_hash, object.name_hash, !reads));
                }
            }
        }
    }
    may.entries.sort_unstable();
    may
}

fn steps(out: &Execution) -> Vec<Choice> {
    out.steps.iter().map(|step| step.choice).collect()
}

#[test]
fn persistent_sets_leave_out_what_does_not_matter() {
    // Two independent pairs of threads: one pair goes first.
    let mut pairs = Script::new(|context| {
        let (x, y) = (context.register(Object::Memory), context.register(Object::Memory));
        let store = |object| straight(vec![op(Kind::Store, object)]);
        start_only(vec![store(x), store(x), store(y), store(y)])
    });
    let piece =
        |object: u32| vec![(Operation::new(Kind::Store, ObjectId(object), Default::default()), vec![])];
    let may = table(&mut pairs, &[piece(0), piece(0), piece(1), piece(1)]);
    let reduction = Reduction { sleep: false, persistent: Some(&may) };
    let mut count = 0;
    assert!(all(&mut pairs, reduction, 1000, |out| {
        assert_eq!(out.end, End::Finished);
        count += 1;
    }));
    assert_eq!(count, 4, "instead of 24");
    let out = run(&mut pairs, &Plan { reduction, ..Plan::new(&[]) });
    assert_eq!(order_of_choices(&out), [1, 2]);
}

fn order_of_choices(out: &Execution) -> Vec<u32> {
    out.choices[out.last_choices..].iter().map(|choice| choice.thread.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn reductions_keep_all_traces(mut threads in threads(3, 2)) {
        for (operation, then) in threads.iter_mut().flatten() {
            // Using a destroyed object ends the execution: what other threads would have done then
            // is missing. A yield refers to an object only right after a step on it.
            if operation.kind == Kind::Destroy {
                (operation.kind, operation.object) = (Kind::Yield, NONE);
            }
            operation.timed = false;
            then.iter_mut().for_each(|operation| operation.timed = false);
        }
        let (mut script, _) = script(threads.clone());
        let may = table(&mut script, &threads);
        let find = |script: &mut Script, sleep: bool, persistent: bool| {
            let reduction = Reduction { sleep, persistent: persistent.then_some(&may) };
            let (mut found, mut executions) = (BTreeSet::new(), 0);
            let complete = all(script, reduction, 4_000, |out| {
                executions += 1;
                if out.end != End::Asleep {
                    found.insert((trace(&steps(out)), format!("{:?}", out.end)));
                }
            });
            (complete, found, executions)
        };
        let (complete, plain, executions) = find(&mut script, false, false);
        if complete {
            for (sleep, persistent) in [(true, false), (false, true), (true, true)] {
                let (complete, found, fewer) = find(&mut script, sleep, persistent);
                prop_assert!(complete && fewer <= executions);
                prop_assert_eq!(&found, &plain, "sleep {} persistent {}", sleep, persistent);
            }
        }
    }
}
