//! A program as paths: every path is one execution.

use turnpike_model::paths::{
    Choice, Chooser, Detail, PathEnd, PathStep, Paths, PathsInfo, Request, StepCounts, StepOrder, Tally,
};
use turnpike_model::{Label, Participant, StepError, ViolationKind, hash};
use turnpike_scheduler::{
    self as scheduler, End, Execution, Executor, Finding, Kind, ObjectId, Plan, Policy, Reduction, Site,
    ThreadId,
};

use crate::handover::participants;
use crate::model::{ProgramModel, step_error};
use crate::order::Order;
use crate::signature::{signature, signatures};
use crate::{steps, texts};

/// One search thread's view of a program as paths.
pub(crate) struct ProgramPaths<'m> {
    model: &'m ProgramModel,
    /// Launched when the first path is followed.
    executor: Option<Box<dyn Executor>>,
    execution: Execution,
    order: Order,
    /// A request's order and sleepers in the scheduler's terms.
    entries: [Vec<(ThreadId, u32)>; 2],
}

impl<'m> ProgramPaths<'m> {
    pub(crate) fn new(model: &'m ProgramModel) -> Self {
        ProgramPaths {
            model,
            executor: None,
            execution: Execution::default(),
            order: Order::default(),
            entries: Default::default(),
        }
    }

    fn run(&mut self, plan: &Plan<'_>) -> Result<(), StepError> {
        if self.executor.is_none() {
            self.executor = Some(self.model.executor().map_err(step_error)?);
        }
        match &mut self.executor {
            Some(executor) => executor.run(plan, &mut self.execution).map_err(step_error),
            None => Err(StepError::new("the program cannot be executed")),
        }
    }
}

impl Drop for ProgramPaths<'_> {
    fn drop(&mut self) {
        if let Some(executor) = self.executor.take() {
            self.model.put_back(executor);
        }
    }
}

impl Paths for ProgramPaths<'_> {
    fn info(&self) -> PathsInfo {
        let options = self.model.options();
        PathsInfo {
            max_steps: options.max_steps,
            reduced: options.sleep || options.persistent.is_some(),
            reduction_is_proved: options.persistent.as_ref().is_none_or(|table| table.proved),
            bounded: !options.bounds.is_empty(),
        }
    }

    fn follow(&mut self, request: &Request<'_>) -> Result<(), StepError> {
        let [mut entries, mut sleepers] = std::mem::take(&mut self.entries);
        let translate = |from: &[(u32, u32)], to: &mut Vec<(ThreadId, u32)>| {
            to.clear();
            to.extend(from.iter().map(|&(actor, alternative)| (ThreadId(actor), alternative)));
        };
        if let Chooser::Follow { order } | Chooser::Awake { order, .. } = request.chooser {
            translate(order, &mut entries);
        }
        if let Chooser::Awake { sleep, .. } = request.chooser {
            translate(sleep, &mut sleepers);
        }
        let model = self.model;
        let common = model.options().plan();
        let plan = Plan {
            prefix: request.prefix,
            policy: policy(request.chooser, &entries, &sleepers),
            max_steps: request.max_steps,
            detail: detail(request.detail),
            reduction: if request.reduced { common.reduction } else { Reduction::default() },
            ..common
        };
        let outcome = self.run(&plan);
        self.entries = [entries, sleepers];
        outcome
    }

    fn len(&self) -> usize {
        self.execution.steps.len()
    }

    fn end(&self) -> PathEnd {
        match self.execution.end {
            _ if self.execution.end_is_suppressed => PathEnd::Finished,
            End::Finished => PathEnd::Finished,
            End::Deadlock => PathEnd::Deadlock,
            End::Failed(_) | End::Livelock => PathEnd::Failed,
            End::Hung => PathEnd::Hung,
            End::StepLimit | End::Stopped => PathEnd::StepLimit,
            End::Asleep => PathEnd::Asleep,
            End::Diverged(step) => PathEnd::Diverged(step),
        }
    }

    fn describe_end(&self) -> String {
        match &self.execution.end {
            End::Finished => "all threads ended".into(),
            End::Deadlock => "deadlock".into(),
            End::Livelock => "livelock: all threads spin".into(),
            End::Failed(failure) => failure.message.clone(),
            End::StepLimit => "the limit on steps was reached".into(),
            End::Stopped => "stopped".into(),
            End::Asleep => "others stand for what follows".into(),
            End::Diverged(step) => format!("step {} is not possible", step + 1),
            End::Hung => "a thread does nothing visible for too long".into(),
        }
    }

    fn cuts_others_short(&self) -> bool {
        match self.execution.end {
            End::Failed(_) | End::Hung => true,
            End::Finished => self.execution.steps.last().is_some_and(|step| step.choice.kind == Kind::Exit),
            _ => false,
        }
    }

    fn looks_at_pending(&self) -> bool {
        self.execution.steps.iter().any(|step| looks_at_others(&step.choice))
    }

    fn violations(&self) -> Vec<ViolationKind> {
        let end = match &self.execution.end {
            _ if self.execution.end_is_suppressed => None,
            End::Failed(failure) => Some(violation_kind(failure.kind)),
            End::Livelock => Some(ViolationKind::Livelock),
            End::Hung => Some(ViolationKind::Hang),
            _ => None,
        };
        let found = self.execution.findings.iter().filter_map(|finding| match finding {
            Finding::Race { .. } => Some(ViolationKind::Race),
            Finding::Leak(_) => Some(ViolationKind::Leak),
            Finding::Uncontrolled(_) | Finding::Reuse { .. } => None,
        });
        let mut kinds: Vec<ViolationKind> = Vec::new();
        for kind in end.into_iter().chain(found) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    fn is_quiet(&self) -> bool {
        let quiet = matches!(
            self.execution.end,
            End::Finished | End::StepLimit | End::Stopped | End::Asleep | End::Diverged(_)
        );
        self.execution.findings.is_empty() && (quiet || self.execution.end_is_suppressed)
    }

    fn signature(&self) -> u64 {
        signature(&self.execution)
    }

    fn signatures(&mut self) -> Vec<String> {
        match &mut self.executor {
            Some(executor) => signatures(&self.execution, &mut **executor),
            None => Vec::new(),
        }
    }

    fn suppressed(&self) -> &[String] {
        &self.execution.suppressed
    }

    fn is_incomplete(&self) -> bool {
        // What would have come after a hang is unknown.
        self.execution.incomplete || self.execution.end == End::Hung
    }

    fn step(&self, index: usize) -> PathStep {
        let step = &self.execution.steps[index];
        PathStep {
            taken: step.taken,
            count: step.count,
            actor: step.choice.thread.0,
            alternative: step.choice.alternative,
            // Reading the newest value is usual.
            unusual: if step.choice.is_weak() { step.choice.newer_writes() } else { step.choice.alternative },
        }
    }

    fn count_steps(&self, out: &mut StepCounts) {
        out.contested = 0;
        out.by_actor.clear();
        for step in &self.execution.steps {
            out.contested += u32::from(step.count > 1);
            let thread = step.choice.thread.0 as usize;
            if out.by_actor.len() <= thread {
                out.by_actor.resize(thread + 1, 0);
            }
            out.by_actor[thread] += 1;
        }
    }

    fn fingerprints(&self, out: &mut Vec<u64>) {
        let fold = |fingerprint: u128| hash::mix(fingerprint as u64, (fingerprint >> 64) as u64);
        out.extend(self.execution.steps.iter().map(|step| fold(step.fingerprint)));
    }

    fn state_behind(&self, step: usize) -> u128 {
        self.execution.steps[step].fingerprint
    }

    fn choices(&self, step: usize, out: &mut Vec<Choice>) {
        let step = &self.execution.steps[step];
        let first = step.first_choice as usize;
        out.extend(self.execution.choices[first..first + step.count as usize].iter().map(pack));
    }

    fn actors_at_start(&mut self) -> Result<u32, StepError> {
        let max_steps = self.model.options().max_steps;
        self.run(&Plan { max_steps, ..Plan::new(&[]) })?;
        let mut threads: Vec<u32> = self.execution.choices.iter().map(|choice| choice.thread.0).collect();
        threads.dedup();
        Ok(u32::try_from(threads.len()).unwrap_or(u32::MAX))
    }

    fn label(&mut self, step: usize) -> Label {
        match (self.execution.steps.get(step), &mut self.executor) {
            (Some(step), Some(executor)) => {
                let label = texts::label(&self.execution, &step.choice, &mut **executor);
                self.model.keep_label(&label);
                label
            }
            _ => Label::parse(""),
        }
    }

    fn participants(&self) -> Option<(Vec<String>, Vec<Vec<Participant>>)> {
        Some(participants(&self.execution))
    }

    fn describe_pending(&self, actor: u32) -> String {
        steps::pending(&self.execution, ThreadId(actor))
    }

    fn tally(&self) -> Tally {
        Tally {
            enabled: self.execution.enabled_sum,
            messages: self.execution.messages.into(),
            assertions: self.execution.assertions.into(),
            branches: self.execution.branches.into(),
        }
    }

    fn genes(&self) -> (&[u64], usize) {
        (&self.execution.genes, self.execution.genes_read as usize)
    }

    fn dependent(&self, one: &Choice, other: &Choice) -> bool {
        scheduler::dependent(&unpack(one), &unpack(other))
    }

    fn asleep_after(&self, sleeper: &Choice, step: &Choice) -> [Option<Choice>; 2] {
        let after = scheduler::asleep_after(&unpack(sleeper), &unpack(step));
        after.map(|choice| choice.as_ref().map(pack))
    }

    fn order(&mut self, same: usize) -> &dyn StepOrder {
        self.order.read(&self.execution, same);
        &self.order
    }

    fn detach_order(&mut self) -> Box<dyn StepOrder> {
        let mut order = Order::default();
        order.read(&self.execution, 0);
        Box::new(order)
    }
}

/// Whether a step is a send that succeeds only if a receiver waits, or a read lock that is taken
/// again while a writer waits.
fn looks_at_others(step: &scheduler::Choice) -> bool {
    match step.kind {
        Kind::TrySend => step.argument >> 32 == 0,
        Kind::ReadLock | Kind::TryReadLock => step.argument & 2 != 0,
        _ => false,
    }
}

fn policy<'a>(
    chooser: Chooser<'a>,
    order: &'a [(ThreadId, u32)],
    sleep: &'a [(ThreadId, u32)],
) -> Policy<'a> {
    match chooser {
        Chooser::Continue => Policy::Continue,
        Chooser::Follow { .. } => Policy::Follow { order },
        Chooser::Uniform { seed } => Policy::Uniform { seed },
        Chooser::Pct { seed, depth, length } => Policy::Pct { seed, depth, length },
        Chooser::Pos { seed } => Policy::Pos { seed },
        Chooser::Few { seed } => Policy::Few { seed },
        Chooser::Turns => Policy::Turns,
        Chooser::Sketch { seed } => Policy::Sketch { seed },
        Chooser::Weighted { seed, steps } => Policy::Weighted { seed, events: steps },
        Chooser::Genes { bits, seed } => Policy::Genes { bits, seed },
        Chooser::Awake { .. } => Policy::Awake { sleep, order },
        _ => Policy::First,
    }
}

fn detail(detail: Detail) -> scheduler::Detail {
    match detail {
        Detail::Positions => scheduler::Detail::Positions,
        Detail::Steps => scheduler::Detail::Steps,
        Detail::Full => scheduler::Detail::Full,
    }
}

/// The kind of violation that a failure is.
pub(crate) fn violation_kind(kind: scheduler::FailureKind) -> ViolationKind {
    use scheduler::FailureKind;
    match kind {
        FailureKind::Assertion => ViolationKind::Assertion,
        FailureKind::Panic => ViolationKind::Panic,
        FailureKind::Crash | FailureKind::Misuse => ViolationKind::Crash,
        FailureKind::Heap => ViolationKind::Heap,
    }
}

pub(crate) fn pack(choice: &scheduler::Choice) -> Choice {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let flags = u64::from(choice.gives_up) << 8 | u64::from(choice.exclusive) << 9;
    Choice {
        actor: choice.thread.0,
        alternative: choice.alternative,
        operation: [
            u64::from(choice.kind as u8) | flags,
            pair(choice.object.0, choice.second.0),
            pair(choice.within[0].0, choice.within[1].0),
            choice.argument,
            choice.site.0,
            0,
        ],
    }
}

pub(crate) fn unpack(choice: &Choice) -> scheduler::Choice {
    let [kind, objects, within, argument, site, _] = choice.operation;
    let pair = |word: u64| [ObjectId(word as u32), ObjectId((word >> 32) as u32)];
    let [object, second] = pair(objects);
    scheduler::Choice {
        thread: ThreadId(choice.actor),
        alternative: choice.alternative,
        // Only `pack` writes operations.
        kind: Kind::from_number(kind as u8).unwrap_or(Kind::Yield),
        object,
        second,
        within: pair(within),
        gives_up: kind >> 8 & 1 == 1,
        exclusive: kind >> 9 & 1 == 1,
        argument,
        site: Site(site),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_alternatives_are_those_of_all_systems() {
        use turnpike_model::paths::Cause;
        assert_eq!(Cause::of(scheduler::Choice::TIMEOUT), Cause::Timeout);
        assert_eq!(Cause::of(scheduler::Choice::SPURIOUS), Cause::Nothing);
        assert_eq!(Cause::of(scheduler::Choice::SPURIOUS - 1), Cause::Actor);
    }

    #[test]
    fn choices_survive_packing() {
        for (number, kind) in (0u32..).zip(Kind::ALL) {
            let choice = scheduler::Choice {
                thread: ThreadId(number),
                alternative: [0, 3, scheduler::Choice::TIMEOUT, scheduler::Choice::SPURIOUS]
                    [number as usize % 4],
                kind,
                object: ObjectId(number + 7),
                second: ObjectId::NONE,
                within: [ObjectId(u32::MAX - number), ObjectId::NONE],
                gives_up: number % 2 == 0,
                exclusive: number % 3 == 0,
                argument: u64::MAX - u64::from(number),
                site: Site(u64::from(number) << 40),
            };
            assert_eq!(unpack(&pack(&choice)), choice);
        }
    }
}
