//! How an execution continues after the plan's prefix.
//!
//! Each policy selects one of the choices of the current state. Random numbers come from one
//! generator, seeded by the plan, and are drawn in an order that depends only on the execution.

use alloc::vec::Vec;

use crate::execution::Execution;
use crate::kernel::{Kernel, Pick};
use crate::plan::{Plan, Policy};
use crate::random::Random;

mod few;
mod genes;
mod priorities;
mod weighted;

/// The policy without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Stop,
    First,
    Continue,
    Follow,
    Uniform,
    Pct,
    Pos,
    Few,
    Turns,
    Weighted,
    Genes,
    Awake,
}

/// The data of all policies, of which only the current one is used; buffers are kept.
#[derive(Debug)]
pub(crate) struct Data {
    /// Change points, by the priority that they assign.
    points: Vec<u32>,
    /// Priority of each thread, for policies with priorities.
    priorities: Vec<u64>,
    /// Number of choices among several threads so far.
    switches: u32,
    /// Priority of the next thread that yields.
    lowest: u64,
    /// Which threads go first.
    few: few::Few,
    /// Expected events of each thread.
    events: Vec<u32>,
    genes: Vec<u64>,
    genes_read: u32,
    /// The threads and alternatives to follow, and how many of them have been consumed.
    order: Vec<(u32, u32)>,
    followed: usize,
}

impl Data {
    pub(crate) const fn new() -> Data {
        Data {
            points: Vec::new(),
            priorities: Vec::new(),
            switches: 0,
            lowest: 0,
            few: few::Few::new(),
            events: Vec::new(),
            genes: Vec::new(),
            genes_read: 0,
            order: Vec::new(),
            followed: 0,
        }
    }
}

impl Kernel {
    /// Sets the policy of a plan.
    pub(crate) fn set_policy(&mut self, plan: &Plan<'_>) {
        let data = &mut self.policy;
        data.points.clear();
        data.priorities.clear();
        data.events.clear();
        data.genes.clear();
        data.genes_read = 0;
        data.order.clear();
        data.followed = 0;
        let (way, seed) = match plan.policy {
            Policy::Stop => (Way::Stop, 0),
            Policy::First => (Way::First, 0),
            Policy::Continue => (Way::Continue, 0),
            Policy::Follow { order } => {
                data.order.extend(order.iter().map(|&(thread, alternative)| (thread.0, alternative)));
                (Way::Follow, 0)
            }
            Policy::Uniform { seed } => (Way::Uniform, seed),
            Policy::Pct { seed, .. } => (Way::Pct, seed),
            Policy::Pos { seed } | Policy::Sketch { seed } => (Way::Pos, seed),
            Policy::Few { seed } => (Way::Few, seed),
            Policy::Turns => (Way::Turns, 0),
            Policy::Weighted { seed, events } => {
                data.events.extend_from_slice(events);
                (Way::Weighted, seed)
            }
            Policy::Genes { bits, seed } => {
                data.genes.extend_from_slice(bits);
                (Way::Genes, seed)
            }
            Policy::Awake { order, .. } => {
                data.order.extend(order.iter().map(|&(thread, alternative)| (thread.0, alternative)));
                (Way::Awake, 0)
            }
        };
        self.way = way;
        self.sketches.begin(matches!(plan.policy, Policy::Sketch { .. }));
        self.random = Random::new(seed);
        if let Policy::Pct { depth, length, .. } = plan.policy {
            self.begin_pct(depth, length);
        }
        if self.way == Way::Few {
            self.begin_few();
        }
    }

    /// Chooses among `count` > 0 choices.
    #[inline]
    pub(crate) fn choose(&mut self, count: u32) -> Option<Pick> {
        if let Some(pick) = self.choose_to_continue() {
            return Some(pick);
        }
        match self.way {
            Way::Stop | Way::First => self.at_position(0),
            Way::Awake => self.choose_awake(),
            Way::Continue => self.choose_last(),
            Way::Follow => self.choose_following(),
            Way::Uniform => {
                let position = self.random.below(u64::from(count)) as u32;
                self.at_position(position)
            }
            Way::Pct => self.choose_pct(count),
            Way::Pos => self.choose_highest(),
            Way::Few => self.choose_few(),
            Way::Turns => self.choose_fewest_steps(),
            Way::Weighted => self.choose_weighted(),
            Way::Genes => self.choose_by_genes(count),
        }
    }

    fn choose_last(&mut self) -> Option<Pick> {
        match self.last_thread().and_then(|t| self.of_thread(t)) {
            Some((pick, _)) => Some(pick),
            None => self.at_position(0),
        }
    }

    /// The next applicable entry of the order.
    fn choose_following(&mut self) -> Option<Pick> {
        while let Some(&(t, alternative)) = self.policy.order.get(self.policy.followed) {
            self.policy.followed += 1;
            if let Some((first, _)) = self.of_thread_checked(t) {
                return self.with_alternative(first, alternative);
            }
        }
        self.choose_last()
    }

    /// The next entry of the order if it is awake, otherwise the first choice that is, and no more
    /// entries.
    fn choose_awake(&mut self) -> Option<Pick> {
        let wanted = self.policy.order.get(self.policy.followed).copied();
        if let Some(pick) = wanted.and_then(|wanted| self.first_awake(Some(wanted))) {
            self.policy.followed += 1;
            return Some(pick);
        }
        self.policy.order.clear();
        self.first_awake(None)
    }

    /// One of the alternatives of the thread with this first choice, uniformly.
    #[inline]
    pub(crate) fn choose_alternative(&mut self, first: Pick) -> Option<Pick> {
        let count = self.count_of(first.thread);
        if count <= 1 {
            return Some(first);
        }
        let offset = self.random.below(u64::from(count)) as u32;
        self.at_position(first.position + offset)
    }

    /// Moves the bits that were read into the record.
    pub(crate) fn hand_out_genes(&mut self, out: &mut Execution) {
        out.genes.clear();
        core::mem::swap(&mut out.genes, &mut self.policy.genes);
        out.genes_read = self.policy.genes_read;
    }
}
