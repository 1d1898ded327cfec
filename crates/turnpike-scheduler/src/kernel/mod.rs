//! The state of one execution: threads, their pending operations, objects, the plan.
//!
//! Protocol of a guest. `begin` makes thread 0 current; the guest runs its main function. Before
//! each visible operation the running thread calls [`Kernel::announce`]. The answer says which
//! thread continues (perhaps the same one), after the kernel has performed that thread's pending
//! operation on its objects; the continuing thread reads the result by [`Kernel::outcome`] and does
//! the rest itself (reads the atomic, takes the message). A new thread runs immediately up to its
//! first announcement ([`Kernel::spawn`]), then its creator continues: neither is a step.

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
pub(crate) use weak::{NO_WRITE, PURE, WEAK};

/// No thread.
const NONE: u32 = u32::MAX;

/// Limit on numbered alternatives of an operation.
const MOST_ALTERNATIVES: u64 = 1 << 16;

/// Which thread continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This thread, which may be the calling one.
    Run(ThreadId),
    /// None: the execution is over; the record of [`Kernel::finish`] says why.
    End,
}

/// The scheduler of one guest. Reused between executions without allocating.
#[derive(Debug)]
pub struct Kernel {
    /// Slots of threads; the first `count` of them are in use.
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
    /// Three sets per object, each of `stride` words.
    channels: Vec<u64>,
    /// Whether any object lies in a region.
    regions: bool,
    /// Whether any object was destroyed.
    ruins: bool,
    stride: usize,

    /// Threads whose pending operation is enabled.
    ready: Vec<u64>,
    /// Threads whose pending operation may have several alternatives.
    several: Vec<u64>,
    /// Threads whose pending operation may time out.
    timed: Vec<u64>,
    /// Threads that wait on a condition variable and were not notified.
    waiting: Vec<u64>,
    /// The number of members of the last three sets, plus spinning threads: if zero, the list of
    /// choices is the set of ready threads.
    odd: u32,
    /// Whether that is so in the current state.
    plain: bool,
    /// The choices otherwise.
    runs: Vec<Run>,

    /// The fingerprint of the state.
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
    timeouts_left_out: bool,
    clocks: clocks::Clocks,
    logs: queues::Logs,
    /// Whether any thread's clock has advanced.
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
            timeouts_left_out: false,
            clocks: clocks::Clocks::new(),
            logs: queues::Logs::new(),
            time_passed: false,
            reduction: reduce::Reducer::new(),
            allowance: bounds::Allowance::new(),
            weak: weak::Weak::new(),
            sketches: Sketches::new(),
        }
    }

    /// Begins an execution with one thread, the current one. Copies the plan's borrowed parts.
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
        // Under weak memory the list of choices is not plain, unless the execution is calm.
        self.odd = (self.weak.on && !self.weak.is_calm()).into();
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
        self.clocks.begin(self.weak.on && !self.weak.is_calm());
        self.logs.clear();
        self.time_passed = false;
        self.begin_reduction(plan);
        self.begin_bounds(plan);
        self.set_policy(plan);
        self.add_main();
    }

    /// Goes on with another plan, which begins with the steps that were taken and has the same settings:
    /// only its prefix, its policy and its limit may be others.
    pub fn follow_another(&mut self, plan: &Plan<'_>) {
        self.prefix.clear();
        self.prefix.extend_from_slice(plan.prefix);
        self.max_steps = plan.max_steps;
        self.predict = plan.predict;
        self.change_sleepers(plan);
        self.set_policy(plan);
    }

    /// The running thread.
    #[inline]
    pub fn current(&self) -> ThreadId {
        ThreadId(self.current)
    }

    /// Registers an object. `name` is a hash that is stable between executions (a static's address,
    /// a creation index); 0 = derive one from the current thread's name and a counter.
    pub fn register(&mut self, object: Object, name: u64, site: Site) -> ObjectId {
        if self.count == 0 {
            return ObjectId::NONE;
        }
        self.add_object(object, name, site)
    }

    /// The creation of the object was not observed: it is known since its first use.
    pub fn mark_found(&mut self, object: ObjectId) {
        if let Some(thing) = self.objects.get_mut(object.0 as usize) {
            thing.created = false;
        }
    }

    /// Sets how many alternatives a choice on the object has besides the first one, from now on.
    /// Only for a thread whose last step changed the object.
    pub fn set_count(&mut self, object: ObjectId, count: u32) {
        if let Some(thing) = self.objects.get_mut(object.0 as usize) {
            thing.count = count;
        }
    }

    /// The object lies in a region, for its whole lifetime.
    pub fn place(&mut self, object: ObjectId, region: ObjectId) {
        if let Some(thing) = self.objects.get_mut(object.0 as usize) {
            thing.within = region;
            self.regions |= region != ObjectId::NONE;
        }
    }

    /// Destroys a synchronisation object that no other thread can reach: the effect of
    /// [`Kind::Destroy`] without a step.
    pub fn destroy(&mut self, object: ObjectId) -> bool {
        (object.0 as usize) < self.objects.len() && self.destroy_object(object)
    }

    /// The region that an object lies in.
    pub fn region(&self, object: ObjectId) -> Option<ObjectId> {
        let region = self.objects.get(object.0 as usize)?.within;
        (region != ObjectId::NONE).then_some(region)
    }

    /// Sets the number of senders of a queue. Cloning one is not visible; each closes separately
    /// ([`Kind::Close`]), and only the last one closes the queue.
    pub fn set_senders(&mut self, queue: ObjectId, senders: u32) {
        if let Some(thing) = self.objects.get_mut(queue.0 as usize) {
            thing.senders = senders.max(1);
        }
    }

    /// Creates a thread and makes it the current one: the guest must run it now. Its first
    /// announcement (or its end) returns to the creator.
    pub fn spawn(&mut self, site: Site) -> ThreadId {
        if self.count == 0 {
            return ThreadId(0);
        }
        ThreadId(self.add_child(site))
    }

    /// The current thread is about to perform `operation`. Returns which thread continues.
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
        if self.weak.is_calm() {
            self.stay_calm(&operation);
        }
        self.enter(self.current, operation);
        self.next_to_run()
    }

    /// The result of the current thread's last operation.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        self.threads.get(self.current as usize).map(|thread| thread.outcome).unwrap_or_default()
    }

    /// The current thread's function returned. Returns which thread continues. The end of thread 0
    /// is only the end of a thread; a guest whose process ends with its main function announces
    /// [`crate::Kind::Exit`].
    pub fn end_thread(&mut self) -> Next {
        if self.end.is_some() {
            return Next::End;
        }
        self.end_current();
        self.next_to_run()
    }

    /// The execution failed, in the current thread.
    pub fn fail(&mut self, failure: Failure) -> Next {
        self.finish_with(End::Failed(failure));
        Next::End
    }

    /// The execution ends for another reason that the guest detected, such as a hang.
    pub fn stop(&mut self, end: End) -> Next {
        self.finish_with(end);
        Next::End
    }

    /// The number of steps so far.
    pub fn steps_taken(&self) -> u32 {
        self.taken
    }

    /// The last step.
    pub fn last_step(&self) -> Option<&Step> {
        self.steps.last()
    }

    /// The positions chosen so far.
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

    /// A branch was taken for the first time in this execution.
    pub fn branch(&mut self) {
        self.branches = self.branches.saturating_add(1);
    }

    /// The thread will not be joined: if it is still alive at the end, it is not a leak.
    pub fn detach(&mut self, thread: ThreadId) {
        if let Some(thread) = self.threads[..self.count as usize].get_mut(thread.0 as usize) {
            thread.detached = true;
        }
    }

    /// Whether the thread has ended.
    pub fn ended(&self, thread: ThreadId) -> bool {
        self.has_ended(u64::from(thread.0))
    }

    /// Sets the name of a thread for the user.
    pub fn name_thread(&mut self, thread: ThreadId, name: &str) {
        if self.detail >= Detail::Full {
            self.names.push((true, thread.0, name.into()));
        }
    }

    /// Sets the name of an object for the user.
    pub fn name_object(&mut self, object: ObjectId, name: &str) {
        if self.detail >= Detail::Full {
            self.names.push((false, object.0, name.into()));
        }
    }

    /// Virtual time of the current thread in nanoseconds. It propagates along happens-before, so it
    /// does not depend on the schedule.
    pub fn now(&self) -> u64 {
        self.threads.get(self.current as usize).map_or(0, |thread| thread.time)
    }

    /// The current thread's vector clock of synchronisation, if [`Kernel::keep_clocks`] enabled
    /// clocks before `begin`. Its own component counts its steps and the threads it created;
    /// missing components are 0. What the thread does now happens before every step that knows of
    /// its next one.
    pub fn clock(&self) -> &[u32] {
        self.clocks.of(self.current).0
    }

    /// The clock including uncertain knowledge, if that differs: from synchronisation that cannot
    /// be observed, or that another order of independent steps would not have. Two accesses that it
    /// orders are not reported as a race.
    pub fn doubtful_clock(&self) -> Option<&[u32]> {
        self.clocks.of(self.current).1
    }

    /// The current thread executes a fence, which is not a step.
    pub fn fence(&mut self, order: MemoryOrder) {
        self.clocks.fence(self.current, order);
        if self.weak.is_calm() {
            self.weak.note_fence(self.current, order);
        } else if self.weak.on && order.is_sequential() {
            self.add_mark(self.current, true);
        }
    }

    /// Whether vector clocks are kept, for race detection in guests, from the next execution on.
    pub fn keep_clocks(&mut self, keep: bool) {
        self.clocks.keep = keep;
    }

    /// Something was bounded or uncontrolled: the executions together prove nothing.
    pub fn mark_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// A thread's name, see [`crate::ThreadRecord::name`].
    pub fn thread_name(&self, thread: ThreadId) -> String {
        if thread.0 < self.count { self.name_of(thread.0) } else { String::from("?") }
    }

    /// Writes a thread's name without allocating.
    pub fn write_thread_name(&self, thread: ThreadId, out: &mut dyn core::fmt::Write) -> core::fmt::Result {
        if thread.0 < self.count { self.write_name(thread.0, out) } else { out.write_char('?') }
    }

    /// Hash of a thread's name, stable between executions; 0 if the thread does not exist.
    pub fn thread_name_hash(&self, thread: ThreadId) -> u64 {
        self.threads[..self.count as usize].get(thread.0 as usize).map_or(0, |thread| thread.name)
    }

    /// Hash of an object's name, stable between executions as far as possible; 0 if the object does
    /// not exist.
    pub fn object_name_hash(&self, object: ObjectId) -> u64 {
        self.objects.get(object.0 as usize).map_or(0, |thing| thing.name)
    }

    /// Determines the thread that continues: the creator of a thread that just started, or the one
    /// that the plan selects.
    #[inline]
    fn next_to_run(&mut self) -> Next {
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

    /// Selects the next step; `None` if there is none.
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

    /// Whether the only remaining thread is about to end the process, which is then not a step.
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
        if matches!(self.way, Way::Pos | Way::Few) {
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

    /// Ends the execution. Only the first reason counts.
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

    /// Moves the record of the execution out (after [`Next::End`], or when the guest died).
    pub fn finish(&mut self, out: &mut Execution) {
        self.hand_out(out);
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Kernel::new()
    }
}

/// Queries of policies about threads.
impl Kernel {
    pub(crate) fn last_thread(&self) -> Option<u32> {
        (self.last != NONE).then_some(self.last)
    }

    pub(crate) fn steps_of(&self, t: u32) -> u32 {
        self.thread(t).steps
    }

    /// How many threads were created so far, the first one included.
    pub(crate) fn thread_count(&self) -> u32 {
        self.threads.len() as u32
    }

    /// Where in the program a thread was created.
    pub(crate) fn created_at(&self, t: u32) -> Site {
        self.thread(t).site
    }

    /// Whether the thread is about to yield.
    pub(crate) fn is_yielding(&self, t: u32) -> bool {
        matches!(self.thread(t).pending.kind, Kind::Yield | Kind::Sleep)
    }
}
