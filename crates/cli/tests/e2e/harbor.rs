use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use seaway_client::{Client, Options};

/// Long enough for a machine that is busy with other tests.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The binary, with nothing from the environment of the tests.
pub(crate) fn seaway(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seaway"));
    command.args(args).env("SEAWAY_CONFIG", "/dev/null").stdin(Stdio::null());
    for name in ["SEAWAY_DATA", "SEAWAY_URL", "SEAWAY_TOKEN", "SEAWAY_DATABASE_URL"] {
        command.env_remove(name);
    }
    command
}

/// A process that is killed when the test is over, whatever happens.
pub(crate) struct Process {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it is there");
        let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                // A test that is over does not listen any more.
                let _ = send.send(line);
            }
        });
        Self { child, lines, seen: Vec::new() }
    }

    /// Waits for a line on standard error that contains this.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => self.seen.push(line),
                Err(error) => panic!("{text:?} did not come ({error}) after {:#?}", self.seen),
            }
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.expect("there is a kill program").success());
    }

    /// Ends it without a chance to do anything.
    pub(crate) fn kill(mut self) {
        self.signal("KILL");
        self.child.wait().expect("it was started here");
    }

    /// Asks it to stop, and gives its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.signal("TERM");
        self.child.wait().expect("it was started here").code()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("it was started here").is_none()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server on a port of its own.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    pub(crate) fn start_with(data: &Path, more: &[&str]) -> Self {
        let mut command = seaway(&["serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data).args(more);
        let mut process = Process::start(command);
        let line = process.wait_for("listening on ");
        let url = line.rsplit_once("listening on ").expect("it was just found").1.to_owned();
        let token = std::fs::read_to_string(data.join("admin.token")).unwrap_or_default();
        Self { process, url, token: token.trim().to_owned() }
    }

    /// A command that talks to this server.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = seaway(args);
        command.env("SEAWAY_URL", &self.url).env("SEAWAY_TOKEN", &self.token);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the binary was built for this test")
    }

    /// What a command that ends well prints.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).expect("it prints text")
    }

    /// What a command that ends with this code says.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stdout}{stderr}");
        stderr
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, Some(&self.token), Options::default()).expect("it is a URL")
    }
}

/// Two stages, of which the second follows the first.
pub(crate) const TWO_STAGES: &str = "\
apiVersion: seaway.dev/v1
kind: Shipyard
metadata: {name: shop}
spec:
  stages:
  - name: dev
    sequences:
    - name: delivery
      tasks: [{name: deployment}, {name: test}]
  - name: prod
    sequences:
    - name: delivery
      triggeredOn: [{event: dev.delivery.finished}]
      tasks: [{name: deployment}]
";

/// Writes a file for a test.
pub(crate) fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("the directory is writable");
    path
}

/// A test that cannot run says so.
pub(crate) fn skipped(what: &str) {
    // Straight to the terminal: what goes through the test's output is hidden when it passes.
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there are threads")
}
