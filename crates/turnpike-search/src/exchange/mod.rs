//! How the processes of one search exchange batches and agree on numbers.
//!
//! A [`Link`] carries messages between processes; what connects, authenticates and times out lives
//! elsewhere. An [`Exchange`] makes rounds and collectives of messages: all processes call the same
//! operations in the same order, so that a message says by its place in the stream what it is for.

mod local;
mod window;

pub use local::connect_locally;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use self::window::Window;

/// The other processes of a search, as one of them sees them.
///
/// **Contract.** Messages from one process to another arrive whole, once, and in the order in which
/// they were sent. Sending may wait for the receiver, but then goes on receiving, so that two
/// processes that send to each other never wait for ever.
pub trait Link: Send + Sync {
    /// The number of this process, from 0.
    fn index(&self) -> usize;

    /// The number of processes.
    fn processes(&self) -> usize;

    /// Sends a message to another process.
    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), ProcessLost>;

    /// The next message that has arrived, and who sent it; `None` when there is none now.
    fn receive(&self) -> Result<Option<(usize, Vec<u8>)>, ProcessLost>;

    /// Waits for the next message.
    fn wait(&self) -> Result<(usize, Vec<u8>), ProcessLost>;
}

/// A process that others wait for has ended or does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("process {process} was lost: {reason}")]
pub struct ProcessLost {
    /// Its number.
    pub process: usize,
    /// What was seen of it.
    pub reason: String,
}

/// The first byte of a message.
const BATCH: u8 = 0;
const END: u8 = 1;
const PART: u8 = 2;
/// Says that batches were taken, at any time.
const TAKEN: u8 = 3;

/// Values of one byte of a key.
const DIGITS: usize = 256;

/// Rounds of batches, and collectives, over a [`Link`].
pub struct Exchange {
    link: Arc<dyn Link>,
    /// What each process sent that was not asked for yet.
    waiting: Vec<VecDeque<Vec<u8>>>,
    /// Which processes have ended the round under way.
    ended: Vec<bool>,
    window: Arc<Window>,
}

impl Exchange {
    /// Over a link of which nothing was received yet.
    pub fn new(link: Arc<dyn Link>) -> Self {
        let processes = link.processes();
        let (waiting, ended) = (vec![VecDeque::new(); processes], vec![false; processes]);
        Exchange { link, waiting, ended, window: Arc::new(Window::new(processes)) }
    }

    /// The number of this process.
    pub fn index(&self) -> usize {
        self.link.index()
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.link.processes()
    }

    /// Sends a batch of the round under way to another process.
    pub fn send(&mut self, to: usize, batch: &[u8]) -> Result<(), ProcessLost> {
        self.link.send(to, tagged(BATCH, batch))
    }

    /// Hands the batches of this round that have arrived to `take`, without waiting.
    pub fn poll(&mut self, mut take: impl FnMut(usize, Vec<u8>)) -> Result<(), ProcessLost> {
        self.accept_arrived()?;
        for from in 0..self.processes() {
            self.take_batches(from, &mut take);
        }
        Ok(())
    }

    /// Ends the round: hands batches to `take` until every process has ended the round and all that it
    /// sent in it was taken.
    pub fn finish_round(&mut self, mut take: impl FnMut(usize, Vec<u8>)) -> Result<(), ProcessLost> {
        self.tell_others(&tagged(END, &[]))?;
        self.receive_round(&mut take)
    }

    /// Hands batches to `take` until every other process has ended the round and all that it sent in it
    /// was taken. Other threads may go on sending, and end the round of this process, meanwhile.
    pub fn receive_round(&mut self, mut take: impl FnMut(usize, Vec<u8>)) -> Result<(), ProcessLost> {
        let index = self.index();
        self.ended[index] = true;
        for from in 0..self.processes() {
            self.take_batches(from, &mut take);
        }
        while self.ended.contains(&false) {
            let (from, message) = self.link.wait()?;
            self.accept(from, message);
            self.take_batches(from, &mut take);
        }
        self.ended.fill(false);
        Ok(())
    }

    /// Keeps a message until it is asked for, or counts the batches that it confirms.
    fn accept(&mut self, from: usize, message: Vec<u8>) {
        match message.first() {
            Some(&TAKEN) => self.window.note_confirmed(from),
            _ => self.waiting[from].push_back(message),
        }
    }

    fn accept_arrived(&mut self) -> Result<(), ProcessLost> {
        while let Some((from, message)) = self.link.receive()? {
            self.accept(from, message);
        }
        Ok(())
    }

    /// Hands over what a process sent up to the end of its round.
    fn take_batches(&mut self, from: usize, take: &mut impl FnMut(usize, Vec<u8>)) {
        while !self.ended[from]
            && let Some(message) = self.waiting[from].pop_front_if(|message| message.first() != Some(&PART))
        {
            match untagged(message) {
                Some((BATCH, batch)) => take(from, batch),
                _ => self.ended[from] = true,
            }
        }
    }

    /// What every process gives here, by its number.
    pub fn gather(&mut self, part: &[u8]) -> Result<Vec<Vec<u8>>, ProcessLost> {
        self.tell_others(&tagged(PART, part))?;
        self.receive_parts(part.to_vec())
    }

    /// Gives a part to every process, by its number, and takes what each gives to this one.
    pub fn scatter(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, ProcessLost> {
        let (index, mut own) = (self.index(), Vec::new());
        for (to, mut part) in parts.into_iter().enumerate() {
            if to == index {
                own = part;
                continue;
            }
            // Parts are large: their memory is used again.
            part.insert(0, PART);
            self.link.send(to, part)?;
        }
        self.receive_parts(own)
    }

    /// One part from each process, `own` from this one.
    fn receive_parts(&mut self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, ProcessLost> {
        let (mut parts, mut own) = (Vec::with_capacity(self.processes()), Some(own));
        for from in 0..self.processes() {
            if from == self.index() {
                parts.extend(own.take());
                continue;
            }
            while self.waiting[from].is_empty() {
                let (sender, message) = self.link.wait()?;
                self.accept(sender, message);
            }
            let message = self.waiting[from].pop_front().unwrap_or_default();
            let Some((PART, part)) = untagged(message) else {
                return Err(ProcessLost { process: from, reason: "it is out of step with this one".into() });
            };
            parts.push(part);
        }
        Ok(parts)
    }

    fn tell_others(&mut self, message: &[u8]) -> Result<(), ProcessLost> {
        let index = self.index();
        (0..self.processes())
            .filter(|&to| to != index)
            .try_for_each(|to| self.link.send(to, message.to_vec()))
    }

    /// Waits until every process is here.
    pub fn barrier(&mut self) -> Result<(), ProcessLost> {
        self.gather(&[]).map(|_| ())
    }

    /// The sums, place by place, of what all processes give: as many numbers each.
    pub fn sum(&mut self, numbers: &[u64]) -> Result<Vec<u64>, ProcessLost> {
        let mut sums = vec![0u64; numbers.len()];
        for part in self.gather(&to_bytes(numbers))? {
            for (sum, number) in sums.iter_mut().zip(numbers_of(&part)) {
                *sum = sum.saturating_add(number);
            }
        }
        Ok(sums)
    }

    /// The least of what all processes give.
    pub fn min(&mut self, number: u64) -> Result<u64, ProcessLost> {
        let parts = self.gather(&number.to_le_bytes())?;
        Ok(parts.iter().flat_map(|part| numbers_of(part)).min().unwrap_or(number))
    }

    /// What the processes with smaller numbers give, summed up, and what all give.
    pub fn sum_before(&mut self, number: u64) -> Result<(u64, u64), ProcessLost> {
        let parts = self.gather(&number.to_le_bytes())?;
        let sum = |parts: &[Vec<u8>]| parts.iter().flat_map(|part| numbers_of(part)).sum();
        Ok((sum(&parts[..self.index()]), sum(&parts)))
    }

    /// The `k`-th smallest key (from 0) of all processes together, equal keys counted each; `None`
    /// when there are not so many. Histograms of one byte after another: no process sees all keys.
    pub fn kth_smallest(&mut self, mut k: u64, keys: &[u64]) -> Result<Option<u64>, ProcessLost> {
        let mut prefix = 0u64;
        for byte in (0..8).rev() {
            let shift = 8 * byte;
            let mut histogram = [0u64; DIGITS];
            let alike = |key: &&u64| byte == 7 || *key >> (shift + 8) == prefix >> (shift + 8);
            for key in keys.iter().filter(alike) {
                histogram[(key >> shift) as usize % DIGITS] += 1;
            }
            let histogram = self.sum(&histogram)?;
            let mut digit = 0;
            while digit < DIGITS && histogram[digit] <= k {
                k -= histogram[digit];
                digit += 1;
            }
            if digit == DIGITS {
                return Ok(None);
            }
            prefix |= (digit as u64) << shift;
        }
        Ok(Some(prefix))
    }
}

/// The processes of a search, for all threads of one of them.
#[derive(Clone)]
pub struct Processes {
    link: Arc<dyn Link>,
    exchange: Arc<Mutex<Exchange>>,
    window: Arc<Window>,
    /// Processes on this machine.
    neighbours: u64,
}

impl Processes {
    /// Over a link of which nothing was received yet.
    pub fn new(link: Arc<dyn Link>) -> Self {
        let exchange = Exchange::new(Arc::clone(&link));
        let window = Arc::clone(&exchange.window);
        Processes { link, exchange: Arc::new(Mutex::new(exchange)), window, neighbours: 1 }
    }

    /// The same, where so many processes share this machine.
    #[must_use]
    pub fn sharing_machine(mut self, neighbours: usize) -> Self {
        self.neighbours = neighbours.max(1) as u64;
        self
    }

    /// Processes on this machine.
    pub(crate) fn neighbours(&self) -> u64 {
        self.neighbours
    }

    /// The number of this process.
    pub fn index(&self) -> usize {
        self.link.index()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.link.processes()
    }

    /// Sends a batch of the round under way, which begins with a byte to be overwritten.
    pub(crate) fn send(&self, to: usize, mut batch: Vec<u8>) -> Result<(), ProcessLost> {
        batch[0] = BATCH;
        self.window.note_sent(to);
        self.link.send(to, batch)
    }

    /// Whether a process has so many batches to take that it should get nothing more for now. Who waits
    /// for it has to go on taking batches.
    pub(crate) fn is_crowded(&self, to: usize) -> Result<bool, ProcessLost> {
        if !self.window.is_full(to) {
            return Ok(false);
        }
        match self.exchange.try_lock() {
            Ok(mut exchange) => exchange.accept_arrived()?,
            Err(TryLockError::Poisoned(exchange)) => exchange.into_inner().accept_arrived()?,
            // Whoever holds it accepts what arrives.
            Err(TryLockError::WouldBlock) => {}
        }
        Ok(self.window.is_full(to))
    }

    /// Says to a process, now and then, that its batches were taken.
    pub(crate) fn confirm(&self, from: usize) -> Result<(), ProcessLost> {
        if self.window.note_taken(from) { self.link.send(from, vec![TAKEN]) } else { Ok(()) }
    }

    /// Ends the round of this process: its threads send nothing more in it.
    pub(crate) fn end_round(&self) -> Result<(), ProcessLost> {
        let others = (0..self.count()).filter(|&to| to != self.index());
        others.into_iter().try_for_each(|to| self.link.send(to, vec![END]))
    }

    /// Everything that only one thread may do at a time.
    pub(crate) fn exchange(&self) -> MutexGuard<'_, Exchange> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Processes({} of {})", self.index(), self.count())
    }
}

fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(content.len() + 1);
    message.push(tag);
    message.extend_from_slice(content);
    message
}

/// The tag of a message, and its content in the same memory.
fn untagged(mut message: Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let tag = *message.first()?;
    message.remove(0);
    Some((tag, message))
}

fn to_bytes(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn numbers_of(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.as_chunks().0.iter().map(|&chunk| u64::from_le_bytes(chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the same code in so many processes, here threads, and gives what each found.
    fn everywhere<T: Send>(processes: usize, work: impl Fn(&mut Exchange) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let work = &work;
            let start = |link| scope.spawn(move || work(&mut Exchange::new(link)));
            let started: Vec<_> = connect_locally(processes).into_iter().map(start).collect();
            started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        })
    }

    #[test]
    fn a_round_delivers_everything_sent_in_it() {
        for processes in [1, 2, 5] {
            let results = everywhere(processes, |exchange| {
                let (mut rounds, index) = (Vec::new(), exchange.index());
                for round in 0..20u8 {
                    let mut taken = Vec::new();
                    for to in (0..processes).filter(|&to| to != index) {
                        // Process numbers differ in how much they send: some are rounds ahead of others.
                        for _ in 0..=index {
                            exchange.send(to, &[round, index as u8]).unwrap();
                        }
                        exchange.poll(|from, batch| taken.push((from, batch))).unwrap();
                    }
                    exchange.finish_round(|from, batch| taken.push((from, batch))).unwrap();
                    taken.sort();
                    rounds.push(taken);
                }
                rounds
            });
            for (index, rounds) in results.into_iter().enumerate() {
                for (round, taken) in rounds.into_iter().enumerate() {
                    let from = (0..processes).filter(|&from| from != index);
                    let expected: Vec<_> =
                        from.flat_map(|from| vec![(from, vec![round as u8, from as u8]); from + 1]).collect();
                    assert_eq!(taken, expected, "round {round} of process {index} of {processes}");
                }
            }
        }
    }

    #[test]
    fn collectives_agree_with_the_obvious() {
        for processes in [1, 2, 3, 7] {
            let keys = |index: usize| -> Vec<u64> {
                (0..40 * index as u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 60)).collect()
            };
            let mut all: Vec<u64> = (0..processes).flat_map(keys).collect();
            all.sort_unstable();
            let numbers = |index: usize| index as u64 * 3 + 5;
            let results = everywhere(processes, |exchange| {
                let index = exchange.index();
                exchange.barrier().unwrap();
                let sum = exchange.sum(&[numbers(index), 1]).unwrap();
                let least = exchange.min(numbers(index)).unwrap();
                let before = exchange.sum_before(numbers(index)).unwrap();
                let gathered = exchange.gather(&[index as u8]).unwrap();
                let parts = (0..processes).map(|to| vec![index as u8, to as u8]).collect();
                let scattered = exchange.scatter(parts).unwrap();
                for (from, part) in scattered.iter().enumerate() {
                    assert_eq!(*part, [from as u8, index as u8]);
                }
                let smallest: Vec<_> =
                    [0, 1, 50, 1000].map(|k| exchange.kth_smallest(k, &keys(index)).unwrap()).into();
                (sum, least, before, gathered, smallest)
            });
            let total: u64 = (0..processes).map(numbers).sum();
            for (index, (sum, least, before, gathered, smallest)) in results.into_iter().enumerate() {
                assert_eq!((sum, least), (vec![total, processes as u64], 5));
                assert_eq!(before, ((0..index).map(numbers).sum(), total));
                assert_eq!(gathered, (0..processes).map(|index| vec![index as u8]).collect::<Vec<_>>());
                assert_eq!(smallest, [0, 1, 50, 1000].map(|k| all.get(k).copied()));
            }
        }
    }

    #[test]
    fn a_process_runs_ahead_of_another_only_so_far() {
        let links = connect_locally(2);
        let [fast, slow] = [0, 1].map(|index: usize| Processes::new(Arc::clone(&links[index])));
        for _ in 0..5 {
            let (mut sent, mut taken) = (0, 0);
            while !fast.is_crowded(1).unwrap() {
                assert!(sent < 1000, "nothing stops it");
                fast.send(1, vec![0, 7]).unwrap();
                sent += 1;
            }
            slow.exchange().poll(|_, _| taken += 1).unwrap();
            assert_eq!(taken, sent);
            (0..taken).for_each(|_| slow.confirm(0).unwrap());
            assert!(!fast.is_crowded(1).unwrap());
        }
        // What was confirmed and not looked at is not taken for a part.
        for _ in 0..100 {
            fast.send(1, vec![0, 7]).unwrap();
        }
        slow.exchange().poll(|_, _| slow.confirm(0).unwrap()).unwrap();
        let gathered = std::thread::scope(|scope| {
            let other = scope.spawn(|| slow.exchange().gather(&[2]).unwrap());
            (fast.exchange().gather(&[1]).unwrap(), other.join().unwrap())
        });
        assert_eq!(gathered, (vec![vec![1], vec![2]], vec![vec![1], vec![2]]));
    }

    #[test]
    fn a_process_that_is_gone_is_named() {
        let mut links = connect_locally(2);
        links.truncate(1);
        let lost = Exchange::new(links.remove(0)).barrier().unwrap_err();
        assert_eq!(lost.process, 1);
        assert!(lost.to_string().starts_with("process 1 was lost: "), "{lost}");
    }
}
