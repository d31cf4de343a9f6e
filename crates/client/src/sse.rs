/// Splits a stream of server-sent events, which arrive in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// What came of the line that is not complete yet.
    line: Vec<u8>,
    /// A line feed right after a carriage return belongs to it.
    after_return: bool,
    event: Event,
}

/// One event, with the fields that are used here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

/// An event is larger than any record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// The most that one event may hold.
pub(crate) const MOST: usize = 16 << 20;

impl Events {
    /// Takes the next piece, and gives the events that it completes to `take`.
    pub(crate) fn feed(
        &mut self,
        piece: &[u8],
        mut take: impl FnMut(Event),
    ) -> Result<(), TooLarge> {
        for &byte in piece {
            let continues = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if continues => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    if let Some(event) = self.end_line(&line) {
                        take(event);
                    }
                }
                _ if self.line.len() + self.event.data.len() >= MOST => return Err(TooLarge),
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8]) -> Option<Event> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return (!event.data.is_empty()).then_some(event);
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (field, rest) = line.split_at(colon);
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => self.event.name = value.to_vec(),
            b"data" => {
                if !self.event.data.is_empty() {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            // Comments keep the connection open, and positions are in the records themselves.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, piece: usize) -> Vec<(String, String)> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        let text_of = |bytes| String::from_utf8(bytes).expect("it is text");
        for piece in text.as_bytes().chunks(piece) {
            events
                .feed(piece, |it| found.push((text_of(it.name), text_of(it.data))))
                .expect("it is small");
        }
        found
    }

    #[test]
    fn events_are_found_wherever_the_stream_is_cut() {
        let text = ": hello\n\nid: 7\nevent: record\ndata: {\"a\":\ndata:  1}\n\n\
                    event:record\r\ndata:é\r\n\r\nid: 9\n\ndata: cr\r\rdata: never ended\n";
        let expected = [("record", "{\"a\":\n 1}"), ("record", "é"), ("", "cr")];
        let expected = expected.map(|(name, data)| (name.to_owned(), data.to_owned()));
        for piece in 1..text.len() {
            assert_eq!(parsed(text, piece), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut events = Events::default();
        let line = [b"data: ".as_slice(), &vec![b'x'; 1 << 20], b"\n"].concat();
        let fed = (0..20).try_for_each(|_| events.feed(&line, |_| {}));
        assert_eq!(fed, Err(TooLarge));
    }
}
