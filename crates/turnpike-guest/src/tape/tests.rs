//! What the guest writes is what the host reads.

use std::format;
use std::string::ToString;
use std::vec;

use proptest::prelude::*;

use super::*;

fn choice(thread: u32) -> Choice {
    Choice {
        thread: ThreadId(thread),
        alternative: Choice::TIMEOUT,
        kind: Kind::Wait,
        object: ObjectId(3),
        second: ObjectId(4),
        within: [ObjectId(5), ObjectId::NONE],
        gives_up: true,
        exclusive: false,
        argument: u64::MAX - 1,
        site: Site(0x5555_0000_1234),
    }
}

/// An execution with something in every part.
fn full(end: End) -> Execution {
    let step = Step { taken: 1, count: 3, first_choice: 2, choice: choice(1), fingerprint: 1 << 100 };
    let waits = Some((choice(0), Some(ThreadId(1))));
    let thread = ThreadRecord {
        name: "main.0".to_string(),
        name_hash: 9,
        waits,
        holds: vec![(ObjectId(3), Site(7))],
        ended: false,
        born: 4,
        site: Site(11),
    };
    let idle = ThreadRecord { waits: Some((choice(1), None)), ended: true, ..ThreadRecord::default() };
    let object = |object| ObjectRecord {
        name: "flag".to_string(),
        name_hash: 2,
        object,
        site: Site(1),
        created: true,
    };
    Execution {
        steps: vec![step; 2],
        choices: vec![choice(0), choice(1)],
        last_choices: 1,
        predicted: vec![u128::MAX, 0],
        fingerprint: (3 << 64) | 5,
        end,
        findings: vec![
            Finding::Race { first: Site(1), second: Site(2), message: "race".to_string() },
            Finding::Leak(ThreadId(1)),
            Finding::Uncontrolled("a call".to_string()),
            Finding::Reuse { freed: Site(3), allocated: Site(4) },
        ],
        threads: vec![thread, idle],
        objects: vec![
            object(Object::Mutex { recursive: true }),
            object(Object::RwLock),
            object(Object::Condvar),
            object(Object::Semaphore { value: 3 }),
            object(Object::Barrier { count: 2 }),
            object(Object::Once),
            object(Object::Queue { capacity: 9 }),
            object(Object::Memory),
            object(Object::Futex),
            object(Object::Region),
        ],
        values: vec![StepValue { step: 3, value: u64::MAX, bytes: 8 }],
        genes: vec![1, u64::MAX],
        genes_read: 70,
        enabled_sum: 12,
        messages: 1,
        assertions: 2,
        branches: 3,
        incomplete: true,
        timeouts_left_out: true,
        bounded: true,
        entered: true,
        suppressed: vec![],
        end_is_suppressed: false,
        notes: Vec::new(),
        stacks: vec![],
        output: vec![],
    }
}

fn ends() -> Vec<End> {
    let kinds = [
        FailureKind::Assertion,
        FailureKind::Panic,
        FailureKind::Crash,
        FailureKind::Heap,
        FailureKind::Misuse,
    ];
    let failed = kinds.map(|kind| {
        End::Failed(Failure { kind, message: "why".to_string(), thread: ThreadId(1), site: Site(5) })
    });
    let mut ends = vec![End::Finished, End::Deadlock, End::Livelock, End::StepLimit, End::Stopped];
    ends.extend([End::Asleep, End::Diverged(6), End::Hung]);
    ends.extend(failed);
    ends
}

fn written(execution: &Execution, declared: &[(u64, u64, bool)], full: bool) -> Vec<u8> {
    let mut out = vec![0; 1 << 14];
    let length = write(execution, declared, full, &mut out).expect("there is room");
    out.truncate(length);
    out
}

#[test]
fn a_full_record_survives() {
    let declared = [(1, 2, true), (3, 4, false)];
    for end in ends() {
        let execution = full(end);
        let bytes = written(&execution, &declared, true);
        let (mut read_back, mut told) = (Execution::default(), Vec::new());
        let read = read(&bytes, &kinds(), &mut read_back, |thread, object, writes| {
            told.push((thread, object, writes))
        });
        assert!(read.is_some(), "{:?}", execution.end);
        assert_eq!(format!("{read_back:?}"), format!("{execution:?}"));
        assert_eq!(told, declared);
    }
}

#[test]
fn a_record_of_positions_keeps_who_and_which() {
    let execution = full(End::Finished);
    let bytes = written(&execution, &[], false);
    let mut read_back = Execution::default();
    read(&bytes, &kinds(), &mut read_back, |_, _, _| {}).expect("it survives");
    let kept = |step: &Step| (step.taken, step.count, step.choice.thread, step.choice.alternative);
    assert_eq!(
        read_back.steps.iter().map(kept).collect::<Vec<_>>(),
        execution.steps.iter().map(kept).collect::<Vec<_>>()
    );
    assert!(read_back.steps.iter().all(|step| step.fingerprint == 0));
}

#[test]
fn a_record_that_does_not_fit_is_not_written_and_half_of_one_not_read() {
    let execution = full(End::Deadlock);
    let bytes = written(&execution, &[(1, 2, true)], true);
    for length in 0..bytes.len() {
        let mut out = vec![0; length];
        assert_eq!(write(&execution, &[(1, 2, true)], true, &mut out), None);
        let cut = read(&bytes[..length], &kinds(), &mut Execution::default(), |_, _, _| {});
        assert!(cut.is_none(), "{length} of {} bytes", bytes.len());
    }
}

#[test]
fn every_kind_of_operation_survives() {
    for kind in kinds() {
        let mut execution = full(End::Finished);
        execution.choices[0].kind = kind;
        let mut read_back = Execution::default();
        read(&written(&execution, &[], true), &kinds(), &mut read_back, |_, _, _| {}).expect("it survives");
        assert_eq!(read_back.choices[0].kind, kind);
    }
}

#[test]
fn a_note_tells_the_last_step() {
    let place = [const { AtomicU64::new(0) }; 9];
    Note::new(None, ThreadId(2), 7).store(&place);
    let note = Note::load(&place);
    assert_eq!((note.thread(), note.fingerprint(), note.step(&kinds()).is_none()), (2, 7, true));

    let step = full(End::Finished).steps[0];
    Note::new(Some(&step), ThreadId(1), step.fingerprint).store(&place);
    let note = Note::load(&place);
    let read = note.step(&kinds()).expect("there was a step");
    assert_eq!((note.thread(), note.fingerprint()), (1, 1 << 100));
    assert_eq!((read.taken, read.count, read.fingerprint), (1, 3, 1 << 100));
    let known = Choice { within: [ObjectId::NONE; 2], gives_up: false, ..step.choice };
    assert_eq!(read.choice, known);
}

proptest! {
    #[test]
    fn no_bytes_make_the_host_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut out = Execution::default();
        if read(&bytes, &kinds(), &mut out, |_, _, _| {}).is_some() {
            prop_assert!(out.steps.len() <= bytes.len());
        }
    }
}
