//! Connects a process with all others of its cluster, within a time limit.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

use crate::handshake::{self, Party, Refusal, Refused};
use crate::hosts::Hosts;
use crate::identity::Identity;
use crate::mesh::Mesh;
use crate::secret::Secret;

/// How long a process waits for the others by default.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// Delay between attempts to reach a process.
const RETRY: Duration = Duration::from_millis(50);
/// Limit on unauthenticated connections at a time; more are dropped.
const STRANGERS: usize = 32;

/// A process that is about to join its cluster.
#[derive(Debug)]
pub struct Member<'a> {
    /// All processes.
    pub hosts: &'a Hosts,
    /// Its number.
    pub process: usize,
    /// The socket that it listens on; by default one on its own address.
    pub listener: Option<TcpListener>,
    /// The shared secret.
    pub secret: &'a Secret,
    /// What must be equal in all processes.
    pub identity: &'a Identity,
    /// How long to wait for the others.
    pub patience: Duration,
}

/// A connection that was refused while waiting for the others.
#[derive(Debug)]
pub struct Note {
    /// The address of the caller.
    pub from: SocketAddr,
    /// Why it was refused.
    pub why: String,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "refused a connection from {}: {}", self.from, self.why)
    }
}

/// Why a process could not join.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// There is no process with that number.
    #[error("there is no process {process}: the list of hosts has {processes}, numbered from 0")]
    Number {
        /// The number.
        process: usize,
        /// The number of processes.
        processes: usize,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address of this process.
        address: String,
        /// The error.
        error: io::Error,
    },
    /// Another process is incompatible.
    #[error("process {process} ({address}) does not match: {why}")]
    Refused {
        /// Its number.
        process: usize,
        /// Its address.
        address: String,
        /// The incompatibility.
        why: String,
    },
    /// Processes did not join in time.
    #[error("{}", describe_absent(.absent, *.patience))]
    Absent {
        /// Which ones, with their addresses and the last error.
        absent: Vec<(usize, String, Option<String>)>,
        /// How long they were awaited.
        patience: Duration,
    },
    /// The user interrupted the wait.
    #[error("interrupted while waiting for the other processes")]
    Interrupted,
    /// The system failed to create a thread or a socket.
    #[error("cannot start the mesh: {0}")]
    System(#[from] io::Error),
}

fn describe_absent(absent: &[(usize, String, Option<String>)], patience: Duration) -> String {
    let one = |(process, address, last): &(usize, String, Option<String>)| {
        let last = last.as_ref().map_or(String::new(), |last| format!(", last attempt: {last}"));
        format!("process {process} ({address}) did not join within {patience:?}{last}")
    };
    absent.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// What the connecting threads report.
enum Arrival {
    Joined(usize, TcpStream),
    Failed(usize, Refusal),
    Stranger(SocketAddr, Refusal),
}

/// Connects with all other processes. Refused connections that do not end the attempt are passed to
/// `note`. `interrupt` ends the wait; afterwards the mesh propagates it to all processes.
pub fn join(
    member: Member<'_>,
    note: &(dyn Fn(&Note) + Sync),
    interrupt: &Arc<AtomicBool>,
) -> Result<Mesh, JoinError> {
    let Member { hosts, process, listener, secret, identity, patience } = member;
    let processes = hosts.len();
    if process >= processes {
        return Err(JoinError::Number { process, processes });
    }
    let listener = listener.map_or_else(|| TcpListener::bind(hosts.address(process)), Ok);
    let listener = listener.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    let listener =
        listener.map_err(|error| JoinError::Listen { address: hosts.address(process).to_owned(), error })?;
    let gathering = Gathering {
        party: Party { process, processes, secret, identity },
        hosts,
        deadline: Instant::now() + patience,
        over: AtomicBool::new(false),
        claimed: Mutex::new(vec![false; processes]),
        attempts: Mutex::new(vec![None; processes]),
    };
    let mut streams: Vec<Option<TcpStream>> = (0..processes).map(|_| None).collect();
    let outcome = thread::scope(|scope| {
        let (report, arrivals) = mpsc::channel();
        for lower in 0..process {
            let (gathering, report) = (&gathering, report.clone());
            scope.spawn(move || gathering.reach(lower, &report));
        }
        if process + 1 < processes {
            let gathering = &gathering;
            scope.spawn(move || gathering.receive_callers(scope, &listener, &report));
        } else {
            drop((listener, report));
        }
        let outcome = gathering.collect(&arrivals, &mut streams, note, interrupt);
        gathering.over.store(true, Ordering::Relaxed);
        outcome
    });
    outcome.map_err(|error| error.with_patience(patience))?;
    Ok(Mesh::start(process, streams, patience, Arc::clone(interrupt))?)
}

impl JoinError {
    fn with_patience(mut self, given: Duration) -> Self {
        if let JoinError::Absent { patience, .. } = &mut self {
            *patience = given;
        }
        self
    }
}

/// A process that waits for the others.
struct Gathering<'a> {
    party: Party<'a>,
    hosts: &'a Hosts,
    deadline: Instant,
    /// Nothing is awaited any more.
    over: AtomicBool,
    /// Callers that were accepted, by process.
    claimed: Mutex<Vec<bool>>,
    /// Why the last attempt to reach a process failed.
    attempts: Mutex<Vec<Option<String>>>,
}

impl<'a> Gathering<'a> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    fn handshake_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + HANDSHAKE)
    }

    /// Waits until all processes have joined.
    fn collect(
        &self,
        arrivals: &mpsc::Receiver<Arrival>,
        streams: &mut [Option<TcpStream>],
        note: &(dyn Fn(&Note) + Sync),
        interrupt: &AtomicBool,
    ) -> Result<(), JoinError> {
        let mut missing = streams.len() - 1;
        while missing > 0 {
            if interrupt.load(Ordering::Relaxed) {
                return Err(JoinError::Interrupted);
            }
            if self.is_over() {
                return Err(self.absent(streams));
            }
            match arrivals.recv_timeout(RETRY) {
                Ok(Arrival::Joined(process, stream)) => {
                    streams[process] = Some(stream);
                    missing -= 1;
                }
                Ok(Arrival::Failed(process, why)) => {
                    let (address, why) = (self.hosts.address(process).to_owned(), why.to_string());
                    return Err(JoinError::Refused { process, address, why });
                }
                Ok(Arrival::Stranger(from, why)) => note(&Note { from, why: why.to_string() }),
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn absent(&self, streams: &[Option<TcpStream>]) -> JoinError {
        let attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let others = streams.iter().enumerate().filter(|(process, _)| *process != self.party.process);
        let absent = others
            .filter(|(_, stream)| stream.is_none())
            .map(|(process, _)| (process, self.hosts.address(process).to_owned(), attempts[process].clone()))
            .collect();
        JoinError::Absent { absent, patience: Duration::ZERO }
    }

    /// Calls a process with a lower number until it answers.
    fn reach(&self, process: usize, report: &Sender<Arrival>) {
        while !self.is_over() {
            let why = match self.connect(process) {
                // Once connected, the other process may be slow, but it knows of this one: a second
                // call would be taken for another process with the same number.
                Ok(stream) => match handshake::call(&self.party, process, &stream, self.deadline) {
                    Ok(()) => {
                        let _ = report.send(Arrival::Joined(process, stream));
                        return;
                    }
                    // It may not be ready yet, or may be restarting.
                    Err(Refusal::Cut(error)) => format!("the connection was cut: {error}"),
                    Err(refusal) => {
                        let _ = report.send(Arrival::Failed(process, refusal));
                        return;
                    }
                },
                Err(error) => error.to_string(),
            };
            self.attempts.lock().unwrap_or_else(PoisonError::into_inner)[process] = Some(why);
            thread::sleep(RETRY);
        }
    }

    fn connect(&self, process: usize) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in self.hosts.address(process).to_socket_addrs()? {
            let left = self.handshake_deadline().saturating_duration_since(Instant::now());
            match TcpStream::connect_timeout(&address, left.max(Duration::from_millis(1))) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Answers processes with higher numbers, and refuses all others, until all have joined.
    fn receive_callers<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        listener: &TcpListener,
        report: &Sender<Arrival>,
    ) where
        'a: 'scope,
    {
        static SERVED: AtomicUsize = AtomicUsize::new(0);
        while !self.is_over() {
            let Ok((stream, from)) = listener.accept() else {
                thread::sleep(RETRY / 5);
                continue;
            };
            if SERVED.fetch_add(1, Ordering::Relaxed) >= STRANGERS {
                SERVED.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let report = report.clone();
            scope.spawn(move || {
                let answered =
                    stream.set_nonblocking(false).map_err(|error| Refused::from(Refusal::Cut(error)));
                let deadline = self.handshake_deadline();
                let answered = answered.and_then(|()| {
                    let (claim, release) = (|process| self.claim(process), |process| self.release(process));
                    handshake::answer(&self.party, &stream, deadline, claim, release)
                });
                SERVED.fetch_sub(1, Ordering::Relaxed);
                let arrival = match answered {
                    Ok(process) => Arrival::Joined(process, stream),
                    // The caller is authenticated, so it belongs to this cluster: its mismatch must
                    // be fixed first.
                    Err(Refused { process: Some(process), why: why @ Refusal::Differs { .. } }) => {
                        Arrival::Failed(process, why)
                    }
                    Err(Refused { why, .. }) => Arrival::Stranger(from, why),
                };
                let _ = report.send(arrival);
            });
        }
    }

    fn claim(&self, process: usize) -> bool {
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut claimed[process], true)
    }

    fn release(&self, process: usize) {
        self.claimed.lock().unwrap_or_else(PoisonError::into_inner)[process] = false;
    }
}
