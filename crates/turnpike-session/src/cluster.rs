//! Searches by several processes: joining them, and the link between their engines.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

pub use turnpike_cluster::{Hosts, Identity, Note, Secret, WeakSecret};
use turnpike_cluster::{Lost, Member, Mesh, join};
use turnpike_search::exchange::{Link, ProcessLost, Processes};

use crate::Checkpoints;
use crate::problem::Problem;
use crate::program::ProgramSource;
use crate::request::{Request, Search};
use crate::session::Session;
use crate::source::{Location, Source};

/// A process that is to join a search.
#[derive(Debug)]
pub struct Membership {
    /// All processes.
    pub hosts: Hosts,
    /// The index of this process.
    pub process: usize,
    /// The secret that all processes share.
    pub secret: Secret,
    /// How long to wait for the other processes.
    pub patience: Duration,
    /// The number of processes on this machine, which share its cores.
    pub neighbours: usize,
}

/// A process that has joined the others.
pub struct Joined {
    link: Arc<MeshLink>,
    processes: Processes,
    threads: usize,
}

impl Membership {
    /// Waits for the other processes. Refuses processes with another `identity`, and reports
    /// connections of strangers to `note`. When `interrupt` is set in one process, it is set in
    /// all.
    pub fn join(
        &self,
        identity: &Identity,
        note: &(dyn Fn(&Note) + Sync),
        interrupt: &Arc<AtomicBool>,
    ) -> Result<Joined, Problem> {
        let Membership { hosts, process, secret, patience, neighbours } = self;
        let member =
            Member { hosts, process: *process, listener: None, secret, identity, patience: *patience };
        let mesh = join(member, note, interrupt).map_err(|error| Problem::new(error.to_string()))?;
        let link = Arc::new(MeshLink {
            process: mesh.process(),
            processes: mesh.processes(),
            mesh: RwLock::new(Some(mesh)),
        });
        let processes = Processes::new(Arc::clone(&link) as Arc<dyn Link>).sharing_machine(*neighbours);
        let threads = (crate::all_cores() / neighbours.max(&1)).max(1);
        Ok(Joined { link, processes, threads })
    }
}

impl Joined {
    /// The processes, for the engine.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// The default number of threads of this process.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Describes the process that was lost first.
    pub fn lost(&self) -> Option<String> {
        self.link.with(|mesh| mesh.lost()).flatten().map(|lost| lost.to_string())
    }

    /// The number of bytes sent to other processes so far.
    pub fn bytes_sent(&self) -> u64 {
        self.link.with(|mesh| mesh.traffic().0).unwrap_or_default()
    }

    /// Leaves the search.
    pub fn leave(self) {
        let mesh = self.link.mesh.write().unwrap_or_else(PoisonError::into_inner).take();
        mesh.into_iter().for_each(Mesh::close);
    }
}

impl Session {
    /// Searches this source together with other processes.
    #[must_use]
    pub fn searched_with(mut self, joined: &Joined) -> Self {
        self.processes = Some((joined.processes.clone(), joined.threads));
        self
    }
}

/// What must be equal between a search that resumes from a checkpoint and the one that wrote it.
/// Limits on time and memory and the number of workers may differ.
pub fn resumable_as(version: &str, session: &Session, search: &Search) -> Result<String, Problem> {
    let mut search = search.clone();
    (search.limits.time, search.limits.memory) = (None, None);
    search.running.threads = None;
    let (fingerprint, source) = (session.fingerprint()?, anywhere(session.source()));
    let command = Request { source, search }.command_line();
    Ok(format!("turnpike {version}, model {fingerprint:016x}, {command}"))
}

/// What must be equal in all processes of a search.
pub fn identity_of(version: &str, session: &Session, search: &Search) -> Result<Identity, Problem> {
    let mut search = search.clone();
    // Machines may have different numbers of cores.
    search.running.threads = None;
    let options = Request { source: anywhere(session.source()), search };
    Ok(source_identity(version, session)?.with("search", options.command_line()))
}

/// What must be equal in all processes that work with a source.
pub fn source_identity(version: &str, session: &Session) -> Result<Identity, Problem> {
    let identity = Identity::default().with("version of turnpike", version);
    let identity = identity.with("model", format!("{:016x}", session.fingerprint()?));
    Ok(identity.with("options of the model", options_of_source(session.source())))
}

/// The options of a source as words: every option that was set, even if it is not part of the
/// fingerprint.
pub fn options_of_source(source: &Source) -> String {
    let (words, arguments) = anywhere(source).command_words();
    crate::join_words(&[words, arguments].concat())
}

/// A source without file names, which may differ between machines. The fingerprint covers their
/// content.
fn anywhere(source: &Source) -> Source {
    match source {
        Source::Model { reading, .. } => {
            let mut reading = reading.clone();
            reading.timed_automata.observers.clear();
            Source::Model { location: Location::StandardInput, reading }
        }
        Source::Program(program) => Source::Program(ProgramSource { path: "-".into(), ..program.clone() }),
    }
}

/// What processes must agree on about checkpoints: whether they write them, and which one they
/// resume from.
#[must_use]
pub fn with_checkpoints(identity: Identity, checkpoints: &Checkpoints) -> Identity {
    let written = if checkpoints.write.is_some() { "written" } else { "not written" };
    let resumed = checkpoints.resume.as_ref().map_or_else(|| "nothing".to_owned(), ToString::to_string);
    identity.with("checkpoints", written).with("checkpoint to go on from", resumed)
}

/// The engine's link, as a mesh of connections.
struct MeshLink {
    process: usize,
    processes: usize,
    /// `None` after leaving.
    mesh: RwLock<Option<Mesh>>,
}

impl MeshLink {
    fn with<T>(&self, work: impl FnOnce(&Mesh) -> T) -> Option<T> {
        self.mesh.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(work)
    }

    fn try_with<T>(&self, work: impl FnOnce(&Mesh) -> Result<T, Lost>) -> Result<T, ProcessLost> {
        let lost = |Lost { process, why }: Lost| ProcessLost { process, reason: why.to_string() };
        let left = || ProcessLost { process: self.process, reason: "this process has left".into() };
        self.with(work).ok_or_else(left)?.map_err(lost)
    }
}

impl Link for MeshLink {
    fn index(&self) -> usize {
        self.process
    }

    fn processes(&self) -> usize {
        self.processes
    }

    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), ProcessLost> {
        self.try_with(|mesh| mesh.send(to, message))
    }

    fn receive(&self) -> Result<Option<(usize, Vec<u8>)>, ProcessLost> {
        self.try_with(Mesh::receive)
    }

    fn wait(&self) -> Result<(usize, Vec<u8>), ProcessLost> {
        self.try_with(Mesh::wait)
    }
}
