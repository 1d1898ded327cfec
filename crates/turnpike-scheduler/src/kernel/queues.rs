//! Logs of queues: which step a message comes from.
//!
//! Sending and receiving commute unless it is the same message, or the room for it: the two ends of a queue have histories
//! of their own, and each message remembers its sender.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::objects::Cell;
use crate::fingerprint::Fingerprint;

/// A step, as far as those that depend on it need to know.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) hash: Fingerprint,
    pub(super) time: u64,
}

/// Of one queue.
#[derive(Debug)]
pub(super) struct Log {
    /// The history of the outgoing end.
    pub(super) head: Cell,
    /// The history of senders that went.
    pub(super) senders: Cell,
    /// Who sent the messages that are there.
    pub(super) sent: VecDeque<Mark>,
    /// Who made room for the messages to come, if the queue is bounded.
    pub(super) room: VecDeque<Mark>,
    /// Who took messages of a rendezvous queue, by their numbers.
    pub(super) taken: Vec<Mark>,
}

/// Of all queues; reused from execution to execution.
#[derive(Debug)]
pub(super) struct Logs {
    logs: Vec<Log>,
    used: usize,
}

impl Logs {
    pub(super) const fn new() -> Logs {
        Logs { logs: Vec::new(), used: 0 }
    }

    /// An execution begins.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// For a new queue.
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
