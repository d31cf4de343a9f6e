use seaway_client::{Client, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server that answers each connection with the next text, and then closes it.
pub(crate) struct Script {
    pub(crate) url: String,
    asked: JoinHandle<Vec<String>>,
}

impl Script {
    pub(crate) async fn play(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let asked = tokio::spawn(async move {
            let mut asked = Vec::new();
            for answer in answers {
                let (mut socket, _) = listener.accept().await.expect("somebody connects");
                asked.push(request(&mut socket).await);
                socket.write_all(answer.as_bytes()).await.expect("it is read");
            }
            asked
        });
        Self { url, asked }
    }

    pub(crate) fn client(&self, options: Options) -> Client {
        Client::new(&self.url, Some("swy_test"), options).expect("it is an address")
    }

    /// What was asked, once all answers are given.
    pub(crate) async fn asked(self) -> Vec<String> {
        self.asked.await.expect("it does not panic")
    }
}

/// A whole request: its head, and as much of a body as the head announces.
async fn request(socket: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut piece = [0; 4_096];
    loop {
        let read = socket.read(&mut piece).await.expect("it is sent");
        assert!(read > 0, "the request ends in the middle: {text}");
        text.push_str(std::str::from_utf8(&piece[..read]).expect("tests send plain text"));
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let announced = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let announced = announced.map_or(0, |it| it.parse().expect("it is a number"));
        if body.len() >= announced {
            return text;
        }
    }
}

pub(crate) fn answer(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
}

pub(crate) fn problem(status: u16, code: &str, more: &str) -> String {
    let body = format!(
        r#"{{"type":"about:blank","title":"t","status":{status},"code":"{code}","detail":"d"}}"#
    );
    answer(&format!("{status} X\r\ncontent-type: application/problem+json{more}"), &body)
}

/// The value of a header, of a request as it was sent.
pub(crate) fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let found = request.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    found.map(str::trim_end)
}
