//! Whole executions: their ends, waiting threads, starting threads, time, spinning.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::common::{choices, op, outcomes, program, run, show, with};
use turnpike_scheduler::script::{Context, Routine, Script, start, start_only, straight};
use turnpike_scheduler::{
    Choice, Detail, End, Execution, FailureKind, Finding, Kind, Object, ObjectId, Operation, Outcome, Plan,
    Policy, Site, ThreadId, Timeouts,
};

const O: ObjectId = ObjectId(0);
const P: ObjectId = ObjectId(1);
const MUTEX: Object = Object::Mutex { recursive: false };
const NONE: ObjectId = ObjectId::NONE;

#[test]
fn deadlocks_tell_who_waits_for_whom() {
    use Kind::*;
    use turnpike_scheduler::End;
    let mut script =
        program(vec![MUTEX, MUTEX], vec![vec![op(Lock, O), op(Lock, P)], vec![op(Lock, P), op(Lock, O)]]);
    let plan = Plan { policy: Policy::First, detail: Detail::Full, ..Plan::new(&[0, 1]) };
    let out = run(&mut script, &plan);
    assert_eq!(out.end, End::Deadlock);
    let names: Vec<&str> = out.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["main", "main.0", "main.1"]);
    assert_eq!(
        out.objects.iter().map(|object| object.name.as_str()).collect::<Vec<_>>(),
        ["mutex 0", "mutex 1"]
    );
    let waits = |t: usize| out.threads[t].waits.map(|(choice, holder)| (choice.kind, choice.object, holder));
    assert_eq!(waits(0), None);
    assert_eq!(waits(1), Some((Lock, P, Some(ThreadId(2)))));
    assert_eq!(waits(2), Some((Lock, O, Some(ThreadId(1)))));
    assert_eq!(out.threads[1].holds, [(O, Site(Lock as u64))]);
    assert!(out.threads[0].ended && !out.threads[1].ended);
}

#[test]
fn the_ends_of_executions() {
    use Kind::*;
    use turnpike_scheduler::End;
    let mut failing =
        program(vec![], vec![vec![with(Assert, NONE, 1), with(Assert, NONE, 0), op(Yield, NONE)]]);
    let out = run(&mut failing, &Plan { policy: Policy::First, ..Plan::new(&[]) });
    assert!(matches!(out.end, End::Failed(failure) if failure.kind == FailureKind::Assertion));
    assert_eq!((out.steps.len(), out.assertions), (2, 2));

    let mut long = program(vec![], vec![vec![op(Message, NONE); 10]]);
    let out = run(&mut long, &Plan { policy: Policy::First, max_steps: 4, ..Plan::new(&[]) });
    assert_eq!((out.end, out.steps.len(), out.messages, out.enabled_sum), (End::StepLimit, 4, 4, 5));
    let out = run(&mut long, &Plan { policy: Policy::First, ..Plan::new(&[0, 1]) });
    assert_eq!((out.end, out.steps.len()), (End::Diverged(1), 1));
    let out = run(&mut long, &Plan::new(&[0, 0]));
    assert_eq!((out.end, out.steps.len()), (End::Stopped, 2));

    // Exit is a step while other threads live, and they are leaked unless they are detached.
    for (detached, expected) in [(false, vec![Finding::Leak(ThreadId(1))]), (true, vec![])] {
        let mut exiting = Script::new(move |_| {
            let mut begun = false;
            Box::new(move |_: Outcome, context: &mut Context<'_>| {
                if !begun {
                    begun = true;
                    let thread = context.spawn(straight(vec![op(Message, NONE)]));
                    if detached {
                        context.kernel.detach(thread);
                    }
                }
                Some(op(Exit, NONE))
            })
        });
        let out = run(&mut exiting, &Plan { policy: Policy::First, ..Plan::new(&[]) });
        assert_eq!((out.end, out.steps.len(), out.findings), (End::Finished, 1, expected));
        // With no other thread alive it is not a step.
        let out = run(&mut exiting, &Plan { policy: Policy::First, ..Plan::new(&[1]) });
        assert_eq!((out.end, out.steps.len(), out.findings), (End::Finished, 1, vec![]));
    }
}

#[test]
fn threads_start_at_once_and_are_ordered_by_name() {
    // main starts A; A starts B before its first operation; later main starts C, and then A starts D.
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = order.clone();
    let mut script = Script::new(move |_| {
        let log = seen.clone();
        log.lock().unwrap().clear();
        let mut at = 0;
        Box::new(move |_: Outcome, context: &mut Context<'_>| {
            at += 1;
            match at {
                1 => {
                    let (log, mut at) = (log.clone(), 0);
                    log.lock().unwrap().push("main");
                    let inner = log.clone();
                    context.spawn(Box::new(move |_: Outcome, context: &mut Context<'_>| {
                        at += 1;
                        match at {
                            1 => {
                                inner.lock().unwrap().push("A");
                                context.spawn(straight(vec![op(Kind::Message, NONE)]));
                                inner.lock().unwrap().push("A again");
                                Some(op(Kind::Message, NONE))
                            }
                            2 => {
                                context.spawn(straight(vec![op(Kind::Message, NONE)]));
                                Some(op(Kind::Message, NONE))
                            }
                            _ => None,
                        }
                    }));
                    log.lock().unwrap().push("main again");
                    context.spawn(straight(vec![op(Kind::Message, NONE)]));
                    None
                }
                _ => None,
            }
        })
    });
    let out = run(&mut script, &Plan { detail: Detail::Full, ..Plan::new(&[]) });
    assert_eq!(*order.lock().unwrap(), ["main", "A", "A again", "main again"]);
    let name = |out: &Execution, choice: &Choice| out.threads[choice.thread.0 as usize].name.clone();
    let names: Vec<String> = out.choices.iter().map(|choice| name(&out, choice)).collect();
    assert_eq!(names, ["main.0", "main.0.0", "main.1"]);
    let out = run(&mut script, &Plan { detail: Detail::Full, ..Plan::new(&[0]) });
    let names: Vec<String> =
        out.choices[out.last_choices..].iter().map(|choice| name(&out, choice)).collect();
    assert_eq!(names, ["main.0", "main.0.0", "main.0.1", "main.1"]);
}

#[test]
fn many_threads_and_back() {
    // More threads than a machine word has bits, all at one mutex; then a small execution with the
    // same kernel.
    for n in [1u32, 63, 64, 65, 130, 300] {
        let mut script = Script::new(move |context| {
            let mutex = context.register(MUTEX);
            let thread = || straight(vec![op(Kind::Lock, mutex), op(Kind::Unlock, mutex)]);
            start((0..n).map(|_| thread()).collect())
        });
        for seed in 0..3 {
            let plan = Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[]) };
            let out = run(&mut script, &plan);
            assert_eq!(out.end, End::Finished);
            assert_eq!(out.steps.len(), 3 * n as usize);
            assert_eq!(out.steps[0].count, n);
            assert_eq!(out.steps[1].count, 1, "only the owner");
        }
    }
}

#[test]
fn time_limits() {
    use Kind::*;
    use turnpike_scheduler::End;
    let timed = |kind| Operation { timed: true, deadline: 50, ..op(kind, O) };
    let wait = Operation { second: P, timed: true, deadline: 50, ..op(Wait, O) };
    let late = Outcome { timed_out: true, ..Outcome::default() };
    let yes = Outcome { ok: true, ..Outcome::default() };
    // A lock that is never released: only a time limit helps.
    for (timeouts, end) in [
        (Timeouts::Never, End::Deadlock),
        (Timeouts::WhenStuck, End::Finished),
        (Timeouts::Always, End::Finished),
    ] {
        let threads = vec![vec![op(Lock, O)], vec![timed(Lock)]];
        let plan = Plan { policy: Policy::First, timeouts, ..Plan::new(&[]) };
        let (found, out) = outcomes(vec![MUTEX], threads, &plan);
        assert_eq!(out.end, end, "{timeouts:?}");
        assert_eq!(found[1], if end == End::Finished { vec![late] } else { vec![] });
        assert_eq!(out.incomplete, timeouts != Timeouts::Always);
    }
    // A waiter that times out takes a step for that, and another to reacquire the mutex.
    let threads = vec![vec![op(Lock, P), wait], vec![op(Message, NONE)]];
    let mut script = program(vec![Object::Condvar, MUTEX], threads.clone());
    let plan = Plan { timeouts: Timeouts::Always, detail: Detail::Full, ..Plan::new(&[0, 0]) };
    let out = run(&mut script, &plan);
    let shown: Vec<String> = out.choices[out.last_choices..].iter().map(show).collect();
    assert_eq!(shown, ["1.timeout Reacquire", "2.0 Message"]);
    let plan = Plan { timeouts: Timeouts::Always, policy: Policy::First, ..Plan::new(&[0, 0, 0]) };
    let (found, out) = outcomes(vec![Object::Condvar, MUTEX], threads, &plan);
    assert_eq!((found, out.steps.len()), (vec![vec![yes, late], vec![yes]], 5));
}

/// Acquires the lock with these operations, whose limits may run out, and releases it as often as it got it.
fn holder(wanted: Vec<Operation>, release: Kind) -> Box<dyn Routine> {
    let (mut wanted, mut held, mut asked) = (wanted.into_iter(), 0, false);
    Box::new(move |outcome: Outcome, _: &mut Context<'_>| {
        held += u32::from(asked && outcome.ok);
        let next = wanted.next();
        asked = next.is_some();
        next.or_else(|| {
            held = held.checked_sub(1)?;
            Some(op(release, O))
        })
    })
}

/// Two readers read again while a writer waits for both. When the writer gives up they go on; so does a reader that
/// gives up waiting behind it.
#[test]
fn readers_behind_a_writer_that_gives_up() {
    use Kind::*;
    use turnpike_scheduler::End;
    let read = with(ReadLock, O, 1);
    let limited = Operation { timed: true, deadline: 50, ..read };
    let write = op(WriteLock, O);
    for (second, writes, deadlocks) in [
        (read, Operation { timed: true, deadline: 50, ..write }, false),
        (limited, write, false),
        (read, write, true),
    ] {
        let mut script = Script::new(move |context| {
            context.register(Object::RwLock);
            let reader = || holder(vec![read, second, op(ReadLock, O)], ReadUnlock);
            start_only(vec![reader(), reader(), holder(vec![writes], WriteUnlock)])
        });
        let (mut prefix, mut seen) = (Vec::new(), false);
        loop {
            let plan = Plan { policy: Policy::First, timeouts: Timeouts::WhenStuck, ..Plan::new(&prefix) };
            let out = run(&mut script, &plan);
            seen |= out.end == End::Deadlock;
            let Some(last) = out.steps.iter().rposition(|step| step.taken + 1 < step.count) else { break };
            prefix = out.steps[..=last].iter().map(|step| step.taken).collect();
            prefix[last] += 1;
        }
        assert_eq!(seen, deadlocks, "{second:?} {writes:?}");
    }
}

#[test]
fn waking_up_for_no_reason() {
    use Kind::*;
    use turnpike_scheduler::End;
    let wait = Operation { second: P, ..op(Wait, O) };
    let threads = vec![vec![op(Lock, P), wait, wait]];
    let mut script = program(vec![Object::Condvar, MUTEX], threads);
    let plan = Plan { spurious: 1, detail: Detail::Full, ..Plan::new(&[0, 0]) };
    let out = run(&mut script, &plan);
    assert_eq!(
        out.choices[out.last_choices..].iter().map(show).collect::<Vec<_>>(),
        ["1.stay Reacquire", "1.spurious Reacquire"]
    );
    // No thread has to wake up; one that does waits again, and then no longer can.
    for (prefix, steps) in [(vec![], 3), (vec![0, 0, 1], 5)] {
        let plan = Plan { spurious: 1, policy: Policy::First, ..Plan::new(&prefix) };
        let out = run(&mut script, &plan);
        assert_eq!((out.end, out.steps.len()), (End::Deadlock, steps));
    }
}

#[test]
fn a_thread_that_saw_two_values_does_not_spin() {
    use Kind::*;
    use turnpike_scheduler::End;
    // A thread checks twice per iteration, and continues when both checks find the flag set.
    let mut script = Script::new(|context| {
        let flag = context.register(Object::Memory);
        let value = Rc::new(RefCell::new(false));
        let set = value.clone();
        let (mut at, mut before) = (0, false);
        let spinner = move |_: Outcome, _: &mut Context<'_>| {
            at += 1;
            match at % 3 {
                1 => Some(op(Load, flag)),
                2 => {
                    before = *value.borrow();
                    Some(op(Load, flag))
                }
                _ if before && *value.borrow() => None,
                _ => Some(op(Yield, NONE)),
            }
        };
        let mut stored = false;
        let setter = move |_: Outcome, _: &mut Context<'_>| {
            if std::mem::replace(&mut stored, true) {
                *set.borrow_mut() = true;
                return None;
            }
            Some(op(Store, flag))
        };
        start(vec![Box::new(spinner), Box::new(setter)])
    });
    // The flag is set between two checks of one iteration.
    let plan = Plan { policy: Policy::Continue, ..Plan::new(&[0, 0, 0, 0, 1]) };
    let out = run(&mut script, &plan);
    assert_eq!(out.end, End::Finished);
    assert_eq!(out.steps.len(), 3 + 2 + 2 + 2 + 2, "a turn, set in the next, its rest, a last turn, join");
}

#[test]
fn spinning_threads_wait_for_a_change() {
    use Kind::*;
    use turnpike_scheduler::End;
    // One thread spins on memory until another one sets it, after a while.
    let script = |sets: bool| {
        Script::new(move |context| {
            let flag = context.register(Object::Memory);
            let value = Rc::new(RefCell::new(false));
            let (set, mut at) = (value.clone(), 0);
            let spinner = move |_: Outcome, _: &mut Context<'_>| {
                at += 1;
                match at % 2 {
                    1 => Some(op(Load, flag)),
                    _ if *value.borrow() => None,
                    _ => Some(op(Yield, NONE)),
                }
            };
            let mut left = 5;
            let setter = move |_: Outcome, _: &mut Context<'_>| {
                left -= 1;
                match left {
                    1 if sets => Some(op(Store, flag)),
                    0 | 1 => {
                        *set.borrow_mut() = sets;
                        None
                    }
                    _ => Some(op(Message, NONE)),
                }
            };
            start(vec![Box::new(spinner), Box::new(setter)])
        })
    };
    // The spinner goes first: load, yield, load, and then only the setter is enabled.
    let out = run(&mut script(true), &Plan { policy: Policy::Continue, ..Plan::new(&[]) });
    assert_eq!((out.end, out.incomplete), (End::Finished, true));
    assert_eq!(out.steps.len(), 3 + 4 + 2 + 2, "spin, set, see it, join");
    let out = run(&mut script(false), &Plan { policy: Policy::Continue, ..Plan::new(&[]) });
    assert_eq!(out.end, End::Livelock);
}

#[test]
fn time_flows_along_happens_before() {
    use Kind::*;
    use turnpike_scheduler::End;
    // One thread sleeps with the lock held, and learns nothing of the others; a later owner of the
    // lock knows the time.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let mut script = Script::new(move |context| {
        log.lock().unwrap().clear();
        let mutex = context.register(MUTEX);
        let sleeper =
            straight(vec![op(Lock, mutex), with(Sleep, NONE, 10), op(Unlock, mutex), op(Message, NONE)]);
        let timed = |name: &'static str, operations: Vec<Operation>| {
            let (mut operations, log) = (operations.into_iter(), log.clone());
            Box::new(move |_: Outcome, context: &mut Context<'_>| {
                let next = operations.next();
                if next.is_none() {
                    log.lock().unwrap().push((name, context.kernel.now()));
                }
                next
            }) as Box<dyn Routine>
        };
        let wait = Operation { timed: true, deadline: 25, ..op(Lock, mutex) };
        start_only(vec![
            sleeper,
            timed("locks", vec![op(Lock, mutex), op(Unlock, mutex)]),
            timed("does not", vec![with(Sleep, NONE, 3), op(Message, NONE)]),
            timed("holds", vec![op(Lock, mutex)]),
            timed("gives up", vec![wait]),
        ])
    });
    for seed in 0..40 {
        let plan = Plan { policy: Policy::Uniform { seed }, ..Plan::new(&[0]) };
        let out = run(&mut script, &plan);
        let seen = seen.lock().unwrap().clone();
        let time = |name: &str| seen.iter().find(|(other, _)| *other == name).map(|&(_, time)| time);
        assert_eq!(time("does not"), Some(3));
        match out.end {
            // If a thread keeps the lock, others wait forever, or until they time out.
            End::Deadlock | End::Finished => {}
            other => panic!("{other:?}"),
        }
        for name in ["locks", "holds"] {
            assert!(time(name).is_none_or(|time| time == 10), "{seen:?}");
        }
        assert!(time("gives up").is_some_and(|time| time == 10 || time == 25), "{seen:?}");
    }
}

#[test]
fn the_last_of_several_senders_closes_a_queue() {
    use Kind::*;
    let mut script = Script::new(|context| {
        let queue = context.register(Object::Queue { capacity: 1 });
        context.kernel.set_senders(queue, 3);
        let close = || straight(vec![with(Close, queue, 0)]);
        start_only(vec![close(), close(), close(), straight(vec![op(Receive, queue)])])
    });
    assert_eq!(choices(&mut script, &[0]), ["2.0 Close", "3.0 Close"]);
    assert_eq!(choices(&mut script, &[0, 1]), ["2.0 Close"]);
    assert_eq!(choices(&mut script, &[0, 1, 0]), ["4.0 Receive"]);
    // The first two commute; the last one does not.
    let after = |script: &mut Script, prefix: &[u32]| run(script, &Plan::new(prefix)).fingerprint;
    assert_eq!(after(&mut script, &[0, 0]), after(&mut script, &[1, 0]));
    assert_ne!(after(&mut script, &[0, 0, 0]), after(&mut script, &[0, 1, 0]));
    assert_eq!(after(&mut script, &[0, 0, 0]), after(&mut script, &[1, 0, 0]));
}
