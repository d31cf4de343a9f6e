use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::request::Target;

/// How long a server may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);
/// Lines of a server's output that are kept for the case that it fails.
const KEPT: usize = 20;
const ANNOUNCED: &str = "listening on http://";

/// A server in a process of its own, on a data directory of its own. It ends with this value.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    target: Target,
    said: Said,
    dir: Option<TempDir>,
}

type Said = Arc<Mutex<VecDeque<String>>>;

/// What the system says that a process has, in MiB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) peak_mib: f64,
    pub(crate) now_mib: f64,
}

impl Served {
    /// Starts a program that serves `dir` and says on its standard error output where it listens.
    pub(crate) fn start(command: &mut Command, dir: TempDir) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let name = command.get_program().to_owned();
        let mut child = command.spawn().with_context(|| format!("starting {}", name.display()))?;
        let said = Said::default();
        let stderr = child.stderr.take().expect("it was asked for");
        let announced = follow(stderr, said.clone());
        let address = announced.recv_timeout(PATIENCE).ok();
        let address = address.and_then(|address| address.parse().ok());
        let unused = "127.0.0.1:0".parse().expect("this is an address");
        let target = Target { address: address.unwrap_or(unused), token: String::new() };
        let mut served = Self { child, target, said, dir: Some(dir) };
        if address.is_none() {
            bail!("{} does not say where it listens: {}", name.display(), served.said());
        }
        let file = served.dir.as_ref().map(|dir| dir.path().join("admin.token"));
        if let Some(token) = file.and_then(|file| fs::read_to_string(file).ok()) {
            token.trim().clone_into(&mut served.target.token);
        }
        Ok(served)
    }

    pub(crate) fn target(&self) -> Target {
        self.target.clone()
    }

    pub(crate) fn memory(&self) -> Result<Memory> {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).context("reading the memory of the server")?;
        let mib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
            kib.map(|kib| kib / 1_024.0).with_context(|| format!("the system says no {name}"))
        };
        Ok(Memory { peak_mib: mib("VmHWM:")?, now_mib: mib("VmRSS:")? })
    }

    /// The time that processors have spent on it.
    pub(crate) fn processor_time(&self) -> Result<Duration> {
        processor_time(&self.child.id().to_string())
    }

    /// What it said last.
    pub(crate) fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Ends it in order, and gives the directory back.
    pub(crate) fn stop(mut self) -> Result<TempDir> {
        let pid = i32::try_from(self.child.id()).context("the number of a process")?;
        kill(Pid::from_raw(pid), Signal::SIGTERM).context("telling the server to end")?;
        for _ in 0..PATIENCE.as_millis() / POLL.as_millis() {
            if let Some(status) = self.child.try_wait().context("waiting for the server")? {
                ensure!(status.success(), "the server ended with {status}: {}", self.said());
                return self.dir.take().context("the directory was given back already");
            }
            thread::sleep(POLL);
        }
        bail!("the server does not end: {}", self.said())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It is gone already unless something failed, and then nobody waits for its answer.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Processor time of a process, by its number or `self`. The system counts in hundredths.
pub(crate) fn processor_time(process: &str) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    let stat = stat.context("reading the processor time of a process")?;
    // The name of the program may have spaces; it is the only thing in parentheses.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |number: usize| fields.get(number).and_then(|text| text.parse::<u64>().ok());
    let (user, system) = (ticks(11), ticks(12));
    let ticks = user.zip(system).map(|(user, system)| user + system);
    Ok(Duration::from_millis(10 * ticks.context("the system says no processor time")?))
}

/// Reads what a server says, to its end; its address comes through the channel.
fn follow(stderr: ChildStderr, said: Said) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once(ANNOUNCED) {
                let address = rest.split_whitespace().next().unwrap_or_default();
                // Only the first counts, and only while somebody waits for it.
                drop(sender.try_send(address.trim_end_matches('/').to_owned()));
            }
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            if said.len() == KEPT {
                said.pop_front();
            }
            said.push_back(line);
        }
    });
    receiver
}
