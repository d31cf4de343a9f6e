use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How often a running child and the signals are looked at.
const POLL: Duration = Duration::from_millis(20);

/// How long output may keep coming after a child ended. A daemon that it left behind may hold the
/// pipe open for ever, so its end is not waited for.
const DRAIN: Duration = Duration::from_millis(300);

/// Runs programs in the workspace. Signals that would end this process end the running program
/// instead, so that whoever started something still gets to stop it.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) root: PathBuf,
    interrupted: Arc<AtomicBool>,
}

impl Shell {
    pub(crate) fn new() -> Result<Self> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, interrupted.clone())
                .context("watching for signals")?;
        }
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().expect("xtask lies in the workspace").to_owned();
        Ok(Self { root, interrupted })
    }

    pub(crate) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = self.command(PathBuf::from(cargo));
        command.args(args);
        command
    }

    /// Runs a program to its end; what it prints is seen at once.
    pub(crate) fn run(&self, command: &mut Command) -> Result<ExitStatus> {
        let mut child = Group::start(command)?;
        loop {
            if let Some(status) = child.0.try_wait().context("waiting for a program")? {
                return Ok(status);
            }
            if self.interrupted() {
                bail!("interrupted");
            }
            thread::sleep(POLL);
        }
    }

    /// Like [`Shell::run`], and hands each line of output and errors on, in the order of printing.
    pub(crate) fn run_lines(
        &self,
        command: &mut Command,
        mut on_line: impl FnMut(&str),
    ) -> Result<ExitStatus> {
        let (reader, writer) = std::io::pipe().context("opening a pipe")?;
        command.stdout(writer.try_clone().context("opening a pipe")?).stderr(writer);
        let mut child = Group::start(command)?;
        // The command holds the writing ends; they have to close for the reader to see the end.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let lines = read_lines(reader);
        loop {
            match lines.recv_timeout(POLL) {
                Ok(line) => on_line(&line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(POLL),
            }
            if let Some(status) = child.0.try_wait().context("waiting for a program")? {
                while let Ok(line) = lines.recv_timeout(DRAIN) {
                    on_line(&line);
                }
                return Ok(status);
            }
            if self.interrupted() {
                bail!("interrupted");
            }
        }
    }
}

/// The reading thread ends with the pipe, or with this process.
fn read_lines(reader: std::io::PipeReader) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1024);
    thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches('\n').to_owned();
            line.clear();
            if sender.send(text).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A child with a process group of its own, so that what the child started ends with it.
struct Group(Child);

impl Group {
    fn start(command: &mut Command) -> Result<Self> {
        let child = command.process_group(0).spawn();
        Ok(Self(child.with_context(|| format!("starting {:?}", command.get_program()))?))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.0.try_wait() {
            return;
        }
        let group = format!("-{}", self.0.id());
        for signal in ["-TERM", "-KILL"] {
            let sent = Command::new("kill").args([signal, "--", &group]).status();
            if sent.is_err() {
                break;
            }
            for _ in 0..100 {
                if let Ok(Some(_)) = self.0.try_wait() {
                    return;
                }
                thread::sleep(POLL);
            }
        }
    }
}
