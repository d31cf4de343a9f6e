use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// The end of the output that goes with the answer.
const TAIL: usize = 4 << 10;
/// Lines of a message, and its characters.
const LINES: usize = 3;
const CHARS: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Output,
    Errors,
}

/// What a command says, as far as it is kept.
#[derive(Debug)]
pub(super) struct Capture {
    limit: u64,
    /// All that was said.
    seen: u64,
    /// The end of what was said before the limit was met.
    both: Tail,
    /// The end of what was said on standard error, also after that: it tells why a command failed.
    errors: Tail,
}

/// The last bytes of something.
#[derive(Debug, Default)]
struct Tail {
    bytes: VecDeque<u8>,
    /// How many there were before them.
    before: u64,
}

impl Capture {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, seen: 0, both: Tail::default(), errors: Tail::default() }
    }

    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.seen);
        let kept = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        self.both.take(&bytes[..kept]);
        self.seen = self.seen.saturating_add(bytes.len() as u64);
        if stream == Stream::Errors {
            self.errors.take(bytes);
        }
    }

    /// The end of the output, with notes about what is missing.
    pub(super) fn log(&self) -> String {
        let mut log = String::new();
        if self.both.before > 0 {
            log.push_str(&format!("[{} bytes before this are left out]\n", self.both.before));
        }
        log.push_str(&self.both.text());
        if self.seen > self.limit {
            let (limit, dropped) = (self.limit, self.seen - self.limit);
            let note = format!("\n[after {limit} bytes, {dropped} more were dropped]");
            log.push_str(&note);
        }
        log
    }

    /// The last lines of standard error that say something.
    pub(super) fn last_words(&self) -> Option<String> {
        let text = self.errors.text();
        let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let mut last: Vec<&str> = lines.collect();
        last.drain(..last.len().saturating_sub(LINES));
        let text = last.join("\n");
        let extra = text.chars().count().saturating_sub(CHARS);
        let text: String = text.chars().skip(extra).collect();
        (!text.is_empty()).then_some(text)
    }
}

impl Tail {
    fn take(&mut self, bytes: &[u8]) {
        let fits = &bytes[bytes.len().saturating_sub(TAIL)..];
        let room = TAIL - fits.len();
        let old = self.bytes.len().saturating_sub(room);
        self.bytes.drain(..old);
        self.bytes.extend(fits);
        self.before += (old + bytes.len() - fits.len()) as u64;
    }

    /// Without the rest of a character that was cut, and without what no text can hold.
    fn text(&self) -> String {
        let cut = self.before > 0;
        let rest = |byte: &&u8| cut && **byte & 0b1100_0000 == 0b1000_0000;
        let skipped = self.bytes.iter().take(3).take_while(rest).count();
        let bytes: Vec<u8> = self.bytes.iter().skip(skipped).copied().collect();
        String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}")
    }
}

/// Reads until the end, whatever is kept of it, so that the command never waits for a reader.
pub(super) async fn read(
    mut from: impl AsyncRead + Unpin,
    stream: Stream,
    capture: Arc<Mutex<Capture>>,
) {
    let mut buffer = vec![0; 64 << 10];
    // What cannot be read is like the end: the command is judged by how it ends.
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let mut capture = capture.lock().unwrap_or_else(PoisonError::into_inner);
        capture.take(stream, &buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_what_is_missing_is_said() {
        let mut capture = Capture::new(10_000);
        capture.take(Stream::Output, b"first\n");
        assert_eq!(capture.log(), "first\n");
        (0..9_000).for_each(|_| capture.take(Stream::Output, b"x"));
        capture.take(Stream::Output, &"é".repeat(2_048).into_bytes());
        let log = capture.log();
        assert!(log.starts_with("[5904 bytes before this are left out]\nx"), "{log}");
        assert!(log.ends_with("\n[after 10000 bytes, 3102 more were dropped]"), "{log}");
        assert!(!log.contains("first"), "{log}");
    }

    #[test]
    fn the_last_words_are_heard_after_the_limit() {
        let mut capture = Capture::new(3);
        capture.take(Stream::Errors, b"a\nb\n\nc\n");
        capture.take(Stream::Output, b"noise\n");
        capture.take(Stream::Errors, b"d\n  \n");
        assert_eq!(capture.last_words().as_deref(), Some("b\nc\nd"));
        assert_eq!(capture.log(), "a\nb\n[after 3 bytes, 15 more were dropped]");
        assert_eq!(Capture::new(9).last_words(), None);
    }

    #[test]
    fn a_character_that_was_cut_is_left_out() {
        let mut tail = Tail::default();
        tail.take("é".repeat(2_048).as_bytes());
        tail.take(b"\0");
        assert_eq!(tail.text(), format!("{}\u{fffd}", "é".repeat(2_047)));
    }
}
