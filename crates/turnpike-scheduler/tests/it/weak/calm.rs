//! Calm executions lose nothing: programs with locks and mostly sequentially consistent accesses come to
//! the same as with a relaxed access at the beginning, which makes all that follows impure.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use turnpike_scheduler::script::{Context, Routine, Script};
use turnpike_scheduler::{
    AtomicValues, Detail, End, Execution, Executor, Kind, Memory, MemoryOrder, Object, ObjectId, Operation,
    Outcome, Plan, Policy, Reduction, Site,
};

use super::generate::Numbers;

/// Number of programs.
const PROGRAMS: u64 = 400;

/// Variables are objects 0 and 1, and 2 for the main thread.
const MUTEX: ObjectId = ObjectId(3);
const LOCK: ObjectId = ObjectId(4);
const SEMAPHORE: ObjectId = ObjectId(5);
const ONCE: ObjectId = ObjectId(6);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Load(u32, u32),
    Store(u32, u64, u32),
    Add(u32, u32),
    /// From 0 to 1; the orders of success and failure.
    Exchange(u32, u32, u32),
    Fence(u32),
    Sync(Kind, ObjectId),
}

/// What each thread saw.
type Seen = Vec<Vec<(u64, bool)>>;

type Pair = (Kind, Kind, ObjectId);

/// What threads of a program synchronise by: what they hold during an access, and single steps.
fn family(number: u64) -> (&'static [Pair], &'static [(Kind, ObjectId)]) {
    match number {
        0 => (&[(Kind::Lock, Kind::Unlock, MUTEX)], &[(Kind::TryLock, MUTEX)]),
        1 => (
            &[(Kind::ReadLock, Kind::ReadUnlock, LOCK), (Kind::WriteLock, Kind::WriteUnlock, LOCK)],
            &[(Kind::TryReadLock, LOCK), (Kind::TryWriteLock, LOCK)],
        ),
        2 => (
            &[(Kind::OnceBegin, Kind::OnceEnd, ONCE)],
            &[(Kind::SemPost, SEMAPHORE), (Kind::SemTryWait, SEMAPHORE), (Kind::SemGet, SEMAPHORE)],
        ),
        _ => (&[], &[(Kind::SemPost, SEMAPHORE), (Kind::SemTryWait, SEMAPHORE)]),
    }
}

/// Acts of one thread; what it holds is released after one more act.
fn random_thread(numbers: &mut Numbers, family: u64, most: u64) -> Vec<Act> {
    let (pairs, single) = self::family(family);
    let mut acts = Vec::new();
    for _ in 0..1 + numbers.below(most) {
        let pair = (numbers.below(5) < 2 && !pairs.is_empty()).then(|| numbers.pick(pairs));
        if pair.is_none() && numbers.below(2) == 0 {
            let (kind, object) = numbers.pick(single);
            acts.push(Act::Sync(kind, object));
        }
        acts.extend(pair.map(|(begin, _, object)| Act::Sync(begin, object)));
        acts.push(random_access(numbers));
        acts.extend(pair.map(|(_, end, object)| Act::Sync(end, object)));
    }
    acts
}

fn random_access(numbers: &mut Numbers) -> Act {
    let location = numbers.below(2) as u32;
    // One in six is weaker.
    let mut order = |weaker: &[u32]| if numbers.below(6) == 0 { numbers.pick(weaker) } else { 5 };
    let (load, store, update) = (order(&[0, 2]), order(&[0, 3]), order(&[0, 2, 3, 4]));
    match numbers.below(10) {
        0..4 => Act::Load(location, load),
        4..7 => Act::Store(location, 1 + numbers.below(2), store),
        7 => Act::Add(location, update),
        8 => Act::Exchange(location, update, load),
        _ => Act::Fence(numbers.pick(&[2, 3, 5])),
    }
}

fn routine(thread: usize, acts: Vec<Act>, seen: Arc<Mutex<Seen>>) -> Box<dyn Routine> {
    let (mut at, mut waits, mut release, mut begun) = (0, None, None, false);
    Box::new(move |outcome: Outcome, context: &mut Context<'_>| {
        let kernel = &mut *context.kernel;
        if let Some(act) = waits.take() {
            let value = if matches!(act, Act::Store(..)) { 0 } else { outcome.value };
            seen.lock().unwrap()[thread].push((value, outcome.ok));
            match act {
                Act::Add(location, _) => kernel.set_result(ObjectId(location), outcome.value + 1),
                Act::Exchange(location, ..) if outcome.ok => kernel.set_result(ObjectId(location), 1),
                Act::Sync(Kind::TryLock, object) if outcome.ok => release = Some((Kind::Unlock, object)),
                Act::Sync(Kind::TryReadLock, object) if outcome.ok => {
                    release = Some((Kind::ReadUnlock, object));
                }
                Act::Sync(Kind::TryWriteLock, object) if outcome.ok => {
                    release = Some((Kind::WriteUnlock, object));
                }
                Act::Sync(Kind::OnceBegin, _) => begun = outcome.ok,
                _ => {}
            }
        }
        if let Some((kind, object)) = release.take() {
            return Some(Operation::new(kind, object, Site(99)));
        }
        loop {
            let act = *acts.get(at)?;
            at += 1;
            let site = Site(at as u64);
            let (kind, location, stores, order) = match act {
                Act::Fence(order) => {
                    kernel.fence(MemoryOrder::from_c(order));
                    continue;
                }
                Act::Sync(Kind::OnceEnd, _) if !begun => continue,
                Act::Sync(kind, object) => {
                    waits = Some(act);
                    let argument = u64::from(kind == Kind::OnceEnd);
                    return Some(Operation { argument, ..Operation::new(kind, object, site) });
                }
                Act::Load(location, order) => (Kind::Load, location, 0, order),
                Act::Store(location, value, order) => (Kind::Store, location, value, order),
                Act::Add(location, order) | Act::Exchange(location, order, _) => {
                    (Kind::Update, location, 0, order)
                }
            };
            let object = ObjectId(location);
            let mut operation = Operation::new(kind, object, site);
            operation.order = MemoryOrder::from_c(order);
            let present = kernel.newest_value(object).unwrap_or(0);
            let mut values = AtomicValues { present, stores, ..Default::default() };
            if let Act::Exchange(_, _, failure) = act {
                values.expected = Some(0);
                operation.unchanged = MemoryOrder::from_c(failure);
            }
            kernel.set_values(object, values);
            waits = Some(act);
            return Some(operation);
        }
    })
}

/// `relaxed`: with a relaxed access before the threads are created.
fn script(threads: &[Vec<Act>], relaxed: bool, seen: &Arc<Mutex<Seen>>) -> Script {
    let (threads, shared) = (threads.to_vec(), Arc::clone(seen));
    Script::new(move |context| {
        for _ in 0..3 {
            context.register(Object::Memory);
        }
        context.register(Object::Mutex { recursive: false });
        context.register(Object::RwLock);
        context.register(Object::Semaphore { value: 1 });
        context.register(Object::Once);
        *shared.lock().unwrap() = vec![Vec::new(); threads.len() + 1];
        let first = if relaxed { Act::Load(2, 0) } else { Act::Load(2, 5) };
        let mut first = Some(routine(threads.len(), vec![first], Arc::clone(&shared)));
        let numbered = threads.iter().cloned().enumerate();
        let others: Vec<_> =
            numbered.map(|(thread, acts)| routine(thread, acts, Arc::clone(&shared))).collect();
        let mut others = Some(others);
        Box::new(move |outcome: Outcome, context: &mut Context<'_>| {
            if let Some(operation) = first.as_mut().and_then(|first| first.next(outcome, context)) {
                return Some(operation);
            }
            first = None;
            for thread in others.take().into_iter().flatten() {
                context.spawn(thread);
            }
            None
        })
    })
}

/// What the program can come to, without and with sleep sets. With sleep sets no execution is repeated.
fn outcomes(threads: &[Vec<Act>], relaxed: bool) -> (BTreeSet<Seen>, usize) {
    let seen = Arc::default();
    let mut script = script(threads, relaxed, &seen);
    let mut run = |plan: &Plan<'_>| {
        let mut out = Execution::default();
        script.run(plan, &mut out).unwrap();
        out
    };
    let (mut all, mut prints, mut states) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<Vec<u32>> = vec![vec![]];
    let memory = Memory::Rc11;
    while let Some(prefix) = open.pop() {
        let out = run(&Plan { predict: true, detail: Detail::Full, memory, ..Plan::new(&prefix) });
        if out.end != End::Stopped {
            assert_eq!(out.end, End::Finished);
            all.insert(seen.lock().unwrap().clone());
            prints.insert(out.fingerprint);
            continue;
        }
        for (i, fingerprint) in (0..).zip(&out.predicted) {
            if states.insert(*fingerprint) {
                open.push([&prefix[..], &[i]].concat());
            }
        }
    }
    let (mut kept, mut repeated) = (BTreeSet::new(), BTreeSet::new());
    let mut prefix: Vec<u32> = Vec::new();
    loop {
        let reduction = Reduction { sleep: true, persistent: None };
        let plan =
            Plan { policy: Policy::First, detail: Detail::Full, reduction, memory, ..Plan::new(&prefix) };
        let out = run(&plan);
        if out.end == End::Finished {
            kept.insert(seen.lock().unwrap().clone());
            assert!(repeated.insert(out.fingerprint), "a graph was built twice");
        }
        let taken: Vec<(u32, u32)> = out.steps.iter().map(|step| (step.taken, step.count)).collect();
        let Some(last) = taken.iter().rposition(|&(taken, count)| taken + 1 < count) else { break };
        prefix = taken[..last].iter().map(|&(taken, _)| taken).collect();
        prefix.push(taken[last].0 + 1);
    }
    assert_eq!(kept, all);
    assert_eq!(repeated, prints);
    (all, prints.len())
}

#[test]
fn calm_executions_lose_nothing() {
    let mut both = 0;
    for seed in 0..PROGRAMS {
        let mut numbers = Numbers::new(seed << 20 | 0x5eed);
        let (count, family) = (2 + numbers.below(2), numbers.below(4));
        let most = if count == 2 { 4 } else { 2 };
        let threads: Vec<Vec<Act>> = (0..count).map(|_| random_thread(&mut numbers, family, most)).collect();
        let calm = outcomes(&threads, false);
        assert_eq!(calm, outcomes(&threads, true), "{seed}: {threads:?}");
        both += calm.1;
    }
    assert!(both > 2_000, "{both} graphs");
}
