//! Programs for tests, made of closures: the classics of partial-order reduction, and a small language.

#![allow(dead_code)]

pub(crate) mod outcomes;
pub(crate) mod random;
pub(crate) mod vocabulary;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use turnpike_model::Model;
use turnpike_program::{ProgramModel, ProgramOptions};
use turnpike_scheduler::script::{Context, Routine, Script, start};
use turnpike_scheduler::{Kind, Object, ObjectId, Operation, Outcome, Site};
use turnpike_search::{RunReport, SearchOptions, search};

/// A program whose main thread is made anew for each execution.
pub(crate) fn program<M>(name: &str, options: ProgramOptions, main: M) -> ProgramModel
where
    M: Fn(&mut Context<'_>) -> Box<dyn Routine> + Clone + Send + Sync + 'static,
{
    let launch = move || {
        let main = main.clone();
        let script = Script::new(move |context| main(context));
        Ok(Box::new(script) as Box<dyn turnpike_scheduler::Executor>)
    };
    ProgramModel::new(name, 1, Box::new(launch), options).expect("a script can be executed")
}

/// The same with the usual options.
pub(crate) fn usual<M>(name: &str, main: M) -> ProgramModel
where
    M: Fn(&mut Context<'_>) -> Box<dyn Routine> + Clone + Send + Sync + 'static,
{
    program(name, ProgramOptions::default(), main)
}

/// One run of a search.
pub(crate) fn one(model: &dyn Model, options: &SearchOptions) -> RunReport {
    let mut report = search(model, options, &|_| {}, &AtomicBool::new(false)).expect("a search");
    report.runs.remove(0)
}

/// An operation on an object.
pub(crate) fn on(kind: Kind, object: ObjectId, site: u64) -> Operation {
    Operation::new(kind, object, Site(site))
}

/// An instruction of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Lock(usize),
    TryLock(usize),
    Unlock(usize),
    ReadLock(usize),
    ReadUnlock(usize),
    WriteLock(usize),
    WriteUnlock(usize),
    /// Condition variable and mutex.
    Wait(usize, usize),
    NotifyOne(usize),
    NotifyAll(usize),
    SemWait(usize),
    SemTryWait(usize),
    SemPost(usize),
    Send(usize),
    TrySend(usize),
    Receive(usize),
    TryReceive(usize),
    /// Reads a variable into the thread's register.
    Load(usize),
    /// Writes a constant.
    Store(usize, u64),
    /// Writes the register plus a constant.
    StoreSum(usize, u64),
    /// Adds a constant.
    Add(usize, u64),
    /// Sets the register to a number from 0 to this.
    Toss(u64),
    Arrive(usize),
    /// Whether another thread, by its number, has ended, into the register.
    TryJoin(usize),
    Yield,
    /// Fails when the register has this value. Not visible.
    FailIf(u64),
    /// Starts the thread with this code. Not visible.
    Spawn(usize),
    /// Ends the process.
    Exit,
    /// Leaves out the next so many instructions when the register is 0. Not visible.
    SkipIfZero(usize),
}

/// How many objects of each kind there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) mutexes: usize,
    pub(crate) rwlocks: usize,
    pub(crate) condvars: usize,
    /// Initial values.
    pub(crate) semaphores: Vec<u32>,
    /// Capacities.
    pub(crate) queues: Vec<u32>,
    pub(crate) barriers: Vec<u32>,
    pub(crate) variables: usize,
}

#[derive(Debug, Default)]
struct Things {
    mutexes: Vec<ObjectId>,
    rwlocks: Vec<ObjectId>,
    condvars: Vec<ObjectId>,
    semaphores: Vec<ObjectId>,
    queues: Vec<ObjectId>,
    barriers: Vec<ObjectId>,
    variables: Vec<ObjectId>,
    values: RefCell<Vec<u64>>,
}

impl World {
    fn register(&self, context: &mut Context<'_>) -> Things {
        let mut many = |count: usize, object: Object| (0..count).map(|_| context.register(object)).collect();
        Things {
            mutexes: many(self.mutexes, Object::Mutex { recursive: false }),
            rwlocks: many(self.rwlocks, Object::RwLock),
            condvars: many(self.condvars, Object::Condvar),
            variables: many(self.variables, Object::Memory),
            semaphores: self
                .semaphores
                .iter()
                .map(|&value| context.register(Object::Semaphore { value }))
                .collect(),
            queues: self
                .queues
                .iter()
                .map(|&capacity| context.register(Object::Queue { capacity }))
                .collect(),
            barriers: self
                .barriers
                .iter()
                .map(|&count| context.register(Object::Barrier { count }))
                .collect(),
            values: RefCell::new(vec![0; self.variables]),
        }
    }

    /// A program with these threads, which the main thread starts and joins.
    pub(crate) fn program(&self, threads: &[Vec<Op>]) -> ProgramModel {
        self.with(threads, ProgramOptions::default())
    }

    /// The same with options.
    pub(crate) fn with(&self, threads: &[Vec<Op>], options: ProgramOptions) -> ProgramModel {
        let (world, threads) = (self.clone(), threads.to_vec());
        program("script", options, move |context| {
            let things = Rc::new(world.register(context));
            let threads = Rc::new(threads.clone());
            start((0..threads.len()).map(|number| interpret(&threads, number, &things)).collect())
        })
    }

    /// A program that begins with the first thread only; others are started by [`Op::Spawn`].
    pub(crate) fn tree(&self, threads: &[Vec<Op>], options: ProgramOptions) -> ProgramModel {
        let (world, threads) = (self.clone(), threads.to_vec());
        program("tree", options, move |context| {
            let things = Rc::new(world.register(context));
            start(vec![interpret(&Rc::new(threads.clone()), 0, &things)])
        })
    }
}

/// A thread that executes instructions.
// Long because it has one case for each instruction.
fn interpret(threads: &Rc<Vec<Vec<Op>>>, number: usize, things: &Rc<Things>) -> Box<dyn Routine> {
    let (threads, things) = (Rc::clone(threads), Rc::clone(things));
    let (mut at, mut register) = (0, 0);
    let mut last: Option<Op> = None;
    Box::new(move |outcome: Outcome, context: &mut Context<'_>| {
        let mut values = things.values.borrow_mut();
        match last.take() {
            Some(Op::Load(x)) => register = values[x],
            Some(Op::Store(x, value)) => values[x] = value,
            Some(Op::StoreSum(x, value)) => values[x] = register + value,
            Some(Op::Add(x, value)) => {
                values[x] += value;
                register = values[x];
            }
            Some(Op::Toss(_)) => register = outcome.value,
            Some(
                Op::TryLock(_) | Op::TrySend(_) | Op::TryReceive(_) | Op::SemTryWait(_) | Op::TryJoin(_),
            ) => {
                register = u64::from(outcome.ok);
            }
            _ => {}
        }
        drop(values);
        loop {
            let op = *threads[number].get(at)?;
            at += 1;
            let site = (number as u64) << 16 | at as u64;
            let operation = match op {
                Op::Lock(m) => on(Kind::Lock, things.mutexes[m], site),
                Op::TryLock(m) => on(Kind::TryLock, things.mutexes[m], site),
                Op::Unlock(m) => on(Kind::Unlock, things.mutexes[m], site),
                Op::ReadLock(m) => on(Kind::ReadLock, things.rwlocks[m], site),
                Op::ReadUnlock(m) => on(Kind::ReadUnlock, things.rwlocks[m], site),
                Op::WriteLock(m) => on(Kind::WriteLock, things.rwlocks[m], site),
                Op::WriteUnlock(m) => on(Kind::WriteUnlock, things.rwlocks[m], site),
                Op::Wait(c, m) => {
                    Operation { second: things.mutexes[m], ..on(Kind::Wait, things.condvars[c], site) }
                }
                Op::NotifyOne(c) => on(Kind::NotifyOne, things.condvars[c], site),
                Op::NotifyAll(c) => on(Kind::NotifyAll, things.condvars[c], site),
                Op::SemWait(s) => on(Kind::SemWait, things.semaphores[s], site),
                Op::SemTryWait(s) => on(Kind::SemTryWait, things.semaphores[s], site),
                Op::SemPost(s) => on(Kind::SemPost, things.semaphores[s], site),
                Op::Send(q) => on(Kind::Send, things.queues[q], site),
                Op::TrySend(q) => on(Kind::TrySend, things.queues[q], site),
                Op::Receive(q) => on(Kind::Receive, things.queues[q], site),
                Op::TryReceive(q) => on(Kind::TryReceive, things.queues[q], site),
                Op::Load(x) => on(Kind::Load, things.variables[x], site),
                Op::Store(x, _) | Op::StoreSum(x, _) => on(Kind::Store, things.variables[x], site),
                Op::Add(x, _) => on(Kind::Update, things.variables[x], site),
                Op::Arrive(b) => on(Kind::Arrive, things.barriers[b], site),
                Op::Toss(n) => Operation { argument: n, ..on(Kind::Toss, ObjectId::NONE, site) },
                Op::TryJoin(t) => {
                    // The main thread is number 0.
                    Operation { argument: t as u64 + 1, ..on(Kind::TryJoin, ObjectId::NONE, site) }
                }
                Op::Yield => on(Kind::Yield, ObjectId::NONE, site),
                Op::FailIf(value) => {
                    if register == value {
                        context.fail(&format!("thread {number} at {at} has {value}"));
                        return None;
                    }
                    continue;
                }
                Op::Exit => on(Kind::Exit, ObjectId::NONE, site),
                Op::Spawn(thread) => {
                    context.spawn(interpret(&threads, thread, &things));
                    continue;
                }
                Op::SkipIfZero(count) => {
                    if register == 0 {
                        at += count;
                    }
                    continue;
                }
            };
            last = Some(op);
            return Some(operation);
        }
    })
}

/// A writer and n readers.
pub(crate) fn readers(n: usize) -> ProgramModel {
    let mut threads = vec![vec![Op::Store(0, 1)]];
    threads.extend((0..n).map(|_| vec![Op::Load(0)]));
    World { variables: 1, ..World::default() }.program(&threads)
}

/// T threads that each increment one variable k times, atomically.
pub(crate) fn rmw(threads: usize, k: usize) -> ProgramModel {
    let threads = vec![vec![Op::Add(0, 1); k]; threads];
    World { variables: 1, ..World::default() }.program(&threads)
}

/// Finds the last zero of an array while others fill it.
pub(crate) fn lastzero(n: usize) -> ProgramModel {
    usual("lastzero", move |context| {
        let places: Vec<ObjectId> = (0..=n).map(|_| context.register(Object::Memory)).collect();
        let values: Rc<Vec<Cell<u64>>> = Rc::new((0..=n).map(|_| Cell::new(0)).collect());
        let mut threads: Vec<Box<dyn Routine>> = Vec::new();
        let (cells, all, mut at, mut begun) = (Rc::clone(&values), places.clone(), n, false);
        threads.push(Box::new(move |_: Outcome, _: &mut Context<'_>| {
            if begun {
                if cells[at].get() == 0 {
                    return None;
                }
                at -= 1;
            }
            begun = true;
            Some(on(Kind::Load, all[at], 1))
        }));
        for j in 1..=n {
            let (cells, all, mut step, mut read) = (Rc::clone(&values), places.clone(), 0, 0);
            threads.push(Box::new(move |_: Outcome, _: &mut Context<'_>| {
                step += 1;
                match step {
                    1 => Some(on(Kind::Load, all[j - 1], 2)),
                    2 => {
                        read = cells[j - 1].get();
                        Some(on(Kind::Store, all[j], 3))
                    }
                    _ => {
                        cells[j].set(read + 1);
                        None
                    }
                }
            }));
        }
        start(threads)
    })
}

thread_local! {
    /// The hash table of `indexer`, where a compare-and-exchange looks before it is one.
    static TABLE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

const SLOTS: u64 = 128;

/// n threads that insert 4 keys each into an open hash table.
pub(crate) fn indexer(n: u64) -> ProgramModel {
    usual("indexer", move |context| {
        let slots: Rc<Vec<ObjectId>> =
            Rc::new((0..SLOTS).map(|_| context.register(Object::Memory)).collect());
        TABLE.with_borrow_mut(|table| {
            table.clear();
            table.resize(SLOTS as usize, 0);
        });
        let mut threads: Vec<Box<dyn Routine>> = Vec::new();
        for thread in 0..n {
            let slots = Rc::clone(&slots);
            let (mut key, mut slot, mut tried) = (0u64, 0u64, false);
            threads.push(Box::new(move |_: Outcome, _: &mut Context<'_>| {
                let word = |key: u64| key * 11 + thread;
                if tried {
                    let free = TABLE.with_borrow(|table| table[slot as usize] == 0);
                    if free {
                        TABLE.with_borrow_mut(|table| table[slot as usize] = word(key));
                        tried = false;
                    } else {
                        slot = (slot + 1) % SLOTS;
                    }
                }
                if !tried {
                    if key == 4 {
                        return None;
                    }
                    key += 1;
                    slot = word(key) * 7 % SLOTS;
                    tried = true;
                }
                let writes: fn(u64) -> bool = |slot| TABLE.with_borrow(|table| table[slot as usize] == 0);
                let update = on(Kind::Update, slots[slot as usize], 1);
                Some(Operation { argument: slot, writes: Some(writes), ..update })
            }));
        }
        start(threads)
    })
}

const INODES: usize = 32;
const BLOCKS: usize = 26;

/// The file system of Flanagan and Godefroid: n threads, locks of inodes and blocks.
pub(crate) fn filesystem(n: usize) -> ProgramModel {
    usual("filesystem", move |context| {
        let mutex = Object::Mutex { recursive: false };
        let inode_locks: Rc<Vec<ObjectId>> = Rc::new((0..INODES).map(|_| context.register(mutex)).collect());
        let block_locks: Rc<Vec<ObjectId>> = Rc::new((0..BLOCKS).map(|_| context.register(mutex)).collect());
        let inodes: Rc<Vec<Cell<usize>>> = Rc::new(vec![Cell::new(0); INODES]);
        let busy: Rc<Vec<Cell<bool>>> = Rc::new(vec![Cell::new(false); BLOCKS]);
        let mut threads: Vec<Box<dyn Routine>> = Vec::new();
        for thread in 0..n {
            let (inode_locks, block_locks) = (Rc::clone(&inode_locks), Rc::clone(&block_locks));
            let (inodes, busy) = (Rc::clone(&inodes), Rc::clone(&busy));
            let inode = thread % INODES;
            let (mut state, mut block, mut found) = (0, 0, false);
            threads.push(Box::new(move |_: Outcome, _: &mut Context<'_>| {
                state = match state {
                    0 => 1,
                    // Holds the inode.
                    1 if inodes[inode].get() == 0 => {
                        block = inode * 2 % BLOCKS;
                        2
                    }
                    1 => 4,
                    // Holds a block.
                    2 => {
                        found = !busy[block].get();
                        if found {
                            busy[block].set(true);
                            inodes[inode].set(block + 1);
                        }
                        3
                    }
                    // Released it.
                    3 if found => 4,
                    3 => {
                        block = (block + 1) % BLOCKS;
                        2
                    }
                    _ => return None,
                };
                Some(match state {
                    1 => on(Kind::Lock, inode_locks[inode], 1),
                    2 => on(Kind::Lock, block_locks[block], 2),
                    3 => on(Kind::Unlock, block_locks[block], 3),
                    _ => on(Kind::Unlock, inode_locks[inode], 4),
                })
            }));
        }
        start(threads)
    })
}

/// Philosophers who toss which fork to take first; `rounds` of 0 is for ever.
pub(crate) fn philosophers(n: usize, rounds: usize) -> ProgramModel {
    philosophers_with(n, rounds, ProgramOptions::default())
}

/// The same with options.
pub(crate) fn philosophers_with(n: usize, rounds: usize, options: ProgramOptions) -> ProgramModel {
    program("philosophers", options, move |context| {
        let forks: Rc<Vec<ObjectId>> =
            Rc::new((0..n).map(|_| context.register(Object::Semaphore { value: 1 })).collect());
        let mut threads: Vec<Box<dyn Routine>> = Vec::new();
        for seat in 0..n {
            let forks = Rc::clone(&forks);
            let (mut step, mut coin, mut round) = (0, 0, 0);
            threads.push(Box::new(move |outcome: Outcome, _: &mut Context<'_>| {
                if step == 1 {
                    coin = outcome.value as usize;
                }
                if step == 5 {
                    step = 0;
                    round += 1;
                }
                if step == 0 && rounds > 0 && round == rounds {
                    return None;
                }
                step += 1;
                let (left, right) = (forks[seat], forks[(seat + 1) % n]);
                let (first, second) = if coin == 0 { (left, right) } else { (right, left) };
                Some(match step {
                    1 => Operation { argument: 1, ..on(Kind::Toss, ObjectId::NONE, 1) },
                    2 => on(Kind::SemWait, first, 2),
                    3 => on(Kind::SemWait, second, 3),
                    4 => on(Kind::SemPost, left, 4),
                    _ => on(Kind::SemPost, right, 5),
                })
            }));
        }
        start(threads)
    })
}
