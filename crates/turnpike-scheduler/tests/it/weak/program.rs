//! Small programs over atomic variables, and the graphs that the scheduler builds for them.

use std::collections::{BTreeMap, BTreeSet};

use turnpike_scheduler::script::{Context, Routine, Script, start_only};
use turnpike_scheduler::{
    AtomicValues, Detail, End, Execution, Executor, Kind, Memory, MemoryOrder, Object, ObjectId, Operation,
    Outcome, Plan, Policy, Reduction, Site,
};

/// A memory order by its number in C: 0 relaxed, 2 acquire, 3 release, 4 both, 5 sequentially consistent.
pub(super) type Order = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Load(usize, Order),
    Store(usize, u64, Order),
    /// Adds.
    Add(usize, u64, Order),
    /// Exchanges the first value for the second; the orders of success and failure.
    Exchange(usize, u64, u64, Order, Order),
    Fence(Order),
}

impl Code {
    pub(super) fn location(self) -> Option<usize> {
        match self {
            Code::Load(at, _) | Code::Store(at, ..) | Code::Add(at, ..) | Code::Exchange(at, ..) => Some(at),
            Code::Fence(_) => None,
        }
    }
}

pub(super) type Program = Vec<Vec<Code>>;

/// An event: thread and number of the instruction; `None` is the initial value.
pub(super) type Name = Option<(usize, usize)>;

/// A graph: what each read reads, and the writes of each variable in modification order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) reads: BTreeMap<(usize, usize), Name>,
    pub(super) order: Vec<Vec<Name>>,
}

fn run(script: &mut Script, plan: &Plan<'_>) -> Execution {
    let mut out = Execution::default();
    script.run(plan, &mut out).unwrap();
    out
}

fn routine(code: Vec<Code>) -> Box<dyn Routine> {
    let (mut at, mut waits) = (0, None);
    Box::new(move |outcome: Outcome, context: &mut Context<'_>| {
        let kernel = &mut *context.kernel;
        if let Some((object, update)) = waits.take() {
            let update: Option<u64> = update;
            if let Some(new) = update.filter(|_| outcome.ok) {
                let added = if let Code::Add(..) = code[at - 1] { outcome.value + new } else { new };
                kernel.set_result(object, added);
            }
        }
        loop {
            let next = *code.get(at)?;
            at += 1;
            let (kind, location, order) = match next {
                Code::Fence(order) => {
                    kernel.fence(MemoryOrder::from_c(order));
                    continue;
                }
                Code::Load(location, order) => (Kind::Load, location, order),
                Code::Store(location, _, order) => (Kind::Store, location, order),
                Code::Add(location, _, order) | Code::Exchange(location, _, _, order, _) => {
                    (Kind::Update, location, order)
                }
            };
            let object = ObjectId(location as u32);
            let mut operation = Operation::new(kind, object, Site(at as u64));
            operation.order = MemoryOrder::from_c(order);
            let mut values =
                AtomicValues { present: kernel.newest_value(object).unwrap_or(0), ..Default::default() };
            let update = match next {
                Code::Store(_, value, _) => {
                    values.stores = value;
                    None
                }
                Code::Add(_, value, _) => Some(value),
                Code::Exchange(_, expected, new, _, failure) => {
                    values.expected = Some(expected);
                    operation.unchanged = MemoryOrder::from_c(failure);
                    Some(new)
                }
                _ => None,
            };
            kernel.set_values(object, values);
            waits = Some((object, update));
            return Some(operation);
        }
    })
}

pub(super) fn script(program: &Program) -> Script {
    let program = program.clone();
    let locations = locations(&program);
    Script::new(move |context| {
        for _ in 0..locations {
            context.register(Object::Memory);
        }
        start_only(program.iter().map(|code| routine(code.clone())).collect())
    })
}

pub(super) fn locations(program: &Program) -> usize {
    program.iter().flatten().filter_map(|code| code.location()).max().map_or(0, |last| last + 1)
}

/// The graph of a whole execution.
pub(super) fn shape(program: &Program, out: &Execution) -> Shape {
    let locations = locations(program);
    let mut shape = Shape { order: vec![vec![None]; locations], ..Shape::default() };
    let mut numbers: Vec<Vec<Name>> = vec![vec![None]; locations];
    let mut at = vec![0; program.len()];
    for step in out.steps.iter().map(|step| &step.choice) {
        let thread = step.thread.0 as usize - 1;
        while program[thread][at[thread]].location().is_none() {
            at[thread] += 1;
        }
        let name = (thread, at[thread]);
        at[thread] += 1;
        let location = step.object.0 as usize;
        let chosen = numbers[location][step.alternative as usize];
        if step.kind != Kind::Store {
            shape.reads.insert(name, chosen);
        }
        if step.exclusive {
            let order = &mut shape.order[location];
            let place = order.iter().position(|write| *write == chosen).unwrap();
            order.insert(place + 1, Some(name));
            numbers[location].push(Some(name));
        }
    }
    shape
}

/// All graphs that are built, by the fingerprints of their executions. No state is expanded twice.
pub(super) fn built(program: &Program, memory: Memory) -> BTreeSet<Shape> {
    let mut script = script(program);
    let (mut shapes, mut prints, mut states) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<Vec<u32>> = vec![vec![]];
    while let Some(prefix) = open.pop() {
        let out =
            run(&mut script, &Plan { predict: true, detail: Detail::Full, memory, ..Plan::new(&prefix) });
        if out.end != End::Stopped {
            assert_eq!(out.end, End::Finished);
            let new = shapes.insert(shape(program, &out));
            assert_eq!(prints.insert(out.fingerprint), new, "a fingerprint is a graph");
            continue;
        }
        for (i, fingerprint) in out.predicted.iter().enumerate() {
            if states.insert(*fingerprint) {
                let mut next = prefix.clone();
                next.push(i as u32);
                open.push(next);
            }
        }
    }
    shapes
}

/// The graphs that remain with sleep sets: each once.
pub(super) fn built_with_sleep_sets(program: &Program, memory: Memory) -> BTreeSet<Shape> {
    let mut script = script(program);
    let mut shapes = BTreeSet::new();
    let mut prefix: Vec<u32> = Vec::new();
    loop {
        let reduction = Reduction { sleep: true, persistent: None };
        let plan =
            Plan { policy: Policy::First, detail: Detail::Full, reduction, memory, ..Plan::new(&prefix) };
        let out = run(&mut script, &plan);
        if out.end != End::Asleep {
            assert!(shapes.insert(shape(program, &out)), "a graph was built twice");
        }
        let taken: Vec<(u32, u32)> = out.steps.iter().map(|step| (step.taken, step.count)).collect();
        let Some(last) = taken.iter().rposition(|&(taken, count)| taken + 1 < count) else { return shapes };
        prefix = taken[..last].iter().map(|&(taken, _)| taken).collect();
        prefix.push(taken[last].0 + 1);
    }
}
