//! Fully connected processes: messages from one to another arrive in order.
//!
//! Two threads serve each connection. The reader stores messages immediately, so that no process
//! ever waits for another one to read; the writer sends a keep-alive when there is nothing else to
//! send. A connection that ends without a goodbye, or is silent for too long, means that the
//! process is lost, and then every call on the mesh fails.

use std::collections::VecDeque;
use std::io::{self, BufReader, BufWriter, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::frame::{self, HEADER, Kind, LONGEST};

/// Interval of keep-alives.
const ALIVE: Duration = Duration::from_secs(1);
/// Silence after which a process is lost.
const SILENCE: Duration = Duration::from_secs(8);
/// How long a finished process waits for the others to receive its goodbye.
const FAREWELL: Duration = Duration::from_secs(5);
/// Limit on queued messages to one process; further sends block.
const QUEUE: usize = 256;
const BUFFER: usize = 1 << 16;

/// A process that no longer takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("process {process} was lost: {why}")]
pub struct Lost {
    /// Its number.
    pub process: usize,
    /// How the loss was detected.
    pub why: Why,
}

/// How the loss of a process was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// Its connection ended.
    Closed,
    /// It was silent for too long.
    Silent,
    /// It sent invalid data.
    Garbled,
    /// Another process reported it.
    Reported,
    /// It finished while it was still needed.
    Finished,
}

impl std::fmt::Display for Why {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Why::Closed => "its connection ended",
            Why::Silent => "it has been silent for too long",
            Why::Garbled => "it violated the protocol",
            Why::Reported => "another process reported it",
            Why::Finished => "it finished too early",
        })
    }
}

/// An item to send to one process.
enum Outgoing {
    Message(Vec<u8>),
    Lost(usize),
    Goodbye,
}

/// What other processes sent.
struct Inbox {
    messages: VecDeque<(usize, Vec<u8>)>,
    /// Number of processes that have not said goodbye.
    present: usize,
    /// The process that said goodbye last.
    last: usize,
}

/// The state shared by the threads of a mesh.
struct Shared {
    inbox: Mutex<Inbox>,
    arrived: Condvar,
    lost: OnceLock<Lost>,
    /// Whether the user wants the search to end: set in all processes soon after it is set in one.
    interrupt: Arc<AtomicBool>,
    /// This process is about to end: connections may end, too.
    closing: AtomicBool,
    /// Silence after which a process is lost.
    silence: Duration,
    sent: AtomicU64,
    received: AtomicU64,
}

/// The connections of this process with all others.
pub struct Mesh {
    process: usize,
    shared: Arc<Shared>,
    /// By process; none for this one.
    outgoing: Vec<Option<SyncSender<Outgoing>>>,
    /// By process; none for this one.
    streams: Vec<Option<TcpStream>>,
    threads: Vec<JoinHandle<()>>,
}

impl Mesh {
    /// Starts to serve accepted connections. A process that still waits for others may be silent
    /// until `patience` is over.
    pub(crate) fn start(
        process: usize,
        streams: Vec<Option<TcpStream>>,
        patience: Duration,
        interrupt: Arc<AtomicBool>,
    ) -> io::Result<Mesh> {
        Mesh::start_with(process, streams, patience, SILENCE, interrupt)
    }

    /// As [`Mesh::start`], with the silence after which a process is lost.
    fn start_with(
        process: usize,
        streams: Vec<Option<TcpStream>>,
        patience: Duration,
        silence: Duration,
        interrupt: Arc<AtomicBool>,
    ) -> io::Result<Mesh> {
        let present = streams.iter().flatten().count();
        let shared = Arc::new(Shared {
            inbox: Mutex::new(Inbox { messages: VecDeque::new(), present, last: process }),
            arrived: Condvar::new(),
            lost: OnceLock::new(),
            interrupt,
            closing: AtomicBool::new(false),
            silence,
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        });
        let mut mesh =
            Mesh { process, shared, outgoing: Vec::new(), streams: Vec::new(), threads: Vec::new() };
        let mut readers = Vec::new();
        for (other, stream) in streams.into_iter().enumerate() {
            let Some(stream) = stream else {
                mesh.outgoing.push(None);
                mesh.streams.push(None);
                continue;
            };
            stream.set_nodelay(true)?;
            stream.set_write_timeout(Some(silence))?;
            stream.set_read_timeout(Some(patience + silence))?;
            let (sender, queue) = sync_channel(QUEUE);
            mesh.outgoing.push(Some(sender));
            let (shared, writing) = (Arc::clone(&mesh.shared), stream.try_clone()?);
            let name = format!("to process {other}");
            let writer = std::thread::Builder::new().name(name);
            mesh.threads.push(writer.spawn(move || write_all(&shared, other, &writing, &queue))?);
            readers.push((other, stream.try_clone()?));
            mesh.streams.push(Some(stream));
        }
        for (other, stream) in readers {
            let (shared, outgoing) = (Arc::clone(&mesh.shared), mesh.outgoing.clone());
            let name = format!("from process {other}");
            let reader = std::thread::Builder::new().name(name);
            mesh.threads.push(reader.spawn(move || read_all(&shared, other, &stream, &outgoing))?);
        }
        Ok(mesh)
    }

    /// The number of this process.
    pub fn process(&self) -> usize {
        self.process
    }

    /// The number of processes.
    pub fn processes(&self) -> usize {
        self.outgoing.len()
    }

    /// Sends a message to another process.
    pub fn send(&self, to: usize, message: Vec<u8>) -> Result<(), Lost> {
        if let Some(lost) = self.lost() {
            return Err(lost);
        }
        self.shared.sent.fetch_add((message.len() + HEADER) as u64, Ordering::Relaxed);
        self.queue(to).send(Outgoing::Message(message)).map_err(|_| self.loss_of(to))
    }

    /// The next received message and its sender; `None` if there is none now.
    pub fn receive(&self) -> Result<Option<(usize, Vec<u8>)>, Lost> {
        match lock(&self.shared.inbox).messages.pop_front() {
            Some(message) => Ok(Some(message)),
            None => self.lost().map_or(Ok(None), Err),
        }
    }

    /// Waits for the next message.
    pub fn wait(&self) -> Result<(usize, Vec<u8>), Lost> {
        let mut inbox = lock(&self.shared.inbox);
        loop {
            if let Some(message) = inbox.messages.pop_front() {
                return Ok(message);
            }
            if let Some(lost) = self.lost() {
                return Err(lost);
            }
            if inbox.present == 0 {
                return Err(Lost { process: inbox.last, why: Why::Finished });
            }
            inbox = self.shared.arrived.wait(inbox).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The process that was lost first, as far as is known here.
    pub fn lost(&self) -> Option<Lost> {
        self.shared.lost.get().copied()
    }

    /// Bytes of messages sent and received so far.
    pub fn traffic(&self) -> (u64, u64) {
        (self.shared.sent.load(Ordering::Relaxed), self.shared.received.load(Ordering::Relaxed))
    }

    /// Says goodbye to all processes, and waits until they have received everything.
    pub fn close(mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        for queue in self.outgoing.iter().flatten() {
            let _ = queue.send(Outgoing::Goodbye);
        }
        for stream in self.streams.iter().flatten() {
            let _ = stream.set_read_timeout(Some(FAREWELL));
        }
        self.outgoing.clear();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }

    fn queue(&self, to: usize) -> &SyncSender<Outgoing> {
        self.outgoing[to].as_ref().expect("a process sends nothing to itself")
    }

    /// The loss of a process whose connection no longer works.
    fn loss_of(&self, process: usize) -> Lost {
        self.lost().unwrap_or(Lost { process, why: Why::Closed })
    }
}

impl Drop for Mesh {
    /// Without a goodbye the others conclude that this process failed. If another one failed
    /// before, they are told of that one first, so that all report the same process.
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Relaxed);
        let lost = self.lost().map(|lost| lost.process);
        if let Some(lost) = lost {
            report_loss(lost, &self.outgoing);
        }
        self.outgoing.clear();
        for (process, stream) in self.streams.iter().enumerate() {
            let Some(stream) = stream else { continue };
            // Processes that still read receive what was queued; do not wait for the lost one.
            let listens = lost.is_some_and(|lost| lost != process);
            let _ = stream.shutdown(if listens { Shutdown::Read } else { Shutdown::Both });
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Mesh {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Mesh(process {} of {})", self.process, self.processes())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Records the first loss, and wakes all threads that wait for a message.
    fn lose(&self, lost: Lost) -> bool {
        let first = self.lost.set(lost).is_ok();
        self.wake_all();
        first
    }

    fn wake_all(&self) {
        // Under the lock, so that a thread that has just found no message is already waiting.
        let _guard = lock(&self.inbox);
        self.arrived.notify_all();
    }
}

/// Writes the queued messages to a process until this one says goodbye.
fn write_all(shared: &Shared, other: usize, stream: &TcpStream, queue: &Receiver<Outgoing>) {
    let mut out = BufWriter::with_capacity(BUFFER, stream);
    let mut passed_on = false;
    let outcome = loop {
        let next = match queue.try_recv() {
            Ok(next) => Ok(next),
            Err(_) => match out.flush() {
                Ok(()) => queue.recv_timeout(ALIVE),
                Err(error) => break Err(error),
            },
        };
        // Also before a goodbye, which may immediately follow the interrupt.
        if !passed_on && shared.interrupt.load(Ordering::Relaxed) {
            passed_on = true;
            if let Err(error) = frame::write(&mut out, Kind::Interrupt, &[]) {
                break Err(error);
            }
        }
        let written = match next {
            Ok(Outgoing::Message(message)) => write_message(&mut out, &message),
            Ok(Outgoing::Lost(process)) => {
                frame::write(&mut out, Kind::Lost, &(process as u32).to_le_bytes())
            }
            Ok(Outgoing::Goodbye) => {
                break frame::write(&mut out, Kind::Goodbye, &[]).and_then(|()| out.flush());
            }
            Err(RecvTimeoutError::Timeout) => frame::write(&mut out, Kind::Alive, &[]),
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        };
        if let Err(error) = written {
            break Err(error);
        }
    };
    // Discard the buffer: dropping the writer would write its content again.
    let _ = out.into_parts();
    let _ = stream.shutdown(Shutdown::Write);
    if outcome.is_err() && !shared.closing.load(Ordering::Relaxed) {
        shared.lose(Lost { process: other, why: Why::Closed });
    }
}

fn write_message(out: &mut impl Write, message: &[u8]) -> io::Result<()> {
    let mut rest = message;
    while rest.len() > LONGEST {
        let (part, more) = rest.split_at(LONGEST);
        frame::write(out, Kind::Part, part)?;
        rest = more;
    }
    frame::write(out, Kind::Message, rest)
}

/// Reads messages of a process until it says goodbye or is lost.
fn read_all(shared: &Shared, other: usize, stream: &TcpStream, outgoing: &[Option<SyncSender<Outgoing>>]) {
    let why = match read_frames(shared, other, stream, outgoing) {
        Ok(()) => return,
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Why::Silent,
            io::ErrorKind::InvalidData => Why::Garbled,
            _ => Why::Closed,
        },
    };
    if shared.closing.load(Ordering::Relaxed) {
        shared.wake_all();
        return;
    }
    if shared.lose(Lost { process: other, why }) {
        report_loss(other, outgoing);
    }
}

/// Reports to all other processes that a process is lost.
fn report_loss(lost: usize, outgoing: &[Option<SyncSender<Outgoing>>]) {
    for (process, queue) in outgoing.iter().enumerate() {
        if let Some(queue) = queue.as_ref().filter(|_| process != lost) {
            let _ = queue.try_send(Outgoing::Lost(lost));
        }
    }
}

fn read_frames(
    shared: &Shared,
    other: usize,
    stream: &TcpStream,
    outgoing: &[Option<SyncSender<Outgoing>>],
) -> io::Result<()> {
    let mut input = BufReader::with_capacity(BUFFER, stream);
    let mut parts = Vec::new();
    let mut heard = false;
    loop {
        let mut bytes = std::mem::take(&mut parts);
        let kind = frame::read(&mut input, LONGEST, &mut bytes)?;
        if !std::mem::replace(&mut heard, true) && !shared.closing.load(Ordering::Relaxed) {
            stream.set_read_timeout(Some(shared.silence))?;
        }
        match kind {
            Kind::Part => parts = bytes,
            Kind::Message => {
                shared.received.fetch_add((bytes.len() + HEADER) as u64, Ordering::Relaxed);
                lock(&shared.inbox).messages.push_back((other, bytes));
                shared.arrived.notify_all();
            }
            Kind::Alive => parts = bytes,
            Kind::Interrupt => {
                parts = bytes;
                shared.interrupt.store(true, Ordering::Relaxed);
            }
            Kind::Lost => {
                let process = bytes.first_chunk().map(|four| u32::from_le_bytes(*four) as usize);
                let process = process.filter(|process| *process < outgoing.len());
                let process = process.ok_or(io::ErrorKind::InvalidData)?;
                shared.lose(Lost { process, why: Why::Reported });
            }
            Kind::Goodbye => {
                let mut inbox = lock(&shared.inbox);
                (inbox.present, inbox.last) = (inbox.present - 1, other);
                shared.arrived.notify_all();
                return Ok(());
            }
            Kind::Proof | Kind::Identity | Kind::Welcome | Kind::Refusal => {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A mesh of two in which the test plays the other process. The silence limit is so long that a
    /// busy machine has no influence.
    fn pair() -> (Mesh, TcpStream) {
        pair_with(Duration::from_secs(600))
    }

    fn pair_with(silence: Duration) -> (Mesh, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let other = TcpStream::connect(address).expect("a connection");
        let (stream, _) = listener.accept().expect("the connection");
        let mesh = Mesh::start_with(0, vec![None, Some(stream)], Duration::ZERO, silence, Arc::default());
        (mesh.expect("two threads"), other)
    }

    fn loss(mesh: &Mesh) -> Lost {
        mesh.wait().expect_err("the other process is lost")
    }

    #[test]
    fn silence_is_a_loss() {
        let (mesh, _other) = pair_with(Duration::from_millis(100));
        assert_eq!(loss(&mesh), Lost { process: 1, why: Why::Silent });
        assert_eq!(mesh.send(1, vec![1]), Err(Lost { process: 1, why: Why::Silent }));
    }

    #[test]
    fn nonsense_is_a_loss() {
        let (mesh, mut other) = pair();
        other.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("the connection is open");
        assert_eq!(loss(&mesh).why, Why::Garbled);
    }

    #[test]
    fn a_frame_that_is_cut_is_a_loss() {
        let (mesh, mut other) = pair();
        let mut bytes = Vec::new();
        frame::write(&mut bytes, Kind::Message, b"whole").expect("memory takes all");
        frame::write(&mut bytes, Kind::Message, b"cut").expect("memory takes all");
        other.write_all(&bytes[..bytes.len() - 1]).expect("the connection is open");
        drop(other);
        assert_eq!(mesh.wait(), Ok((1, b"whole".to_vec())), "what came before counts");
        assert_eq!(loss(&mesh).why, Why::Closed);
    }

    #[test]
    fn a_process_that_has_finished_is_missed_only_when_it_is_needed() {
        let (mesh, mut other) = pair();
        frame::write(&mut other, Kind::Goodbye, &[]).expect("the connection is open");
        assert_eq!(loss(&mesh).why, Why::Finished);
        assert_eq!(mesh.lost(), None);
    }

    #[test]
    fn long_messages_travel_in_parts() {
        let mut written = Vec::new();
        let message: Vec<u8> = (0..LONGEST + 5).map(|index| index as u8).collect();
        write_message(&mut written, &message).expect("memory takes all");
        assert_eq!(written.len(), message.len() + 2 * HEADER);
        let (mesh, mut other) = pair();
        let sending = std::thread::spawn(move || {
            other.write_all(&written).expect("the connection is open");
            other
        });
        assert!(mesh.wait().expect("the whole message") == (1, message));
        drop(sending.join().expect("everything was sent"));
    }
}
