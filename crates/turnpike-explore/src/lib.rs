#![doc = include_str!("../README.md")]

mod assets;
mod automata;
mod details;
mod formulas;
mod graph;
mod guard;
mod layout;
mod refusal;
mod router;
mod searches;
mod stepper;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use turnpike_model::Trace;
use turnpike_session::{Problem, Purpose, Session, Source};

use guard::Guard;
use router::Served;
use searches::Searches;
use stepper::Stepper;

/// How often a server looks whether it should end.
const HEARTBEAT: Duration = Duration::from_millis(50);
/// How long answers that are under way may take once the server ends.
const GRACE: Duration = Duration::from_millis(500);

/// A page that is ready to be served: its model was read, its address is taken.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    served: Served,
}

impl Server {
    /// Reads a source and takes a port of this machine; any that is free for 0. The page begins at the
    /// end of `trace` if there is one.
    pub fn open(source: &Source, trace: Option<&Trace>, port: u16) -> Result<Server, Problem> {
        let session = Session::open(source)?;
        let prepared = session.prepare(&Purpose { exact: true, deadlock: true, ..Purpose::default() })?;
        // Exact zones may be infinitely many: a picture of the whole has those that searches explore.
        let drawn = match session.timed() {
            Some(_) => Some(session.prepare(&Purpose { deadlock: true, ..Purpose::default() })?.model),
            None => None,
        };
        let stepper = Stepper::start(&prepared, trace)?;
        let failed = |error: std::io::Error| Problem::new(format!("cannot listen on port {port}: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let guard = Guard::new(address.port())
            .map_err(|error| Problem::new(format!("this system gives no random numbers: {error}")))?;
        let formula_files = session.formula_files();
        let served = Served {
            session: Arc::new(session),
            formula_files: formula_files.into(),
            model: prepared.model,
            drawn,
            stepper,
            searches: Searches::default(),
            ended: Arc::new(AtomicBool::new(false)),
        };
        Ok(Server { listener, guard, served })
    }

    /// What users call the system.
    pub fn model_name(&self) -> &str {
        self.served.session.name()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.guard.port()))
    }

    /// What to open in a browser. It contains the token that gives access to the page.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address(), self.guard.token())
    }

    /// Serves the page until someone on it ends it, or `stop` is set.
    pub fn run(self, stop: &AtomicBool) -> std::io::Result<()> {
        let Server { listener, guard, served } = self;
        let ended = Arc::clone(&served.ended);
        let searches = served.searches.clone();
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let outcome = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let router = router::router(served, guard);
            let server = tokio::spawn(async move { axum::serve(listener, router).await });
            while !stop.load(Ordering::Relaxed) && !ended.load(Ordering::Relaxed) && !server.is_finished() {
                tokio::time::sleep(HEARTBEAT).await;
            }
            searches.stop_all();
            // The page that asked for the end gets its answer.
            tokio::time::sleep(HEARTBEAT).await;
            if server.is_finished() {
                return server.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
            }
            server.abort();
            Ok(())
        });
        runtime.shutdown_timeout(GRACE);
        outcome
    }
}
