//! The state of one execution: threads, their pending operations, objects, the plan.
//!
//! How a guest uses it. `begin` makes thread 0 current; the guest runs its main function. Before
//! each visible operation the running thread calls [`Kernel::announce`]; the answer says which
//! thread runs on (perhaps the same one), after the kernel has performed that thread's pending
//! operation on its objects; the thread that runs on reads what came of it by [`Kernel::outcome`]
//! and does the rest itself (reads the atomic, takes the message). A new thread runs at once up to
//! its first announcement ([`Kernel::spawn`]), then its creator goes on: neither is a step.

use alloc::string::String;
use alloc::vec::Vec;

use crate::execution::{Choice, End, Execution, Failure, FailureKind, Finding, Step};
use crate::fingerprint::Fingerprint;
use crate::operation::{Kind, MemoryOrder, Object, ObjectId, Operation, Outcome, Site, ThreadId};
use crate::plan::{Detail, Plan, Timeouts};
use crate::policy::Way;
use crate::random::Random;

mod access;
mod bounds;
mod choices;
mod clocks;
mod knowledge;
mod lifetimes;
mod nature;
mod objects;
mod pending;
mod perform;
mod queues;
mod record;
mod reduce;
mod sketch;
mod spin;
mod threads;
mod time;
mod wake;
mod weak;

pub(crate) use choices::Pick;
use choices::Run;
use objects::Thing;
use perform::After;
pub(crate) use sketch::Sketches;
use threads::{Phase, Thread};
pub(crate) use weak::{NO_WRITE, WEAK};

/// No thread.
const NONE: u32 = u32::MAX;

/// No operation has more numbered alternatives.
const MOST_ALTERNATIVES: u64 = 1 << 16;

/// Which thread runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This one, which may be the one that asked.
    Run(ThreadId),
    /// None: the execution is over; the record of [`Kernel::finish`] says why.
    End,
}

/// The scheduler of one guest. Reused from execution to execution without allocating.
#[derive(Debug)]
pub struct Kernel {
    /// Slots of threads; the first `count` of them exist.
    threads: Vec<Thread>,
    count: u32,
    /// Threads that have not ended.
    live: u32,
    current: u32,
    /// Creators of threads that have not reached their first announcement, innermost last.
    starting: Vec<u32>,
    /// Threads in the order of their names.
    order: Vec<u32>,

    objects: Vec<Thing>,
    /// Three sets for each object, each of `stride` words.
    channels: Vec<u64>,
    /// Whether any object lies in a region.
    regions: bool,
    /// Whether any object was destroyed.
    ruins: bool,
    stride: usize,

    /// Threads whose pending operation can happen.
    ready: Vec<u64>,
    /// Threads whose pending operation may have several alternatives.
    several: Vec<u64>,
    /// Threads whose pending operation may time out.
    timed: Vec<u64>,
    /// Threads that wait on a condition variable and were not notified.
    waiting: Vec<u64>,
    /// Members of the last three sets, and threads that spin: without any, the list of choices is
    /// the set of ready threads.
    odd: u32,
    /// Whether that is so in the present state.
    plain: bool,
    /// The choices otherwise.
    runs: Vec<Run>,

    /// The state's fingerprint.
    sum: u128,
    last_spurious: Fingerprint,

    prefix: Vec<u32>,
    max_steps: u32,
    detail: Detail,
    predict: bool,
    timeouts: Timeouts,
    spurious: u32,
    pub(crate) way: Way,
    pub(crate) random: Random,
    pub(crate) policy: crate::policy::Data,

    taken: u32,
    last: u32,
    end: Option<End>,
    steps: Vec<Step>,
    choices: Vec<Choice>,
    last_choices: Option<usize>,
    predicted: Vec<u128>,
    findings: Vec<Finding>,
    names: Vec<(bool, u32, String)>,
    enabled_sum: u64,
    messages: u32,
    assertions: u32,
    branches: u32,
    incomplete: bool,
    clocks: clocks::Clocks,
    logs: queues::Logs,
    /// Whether any thread's clock shows another time than the beginning.
    time_passed: bool,
    pub(crate) reduction: reduce::Reducer,
    allowance: bounds::Allowance,
    weak: weak::Weak,
    pub(crate) sketches: Sketches,
}

impl Kernel {
    /// A scheduler without an execution.
    pub const fn new() -> Self {
        Kernel {
            threads: Vec::new(),
            count: 0,
            live: 0,
            current: 0,
            starting: Vec::new(),
            order: Vec::new(),
            objects: Vec::new(),
            channels: Vec::new(),
            regions: false,
            ruins: false,
            stride: 1,
            ready: Vec::new(),
            several: Vec::new(),
            timed: Vec::new(),
            waiting: Vec::new(),
            odd: 0,
            plain: true,
            runs: Vec::new(),
            sum: 0,
            last_spurious: Fingerprint::ZERO,
            prefix: Vec::new(),
            max_steps: 0,
            detail: Detail::Positions,
            predict: false,
            timeouts: Timeouts::WhenStuck,
            spurious: 0,
            way: Way::Stop,
            random: Random::new(0),
            policy: crate::policy::Data::new(),
            taken: 0,
            last: NONE,
            end: Some(End::Finished),
            steps: Vec::new(),
            choices: Vec::new(),
            last_choices: None,
            predicted: Vec::new(),
            findings: Vec::new(),
            names: Vec::new(),
            enabled_sum: 0,
            messages: 0,
            assertions: 0,
            branches: 0,
            incomplete: false,
            clocks: clocks::Clocks::new(),
            logs: queues::Logs::new(),
            time_passed: false,
            reduction: reduce::Reducer::new(),
            allowance: bounds::Allowance::new(),
            weak: weak::Weak::new(),
            sketches: Sketches::new(),
        }
    }

    /// Begins an execution with one thread, the current one. The plan's borrowed parts are copied.
    pub fn begin(&mut self, plan: &Plan<'_>) {
        self.count = 0;
        self.live = 0;
        self.current = 0;
        self.starting.clear();
        self.order.clear();
        self.objects.clear();
        self.channels.clear();
        self.regions = false;
        self.ruins = false;
        for set in [&mut self.ready, &mut self.several, &mut self.timed, &mut self.waiting] {
            set.clear();
            set.resize(self.stride, 0);
        }
        self.weak.begin(plan.memory);
        // Under weak memory the list of choices is never plain.
        self.odd = self.weak.on.into();
        self.runs.clear();
        self.sum = Fingerprint::START.bits();
        self.last_spurious = Fingerprint::ZERO;
        self.prefix.clear();
        self.prefix.extend_from_slice(plan.prefix);
        self.max_steps = plan.max_steps;
        self.detail = plan.detail;
        self.predict = plan.predict;
        self.timeouts = plan.timeouts;
        self.spurious = plan.spurious;
        self.taken = 0;
        self.last = NONE;
        self.end = None;
        self.clear_record();
        self.clocks.begin(self.weak.on);
        self.logs.clear();
        self.time_passed = false;
        self.begin_reduction(plan);
        self.begin_bounds(plan);
        self.set_policy(plan);
        self.add_main();
    }

    /// The thread that runs.
    #[inline]
    pub fn current(&self) -> ThreadId {
        ThreadId(self.current)
    }

    /// Registers an object. `name` is a hash that is stable between executions (a static's address,
    /// a creation index); 0 = the kernel makes one of the current thread's name and a counter.
    pub fn register(&mut self, object: Object, name: u64, site: Site) -> ObjectId {
        if self.count == 0 {
            return ObjectId::NONE;
        }
        self.add_object(object, name, site)
    }

    /// The object was not seen being created: it is known since its first use.
    pub fn mark_found(&mut self, object: ObjectId) {
        if let Some(thing) = self.objects.get_mut(object.0 as usize) {
            thing.created = false;
        }
    }

    /// How many alternatives a choice on the object has besides the first one, from now on. Only for
    /// a thread whose last step changed the object.
    pub fn set_count(&mut self, object: ObjectId, count: u32) {
        if let Some(thing) = self.objects.get_mut(object.0 as usize) {
            thing.count = count;
        }
    }

    /// The object lies in a region, for as long as it exists.
    pub fn place(&mut self, object: ObjectId, region: ObjectId) {
        if let Some(thing) = self.objects.get_mut(object.0 as usize) {
            thing.within = region;
            self.regions |= region != ObjectId::NONE;
        }
    }

    /// Destroys a synchronisation object that no other thread can reach: the same as [`Kind::Destroy`]
    /// without a step.
    pub fn destroy(&mut self, object: ObjectId) -> bool {
        (object.0 as usize) < self.objects.len() && self.destroy_object(object)
    }

    /// The region that an object lies in.
    pub fn region(&self, object: ObjectId) -> Option<ObjectId> {
        let region = self.objects.get(object.0 as usize)?.within;
        (region != ObjectId::NONE).then_some(region)
    }

    /// So many senders hold a queue. Making more is not visible; each closes it for itself
    /// ([`Kind::Close`]), and only the last one ends it.
    pub fn set_senders(&mut self, queue: ObjectId, senders: u32) {
        if let Some(thing) = self.objects.get_mut(queue.0 as usize) {
            thing.senders = senders.max(1);
        }
    }

    /// Creates a thread, and makes it the current one: the guest must run it now. Its first
    /// announcement (or its end) answers with the creator.
    pub fn spawn(&mut self, site: Site) -> ThreadId {
        if self.count == 0 {
            return ThreadId(0);
        }
        ThreadId(self.add_child(site))
    }

    /// The current thread is about to do `operation`. Answers who runs on.
    #[inline]
    pub fn announce(&mut self, mut operation: Operation) -> Next {
        if self.end.is_some() {
            return Next::End;
        }
        if nature::nature(operation.kind).fits == 0 {
            let known = (operation.object.0 as usize) < self.objects.len();
            let keeps = known && matches!(operation.kind, Kind::Toss | Kind::Yield);
            operation.object = if keeps { operation.object } else { ObjectId::NONE };
            operation.second = ObjectId::NONE;
        }
        if let Some(why) = self.misfit(&operation) {
            self.fail_at(FailureKind::Misuse, why, self.current, operation.site);
            return Next::End;
        }
        self.enter(self.current, operation);
        self.go_on()
    }

    /// What came of the current thread's last operation.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        self.threads.get(self.current as usize).map(|thread| thread.outcome).unwrap_or_default()
    }

    /// The current thread's function returned. Answers who runs on. The end of thread 0 is only the
    /// end of a thread; a guest whose process ends with its main function announces
    /// [`crate::Kind::Exit`].
    pub fn end_thread(&mut self) -> Next {
        if self.end.is_some() {
            return Next::End;
        }
        self.end_current();
        self.go_on()
    }

    /// The execution failed, in the current thread.
    pub fn fail(&mut self, failure: Failure) -> Next {
        self.finish_with(End::Failed(failure));
        Next::End
    }

    /// The execution ends for another reason that the guest detected: it hangs.
    pub fn stop(&mut self, end: End) -> Next {
        self.finish_with(end);
        Next::End
    }

    /// How many steps were taken so far.
    pub fn steps_taken(&self) -> u32 {
        self.taken
    }

    /// The step taken last.
    pub fn last_step(&self) -> Option<&Step> {
        self.steps.last()
    }

    /// The positions that were chosen so far.
    pub fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        self.steps.iter().map(|step| step.taken)
    }

    /// Adds a finding.
    pub fn note(&mut self, finding: Finding) {
        if matches!(finding, Finding::Uncontrolled(_)) {
            self.incomplete = true;
        }
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// A branch was taken that was not taken before in this execution.
    pub fn branch(&mut self) {
        self.branches = self.branches.saturating_add(1);
    }

    /// The thread will not be joined: if it still lives at the end it is not leaked.
    pub fn detach(&mut self, thread: ThreadId) {
        if let Some(thread) = self.threads[..self.count as usize].get_mut(thread.0 as usize) {
            thread.detached = true;
        }
    }

    /// Whether the thread has ended.
    pub fn ended(&self, thread: ThreadId) -> bool {
        self.has_ended(u64::from(thread.0))
    }

    /// Gives a thread a name for the user.
    pub fn name_thread(&mut self, thread: ThreadId, name: &str) {
        if self.detail >= Detail::Full {
            self.names.push((true, thread.0, name.into()));
        }
    }

    /// Gives an object a name for the user.
    pub fn name_object(&mut self, object: ObjectId, name: &str) {
        if self.detail >= Detail::Full {
            self.names.push((false, object.0, name.into()));
        }
    }

    /// Virtual time of the current thread in nanoseconds. It flows along happens-before, so that it
    /// depends on no schedule.
    pub fn now(&self) -> u64 {
        self.threads.get(self.current as usize).map_or(0, |thread| thread.time)
    }

    /// The current thread's vector clock of synchronisation (its own component counts its steps and
    /// the threads it made), when [`Kernel::keep_clocks`] asked for clocks before `begin`; missing
    /// components are 0. What the thread does now comes before every step that knows of its next
    /// one.
    pub fn clock(&self) -> &[u32] {
        self.clocks.of(self.current).0
    }

    /// The same with what the thread may have learned besides, when there is a difference: by
    /// synchronisation that cannot be seen, or that another order of independent steps would not
    /// have. Two accesses that this orders do not race.
    pub fn doubtful_clock(&self) -> Option<&[u32]> {
        self.clocks.of(self.current).1
    }

    /// The current thread executes a fence, which is not a step.
    pub fn fence(&mut self, order: MemoryOrder) {
        self.clocks.fence(self.current, order);
        if self.weak.on && order.is_sequential() {
            self.add_mark(self.current, true);
        }
    }

    /// Whether vector clocks are kept, for race detection in guests, from the next execution on.
    pub fn keep_clocks(&mut self, keep: bool) {
        self.clocks.keep = keep;
    }

    /// Something was bounded or not controlled: the executions together prove nothing.
    pub fn mark_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// A thread's name, see [`crate::ThreadRecord::name`].
    pub fn thread_name(&self, thread: ThreadId) -> String {
        if thread.0 < self.count { self.name_of(thread.0) } else { String::from("?") }
    }

    /// Writes a thread's name, and allocates nothing.
    pub fn write_thread_name(&self, thread: ThreadId, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
        if thread.0 < self.count { self.write_name(thread.0, out) } else { out.write_char('?') }
    }

    /// Hash of a thread's name, stable between executions; 0 if there is no such thread.
    pub fn thread_name_hash(&self, thread: ThreadId) -> u64 {
        self.threads[..self.count as usize].get(thread.0 as usize).map_or(0, |thread| thread.name)
    }

    /// Hash of an object's name, as stable between executions as it can be; 0 if there is no such
    /// object.
    pub fn object_name_hash(&self, object: ObjectId) -> u64 {
        self.objects.get(object.0 as usize).map_or(0, |thing| thing.name)
    }

    /// Chooses the thread that runs on: the creator of a thread that just started, or the one that
    /// the plan says.
    #[inline]
    fn go_on(&mut self) -> Next {
        if let Some(creator) = self.creator() {
            return Next::Run(ThreadId(creator));
        }
        loop {
            let Some(pick) = self.pick() else { return Next::End };
            match self.step(pick) {
                After::Run => {
                    self.current = pick.thread;
                    return Next::Run(ThreadId(pick.thread));
                }
                After::Wait => {}
                After::End => return Next::End,
            }
        }
    }

    /// Decides on the next step, or that there is none.
    #[inline]
    fn pick(&mut self) -> Option<Pick> {
        let count = self.count_choices();
        self.enabled_sum += u64::from(count);
        let replaying = (self.taken as usize) < self.prefix.len();
        if count == 0 {
            let end = match () {
                () if self.live == 0 => End::Finished,
                () if self.reduction.hides => End::Asleep,
                () => self.stuck(),
            };
            self.finish_with(end);
            return None;
        }
        if self.live == 1 && self.exits(count) {
            self.finish_with(End::Finished);
            return None;
        }
        if !replaying && self.way == Way::Stop {
            self.record_last();
            self.finish_with(End::Stopped);
            return None;
        }
        if self.taken >= self.max_steps {
            self.record_last();
            self.finish_with(End::StepLimit);
            return None;
        }
        let pick =
            if replaying { self.at_position(self.prefix[self.taken as usize]) } else { self.choose(count) };
        let Some(pick) = pick else {
            self.record_last();
            let end = if replaying { End::Diverged(self.taken) } else { End::Asleep };
            self.finish_with(end);
            return None;
        };
        self.record_choices(count, pick);
        Some(pick)
    }

    /// Whether the only thread left is about to end the process, which is then not a step.
    fn exits(&self, count: u32) -> bool {
        let only = self.at_position(0).filter(|_| count == 1);
        only.is_some_and(|pick| self.thread(pick.thread).pending.kind == Kind::Exit)
    }

    /// Takes a step.
    #[inline]
    fn step(&mut self, pick: Pick) -> After {
        let Pick { thread: t, alternative, .. } = pick;
        let access = self.access(t, alternative);
        if self.allowance.on {
            self.spend(t);
        }
        if self.reduction.active {
            self.fall_asleep(pick);
        }
        if self.detail >= Detail::Steps {
            self.record_operation(t, alternative, &access);
        }
        let hash = self.hash_after(t, self.hashed_alternative(t, alternative), &access);
        self.touch(t, hash, &access);
        if self.reduction.filters && self.thread(t).pending.kind == Kind::Free {
            self.check_freeing(t);
        }
        if alternative == Choice::SPURIOUS {
            self.last_spurious = hash;
        }
        self.tick(t, alternative, &access);
        if self.time_passed {
            self.pass_time(t, alternative, &access);
        }
        let after = self.perform(t, alternative, &access);
        if self.way == Way::Pos {
            self.redraw(t, &access);
        }
        self.thread_mut(t).steps += 1;
        self.taken += 1;
        self.last = t;
        if self.detail >= Detail::Steps {
            self.record_fingerprint();
        }
        after
    }

    /// The execution is over. Only the first reason counts.
    fn finish_with(&mut self, end: End) {
        if self.end.is_none() {
            self.end = Some(end);
        }
    }

    #[cold]
    fn fail_at(&mut self, kind: FailureKind, message: &str, t: u32, site: Site) {
        let failure = Failure { kind, message: message.into(), thread: ThreadId(t), site };
        self.finish_with(End::Failed(failure));
    }

    /// Hands out the record of the execution (after [`Next::End`], or when the guest died).
    pub fn finish(&mut self, out: &mut Execution) {
        self.hand_out(out);
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Kernel::new()
    }
}

/// What policies ask about threads.
impl Kernel {
    pub(crate) fn last_thread(&self) -> Option<u32> {
        (self.last != NONE).then_some(self.last)
    }

    pub(crate) fn steps_of(&self, t: u32) -> u32 {
        self.thread(t).steps
    }

    /// Whether the thread is about to let others go first.
    pub(crate) fn is_yielding(&self, t: u32) -> bool {
        matches!(self.thread(t).pending.kind, Kind::Yield | Kind::Sleep)
    }
}
