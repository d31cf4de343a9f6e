use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::belonging::Suspects;
use super::census::Census;

/// How old a census may be that many commands share.
const RECENT: Duration = Duration::from_secs(1);

/// The commands that this process runs. What they leave behind becomes a child of the process, so
/// that one list for all of it is the truth.
static RUNNING: Mutex<Running> =
    Mutex::new(Running { commands: BTreeMap::new(), first: None, adopts: false, census: None });

#[derive(Debug)]
pub(super) struct Running {
    /// By the pid of the process that was started: when that was.
    commands: BTreeMap<i32, u64>,
    first: Option<u64>,
    adopts: bool,
    /// The latest census that was shared.
    census: Option<(Instant, Arc<Census>)>,
}

pub(super) fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Running {
    pub(super) fn begin(&mut self, root: i32, born: u64) {
        self.first.get_or_insert(born);
        self.commands.insert(root, born);
    }

    pub(super) fn end(&mut self, root: i32) {
        self.commands.remove(&root);
    }

    pub(super) fn suspects(&self, root: i32) -> Suspects {
        let others = self.commands.iter().filter(|(pid, _)| **pid != root);
        Suspects {
            first: self.first.unwrap_or(u64::MAX),
            others: others.map(|(_, born)| *born).collect(),
        }
    }

    /// A census that is not quite new: taking one costs the more, the more processes there are.
    pub(super) fn recent(&mut self) -> Option<Arc<Census>> {
        match &self.census {
            Some((taken, census)) if taken.elapsed() < RECENT => Some(Arc::clone(census)),
            _ => {
                let census = Arc::new(Census::take()?);
                self.census = Some((Instant::now(), Arc::clone(&census)));
                Some(census)
            }
        }
    }

    /// Makes this process the parent of all orphans below it.
    pub(super) fn adopt(&mut self) {
        if !self.adopts {
            self.adopts = true;
            become_subreaper();
        }
    }
}

#[cfg(target_os = "linux")]
fn become_subreaper() {
    if let Err(error) = nix::sys::prctl::set_child_subreaper(true) {
        tracing::warn!(%error, "processes that leave their command cannot be found");
    }
}

#[cfg(not(target_os = "linux"))]
fn become_subreaper() {
    tracing::warn!("processes that leave their command cannot be found on this system");
}
