//! Batches of successors on their way to the workers that own them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::parcel;
use super::peers::Peers;
use crate::store::push_words;

/// Successors that travel together.
const BATCH: usize = 512;
/// Batches that may wait for one worker before others go on only as fast as it does.
const MOST_WAITING: usize = 256;

/// Batches that a worker keeps to fill them again.
const MOST_SPARE: usize = 16;

/// Successors, flat: the words of their states, how each was discovered, and their content hashes
/// where the owners need them.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) words: Vec<u32>,
    /// How many they are.
    pub(crate) count: usize,
    /// None where nobody asks for the order of states.
    pub(crate) keys: Vec<u64>,
    pub(crate) hashes: Vec<u64>,
    /// The worker that found the successors.
    pub(crate) from: u32,
    /// Instead of words and keys: a parcel that has to be read first.
    pub(crate) encoded: Vec<u8>,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.count = 0;
        self.keys.clear();
        self.hashes.clear();
        self.encoded.clear();
    }

    /// An empty batch with as much room.
    fn like(&self) -> Batch {
        Batch {
            words: Vec::with_capacity(self.words.capacity()),
            count: 0,
            keys: Vec::with_capacity(self.keys.capacity()),
            hashes: Vec::with_capacity(self.hashes.capacity()),
            from: self.from,
            encoded: Vec::new(),
        }
    }

    /// Adds the words of a state.
    #[inline]
    pub(crate) fn push_state(&mut self, state: &[u32]) {
        push_words(&mut self.words, state);
        self.count += 1;
    }

    /// Whether its states have to be decoded first.
    pub(crate) fn is_encoded(&self) -> bool {
        !self.encoded.is_empty()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.count >= BATCH
    }
}

/// The way to the workers of other processes while a level is expanded.
pub(crate) struct Post<'c> {
    peers: &'c Peers,
    /// Workers of this process that may still send.
    open: AtomicUsize,
    /// Another process was lost, or sent nonsense.
    pub(crate) lost: AtomicBool,
}

impl<'c> Post<'c> {
    pub(crate) fn new(peers: &'c Peers, workers: usize) -> Self {
        Post { peers, open: AtomicUsize::new(workers), lost: AtomicBool::new(false) }
    }

    fn send(&self, worker: usize, parcel: Vec<u8>) {
        if self.peers.processes.send(self.peers.home(worker), parcel).is_err() {
            self.lose();
        }
    }

    /// Whether the process of a worker has so much to take that it should get nothing more for now.
    fn is_crowded(&self, worker: usize) -> bool {
        let crowded = self.peers.processes.is_crowded(self.peers.home(worker));
        if crowded.is_err() {
            self.lose();
        }
        crowded.unwrap_or(false) && !self.lost.load(Ordering::Relaxed)
    }

    /// A batch that a worker of another process sent was taken.
    fn confirm(&self, from: u32) {
        if self.peers.processes.confirm(self.peers.home(from as usize)).is_err() {
            self.lose();
        }
    }

    /// One worker has sent everything; the last one says so to the other processes.
    fn close(&self) {
        if self.open.fetch_sub(1, Ordering::AcqRel) == 1 && self.peers.processes.end_round().is_err() {
            self.lose();
        }
    }

    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Hands what other processes send to the workers of this one, until all have sent everything.
    pub(crate) fn deliver(&self, slots: Vec<Sender<Batch>>, waiting: &[AtomicUsize]) {
        let first = self.peers.first();
        let received = self.peers.processes.exchange().receive_round(|sender, message| {
            let Some((to, batch)) = parcel::open(message) else { return self.lose() };
            if !self.peers.workers_of(sender).contains(&(batch.from as usize)) {
                return self.lose();
            }
            let Some(own) = to.checked_sub(first).filter(|own| *own < slots.len()) else {
                return self.lose();
            };
            waiting[own].fetch_add(1, Ordering::Relaxed);
            let _ = slots[own].send(batch);
        });
        if received.is_err() {
            self.lose();
        }
    }
}

/// One worker's place in the exchange of a level.
pub(crate) struct Mailbox<'c> {
    number: usize,
    /// The number of the first worker of this process.
    first: usize,
    /// By worker of this process.
    outgoing: Vec<Batch>,
    post: Option<&'c Post<'c>>,
    /// Dropped once everything was sent: a channel ends when nobody will send any more.
    senders: Vec<Sender<Batch>>,
    inbox: Receiver<Batch>,
    /// Batches that wait for each worker.
    waiting: &'c [AtomicUsize],
    /// Batches that were taken: who receives many sends many, so few have to be made.
    spare: Vec<Batch>,
}

/// Mailboxes for all workers of this process, and the slots by which batches get into them.
pub(crate) fn mailboxes<'c>(
    waiting: &'c [AtomicUsize],
    post: Option<&'c Post<'c>>,
) -> (Vec<Mailbox<'c>>, Vec<Sender<Batch>>) {
    let (senders, inboxes): (Vec<_>, Vec<_>) = waiting.iter().map(|_| channel()).unzip();
    let first = post.map_or(0, |post| post.peers.first());
    let mailbox = |(index, inbox)| {
        let from = (first + index) as u32;
        Mailbox {
            number: first + index,
            first,
            outgoing: waiting.iter().map(|_| Batch { from, ..Batch::default() }).collect(),
            post,
            senders: senders.clone(),
            inbox,
            waiting,
            spare: Vec::new(),
        }
    };
    (inboxes.into_iter().enumerate().map(mailbox).collect(), senders)
}

impl Mailbox<'_> {
    /// The index of a worker of this process among its workers.
    #[inline]
    pub(crate) fn local(&self, worker: usize) -> Option<usize> {
        worker.checked_sub(self.first).filter(|index| *index < self.waiting.len())
    }

    /// The batch that is being filled for a worker, given by its index.
    #[inline]
    pub(crate) fn to(&mut self, index: usize) -> &mut Batch {
        &mut self.outgoing[index]
    }

    /// Whether a worker has so much to do that it should get nothing more for now.
    pub(crate) fn is_crowded(&self, worker: usize) -> bool {
        match self.local(worker) {
            Some(index) => self.waiting[index].load(Ordering::Relaxed) > MOST_WAITING,
            None => self.post.is_some_and(|post| post.is_crowded(worker)),
        }
    }

    /// Sends a parcel to a worker of another process.
    pub(crate) fn send_far(&self, worker: usize, parcel: Vec<u8>) {
        if let Some(post) = self.post {
            post.send(worker, parcel);
        }
    }

    /// Sends what was collected for a worker of this process, given by its index.
    pub(crate) fn send(&mut self, index: usize) {
        let next = match self.spare.pop() {
            Some(spare) => Batch { from: self.number as u32, ..spare },
            None => self.outgoing[index].like(),
        };
        let batch = std::mem::replace(&mut self.outgoing[index], next);
        self.waiting[index].fetch_add(1, Ordering::Relaxed);
        // A receiver that is gone has panicked, which its thread reports.
        let _ = self.senders[index].send(batch);
    }

    /// Keeps a batch that was taken, to be filled again.
    pub(crate) fn reuse(&mut self, mut batch: Batch) {
        if self.spare.len() < MOST_SPARE {
            batch.clear();
            self.spare.push(batch);
        }
    }

    /// Sends all that was collected, and nothing more. Gives what this worker collected for itself.
    pub(crate) fn close(&mut self) -> Batch {
        let own = self.number - self.first;
        for index in 0..self.outgoing.len() {
            if index != own && self.outgoing[index].count > 0 {
                self.send(index);
            }
        }
        self.senders.clear();
        self.post.into_iter().for_each(Post::close);
        std::mem::take(&mut self.outgoing[own])
    }

    /// A batch that has arrived.
    pub(crate) fn try_receive(&mut self) -> Option<Batch> {
        self.inbox.try_recv().ok().inspect(|batch| self.note_received(batch))
    }

    /// Waits for the next batch; `None` when all workers have closed their mailboxes.
    pub(crate) fn receive(&mut self) -> Option<Batch> {
        self.inbox.recv().ok().inspect(|batch| self.note_received(batch))
    }

    fn note_received(&self, batch: &Batch) {
        self.waiting[self.number - self.first].fetch_sub(1, Ordering::Relaxed);
        if self.local(batch.from as usize).is_none() {
            self.post.into_iter().for_each(|post| post.confirm(batch.from));
        }
    }
}
