//! Clusters for tests.

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use turnpike_cluster::{Hosts, Identity, JoinError, Member, Mesh, Secret, join};

pub(crate) const SECRET: &str = "correct horse battery staple";

/// Free ports on addresses of this machine.
pub(crate) struct Cluster {
    pub(crate) hosts: Hosts,
    listeners: Vec<Mutex<Option<TcpListener>>>,
    /// Whether a process refused a connection and continued to wait.
    refused: AtomicBool,
}

impl Cluster {
    pub(crate) fn new(processes: usize) -> Self {
        let bind =
            |number: usize| TcpListener::bind(format!("127.0.0.{}:0", number + 1)).expect("a free port");
        let listeners: Vec<TcpListener> = (0..processes).map(bind).collect();
        let address = |listener: &TcpListener| listener.local_addr().expect("an address").to_string();
        let text: Vec<String> = listeners.iter().map(address).collect();
        let hosts = Hosts::parse(&text.join("\n")).expect("addresses");
        let listeners = listeners.into_iter().map(|one| Mutex::new(Some(one))).collect();
        Cluster { hosts, listeners, refused: AtomicBool::new(false) }
    }

    /// Processes that listen elsewhere than these hosts say.
    pub(crate) fn posing_as(hosts: Hosts) -> Self {
        Cluster { hosts: hosts.clone(), ..Cluster::new(hosts.len()) }
    }

    /// Joins as an ordinary process, and returns the refused connections.
    pub(crate) fn join(&self, process: usize) -> (Result<Mesh, JoinError>, Vec<String>) {
        self.join_with(process, SECRET, "philosophers", Duration::from_secs(30))
    }

    pub(crate) fn join_with(
        &self,
        process: usize,
        secret: &str,
        model: &str,
        patience: Duration,
    ) -> (Result<Mesh, JoinError>, Vec<String>) {
        self.join_as(process, secret, model, patience, &Arc::default())
    }

    /// Joins with an interrupt flag.
    pub(crate) fn join_until(&self, process: usize, interrupt: &Arc<AtomicBool>) -> Result<Mesh, JoinError> {
        self.join_as(process, SECRET, "philosophers", Duration::from_secs(30), interrupt).0
    }

    /// Whether a process refused a connection and continued to wait.
    pub(crate) fn has_notes(&self) -> bool {
        self.refused.load(Ordering::Acquire)
    }

    pub(crate) fn join_as(
        &self,
        process: usize,
        secret: &str,
        model: &str,
        patience: Duration,
        interrupt: &Arc<AtomicBool>,
    ) -> (Result<Mesh, JoinError>, Vec<String>) {
        let (hosts, secret) = (&self.hosts, &Secret::new(secret).expect("a long secret"));
        let identity = &Identity::default().with("version", "0.1.0").with("model", model);
        let listener = self.listeners.get(process).and_then(|one| one.lock().expect("no panic").take());
        let member = Member { hosts, process, listener, secret, identity, patience };
        let notes = Mutex::new(Vec::new());
        let note = |note: &turnpike_cluster::Note| {
            notes.lock().expect("no panic").push(note.to_string());
            self.refused.store(true, Ordering::Release);
        };
        let mesh = join(member, &note, interrupt);
        (mesh, notes.into_inner().expect("no panic"))
    }

    /// Processes that listen on the addresses of their hosts, as soon as they join.
    pub(crate) fn not_listening(hosts: Hosts) -> Self {
        Cluster { hosts, listeners: Vec::new(), refused: AtomicBool::new(false) }
    }

    /// Joins all processes, each in its own thread.
    pub(crate) fn run<T: Send>(&self, work: impl Fn(Mesh) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let start = |process| {
                let work = &work;
                scope.spawn(move || work(self.join(process).0.expect("the process joins")))
            };
            let threads: Vec<_> = (0..self.hosts.len()).map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        })
    }
}
