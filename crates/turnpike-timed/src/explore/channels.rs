//! Synchronisation on channels: who can receive, and when an urgent channel stops time.

use turnpike_model::Successors;

use super::walker::Walker;
use crate::compile::tables::Step;
use crate::evaluate::{Fault, FaultKind, Outcome};
use crate::network::{ChannelCell, Sync};

/// An edge that can receive in the current state.
#[derive(Clone, Copy, Debug)]
struct Receiver {
    step: u32,
    process: u32,
    /// Whether its guard holds; `None` until evaluated.
    open: Option<bool>,
    /// The next receiver in the same bucket.
    next: u32,
}

const END: u32 = u32::MAX;

/// The edges that can receive, by channel, in the order of processes and edges.
#[derive(Debug)]
pub(super) struct Buckets {
    first: Vec<u32>,
    last: Vec<u32>,
    used: Vec<u32>,
    receivers: Vec<Receiver>,
}

impl Buckets {
    pub(super) fn new(channels: usize) -> Buckets {
        Buckets {
            first: vec![END; channels],
            last: vec![END; channels],
            used: Vec::new(),
            receivers: Vec::new(),
        }
    }

    fn clear(&mut self) {
        while let Some(channel) = self.used.pop() {
            self.first[channel as usize] = END;
        }
        self.receivers.clear();
    }

    fn add(&mut self, channel: u32, step: u32, process: u32, open: Option<bool>) {
        let at = self.receivers.len() as u32;
        self.receivers.push(Receiver { step, process, open, next: END });
        if self.first[channel as usize] == END {
            self.first[channel as usize] = at;
            self.used.push(channel);
        } else {
            self.receivers[self.last[channel as usize] as usize].next = at;
        }
        self.last[channel as usize] = at;
    }
}

impl Buckets {
    /// The edges that can receive on a channel.
    pub(super) fn steps(&self, channel: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.receivers.get(self.first[channel as usize] as usize);
        std::iter::successors(first, |receiver| self.receivers.get(receiver.next as usize))
            .map(|receiver| receiver.step)
    }
}

impl<'a> Walker<'a> {
    /// Fills the buckets with edges whose channels are constant; false if there are other edges.
    pub(super) fn fill_known(&mut self) -> bool {
        let tables = &self.model.tables;
        self.buckets.clear();
        let mut all = true;
        if tables.has_receivers {
            for (process, &location) in self.machine.locations.iter().enumerate() {
                for &step in tables.list(&tables.slot(process, location).receives) {
                    match tables.steps[step as usize].channel {
                        Some(channel) => self.buckets.add(channel, step, process as u32, None),
                        None => all = false,
                    }
                }
            }
        }
        all
    }

    /// Transitions of a network with channels, grouped by the initiating edge.
    pub(super) fn by_channels(&mut self, out: &mut Successors) -> Outcome<()> {
        let model = self.model;
        let tables = &model.tables;
        self.absent.clear();
        if model.wide {
            return self.all_starts(out);
        }
        self.fill_buckets()?;
        for process in 0..self.machine.locations.len() {
            let slot = tables.slot(process, self.machine.locations[process]);
            for &step in tables.list(&slot.starts) {
                if self.guard(step)? {
                    self.start(step, out)?;
                }
            }
        }
        Ok(())
    }

    /// The transitions initiated by an edge whose guard holds. The buckets of receivers are filled.
    pub(super) fn start(&mut self, step: u32, out: &mut Successors) -> Outcome<()> {
        let model = self.model;
        self.participants.clear();
        self.participants.push(step);
        self.channel = None;
        match &model.edge(step).sync {
            Sync::Internal | Sync::Event(_) => self.candidate(out),
            Sync::Send(cell) | Sync::Receive(cell) => {
                let Some(channel) = self.channel(step, cell)? else { return Ok(()) };
                self.channel = Some(channel);
                if model.wide {
                    self.fill_bucket(channel);
                }
                let process = model.tables.steps[step as usize].process;
                if model.network.channels[channel as usize].broadcast {
                    self.broadcast(channel, process, out)
                } else {
                    self.binary(channel, process, out)
                }
            }
        }
    }

    fn binary(&mut self, channel: u32, sender: u32, out: &mut Successors) -> Outcome<()> {
        let mut at = self.buckets.first[channel as usize];
        while at != END {
            let receiver = self.buckets.receivers[at as usize];
            if receiver.process != sender && self.receives(at)? {
                self.participants.truncate(1);
                self.participants.push(receiver.step);
                self.candidate(out)?;
            }
            at = receiver.next;
        }
        Ok(())
    }

    fn broadcast(&mut self, channel: u32, sender: u32, out: &mut Successors) -> Outcome<()> {
        self.enabled.clear();
        self.choices.clear();
        let mut before = sender;
        let mut timed = false;
        let mut at = self.buckets.first[channel as usize];
        while at != END {
            let receiver = self.buckets.receivers[at as usize];
            if receiver.process != sender && self.receives(at)? {
                let end = self.enabled.len() as u32;
                if receiver.process == before {
                    let last = self.choices.len() - 1;
                    self.choices[last].1 = end + 1;
                } else {
                    self.choices.push((end, end + 1));
                    before = receiver.process;
                }
                self.enabled.push(receiver.step);
                timed |= self.model.tables.steps[receiver.step as usize].timed;
            }
            at = receiver.next;
        }
        if timed && self.whole_broadcasts {
            self.absent.extend_from_slice(&self.enabled);
            let done = self.candidate(out);
            self.absent.clear();
            return done;
        }
        if timed { self.spread(out) } else { self.product(out) }
    }

    /// Fills the bucket of one channel, in a network where no variable decides who receives on it.
    fn fill_bucket(&mut self, channel: u32) {
        let tables = &self.model.tables;
        self.buckets.clear();
        for &step in tables.list(&tables.receiving[channel as usize]) {
            let Step { process, source, .. } = tables.steps[step as usize];
            if self.machine.locations[process as usize] == source {
                self.buckets.add(channel, step, process, None);
            }
        }
    }

    pub(super) fn fill_buckets(&mut self) -> Outcome<()> {
        let model = self.model;
        let tables = &model.tables;
        self.buckets.clear();
        if !tables.has_receivers {
            return Ok(());
        }
        for process in 0..self.machine.locations.len() {
            let slot = tables.slot(process, self.machine.locations[process]);
            for &step in tables.list(&slot.receives) {
                if let Some(channel) = tables.steps[step as usize].channel {
                    self.buckets.add(channel, step, process as u32, None);
                } else if let (Sync::Receive(cell), true) = (&model.edge(step).sync, self.guard(step)?)
                    && let Some(channel) = self.channel(step, cell)?
                {
                    self.buckets.add(channel, step, process as u32, Some(true));
                }
            }
        }
        Ok(())
    }

    /// Whether the guard of a receiver holds; evaluated on first use.
    fn receives(&mut self, at: u32) -> Outcome<bool> {
        let receiver = self.buckets.receivers[at as usize];
        if let Some(open) = receiver.open {
            return Ok(open);
        }
        let open = self.guard(receiver.step)?;
        self.buckets.receivers[at as usize].open = Some(open);
        Ok(open)
    }

    /// The channel of an edge whose guard holds; `None` if its index is out of range and this
    /// merely disables the edge.
    pub(super) fn channel(&mut self, step: u32, cell: &'a ChannelCell) -> Outcome<Option<u32>> {
        if let Some(channel) = self.model.tables.steps[step as usize].channel {
            return Ok(Some(channel));
        }
        let edge = self.model.edge(step);
        self.machine.enter(&edge.locals);
        let offset = match &cell.offset {
            None => Ok(Some(0)),
            Some(offset) => self.machine.value(offset).map(Some),
        };
        let Some(offset) = self.tolerate(offset, None)? else { return Ok(None) };
        let channel = i64::from(cell.base.0) + i64::from(offset);
        match u32::try_from(channel) {
            Ok(channel) if (channel as usize) < self.model.network.channels.len() => Ok(Some(channel)),
            _ => {
                let message = format!("there is no channel with index {offset}");
                Err(Box::new(Fault { message, place: edge.place.clone(), kind: FaultKind::Range }))
            }
        }
    }

    /// Whether variables exclude every synchronisation on an urgent channel in the machine's state.
    /// Where clocks matter, use [`Walker::stops`].
    pub(super) fn no_urgent_synchronisation(&mut self) -> Outcome<bool> {
        let model = self.model;
        let tables = &model.tables;
        if !tables.has_urgent {
            return Ok(true);
        }
        for &process in &tables.urgent_senders {
            let process = process as usize;
            let slot = tables.slot(process, self.machine.locations[process]);
            for &step in tables.list(&slot.urgent_sends) {
                let Sync::Send(cell) = &model.edge(step).sync else { continue };
                if !self.guard(step)? {
                    continue;
                }
                let Some(channel) = self.channel(step, cell)? else { continue };
                let broadcast = model.network.channels[channel as usize].broadcast;
                if broadcast || self.find_receivers(channel, process as u32, |_| true)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Visits edges of other processes that variables let receive on an urgent channel, until
    /// `enough` returns true for one.
    pub(super) fn find_receivers(
        &mut self,
        channel: u32,
        sender: u32,
        mut enough: impl FnMut(u32) -> bool,
    ) -> Outcome<bool> {
        let model = self.model;
        let tables = &model.tables;
        for &process in &tables.receivers[channel as usize] {
            if process == sender {
                continue;
            }
            let slot = tables.slot(process as usize, self.machine.locations[process as usize]);
            for &step in tables.list(&slot.receives) {
                if tables.steps[step as usize].channel.is_some_and(|known| known != channel) {
                    continue;
                }
                let Sync::Receive(cell) = &model.edge(step).sync else { continue };
                if self.guard(step)? && self.channel(step, cell)? == Some(channel) && enough(step) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
