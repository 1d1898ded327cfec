//! Data races by memory orders: what the rules say, and that one execution for each order of dependent steps shows every
//! race that all executions together show.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use crate::scripts::outcomes::{exhaustive, quiet};
use crate::scripts::{on, one};
use turnpike_program::ProgramModel;
use turnpike_scheduler::script::{Context, Routine, Script, start};
use turnpike_scheduler::{
    Execution, Executor, Finding, GuestError, Kind, MemoryOrder, Object, ObjectId, Operation, Outcome, Plan,
    Site,
};
use turnpike_search::{StopReason, Verdict};

const RLX: MemoryOrder = MemoryOrder::RELAXED;
const ACQ: MemoryOrder = MemoryOrder::ACQUIRE;
const REL: MemoryOrder = MemoryOrder::RELEASE;
const BOTH: MemoryOrder = MemoryOrder::SEQUENTIAL;

/// An instruction.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// A plain access, which is no step; whether it writes.
    Plain(u64, bool),
    Load(usize, MemoryOrder),
    Store(usize, u64, MemoryOrder),
    /// Adds a number; 0 leaves the value as it is.
    Add(usize, u64, MemoryOrder),
    /// Compares and exchanges: expected, new, order, order of failure.
    Exchange(usize, u64, u64, MemoryOrder, MemoryOrder),
    Fence(MemoryOrder),
    Lock,
    Unlock,
    Post,
    Wait,
    Arrive,
    Send,
    Receive,
    ReadLock,
    ReadUnlock,
    WriteLock,
    WriteUnlock,
    /// Leaves out so many instructions when the value that was found last is 0.
    Unless(usize),
    /// Or is not this one.
    UnlessIs(u64, usize),
}

thread_local! {
    /// The variables, where an update looks before it is one.
    static VALUES: RefCell<[u64; 2]> = const { RefCell::new([0; 2]) };
}

/// Whether an update changes its variable: number, expected value or none, new value or summand.
fn changes(argument: u64) -> bool {
    let old = VALUES.with_borrow(|values| values[(argument & 1) as usize]);
    let expected = argument >> 8 & 0xff;
    let new = argument >> 16;
    if expected == 0xff { new != 0 } else { old == expected && new != old }
}

struct Objects {
    variables: [ObjectId; 2],
    mutex: ObjectId,
    semaphore: ObjectId,
    barrier: ObjectId,
    queue: ObjectId,
    lock: ObjectId,
}

/// A plain access that happened: thread, when, variable, whether it wrote, where.
type Past = (usize, u32, u64, bool, u64);

/// Compares an access with all before it.
fn access(context: &mut Context<'_>, past: &RefCell<Vec<Past>>, variable: u64, write: bool, site: u64) {
    let me = context.kernel.current().0 as usize;
    let sure = context.kernel.clock().to_vec();
    let perhaps = context.kernel.doubtful_clock().map(<[u32]>::to_vec);
    let knows = |clock: &[u32], thread: usize, epoch: u32| clock.get(thread).copied().unwrap_or(0) >= epoch;
    for &(thread, epoch, other, writes, first) in past.borrow().iter() {
        if other != variable || thread == me || !(write || writes) || knows(&sure, thread, epoch) {
            continue;
        }
        if perhaps.as_ref().is_some_and(|clock| knows(clock, thread, epoch)) {
            context.kernel.note(Finding::Uncontrolled("doubt".into()));
        } else {
            let message = String::new();
            context.kernel.note(Finding::Race { first: Site(first), second: Site(site), message });
        }
    }
    let own = sure.get(me).copied().unwrap_or(0);
    past.borrow_mut().push((me, own + 1, variable, write, site));
}

fn interpret(
    code: &[Op],
    number: usize,
    objects: &Rc<Objects>,
    past: &Rc<RefCell<Vec<Past>>>,
) -> Box<dyn Routine> {
    let (code, objects, past) = (code.to_vec(), Rc::clone(objects), Rc::clone(past));
    let (mut at, mut found) = (0, 0);
    let mut last: Option<Op> = None;
    Box::new(move |_: Outcome, context: &mut Context<'_>| {
        VALUES.with_borrow_mut(|values| match last.take() {
            Some(Op::Load(x, _)) => found = values[x],
            Some(Op::Store(x, value, _)) => values[x] = value,
            Some(Op::Add(x, value, _)) => {
                found = values[x];
                values[x] += value;
            }
            Some(Op::Exchange(x, expected, new, ..)) => {
                found = values[x];
                if found == expected {
                    values[x] = new;
                }
            }
            _ => {}
        });
        loop {
            let op = *code.get(at)?;
            at += 1;
            let site = (number as u64) << 16 | at as u64;
            let simple = |kind, object| on(kind, object, site);
            let update = |x: usize, expected: u64, new: u64| Operation {
                argument: x as u64 | expected << 8 | new << 16,
                writes: Some(changes),
                ..on(Kind::Update, objects.variables[x], site)
            };
            let operation = match op {
                Op::Plain(variable, write) => {
                    access(context, &past, variable, write, site);
                    continue;
                }
                Op::Fence(order) => {
                    context.kernel.fence(order);
                    continue;
                }
                Op::Unless(count) => {
                    at += if found == 0 { count } else { 0 };
                    continue;
                }
                Op::UnlessIs(value, count) => {
                    at += if found == value { 0 } else { count };
                    continue;
                }
                Op::Load(x, order) => Operation { order, ..simple(Kind::Load, objects.variables[x]) },
                Op::Store(x, _, order) => Operation { order, ..simple(Kind::Store, objects.variables[x]) },
                Op::Add(x, value, order) => {
                    Operation { order, unchanged: order.storing(), ..update(x, 0xff, value) }
                }
                Op::Exchange(x, expected, new, order, unchanged) => {
                    Operation { order, unchanged, ..update(x, expected, new) }
                }
                Op::Lock => simple(Kind::Lock, objects.mutex),
                Op::Unlock => simple(Kind::Unlock, objects.mutex),
                Op::Post => simple(Kind::SemPost, objects.semaphore),
                Op::Wait => simple(Kind::SemWait, objects.semaphore),
                Op::Arrive => simple(Kind::Arrive, objects.barrier),
                Op::Send => simple(Kind::Send, objects.queue),
                Op::Receive => simple(Kind::Receive, objects.queue),
                Op::ReadLock => simple(Kind::ReadLock, objects.lock),
                Op::ReadUnlock => simple(Kind::ReadUnlock, objects.lock),
                Op::WriteLock => simple(Kind::WriteLock, objects.lock),
                Op::WriteUnlock => simple(Kind::WriteUnlock, objects.lock),
            };
            last = Some(op);
            return Some(operation);
        }
    })
}

fn script(threads: &[Vec<Op>]) -> Script {
    let threads = threads.to_vec();
    let main = move |context: &mut Context<'_>| {
        VALUES.set([0; 2]);
        let mut register = |object| context.register(object);
        let objects = Rc::new(Objects {
            variables: [register(Object::Memory), register(Object::Memory)],
            mutex: register(Object::Mutex { recursive: false }),
            semaphore: register(Object::Semaphore { value: 0 }),
            barrier: register(Object::Barrier { count: 2 }),
            queue: register(Object::Queue { capacity: u32::MAX }),
            lock: register(Object::RwLock),
        });
        let past = Rc::new(RefCell::new(Vec::new()));
        let thread = |(number, code): (usize, &Vec<Op>)| interpret(code, number, &objects, &past);
        start(threads.iter().enumerate().map(thread).collect())
    };
    Script::new(main).with_clocks()
}

/// What executions showed: pairs of places that race, and whether something was doubtful.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shown {
    races: BTreeSet<(u64, u64)>,
    doubt: bool,
}

struct Noting(Script, Arc<Mutex<Shown>>);

impl Executor for Noting {
    fn run(&mut self, plan: &Plan<'_>, out: &mut Execution) -> Result<(), GuestError> {
        self.0.run(plan, out)?;
        let mut shown = self.1.lock().unwrap();
        for finding in &out.findings {
            match finding {
                Finding::Race { first, second, .. } => {
                    shown.races.insert((first.0.min(second.0), first.0.max(second.0)));
                }
                Finding::Uncontrolled(_) => shown.doubt = true,
                Finding::Leak(_) | Finding::Reuse { .. } => {}
            }
        }
        Ok(())
    }

    fn site(&mut self, site: Site) -> String {
        self.0.site(site)
    }
}

fn model(threads: &[Vec<Op>], shown: &Arc<Mutex<Shown>>) -> ProgramModel {
    let (threads, shown) = (threads.to_vec(), Arc::clone(shown));
    let launch = move || Ok(Box::new(Noting(script(&threads), Arc::clone(&shown))) as Box<dyn Executor>);
    ProgramModel::new("races", 1, Box::new(launch), quiet()).unwrap()
}

/// All races that exhaustive search sees; `None` when that takes too many executions.
fn shown(threads: &[Vec<Op>], reduced: bool) -> Option<Shown> {
    let shown = Arc::new(Mutex::new(Shown::default()));
    let model = model(threads, &shown);
    *shown.lock().unwrap() = Shown::default();
    let mut options = exhaustive(reduced);
    // Nothing stops the search.
    options.objectives = vec!["heap".parse().unwrap()];
    options.limits.executions = Some(30_000);
    let report = one(&model, &options);
    let shown = shown.lock().unwrap().clone();
    (report.stop != StopReason::MaxExecutions).then_some(shown)
}

/// Whether the program has a race, the same by both ways, and by what is said about it.
fn races(threads: &[Vec<Op>]) -> bool {
    let all = shown(threads, false).expect("a small program");
    assert_eq!(shown(threads, true), Some(all.clone()), "{threads:?}");
    assert!(!all.doubt, "{threads:?}");
    let mut options = exhaustive(true);
    options.objectives = vec!["race".parse().unwrap()];
    let report = one(&model(threads, &Arc::default()), &options);
    let verdict = if all.races.is_empty() { Verdict::None } else { Verdict::Found };
    assert_eq!(report.verdict, verdict, "{threads:?}");
    !all.races.is_empty()
}

/// One thread writes and publishes, the other reads if it finds something.
fn published(publish: &[Op], observe: &[Op]) -> Vec<Vec<Op>> {
    let mut writer = vec![Op::Plain(0, true)];
    writer.extend(publish);
    let mut reader = observe.to_vec();
    reader.push(Op::Plain(0, false));
    vec![writer, reader]
}

#[test]
fn a_flag_publishes_by_its_orders() {
    for (store, load, race) in [
        (RLX, RLX, true),
        (RLX, ACQ, true),
        (REL, RLX, true),
        (REL, ACQ, false),
        (BOTH, BOTH, false),
        (BOTH, ACQ, false),
        (REL, BOTH, false),
        (ACQ, ACQ, true),
    ] {
        let flag = published(&[Op::Store(0, 1, store)], &[Op::Load(0, load), Op::Unless(1)]);
        assert_eq!(races(&flag), race, "{store:?} {load:?}");
        let counter = published(&[Op::Add(0, 1, store)], &[Op::Add(0, 1, load), Op::Unless(1)]);
        assert_eq!(races(&counter), race, "counting: {store:?} {load:?}");
    }
}

#[test]
fn fences_publish_what_came_before_them() {
    let store = Op::Store(0, 1, RLX);
    let load = [Op::Load(0, RLX), Op::Unless(2)];
    let cases: [(&[Op], &[Op], bool); 8] = [
        (&[Op::Fence(REL), store], &[load[0], load[1], Op::Fence(ACQ)], false),
        (&[Op::Fence(BOTH), store], &[load[0], load[1], Op::Fence(BOTH)], false),
        (&[Op::Fence(ACQ), store], &[load[0], load[1], Op::Fence(ACQ)], true),
        (&[Op::Fence(REL), store], &[load[0], load[1], Op::Fence(REL)], true),
        (&[store, Op::Fence(REL)], &[load[0], load[1], Op::Fence(ACQ)], true),
        (&[Op::Fence(REL), store], &[Op::Fence(ACQ), load[0], Op::Unless(1)], true),
        // Fences on one side, orders on the other.
        (&[Op::Fence(REL), store], &[Op::Load(0, ACQ), Op::Unless(1)], false),
        (&[Op::Store(0, 1, REL)], &[load[0], load[1], Op::Fence(ACQ)], false),
    ];
    for (publish, observe, race) in cases {
        assert_eq!(races(&published(publish, observe)), race, "{publish:?} {observe:?}");
    }
    // What comes after the fence is not published by it.
    let late = vec![
        vec![Op::Fence(REL), Op::Plain(0, true), Op::Store(0, 1, RLX)],
        vec![Op::Load(0, ACQ), Op::Unless(1), Op::Plain(0, false)],
    ];
    assert!(races(&late));
}

#[test]
fn only_updates_go_on_with_a_release() {
    // A third thread makes it 2 when it finds 1; the reader wants 2.
    let relayed = |between: Op| {
        vec![
            vec![Op::Plain(0, true), Op::Store(0, 1, REL)],
            vec![Op::Load(0, RLX), Op::UnlessIs(1, 1), between],
            vec![Op::Load(0, ACQ), Op::UnlessIs(2, 1), Op::Plain(0, false)],
        ]
    };
    assert!(!races(&relayed(Op::Add(0, 1, RLX))));
    assert!(!races(&relayed(Op::Exchange(0, 1, 2, RLX, RLX))));
    assert!(races(&relayed(Op::Store(0, 2, RLX))));
    assert!(races(&relayed(Op::Store(0, 2, REL))), "what it knows itself is not enough");
    // The same thread's own later store ends it, too (as in C++20).
    let own = [Op::Store(0, 1, REL), Op::Store(0, 2, RLX)];
    assert!(races(&published(&own, &[Op::Load(0, ACQ), Op::UnlessIs(2, 1)])));
    let own = [Op::Store(0, 1, REL), Op::Add(0, 1, RLX)];
    assert!(!races(&published(&own, &[Op::Load(0, ACQ), Op::UnlessIs(2, 1)])));
}

#[test]
fn a_failed_exchange_has_an_order_of_its_own() {
    for (failure, race) in [(RLX, true), (ACQ, false)] {
        let observe = [Op::Exchange(0, 7, 8, BOTH, failure), Op::Unless(1)];
        assert_eq!(races(&published(&[Op::Store(0, 1, REL)], &observe)), race, "{failure:?}");
    }
    // What it would have released it does not.
    let publish = [Op::Exchange(0, 7, 8, BOTH, ACQ)];
    assert!(races(&published(&publish, &[Op::Load(0, ACQ)])));
}

#[test]
fn locks_semaphores_barriers_and_messages_publish() {
    let locked = |write| vec![Op::Lock, Op::Plain(0, write), Op::Unlock];
    assert!(!races(&[locked(true), locked(true)]));
    assert!(races(&[locked(true), vec![Op::Plain(0, true)]]));
    assert!(!races(&published(&[Op::Post], &[Op::Wait])));
    assert!(!races(&published(&[Op::Arrive], &[Op::Arrive])));
    assert!(!races(&published(&[Op::Send], &[Op::Receive])));
    let write = vec![Op::WriteLock, Op::Plain(0, true), Op::WriteUnlock];
    let read = |write| vec![Op::ReadLock, Op::Plain(0, write), Op::ReadUnlock];
    assert!(!races(&[write.clone(), read(false), read(false)]));
    assert!(races(&[write, read(true), read(false)]));
}

/// A message tells what its own sender knew, whatever else was sent before it was received.
#[test]
fn a_message_publishes_for_its_own_sender() {
    let sender = |variable| vec![Op::Plain(variable, true), Op::Send];
    let receiver = vec![Op::Receive, Op::Plain(1, false)];
    assert!(races(&[sender(0), sender(1), receiver]));
    let both = vec![Op::Receive, Op::Receive, Op::Plain(1, false)];
    assert!(!races(&[sender(0), sender(1), both]));
}

/// Whoever leaves a barrier late has not heard of those who came to it again.
#[test]
fn a_barrier_publishes_for_those_who_met() {
    let fast = vec![Op::Arrive, Op::Plain(0, true), Op::Arrive];
    let slow = vec![Op::Arrive, Op::Plain(0, false), Op::Arrive];
    assert!(races(&[fast, slow]));
}

/// An update that leaves the value as it is publishes, but commutes with reads: where that matters nothing is claimed.
#[test]
fn storing_what_is_there_may_publish() {
    let threads = published(&[Op::Add(0, 0, REL)], &[Op::Load(0, ACQ)]);
    let all = shown(&threads, false).unwrap();
    assert_eq!(all.races.len(), 1, "reading may come first");
    let few = shown(&threads, true).unwrap();
    assert!(few.doubt || few == all);
    // With an acquire only, nothing is published: as a spin lock that is held.
    let spin = published(&[Op::Add(0, 0, ACQ)], &[Op::Load(0, ACQ)]);
    assert!(races(&spin));
}

/// Random numbers for tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn order(&mut self) -> MemoryOrder {
        [RLX, ACQ, REL, BOTH][self.below(4)]
    }
}

fn random_thread(dice: &mut Dice, family: usize) -> Vec<Op> {
    let mut code = Vec::new();
    let length = 3 + dice.below(4);
    while code.len() < length {
        let x = dice.below(2);
        let plain = Op::Plain(dice.below(2) as u64, dice.below(2) == 0);
        match dice.below(9) {
            0 | 1 => code.push(plain),
            2 => code.push(Op::Load(x, dice.order())),
            3 => code.push(Op::Store(x, 1 + dice.below(2) as u64, dice.order())),
            4 => code.push(Op::Add(x, dice.below(3) as u64, dice.order())),
            5 => {
                let failure = if dice.below(2) == 0 { RLX } else { ACQ };
                code.push(Op::Exchange(x, dice.below(2) as u64, 2, dice.order(), failure));
            }
            6 => code.push(Op::Fence(dice.order())),
            7 => code.push(Op::Unless(1 + dice.below(2))),
            _ => match family {
                0 => code.extend([Op::Lock, plain, Op::Unlock]),
                1 => code.push(if dice.below(2) == 0 { Op::Post } else { Op::Wait }),
                2 => code.push(if dice.below(2) == 0 { Op::Send } else { Op::Receive }),
                3 => code.extend([Op::ReadLock, plain, Op::ReadUnlock]),
                4 => code.extend([Op::WriteLock, plain, Op::WriteUnlock]),
                _ => code.push(Op::Arrive),
            },
        }
    }
    code
}

/// Reduced against unreduced search on random programs. `TURNPIKE_RACE_PROGRAMS` is how many there are.
#[test]
fn reduction_keeps_all_races() {
    let count =
        std::env::var("TURNPIKE_RACE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let (mut compared, mut racy, mut doubtful) = (0, 0, 0);
    for seed in 0..count {
        let dice = &mut Dice((seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            dice.below(2);
        }
        let (family, threads) = (dice.below(6), 2 + dice.below(2));
        let threads: Vec<Vec<Op>> = (0..threads).map(|_| random_thread(dice, family)).collect();
        let (Some(all), Some(few)) = (shown(&threads, false), shown(&threads, true)) else { continue };
        compared += 1;
        racy += usize::from(!all.races.is_empty());
        doubtful += usize::from(few.doubt);
        assert!(few.races.is_subset(&all.races), "{seed}: {threads:?}: {few:?} {all:?}");
        assert!(few.doubt || few.races == all.races, "{seed}: {threads:?}: {few:?} {all:?}");
    }
    assert!(compared * 10 >= count * 6, "{compared} of {count} programs were small enough");
    assert!(racy > compared / 4 && racy < compared, "{racy} of {compared} have races");
    assert!(doubtful * 10 < compared, "{doubtful} of {compared} are doubtful");
}
