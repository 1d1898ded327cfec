//! Queues: sending, receiving, and logs of the steps that sent or took messages.
//!
//! Sends and receives commute unless they concern the same message or the room for it: the two ends
//! of a queue have separate histories, and each message remembers its sender.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::Kernel;
use super::objects::{Cell, FIRST, SECOND};
use super::perform::{NOT_OK, OK};
use super::threads::Phase;
use crate::fingerprint::Fingerprint;
use crate::operation::{Kind, Object, ObjectId, Outcome};

/// The part of a step that dependent steps need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) hash: Fingerprint,
    pub(super) time: u64,
}

/// The log of one queue.
#[derive(Debug)]
pub(super) struct Log {
    /// The history of the outgoing end.
    pub(super) head: Cell,
    /// The history of closed senders.
    pub(super) senders: Cell,
    /// The steps that sent the messages in the queue.
    pub(super) sent: VecDeque<Mark>,
    /// The steps that made room for further messages, if the queue is bounded.
    pub(super) room: VecDeque<Mark>,
    /// The steps that took the messages of a rendezvous queue, by number of the message.
    pub(super) taken: Vec<Mark>,
}

/// The logs of all queues, reused between executions.
#[derive(Debug)]
pub(super) struct Logs {
    logs: Vec<Log>,
    used: usize,
}

impl Logs {
    pub(super) const fn new() -> Logs {
        Logs { logs: Vec::new(), used: 0 }
    }

    /// Starts an execution.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Adds the log of a new queue.
    pub(super) fn add(&mut self) -> u32 {
        match self.logs.get_mut(self.used) {
            Some(log) => {
                log.head = Cell::NEW;
                log.senders = Cell::NEW;
                log.sent.clear();
                log.room.clear();
                log.taken.clear();
            }
            None => self.logs.push(Log {
                head: Cell::NEW,
                senders: Cell::NEW,
                sent: VecDeque::new(),
                room: VecDeque::new(),
                taken: Vec::new(),
            }),
        }
        self.used += 1;
        self.used as u32 - 1
    }

    #[inline]
    pub(super) fn get(&self, log: u32) -> &Log {
        &self.logs[log as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, log: u32) -> &mut Log {
        &mut self.logs[log as usize]
    }
}

impl Kernel {
    pub(super) fn send(&mut self, t: u32, object: ObjectId, sends: bool) -> Outcome {
        if self.thing(object).closed {
            return Outcome { value: 1, ..NOT_OK };
        }
        if !sends {
            return NOT_OK;
        }
        self.messages = self.messages.saturating_add(1);
        let mark = self.mark(t);
        let queue = self.thing_mut(object);
        let (number, needs_room, log) = (queue.round + u64::from(queue.count), queue.needs_room(), queue.log);
        queue.count = queue.count.saturating_add(1);
        let log = self.logs.get_mut(log);
        log.sent.push_back(mark);
        if let Some(room) = log.room.front().filter(|_| needs_room).copied() {
            log.room.pop_front();
            self.thread_mut(t).learn_time(room.time);
        }
        self.refresh(object, FIRST);
        self.refresh(object, SECOND);
        Outcome { value: number, ..OK }
    }

    pub(super) fn receive(&mut self, t: u32, object: ObjectId) -> Outcome {
        let queue = self.thing_mut(object);
        if queue.count == 0 {
            return Outcome { value: u64::from(queue.done), ..NOT_OK };
        }
        queue.count -= 1;
        queue.round += 1;
        let (log, object_kind) = (queue.log, queue.object);
        if let Some(sent) = self.logs.get_mut(log).sent.pop_front() {
            self.thread_mut(t).learn_time(sent.time);
        }
        let mark = self.mark(t);
        let log = self.logs.get_mut(log);
        match object_kind {
            Object::Queue { capacity: 0 } => log.taken.push(mark),
            Object::Queue { capacity: u32::MAX } => {}
            _ => log.room.push_back(mark),
        }
        self.refresh(object, FIRST);
        self.refresh(object, SECOND);
        self.release_offers(object);
        OK
    }

    /// The mark of the step that the thread just took.
    fn mark(&self, t: u32) -> Mark {
        Mark { hash: self.thread(t).past, time: self.thread(t).time }
    }

    /// Enables senders to a rendezvous queue whose message was taken, or will never be.
    pub(super) fn release_offers(&mut self, object: ObjectId) {
        if self.thing(object).object != (Object::Queue { capacity: 0 }) {
            return;
        }
        for t in 0..self.count {
            let thread = self.thread(t);
            let waits = thread.phase == Phase::Pending && thread.pending.kind == Kind::Leave;
            if waits && thread.pending.object == object {
                self.retire(t);
                self.enlist(t);
            }
        }
    }
}
