//! Whatever guests announce: no panic, and equal positions yield equal executions, at every level
//! of detail.

use crate::common::{OBJECTS, run};
use proptest::prelude::*;
use turnpike_scheduler::script::{Script, start, straight};
use turnpike_scheduler::{
    Detail, End, Kind, MayAccess, ObjectId, Operation, Plan, Policy, Reduction, Site, ThreadId, Timeouts,
};

/// An arbitrary operation, valid or not.
fn operation() -> impl Strategy<Value = Operation> {
    let object = || prop_oneof![9 => 0..OBJECTS.len() as u32, 1 => Just(u32::MAX), 1 => any::<u32>()];
    let argument = prop_oneof![8 => 0u64..5, 1 => any::<u64>()];
    let writes = prop::sample::select(vec![None, Some((|n| n > 1) as fn(u64) -> bool)]);
    (
        prop::sample::select(Kind::ALL.to_vec()),
        object(),
        object(),
        argument,
        any::<bool>(),
        any::<u64>(),
        writes,
    )
        .prop_map(|(kind, object, second, argument, timed, deadline, writes)| {
            let second = if kind == Kind::Wait { second % 3 } else { second };
            let operation = Operation::new(kind, ObjectId(object), Site(1));
            Operation { second: ObjectId(second), argument, timed, deadline, writes, ..operation }
        })
}

/// Operations that mostly fit their objects.
fn fitting() -> impl Strategy<Value = Operation> {
    operation().prop_map(|operation| {
        let object = match operation.kind {
            Kind::Lock | Kind::TryLock | Kind::Unlock => operation.object.0 % 2,
            Kind::ReadLock
            | Kind::TryReadLock
            | Kind::WriteLock
            | Kind::TryWriteLock
            | Kind::ReadUnlock
            | Kind::WriteUnlock => 2,
            Kind::Wait | Kind::NotifyOne | Kind::NotifyAll => 3,
            Kind::SemWait | Kind::SemTryWait | Kind::SemPost | Kind::SemGet => 4,
            Kind::Arrive => 5,
            Kind::OnceBegin | Kind::OnceEnd => 6,
            Kind::Send | Kind::TrySend | Kind::Receive | Kind::TryReceive | Kind::Close | Kind::Leave => {
                7 + operation.object.0 % 3
            }
            Kind::Load | Kind::Store | Kind::Update | Kind::Read | Kind::Write => 10,
            Kind::FutexWait | Kind::FutexWake => 11,
            _ => operation.object.0,
        };
        Operation { object: ObjectId(object), ..operation }
    })
}

fn policy() -> impl Strategy<Value = Policy<'static>> {
    any::<u64>().prop_flat_map(|seed| {
        prop::sample::select(vec![
            Policy::First,
            Policy::Continue,
            Policy::Uniform { seed },
            Policy::Pct { seed, depth: (seed % 9) as u32, length: (seed % 50) as u32 },
            Policy::Pos { seed },
            Policy::Few { seed },
            Policy::Turns,
            Policy::Weighted { seed, events: &[0, 9, 2] },
            Policy::Genes { bits: &[0x1234_5678_9abc_def0], seed },
            Policy::Awake {
                sleep: &[(ThreadId(1), 0), (ThreadId(2), 1), (ThreadId(99), 7)],
                order: &[(ThreadId(2), 0), (ThreadId(98), 1), (ThreadId(1), 0)],
            },
            Policy::Follow { order: &[(ThreadId(2), 0), (ThreadId(1), 5), (ThreadId(99), 0)] },
        ])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_guests_announce_does_harm(
        threads in prop::collection::vec(
            prop::collection::vec(prop_oneof![20 => fitting(), 1 => operation()], 0..8), 0..6),
        policy in policy(),
        timeouts in prop::sample::select(vec![Timeouts::Never, Timeouts::WhenStuck, Timeouts::Always]),
        spurious in 0u32..3,
        sleep: bool,
        persistent: bool,
        prefix in prop::collection::vec(0u32..4, 0..6),
    ) {
        let mut script = Script::new(move |context| {
            for object in OBJECTS {
                context.register(object);
            }
            context.kernel.keep_clocks(true);
            start(threads.iter().map(|operations| straight(operations.clone())).collect())
        });
        let may = MayAccess::default();
        // The policy's own sleep set replaces that of the plan.
        let sleep = sleep && !matches!(policy, Policy::Awake { .. });
        let reduction = Reduction { sleep, persistent: persistent.then_some(&may) };
        let plan = Plan { policy, max_steps: 60, reduction, timeouts, spurious, ..Plan::new(&prefix) };
        let first = run(&mut script, &plan);
        let taken: Vec<u32> = first.steps.iter().map(|step| step.taken).collect();
        // The same plan in full detail; the same positions as a prefix; and the same for a shorter
        // prefix.
        let full = run(&mut script, &Plan { detail: Detail::Full, ..plan });
        prop_assert_eq!(&full.steps.iter().map(|step| step.taken).collect::<Vec<_>>(), &taken);
        prop_assert_eq!((&full.end, full.fingerprint), (&first.end, first.fingerprint));
        prop_assert_eq!(&full.findings, &first.findings);
        let again = run(&mut script, &Plan { prefix: &taken, policy: Policy::Stop, ..plan });
        prop_assert_eq!(again.fingerprint, first.fingerprint);
        prop_assert_eq!(again.steps.len(), taken.len());
        if !matches!(first.end, End::StepLimit | End::Asleep | End::Diverged(_)) {
            prop_assert_eq!(&again.end, &first.end);
        }
        let choices = full.last_choices;
        prop_assert_eq!(full.steps.iter().map(|step| step.count as usize).sum::<usize>(), choices);
        let sum = choices as u64 + (full.choices.len() - choices) as u64;
        prop_assert_eq!(sum, full.enabled_sum);
        for step in &full.steps {
            prop_assert_eq!(full.choices[(step.first_choice + step.taken) as usize], step.choice);
        }
    }
}
