//! Processes that are threads of one process: for tests, and to measure what sockets cost.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Link, ProcessLost};

/// One end of a complete graph of channels.
struct LocalLink {
    index: usize,
    others: Vec<Sender<(usize, Vec<u8>)>>,
    inbox: Mutex<Receiver<(usize, Vec<u8>)>>,
}

/// Links between so many processes that are really threads, by number.
pub fn connect_locally(processes: usize) -> Vec<Arc<dyn Link>> {
    let (senders, inboxes): (Vec<_>, Vec<_>) = (0..processes).map(|_| channel()).unzip();
    let link = |(index, inbox)| {
        let mut others = senders.clone();
        // The link keeps no sender to itself: when all others are gone, its channel ends.
        others[index] = channel().0;
        Arc::new(LocalLink { index, others, inbox: Mutex::new(inbox) }) as Arc<dyn Link>
    };
    inboxes.into_iter().enumerate().map(link).collect()
}

impl LocalLink {
    fn inbox(&self) -> MutexGuard<'_, Receiver<(usize, Vec<u8>)>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Of all others gone, the first is named.
    fn all_gone(&self) -> ProcessLost {
        let process = usize::from(self.index == 0);
        ProcessLost { process, reason: "its channel is closed".into() }
    }
}

impl Link for LocalLink {
    fn index(&self) -> usize {
        self.index
    }

    fn processes(&self) -> usize {
        self.others.len()
    }

    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), ProcessLost> {
        let lost = |_| ProcessLost { process: to, reason: "its channel is closed".into() };
        self.others[to].send((self.index, message)).map_err(lost)
    }

    fn receive(&self) -> Result<Option<(usize, Vec<u8>)>, ProcessLost> {
        match self.inbox().try_recv() {
            Ok(message) => Ok(Some(message)),
            Err(_) if self.processes() == 1 => Ok(None),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(self.all_gone()),
        }
    }

    fn wait(&self) -> Result<(usize, Vec<u8>), ProcessLost> {
        self.inbox().recv().map_err(|_| self.all_gone())
    }
}
