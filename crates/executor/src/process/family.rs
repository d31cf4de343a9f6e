use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::task::spawn_blocking;

use super::belonging::{Kin, belonging};
use super::census::{self, Census, Life, Process};
use super::reaper::running;

/// How often it is looked for processes to kill when there is no time to wait for their end.
const ROUNDS: usize = 3;

/// All processes of one command. Dropped, none of them is left.
#[derive(Debug)]
pub(crate) struct Family {
    kin: Kin,
    over: bool,
}

/// What is left of a family.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    pub(super) alive: Vec<Process>,
    /// Those that nobody has waited for yet.
    pub(super) dead: usize,
}

impl Family {
    /// Starts a command in a group of its own. `mark` is what it has as `SEAWAY_MESSAGE`.
    pub(crate) fn start(mut command: Command, mark: PathBuf) -> io::Result<(Self, Child)> {
        // Nobody else may end in between, and take what this command leaves for its own.
        let mut running = running();
        running.adopt();
        let child = command.process_group(0).spawn()?;
        let root = child.id().and_then(|pid| i32::try_from(pid).ok());
        let root = root.expect("a process that was not waited for has a pid");
        running.begin(root, census::born(root).unwrap_or_default());
        let kin = Kin { root, mark, known: BTreeSet::new() };
        Ok((Self { kin, over: false }, child))
    }

    /// Looks who is there, and waits for those that have ended and have nobody else to do so.
    pub(super) fn sweep(&mut self) -> Remaining {
        match Census::take() {
            Some(census) => self.among(&census),
            None => self.group(),
        }
    }

    fn among(&mut self, census: &Census) -> Remaining {
        let suspects = running().suspects(self.kin.root);
        let found = belonging(census, &self.kin, &suspects);
        self.kin.known = found.iter().map(|it| (it.pid, it.born)).collect();
        let mut remaining = Remaining::default();
        for process in found {
            match process.life {
                Life::Alive => remaining.alive.push(process.clone()),
                // Whoever started the command waits for it.
                Life::Dead if process.pid == self.kin.root => {}
                Life::Dead if process.parent == census.me.pid && reap(process.pid) => {}
                Life::Dead => remaining.dead += 1,
            }
        }
        remaining
    }

    /// The group alone, where the machine tells nothing about processes.
    fn group(&self) -> Remaining {
        let Kin { root, .. } = self.kin;
        let there = killpg(Pid::from_raw(root), None).is_ok();
        let process = Process {
            pid: root,
            parent: 0,
            group: root,
            session: 0,
            born: 0,
            life: Life::Alive,
            mark: None,
        };
        Remaining { alive: there.then_some(process).into_iter().collect(), dead: 0 }
    }

    /// Sends a signal to some of them, and to the whole group if one of them is in it.
    pub(super) fn signal<'p>(
        &self,
        signal: Signal,
        processes: impl IntoIterator<Item = &'p Process>,
    ) {
        let (inside, outside): (Vec<&Process>, Vec<&Process>) =
            processes.into_iter().partition(|it| it.group == self.kin.root);
        // One that has just ended cannot be signalled, which is as good.
        if !inside.is_empty() {
            let _ = killpg(Pid::from_raw(self.kin.root), signal);
        }
        for process in outside {
            let _ = kill(Pid::from_raw(process.pid), signal);
        }
    }

    /// Keeps in mind who is there, in case it leaves.
    pub(crate) async fn look(mut self) -> Self {
        let looked = spawn_blocking(move || {
            let census = running().recent();
            if let Some(census) = census {
                self.among(&census);
            }
            self
        });
        looked.await.expect("looking at processes does not panic")
    }

    pub(super) async fn swept(mut self) -> (Self, Remaining) {
        let swept = spawn_blocking(move || {
            let remaining = self.sweep();
            (self, remaining)
        });
        swept.await.expect("looking at processes does not panic")
    }

    pub(super) fn is_over(&mut self) {
        self.over = true;
        running().end(self.kin.root);
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        for _ in 0..ROUNDS {
            let remaining = self.sweep();
            self.signal(Signal::SIGKILL, &remaining.alive);
        }
        running().end(self.kin.root);
    }
}

/// Waits for a child that has ended. Tells whether it is gone.
fn reap(pid: i32) -> bool {
    waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG)).is_ok()
}
