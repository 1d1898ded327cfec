//! Random programs over everything that threads can do: locks, conditions, semaphores, barriers, initialisation, channels,
//! atomics, plain memory, blocks that are freed, objects that are destroyed, threads that start others, choices, time
//! limits, and calls that nobody controls.
//!
//! The memory of a program is what the operating system's thread sees while it executes: one program at a time.

use std::cell::RefCell;
use std::collections::VecDeque;

use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::script::{Context, Routine, start};
use turnpike_scheduler::{Finding, Kind, Object, ObjectId, Operation, Outcome, Timeouts};

use super::{on, program};

/// Objects by their numbers: they are registered in this order.
pub(crate) mod objects {
    use super::ObjectId;
    pub(crate) const MUTEX: ObjectId = ObjectId(0);
    pub(crate) const AGAIN: ObjectId = ObjectId(1);
    pub(crate) const LOCK: ObjectId = ObjectId(2);
    pub(crate) const CONDVAR: ObjectId = ObjectId(3);
    pub(crate) const EMPTY: ObjectId = ObjectId(4);
    pub(crate) const ONE: ObjectId = ObjectId(5);
    pub(crate) const BARRIER: ObjectId = ObjectId(6);
    pub(crate) const ONCE: ObjectId = ObjectId(7);
    pub(crate) const QUEUE: ObjectId = ObjectId(8);
    pub(crate) const FUTEX: ObjectId = ObjectId(9);
    pub(crate) const BLOCK: ObjectId = ObjectId(10);
    /// In the block.
    pub(crate) const INNER: ObjectId = ObjectId(11);
    /// The first of the variables.
    pub(crate) const VARIABLES: u32 = 12;
    /// Behind them: what is offered, to be picked.
    pub(crate) const ALLOCATOR: ObjectId = ObjectId(VARIABLES + super::COUNT as u32);
}
use objects::*;

/// Variables: 0 and 1 are anywhere, 2 and 3 in the block, 4 is the word of the futex.
const COUNT: usize = 5;
const WORD: usize = 4;

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// An operation that needs nothing else; whether it succeeded goes into the register.
    Do(Kind, ObjectId, u64),
    /// The same with a time limit.
    Timed(Kind, ObjectId),
    /// Waits on the condition variable with this mutex, perhaps for a time.
    Wait(ObjectId, bool),
    /// Puts a message into the queue; to one without room, waits until it is taken.
    Send,
    /// Takes one.
    Receive(Kind),
    /// Into the register; plain or atomic.
    Load(usize, Kind),
    /// The register plus one.
    Store(usize, Kind),
    Add(usize),
    /// Writes 5 where there is this value.
    Exchange(usize, u64),
    /// Writes 5 to variables 0 and 1, by one step, if both are 0.
    ExchangeBoth,
    FutexWait,
    Free,
    /// One more can be picked.
    Offer,
    /// Picks one of those, or none; which goes into the register.
    Pick,
    Toss,
    /// Waits until variable 0 is positive, and takes one off.
    Take,
    Spawn(usize),
    /// Fails when the register has this value.
    FailIf(u64),
    /// Leaves out so many when the register is 0.
    SkipIfZero(usize),
    /// A call that nobody controls.
    Call,
}

/// A program: the code of its threads; those that others start come last.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) threads: Vec<Vec<Act>>,
    /// Threads that the main thread starts.
    pub(crate) started: usize,
    pub(crate) capacity: u32,
    pub(crate) senders: u32,
    pub(crate) options: ProgramOptions,
}

/// Memory of the program that executes, and what its threads saw.
#[derive(Debug, Default)]
struct Memory {
    values: [u64; COUNT],
    freed: bool,
    offered: u32,
    messages: VecDeque<u64>,
    seen: Vec<Vec<u64>>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// What the threads of the last execution saw, and what memory they left.
pub(crate) fn observed() -> (Vec<Vec<u64>>, [u64; COUNT]) {
    MEMORY.with_borrow(|memory| (memory.seen.clone(), memory.values))
}

impl Code {
    /// The program as a model.
    pub(crate) fn model(&self, options: ProgramOptions) -> ProgramModel {
        let code = self.clone();
        program("vocabulary", options, move |context| {
            MEMORY.with_borrow_mut(|memory| {
                *memory = Memory { seen: vec![Vec::new(); code.threads.len()], ..Memory::default() };
            });
            let known = [
                Object::Mutex { recursive: false },
                Object::Mutex { recursive: true },
                Object::RwLock,
                Object::Condvar,
                Object::Semaphore { value: 0 },
                Object::Semaphore { value: 1 },
                Object::Barrier { count: 2 },
                Object::Once,
                Object::Queue { capacity: code.capacity },
                Object::Futex,
                Object::Region,
                Object::Mutex { recursive: false },
            ];
            for object in known.into_iter().chain([Object::Memory; COUNT + 1]) {
                context.register(object);
            }
            context.kernel.set_senders(QUEUE, code.senders);
            for inside in [INNER, variable(2), variable(3)] {
                context.kernel.place(inside, BLOCK);
            }
            start((0..code.started).map(|thread| interpret(&code, thread)).collect())
        })
    }

    /// Whether some thread does this.
    pub(crate) fn has(&self, holds: impl Fn(&Act) -> bool) -> bool {
        self.threads.iter().flatten().any(holds)
    }
}

fn variable(number: usize) -> ObjectId {
    ObjectId(VARIABLES + number as u32)
}

/// Whether an exchange would write: variable and expected value in one number.
fn matches(argument: u64) -> bool {
    MEMORY.with_borrow(|memory| memory.values[(argument >> 32) as usize] == argument & 0xffff_ffff)
}

/// Whether an exchange of two variables would write.
fn both_match(_: u64) -> bool {
    MEMORY.with_borrow(|memory| memory.values[..2] == [0, 0])
}

fn is_positive(_: u64) -> bool {
    MEMORY.with_borrow(|memory| memory.values[0] > 0)
}

fn take(site: u64) -> Operation {
    Operation { writes: Some(is_positive), ..on(Kind::Update, variable(0), site) }
}

/// A thread.
// Long because it has one case for each act.
fn interpret(code: &Code, number: usize) -> Box<dyn Routine> {
    let code = code.clone();
    let (mut at, mut register) = (0, 0u64);
    let mut last: Option<Act> = None;
    let mut leaves = false;
    Box::new(move |outcome: Outcome, context: &mut Context<'_>| {
        let site = |at: usize| (number as u64) << 16 | at as u64;
        if let Some(act) = last.take() {
            if act == Act::Send && !leaves && outcome.ok && code.capacity == 0 {
                // Has to wait until somebody took it.
                MEMORY.with_borrow_mut(|memory| memory.messages.push_back(site(at)));
                (last, leaves) = (Some(act), true);
                let leave = on(Kind::Leave, QUEUE, site(at));
                return Some(Operation { argument: outcome.value, ..leave });
            }
            if act == Act::Take && (leaves || !outcome.ok) {
                // Waits for a change, then looks again.
                leaves = !leaves;
                last = Some(act);
                return Some(if leaves { on(Kind::Yield, variable(0), site(at)) } else { take(site(at)) });
            }
            if let Some(why) = MEMORY.with_borrow_mut(|memory| {
                let taken = after(memory, act, outcome, leaves, site(at), &mut register);
                memory.seen[number].push(register);
                taken
            }) {
                context.fail(&format!("{why} by {number} at {at}"));
                return None;
            }
            leaves = false;
            if matches!(act, Act::Offer | Act::Pick) {
                let offered = MEMORY.with_borrow(|memory| memory.offered);
                context.kernel.set_count(ALLOCATOR, offered);
            }
        }
        loop {
            let act = *code.threads[number].get(at)?;
            at += 1;
            let site = site(at);
            let operation = match act {
                Act::Do(kind, object, argument) => Operation { argument, ..on(kind, object, site) },
                Act::Timed(kind, object) => {
                    Operation { timed: true, deadline: 100, ..on(kind, object, site) }
                }
                Act::Wait(mutex, timed) => {
                    Operation { second: mutex, timed, deadline: 100, ..on(Kind::Wait, CONDVAR, site) }
                }
                Act::Send => on(Kind::Send, QUEUE, site),
                Act::Receive(kind) => on(kind, QUEUE, site),
                Act::Load(x, kind) | Act::Store(x, kind) => on(kind, variable(x), site),
                Act::Add(x) => on(Kind::Update, variable(x), site),
                Act::Exchange(x, value) => Operation {
                    argument: (x as u64) << 32 | value,
                    writes: Some(matches),
                    ..on(Kind::Update, variable(x), site)
                },
                Act::ExchangeBoth => Operation {
                    second: variable(1),
                    writes: Some(both_match),
                    ..on(Kind::Update, variable(0), site)
                },
                Act::FutexWait => Operation {
                    second: variable(WORD),
                    argument: (WORD as u64) << 32,
                    writes: Some(matches),
                    ..on(Kind::FutexWait, FUTEX, site)
                },
                Act::Free => on(Kind::Free, BLOCK, site),
                Act::Take => take(site),
                Act::Offer => on(Kind::Update, ALLOCATOR, site),
                Act::Pick => on(Kind::Toss, ALLOCATOR, site),
                Act::Toss => Operation { argument: 1, ..on(Kind::Toss, ObjectId::NONE, site) },
                Act::Spawn(thread) => {
                    context.spawn(interpret(&code, thread));
                    continue;
                }
                Act::FailIf(value) => {
                    if register == value {
                        context.fail(&format!("thread {number} at {at} has {value}"));
                        return None;
                    }
                    continue;
                }
                Act::SkipIfZero(count) => {
                    if register == 0 {
                        at += count;
                    }
                    continue;
                }
                Act::Call => {
                    context.kernel.note(Finding::Uncontrolled("a call".to_owned()));
                    continue;
                }
            };
            last = Some(act);
            return Some(operation);
        }
    })
}

/// What a step does to memory, and what the thread learns; what is wrong with it, if anything.
fn after(
    memory: &mut Memory,
    act: Act,
    outcome: Outcome,
    leaves: bool,
    message: u64,
    register: &mut u64,
) -> Option<&'static str> {
    let inside = match act {
        Act::Load(x, _) | Act::Store(x, _) | Act::Add(x) | Act::Exchange(x, _) => x == 2 || x == 3,
        Act::Do(_, object, _) => object == INNER,
        _ => false,
    };
    if inside && memory.freed {
        return Some("use after free");
    }
    match act {
        Act::Load(x, _) => *register = memory.values[x],
        Act::Store(x, _) => memory.values[x] = *register + 1,
        Act::Add(x) => {
            memory.values[x] += 1;
            *register = memory.values[x];
        }
        Act::Exchange(x, _) => {
            *register = memory.values[x];
            if outcome.ok {
                memory.values[x] = 5;
            }
        }
        Act::ExchangeBoth => {
            *register = u64::from(outcome.ok);
            if outcome.ok {
                memory.values[..2].fill(5);
            }
        }
        Act::Free => {
            if std::mem::replace(&mut memory.freed, true) {
                return Some("double free");
            }
        }
        Act::Toss => *register = outcome.value,
        Act::Take => {
            memory.values[0] -= 1;
            *register = memory.values[0];
        }
        Act::Offer => memory.offered += 1,
        Act::Pick => {
            *register = outcome.value;
            memory.offered -= u32::from(outcome.value > 0);
        }
        Act::Send => {
            *register = u64::from(outcome.ok);
            if outcome.ok && !leaves {
                memory.messages.push_back(message);
            }
        }
        Act::Receive(_) => {
            *register = outcome.value;
            if outcome.ok {
                *register = memory.messages.pop_front().unwrap_or(0) & 7;
            }
        }
        Act::Do(Kind::TrySend, ..) => {
            *register = u64::from(outcome.ok);
            if outcome.ok {
                memory.messages.push_back(message);
            }
        }
        Act::Do(Kind::SemGet | Kind::FutexWake, ..) => *register = outcome.value,
        _ => *register = u64::from(outcome.ok && !outcome.timed_out),
    }
    None
}

/// Random numbers for tests.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            dice.below(2);
        }
        dice
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Kinds of work, see [`extend`]; what ends comes up more often.
const FAMILIES: [usize; 17] = [1, 2, 3, 4, 5, 6, 7, 7, 7, 8, 9, 9, 9, 10, 11, 12, 13];

/// A random program.
pub(crate) fn random(seed: u64) -> Code {
    let dice = &mut Dice::new(seed);
    let count = 2 + dice.below(2);
    let families = [dice.one(&FAMILIES), dice.one(&FAMILIES)];
    let mut threads: Vec<Vec<Act>> = (0..count).map(|thread| work(dice, thread, count, families)).collect();
    let mut started = count;
    if count > 2 && dice.below(3) == 0 {
        // The last one is started in the middle of another one's work.
        started -= 1;
        let starter = dice.below(started);
        let at = dice.below(threads[starter].len() + 1);
        threads[starter].insert(at, Act::Spawn(count - 1));
        // Nobody knows it before.
        for act in threads.iter_mut().flatten() {
            if let Act::Do(Kind::TryJoin | Kind::Unpark, _, thread) = act {
                *thread = (*thread).min(started as u64);
            }
        }
    }
    if dice.below(12) == 0 {
        let thread = dice.below(count);
        threads[thread].push(Act::Do(Kind::Exit, ObjectId::NONE, 0));
    }
    if dice.below(25) == 0 {
        let thread = dice.below(count);
        threads[thread].push(Act::Call);
    }
    if seed % 4 == 3 {
        end_visibly(&mut threads);
    }
    if seed % 4 == 1 {
        initialise_again(&mut Dice::new(!seed), &mut threads);
    }
    let timeouts = dice.one(&[Timeouts::WhenStuck, Timeouts::Always, Timeouts::Never]);
    let spurious = u32::from(dice.below(4) == 0);
    Code {
        threads,
        started,
        capacity: dice.one(&[0, 1, 1, 2, u32::MAX]),
        senders: count as u32 - 1,
        options: ProgramOptions { timeouts, spurious, check_every: 0, ..ProgramOptions::default() },
    }
}

/// Where threads ask whether others have ended, all of them end by a step of their own.
fn end_visibly(threads: &mut [Vec<Act>]) {
    if threads.iter().flatten().any(|act| matches!(act, Act::Do(Kind::TryJoin, ..))) {
        threads.iter_mut().for_each(|code| code.push(Act::Do(Kind::End, ObjectId::NONE, 0)));
    }
}

/// Some thread initialises an object that is in use; also instead of destroying it.
fn initialise_again(dice: &mut Dice, threads: &mut [Vec<Act>]) {
    const OBJECTS: [ObjectId; 6] = [MUTEX, LOCK, CONDVAR, ONE, BARRIER, ONCE];
    for act in threads.iter_mut().flatten() {
        if let Act::Do(kind @ Kind::Destroy, ..) = act {
            *kind = Kind::Initialise;
        }
    }
    let used = |act: &Act| match act {
        Act::Do(_, object, _) | Act::Timed(_, object) => Some(*object),
        _ => None,
    };
    let used: Vec<ObjectId> = threads.iter().flatten().filter_map(used).collect();
    let used: Vec<ObjectId> = OBJECTS.into_iter().filter(|object| used.contains(object)).collect();
    if !used.is_empty() {
        let thread = dice.below(threads.len());
        let at = dice.below(threads[thread].len() + 1);
        // A skip over it would skip what it is about instead.
        let free =
            !matches!(at.checked_sub(1).map(|before| threads[thread][before]), Some(Act::SkipIfZero(_)));
        if free {
            threads[thread].insert(at, Act::Do(Kind::Initialise, dice.one(&used), 0));
        }
    }
}

/// A random program that offers and picks, and waits for changes.
pub(crate) fn offers(seed: u64) -> Code {
    let dice = &mut Dice::new(seed);
    let count = 2 + dice.below(2);
    let act = |dice: &mut Dice| match dice.below(9) {
        0 | 1 => Act::Offer,
        2 | 3 => Act::Pick,
        4 | 5 => Act::Take,
        6 | 7 => Act::Add(0),
        _ => Act::Load(0, Kind::Load),
    };
    let threads = (0..count)
        .map(|_| {
            let mut code: Vec<Act> = (0..1 + dice.below(3)).map(|_| act(dice)).collect();
            if dice.below(4) == 0 {
                code.push(Act::FailIf(2));
            }
            code
        })
        .collect();
    let options = ProgramOptions { check_every: 0, ..ProgramOptions::default() };
    Code { threads, started: count, capacity: 1, senders: 1, options }
}

/// The code of a thread.
fn work(dice: &mut Dice, thread: usize, threads: usize, families: [usize; 2]) -> Vec<Act> {
    let mut code = Vec::new();
    let length = 1 + dice.below(3);
    while code.len() < length {
        let family = if dice.below(4) == 0 { 0 } else { dice.one(&families) };
        extend(dice, &mut code, family, thread, threads);
    }
    if dice.below(3) == 0 {
        code.push(Act::FailIf(1 + dice.below(2) as u64));
    }
    if families.contains(&8) && dice.below(2) == 0 {
        // The first thread receives; the others send, and are counted.
        code.push(Act::Do(Kind::Close, QUEUE, u64::from(thread == 0)));
    }
    code
}

// Long because it has one case for each family of operations.
fn extend(dice: &mut Dice, code: &mut Vec<Act>, family: usize, thread: usize, threads: usize) {
    let act = |kind, object| Act::Do(kind, object, 0);
    let (atomic, plain) = ([Kind::Load, Kind::Store], [Kind::Read, Kind::Write]);
    let unlock = |mutex| act(Kind::Unlock, mutex);
    match family {
        1 => match dice.below(5) {
            0 => code.extend([act(Kind::Lock, MUTEX), Act::Load(0, Kind::Load), unlock(MUTEX)]),
            1 => code.extend([act(Kind::Lock, MUTEX), act(Kind::Lock, AGAIN), unlock(AGAIN), unlock(MUTEX)]),
            2 => code.extend([act(Kind::Lock, AGAIN), act(Kind::Lock, MUTEX), unlock(MUTEX), unlock(AGAIN)]),
            3 => code.extend([act(Kind::TryLock, MUTEX), Act::SkipIfZero(1), unlock(MUTEX)]),
            _ => code.extend([Act::Timed(Kind::Lock, MUTEX), Act::SkipIfZero(1), unlock(MUTEX)]),
        },
        2 => match dice.below(4) {
            0 | 1 => {
                code.extend([act(Kind::Lock, MUTEX), Act::Wait(MUTEX, dice.below(4) == 0), unlock(MUTEX)])
            }
            2 => code.push(act(Kind::NotifyOne, CONDVAR)),
            _ => code.push(act(Kind::NotifyAll, CONDVAR)),
        },
        3 => {
            let semaphore = dice.one(&[EMPTY, ONE]);
            let kind =
                dice.one(&[Kind::SemWait, Kind::SemPost, Kind::SemTryWait, Kind::SemGet, Kind::SemPost]);
            code.push(act(kind, semaphore));
        }
        4 => match dice.below(4) {
            0 => code.extend([
                act(Kind::ReadLock, LOCK),
                Act::Load(1, Kind::Read),
                act(Kind::ReadUnlock, LOCK),
            ]),
            1 => code.extend([act(Kind::TryReadLock, LOCK), Act::SkipIfZero(1), act(Kind::ReadUnlock, LOCK)]),
            2 => code.extend([
                act(Kind::WriteLock, LOCK),
                Act::Store(1, Kind::Write),
                act(Kind::WriteUnlock, LOCK),
            ]),
            _ => {
                code.extend([act(Kind::TryWriteLock, LOCK), Act::SkipIfZero(1), act(Kind::WriteUnlock, LOCK)])
            }
        },
        // Whether the thread looks at who comes last is not drawn, so that other programs stay the same.
        5 => code.push(Act::Do(Kind::Arrive, BARRIER, code.len() as u64 % 2 * Kind::ANONYMOUS)),
        6 => {
            let done = dice.below(3).min(1) as u64;
            let end = Act::Do(Kind::OnceEnd, ONCE, done);
            code.extend([act(Kind::OnceBegin, ONCE), Act::SkipIfZero(1), end]);
        }
        7 => {
            // In the block: any of these may come too late.
            let x = 2 + dice.below(2);
            match dice.below(6) {
                0 => code.push(Act::Load(x, dice.one(&[atomic[0], plain[0]]))),
                1 => code.push(Act::Store(x, dice.one(&[atomic[1], plain[1]]))),
                2 => code.push(Act::Add(x)),
                3 => code.extend([act(Kind::Lock, INNER), unlock(INNER)]),
                4 => code.extend([Act::Load(0, Kind::Load), Act::SkipIfZero(1), Act::Free]),
                _ => code.push(Act::Free),
            }
        }
        8 if thread == 0 => code.push(Act::Receive(dice.one(&[Kind::Receive, Kind::TryReceive]))),
        8 => code.push(dice.one(&[Act::Send, Act::Send, act(Kind::TrySend, QUEUE)])),
        9 => {
            let object = dice.one(&[MUTEX, LOCK, CONDVAR, ONE, BARRIER, ONCE]);
            match dice.below(3) {
                0 => code.push(act(Kind::Destroy, object)),
                1 => code.extend([Act::Load(0, Kind::Load), Act::SkipIfZero(1), act(Kind::Destroy, object)]),
                _ => code.push(match object {
                    MUTEX => act(Kind::TryLock, MUTEX),
                    LOCK => act(Kind::TryReadLock, LOCK),
                    CONDVAR => act(Kind::NotifyAll, CONDVAR),
                    ONE => act(Kind::SemPost, ONE),
                    BARRIER => act(Kind::Arrive, BARRIER),
                    _ => act(Kind::OnceBegin, ONCE),
                }),
            }
        }
        10 => {
            // The main thread is number 0.
            let other = 1 + dice.below(threads) as u64;
            match dice.below(4) {
                0 => code.push(Act::Do(Kind::TryJoin, ObjectId::NONE, other)),
                1 => code.push(act(Kind::Park, ObjectId::NONE)),
                _ => code.push(Act::Do(Kind::Unpark, ObjectId::NONE, other)),
            }
        }
        11 => match dice.below(4) {
            0 | 1 => code.push(Act::FutexWait),
            2 => code.extend([Act::Store(WORD, Kind::Store), Act::Do(Kind::FutexWake, FUTEX, 1)]),
            _ => code.push(Act::Do(Kind::FutexWake, FUTEX, 1 + dice.below(2) as u64)),
        },
        12 => match dice.below(4) {
            0 => code.push(act(Kind::Yield, ObjectId::NONE)),
            1 => code.push(Act::Do(Kind::Sleep, ObjectId::NONE, 7)),
            2 => code.push(Act::Do(Kind::Message, ObjectId::NONE, 0)),
            _ => code.push(Act::Toss),
        },
        13 => match dice.below(3) {
            0 => code.extend([Act::Load(0, plain[0]), Act::SkipIfZero(1), Act::Store(1, plain[1])]),
            1 => code.push(Act::Store(dice.below(2), plain[1])),
            _ => code.extend([Act::Load(0, plain[0]), Act::Store(0, plain[1])]),
        },
        _ => match dice.below(4) {
            0 => code.push(Act::Load(dice.below(2), atomic[0])),
            1 => code.push(Act::Store(dice.below(2), atomic[1])),
            2 => code.push(Act::Exchange(dice.below(2), dice.below(2) as u64)),
            _ => code.push(Act::Add(dice.below(2))),
        },
    }
}
