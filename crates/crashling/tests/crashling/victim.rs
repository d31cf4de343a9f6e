use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a process may take for anything before the test gives up on it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lines that the reader may be ahead of the test; the process waits beyond that.
const LINES: usize = 100_000;

/// A running process, and everything that it has printed.
pub(crate) struct Victim {
    child: Child,
    lines: Receiver<String>,
    reader: JoinHandle<()>,
}

impl Victim {
    pub(crate) fn start(place: &[&str], mode: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_seaway-crashling"))
            .args(place)
            .arg(mode)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary was built for this test");
        let stdout = child.stdout.take().expect("it is piped");
        let (send, lines) = sync_channel(LINES);
        let reader = std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = String::new();
            while stdout.read_line(&mut line).is_ok_and(|length| length > 0) {
                // A line without its end was cut off by the kill, and says nothing.
                if let Some(line) = line.strip_suffix('\n')
                    && send.send(line.to_owned()).is_err()
                {
                    return;
                }
                line.clear();
            }
        });
        Self { child, lines, reader }
    }

    /// Collects lines up to the next acknowledgement.
    pub(crate) fn until_ack(&self, lines: &mut Vec<String>) {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.expect("the process acknowledges something in time");
            let acknowledged = line.starts_with("ack ");
            lines.push(line);
            if acknowledged {
                return;
            }
        }
    }

    /// Collects what is printed during the next while.
    pub(crate) fn lines_for(&self, time: Duration, lines: &mut Vec<String>) {
        let deadline = now() + time;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(now())) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => panic!("the process ended by itself"),
            }
        }
    }

    /// Ends it at once, and collects what it had still printed.
    pub(crate) fn kill(mut self, lines: &mut Vec<String>) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it was started here");
        lines.extend(self.lines.iter());
        self.reader.join().expect("the reader does not panic");
    }

    /// Waits until it ends by itself, and well.
    pub(crate) fn finish(mut self, lines: &mut Vec<String>) {
        let deadline = now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(now())) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.kill(lines);
                    panic!("not everything came to its end in time");
                }
            }
        }
        let status = self.child.wait().expect("it was started here");
        assert!(status.success(), "{status}");
        self.reader.join().expect("the reader does not panic");
    }
}

#[expect(clippy::disallowed_methods, reason = "a test of real processes waits in real time")]
fn now() -> Instant {
    Instant::now()
}
