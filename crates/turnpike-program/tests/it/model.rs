//! Programs made of closures on the waist: counts, contract, labels, errors, replay.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnpike_model::{Explorer, Model, Step, Successors, Trace, ViolationKind};
use turnpike_program::{IncidentKind, Launch, ProgramModel, ProgramOptions};
use turnpike_scheduler::script::{Context, Routine, Script, start, straight};
use turnpike_scheduler::{Executor, Kind, Object, ObjectId, Operation, Outcome, Site};

type Main = fn(&mut Context<'_>) -> Box<dyn Routine>;

fn program(main: Main) -> ProgramModel {
    with_options(main, ProgramOptions::default())
}

fn with_options(main: Main, options: ProgramOptions) -> ProgramModel {
    let launch: Box<Launch> = Box::new(move || Ok(Box::new(Script::new(main)) as Box<dyn Executor>));
    ProgramModel::new("script", 7, launch, options).expect("it can be executed")
}

fn operation(kind: Kind, object: ObjectId, line: u64) -> Operation {
    Operation::new(kind, object, Site(line))
}

/// Two threads that take two locks in opposite orders.
fn inversion(context: &mut Context<'_>) -> Box<dyn Routine> {
    let locks = [(); 2].map(|()| context.register(Object::Mutex { recursive: false }));
    let thread = |first: usize, second: usize, line: u64| {
        straight(vec![
            operation(Kind::Lock, locks[first], line),
            operation(Kind::Lock, locks[second], line + 1),
            operation(Kind::Unlock, locks[second], line + 2),
            operation(Kind::Unlock, locks[first], line + 3),
        ])
    };
    start(vec![thread(0, 1, 10), thread(1, 0, 20)])
}

/// Threads that read a counter and write it back; main asserts that no update was lost.
fn lost_update(context: &mut Context<'_>) -> Box<dyn Routine> {
    let counter = context.register(Object::Memory);
    let value = Rc::new(Cell::new(0));
    let thread = |value: Rc<Cell<u32>>| -> Box<dyn Routine> {
        let (mut at, mut read) = (0, 0);
        Box::new(move |_: Outcome, _: &mut Context<'_>| {
            at += 1;
            match at {
                1 => Some(operation(Kind::Load, counter, 5)),
                2 => {
                    read = value.get();
                    Some(operation(Kind::Store, counter, 6))
                }
                _ => {
                    value.set(read + 1);
                    None
                }
            }
        })
    };
    let mut main = start(vec![thread(value.clone()), thread(value.clone())]);
    Box::new(move |outcome: Outcome, context: &mut Context<'_>| {
        let next = main.next(outcome, context);
        if next.is_none() && value.get() != 2 {
            context.fail("an update was lost");
        }
        next
    })
}

/// Threads that each add to one variable, atomically.
fn updates<const THREADS: usize, const TIMES: usize>(context: &mut Context<'_>) -> Box<dyn Routine> {
    let counter = context.register(Object::Memory);
    start((0..THREADS).map(|_| straight(vec![operation(Kind::Update, counter, 1); TIMES])).collect())
}

/// One thread that writes a variable, and eight that read it.
fn readers(context: &mut Context<'_>) -> Box<dyn Routine> {
    let variable = context.register(Object::Memory);
    let mut threads = vec![straight(vec![operation(Kind::Store, variable, 1)])];
    threads.extend((0..8).map(|_| straight(vec![operation(Kind::Load, variable, 2)])));
    start(threads)
}

/// All reachable states with their transitions, breadth first.
fn explore(explorer: &mut dyn Explorer) -> BTreeMap<Vec<u32>, Vec<(String, Vec<u32>)>> {
    let mut initial = Vec::new();
    explorer.initial(&mut initial).expect("an initial state");
    let (mut known, mut todo) = (BTreeMap::new(), VecDeque::from([initial]));
    let mut successors = Successors::new(4);
    while let Some(state) = todo.pop_front() {
        if known.contains_key(&state) {
            continue;
        }
        explorer.successors(&state, &mut successors).expect("it can be executed");
        let transitions: Vec<(String, Vec<u32>)> =
            successors.iter().map(|(label, target)| (explorer.label(label).text, target.to_vec())).collect();
        todo.extend(transitions.iter().map(|(_, target)| target.clone()));
        known.insert(state, transitions);
    }
    known
}

/// Joins come last in these programs and are ordered: states in which some thread has not ended yet are all prefixes of
/// happens-before orders of the threads themselves.
fn without_joins(states: &BTreeMap<Vec<u32>, Vec<(String, Vec<u32>)>>) -> usize {
    let behind: BTreeSet<&Vec<u32>> = states
        .values()
        .flatten()
        .filter(|(label, _)| label.starts_with("join"))
        .map(|(_, target)| target)
        .collect();
    states.len() - behind.len()
}

#[test]
fn states_are_prefixes_of_happens_before_orders() {
    // 3 threads with 2 updates each: the reference counts 271 prefixes; joins of ended threads add states of their own.
    let model = program(updates::<3, 2>);
    let states = explore(&mut *model.explorer());
    assert_eq!(without_joins(&states), 271);
    let ends = states.values().filter(|transitions| transitions.is_empty()).count();
    assert_eq!(ends, 90, "(3*2)! / (2!)^3");
    let states = explore(&mut *program(readers).explorer());
    let ends = states.values().filter(|transitions| transitions.is_empty()).count();
    assert_eq!(ends, 256, "each reader before or after the writer");
}

#[test]
fn successors_do_not_depend_on_what_was_explored_before() {
    let model = program(inversion);
    let first = explore(&mut *model.explorer());
    // Another model of the same program, walked in another order: last in, first out.
    let other = program(inversion);
    let mut explorer = other.explorer();
    let (mut initial, mut successors) = (Vec::new(), Successors::new(4));
    explorer.initial(&mut initial).expect("an initial state");
    let (mut todo, mut seen) = (vec![initial], BTreeSet::new());
    while let Some(state) = todo.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        explorer.successors(&state, &mut successors).expect("it can be executed");
        let found: Vec<(String, Vec<u32>)> =
            successors.iter().map(|(label, target)| (explorer.label(label).text, target.to_vec())).collect();
        assert_eq!(first.get(&state), Some(&found));
        todo.extend(found.into_iter().map(|(_, target)| target));
    }
    assert_eq!(seen.len(), first.len());
}

#[test]
fn labels_name_thread_object_and_place() {
    let model = program(inversion);
    assert_eq!(model.info().parameters, ["main", "main.0", "main.1"]);
    let mut explorer = model.explorer();
    let (mut initial, mut successors, mut values) = (Vec::new(), Successors::new(4), Vec::new());
    explorer.initial(&mut initial).expect("an initial state");
    explorer.successors(&initial, &mut successors).expect("it can be executed");
    let labels: Vec<String> = successors.labels().iter().map(|&label| explorer.label(label).text).collect();
    assert_eq!(labels, ["lock(main.0, mutex 0, script:10)", "lock(main.1, mutex 1, script:20)"]);
    assert!(explorer.label(successors.label(0)).has_action("lock"));
    explorer.state_values(&initial, &mut values);
    assert_eq!(values, ["waits to join main.0", "lock mutex 0 at script:10", "lock mutex 1 at script:20"]);
    let enabled = model.info().measure("enabled").expect("a measure");
    let threads = model.info().measure("threads").expect("a measure");
    let depth = model.info().measure("depth").expect("a measure");
    let target = successors.state(0).to_vec();
    let measures = explorer.measures().expect("measures");
    assert_eq!((measures.measure(&initial, enabled), measures.measure(&target, depth)), (2.0, 1.0));
    assert_eq!(measures.measure(&target, threads), 3.0);
}

#[test]
fn deadlocks_are_explained() {
    let model = program(inversion);
    let mut explorer = model.explorer();
    let states = explore(&mut *explorer);
    let mut successors = Successors::new(4);
    let mut dead = states.keys().filter(|state| {
        explorer.successors(state, &mut successors).expect("it can be executed");
        explorer.is_deadlock(state, &successors)
    });
    assert!(dead.next().is_some() && dead.next().is_none(), "one state, whoever came first");
    let incident = model.incident(&[0, 1]).expect("it can be executed");
    assert_eq!(incident.kind, IncidentKind::Deadlock);
    assert_eq!(
        incident.explanation(),
        [
            "main waits for the end of main.0",
            "main.0 waits to lock mutex 1 at script:11, held by main.1 since script:20",
            "main.1 waits to lock mutex 0 at script:21, held by main.0 since script:10",
            "each waits for the next: main.0 -> main.1 -> main.0",
        ]
    );
    assert_eq!(incident.size(), "2 steps of 2 threads, 1 context switch (1 preemption)");
    let report = incident.report(100, false).join("\n");
    for words in ["deadlock: no thread can go on", "lock mutex 0  script:10", "  2 ! |"] {
        assert!(report.contains(words), "'{words}' is missing in\n{report}");
    }
}

#[test]
fn failures_show_when_their_state_is_expanded() {
    let model = program(lost_update);
    let mut explorer = model.explorer();
    let states = explore(&mut *explorer);
    let violations = explorer.violations().expect("programs fail");
    let kinds: Vec<ViolationKind> = states
        .keys()
        .filter_map(|state| violations.violation(state))
        .map(|violation| violation.kind)
        .collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|&kind| kind == ViolationKind::Assertion));
    // Load, load, store, store, two joins.
    let incident = model.incident(&[0, 0, 0, 0, 0, 0]).expect("it can be executed");
    assert_eq!(incident.kind, IncidentKind::Finished, "{incident:?}");
    let incident = model.incident(&[0, 1, 0, 0, 0, 0]).expect("it can be executed");
    assert_eq!(incident.headline(), "assertion: an update was lost (main)");
    assert_eq!(model.left_out(), None);
}

#[test]
fn cut_executions_prove_nothing() {
    let options = ProgramOptions { max_steps: 3, ..ProgramOptions::default() };
    let model = with_options(inversion, options);
    let mut explorer = model.explorer();
    let states = explore(&mut *explorer);
    let mut successors = Successors::new(4);
    for state in states.keys() {
        explorer.successors(state, &mut successors).expect("it can be executed");
        let deep = explorer.measures().expect("measures").measure(state, 5) >= 3.0;
        assert!(!deep || successors.is_empty());
        assert!(!(deep && explorer.is_deadlock(state, &successors)), "cut is not stuck");
    }
    assert_eq!(model.left_out().as_deref(), Some("executions were cut after 3 steps"));
}

/// What a program that is different each time does: the main thread looks at a counter that survives.
fn moody(context: &mut Context<'_>) -> Box<dyn Routine> {
    static TIMES: AtomicU64 = AtomicU64::new(0);
    let memory = context.register(Object::Memory);
    let times = TIMES.fetch_add(1, Ordering::Relaxed);
    let kind = if times % 3 == 2 { Kind::Store } else { Kind::Load };
    straight(vec![operation(Kind::Load, memory, 1), operation(kind, memory, 2 + times % 3 / 2)])
}

#[test]
fn programs_that_are_not_deterministic_are_refused() {
    let launch: Box<Launch> = Box::new(|| Ok(Box::new(Script::new(moody)) as Box<dyn Executor>));
    // Whether it is seen at once or only later depends on the counter; every execution is checked here.
    let options = ProgramOptions { check_every: 1, ..ProgramOptions::default() };
    let error = ProgramModel::new("moody", 0, launch, options).map(|_| ()).expect_err("it is seen");
    assert_eq!(error.kind, turnpike_scheduler::GuestErrorKind::Nondeterministic, "{error}");
    assert!(error.message.contains("load(main, memory 0, script:2)"), "{error}");
    assert!(error.message.contains("store(main, memory 0, script:3)"), "{error}");
}

fn trace(labels: &[(&str, Option<u32>)]) -> Trace {
    let step = |&(label, choice): &(&str, Option<u32>)| Step { choice, ..Step::new(label) };
    Trace { steps: labels.iter().map(step).collect(), ..Trace::default() }
}

#[test]
fn traces_are_followed_strictly_and_loosely() {
    let model = program(inversion);
    let schedule =
        [("lock(main.0, mutex 0, script:10)", Some(0)), ("lock(main.1, mutex 1, script:20)", Some(1))];
    let followed = model.follow(&trace(&schedule)).expect("it can be executed");
    assert_eq!((followed.choices.as_slice(), &followed.parting), (&[0, 1][..], &None));
    // The same by labels alone.
    let followed =
        model.follow(&trace(&schedule.map(|(label, _)| (label, None)))).expect("it can be executed");
    assert_eq!((followed.choices.as_slice(), &followed.parting), (&[0, 1][..], &None));
    // Lines moved, and a step vanished.
    let old = [
        ("lock(main.0, mutex 0, script:8)", Some(0)),
        ("store(main.0, memory 3, script:9)", Some(0)),
        ("lock(main.1, mutex 1, script:18)", Some(1)),
    ];
    let parting = model.follow(&trace(&old)).expect("it can be executed").parting.expect("it parts");
    assert_eq!((parting.step, parting.expected.as_str()), (1, old[0].0));
    assert_eq!(parting.found, "lock(main.0, mutex 0, script:10)");
    let followed = model.follow_loosely(&trace(&old)).expect("it can be executed");
    assert_eq!((followed.choices, followed.skipped, followed.parting), (vec![0, 1], vec![2], None));
    // The thread has something else to do before.
    let late = [("lock(main.1, mutex 1, script:20)", None), ("unlock(main.0, mutex 0, script:3)", None)];
    let followed = model.follow_loosely(&trace(&late[1..])).expect("it can be executed");
    assert_eq!((followed.choices.len(), followed.added, followed.skipped.len()), (4, 3, 0));
    let followed = model.follow_loosely(&trace(&late)).expect("it can be executed");
    assert_eq!((followed.choices, followed.added, followed.skipped), (vec![1], 0, vec![2]));
    // More steps than there are.
    let mut long = schedule.to_vec();
    long.push(("unlock(main.1, mutex 1, script:22)", Some(0)));
    let parting = model.follow(&trace(&long)).expect("it can be executed").parting.expect("it parts");
    assert_eq!((parting.step, parting.found.as_str()), (3, "it deadlocked after 2 steps"));
}

#[test]
fn a_search_can_go_on_behind_a_schedule() {
    let model = program(inversion);
    let behind = model.after(&[0]).expect("it can be executed");
    let whole = explore(&mut *model.explorer());
    let part = explore(&mut *behind.explorer());
    assert!(part.len() < whole.len() && part.keys().all(|state| whole.contains_key(state)));
    for (state, transitions) in &part {
        assert_eq!(whole.get(state), Some(transitions));
    }
    assert!(model.after(&[9]).is_err());
}

#[test]
fn sleep_sets_leave_out_interleavings_but_no_deadlock() {
    let count = |sleep: bool| {
        let model = with_options(inversion, ProgramOptions { sleep, ..ProgramOptions::default() });
        let mut explorer = model.explorer();
        let states = explore(&mut *explorer);
        let mut successors = Successors::new(4);
        let dead = states.keys().filter(|state| {
            explorer.successors(state, &mut successors).expect("it can be executed");
            explorer.is_deadlock(state, &successors)
        });
        (states.values().map(Vec::len).sum::<usize>(), dead.count())
    };
    let ((all, dead), (fewer, asleep)) = (count(false), count(true));
    assert!(dead == 1 && asleep == 1 && fewer < 2 * all, "{all} {fewer} {dead} {asleep}");
}

#[test]
fn recorded_accesses_make_persistent_sets() {
    let model = program(updates::<3, 2>).with_recorded_accesses(20).expect("it can be executed");
    let table = model.options().persistent.as_ref().expect("a table");
    assert!(!table.proved && table.entries.len() == 3, "{table:?}");
    assert!(model.left_out().is_some_and(|text| text.contains("recorded executions")));
    let ends = explore(&mut *model.explorer()).values().filter(|transitions| transitions.is_empty()).count();
    assert_eq!(ends, 90);
}
