//! Decides when executions go on from copies of earlier ones (`copies` in the guest), instead of
//! repeating the steps that they share with them.
//!
//! Where an execution begins changes only what it costs, so measured times may decide.

use std::sync::atomic::Ordering;

use turnpike_preload::protocol::{Header, MOST_COPIES, THREADS_FIBERS};
use turnpike_scheduler::{Bounds, Detail, Execution, Memory, Plan, Policy, Timeouts};

use super::Prefixes;

/// Processor time that a copy must spare, in nanoseconds: forking takes some hundred microseconds.
const WORTH: u64 = 1_000_000;
/// Processor time of a fork, with what a new process costs more than one that is reused.
const FORK: u64 = 500_000;
/// Executions in a row that must take twice what a copy must spare, before copies are made.
const LONG: u32 = 8;
/// Executions between two checks whether copies spare more than they cost.
const TRIAL: u64 = 64;
/// The most bytes of memory that the copies of one process may keep.
const MEMORY: u64 = 512 << 20;

/// What all executions that go on from the same copies have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settings {
    detail: Detail,
    timeouts: Timeouts,
    spurious: u32,
    memory: Memory,
    bounds: Bounds,
    sleep: bool,
}

/// What is known of the copies.
#[derive(Debug)]
pub(super) struct Copies {
    wanted: Prefixes,
    settings: Option<Settings>,
    /// The last execution, as positions of its choices: all copies are on its path.
    path: Vec<u32>,
    /// Long executions in a row.
    long: u32,
    /// Executions that could go on from copies, since the last check whether that pays.
    tried: u64,
    spared: u64,
    /// Executions that went on from a copy.
    pub(super) resumed: u64,
    /// The steps that they did not repeat.
    pub(super) steps_spared: u64,
}

impl Copies {
    pub(super) fn new(wanted: Prefixes) -> Copies {
        Copies {
            wanted,
            settings: None,
            path: Vec::new(),
            long: 0,
            tried: 0,
            spared: 0,
            resumed: 0,
            steps_spared: 0,
        }
    }

    /// Notes that the present copies are useless.
    pub(super) fn forget(&mut self) {
        self.settings = None;
    }

    fn are_on(&self, header: &Header) -> bool {
        let copied = cfg!(target_arch = "x86_64") && header.threads.load(Ordering::Relaxed) == THREADS_FIBERS;
        match self.wanted {
            _ if !copied => false,
            Prefixes::Auto => self.long >= LONG,
            Prefixes::Repeat => false,
            Prefixes::Copy => true,
        }
    }

    /// Tells the guest where the next execution may begin, and where copies are of use.
    pub(super) fn prepare(&mut self, plan: &Plan<'_>, header: &mut Header) {
        (header.copies, header.keep, header.branch) = (0, 0, u32::MAX);
        let settings = settings(plan).filter(|_| self.are_on(header));
        if settings.is_some() {
            header.copies = MOST_COPIES as u32;
            header.copy_memory = MEMORY;
            header.worth = if self.wanted == Prefixes::Copy { 0 } else { WORTH };
        }
        if settings.is_some() && settings == self.settings {
            let common = self.path.iter().zip(plan.prefix).take_while(|(one, other)| one == other).count();
            let common = common.min(plan.max_steps as usize) as u32;
            let kept = header.kept.load(Ordering::Relaxed).min(MOST_COPIES as u32) as usize;
            let at = header.copied_at[..kept].iter().map(|at| at.load(Ordering::Relaxed));
            let useful: Vec<u32> = at.take_while(|at| *at <= common).collect();
            header.keep = useful.len() as u32;
            header.branch = common;
            if let Some(last) = useful.last() {
                self.resumed += 1;
                self.steps_spared += u64::from(*last);
            }
        }
        self.settings = settings;
    }

    /// Notes the result of the execution.
    pub(super) fn note(&mut self, plan: &Plan<'_>, out: &Execution, header: &Header) {
        self.path.clear();
        self.path.extend(out.steps.iter().map(|step| step.taken));
        if self.wanted != Prefixes::Auto || settings(plan).is_none() {
            return;
        }
        if header.copies == 0 {
            let is_long = header.cost.load(Ordering::Relaxed) >= 2 * WORTH;
            self.long = if is_long { self.long + 1 } else { 0 };
            return;
        }
        self.tried += 1;
        self.spared += if header.keep > 0 { header.spared.load(Ordering::Relaxed) } else { 0 };
        if self.tried == TRIAL {
            if self.spared < TRIAL * FORK {
                self.long = 0;
            }
            (self.tried, self.spared) = (0, 0);
        }
    }
}

/// What executions of this plan must have in common. `None` if it is not one of a systematic
/// search, whose executions share long prefixes.
fn settings(plan: &Plan<'_>) -> Option<Settings> {
    let awake = matches!(plan.policy, Policy::Awake { .. });
    let systematic = awake || matches!(plan.policy, Policy::Stop | Policy::First | Policy::Continue);
    (systematic && plan.reduction.persistent.is_none()).then_some(Settings {
        detail: plan.detail,
        timeouts: plan.timeouts,
        spurious: plan.spurious,
        memory: plan.memory,
        bounds: plan.bounds,
        sleep: plan.reduction.sleep && !awake,
    })
}
