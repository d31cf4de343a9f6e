use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::request::Request;

/// Room for the answer to one event; a longer answer makes more.
const ROOM: usize = 4 * 1_024;
const HEADERS: usize = 32;

/// A connection that is kept open, with one request on its way at a time. It does what a client
/// must and no more: the load shares the processors with the server that it is a load for.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    outbox: Vec<u8>,
    inbox: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// The body of an answer that says yes.
    pub(crate) fn accepted(self) -> Result<&'a [u8]> {
        let Self { status, body } = self;
        match status {
            200..=299 => Ok(body),
            _ => bail!("the server answered {status}: {}", String::from_utf8_lossy(body)),
        }
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("connecting to the server")?;
        stream.set_nodelay(true).context("setting up a connection")?;
        Ok(Self { stream, outbox: Vec::with_capacity(ROOM), inbox: Vec::with_capacity(ROOM) })
    }

    pub(crate) async fn send(&mut self, request: &Request, body: &[u8]) -> Result<Answer<'_>> {
        self.outbox.clear();
        request.put(body, &mut self.outbox);
        self.stream.write_all(&self.outbox).await.context("sending a request")?;
        self.inbox.clear();
        let (status, start) = loop {
            self.read().await?;
            let Some(head) = head(&self.inbox)? else { continue };
            let end = head.start + head.length;
            while self.inbox.len() < end {
                self.inbox.reserve(end - self.inbox.len());
                self.read().await?;
            }
            ensure!(self.inbox.len() == end, "the server said more than it was asked");
            break (head.status, head.start);
        };
        Ok(Answer { status, body: &self.inbox[start..] })
    }

    async fn read(&mut self) -> Result<()> {
        let count = self.stream.read_buf(&mut self.inbox).await.context("reading an answer")?;
        ensure!(count > 0, "the server closed the connection");
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
struct Head {
    status: u16,
    /// Where the body begins.
    start: usize,
    /// How long the body is.
    length: usize,
}

/// The head of an answer, once all of it is there.
fn head(bytes: &[u8]) -> Result<Option<Head>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(bytes).context("reading the head of an answer")?;
    let httparse::Status::Complete(start) = parsed else { return Ok(None) };
    let status = response.code.context("an answer has a status")?;
    let length = response.headers.iter().find(|it| it.name.eq_ignore_ascii_case("content-length"));
    let length = match length {
        Some(header) => std::str::from_utf8(header.value)
            .ok()
            .and_then(|text| text.parse().ok())
            .context("the length of an answer is a number")?,
        // An answer without content has no length.
        None if status == 204 => 0,
        None => bail!("an answer does not say how long it is"),
    };
    Ok(Some(Head { status, start, length }))
}
