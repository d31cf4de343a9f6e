use std::time::Duration;

use seaway_api::{Claim, Page};
use seaway_client::{Client, ClientError, Options, Paging, ResourceScope, whole};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::script::{Script, answer, header, problem};

const SOON: &str = "\r\nretry-after: 0";
const WRITTEN: &str = r#"{"at":7}"#;

#[tokio::test]
async fn a_write_that_a_busy_server_refuses_is_made_again_with_the_same_key() {
    let busy = problem(429, "busy", SOON);
    let script = Script::play(vec![busy.clone(), busy, answer("200 OK", WRITTEN)]).await;
    let written = script.client(Options::default()).pause("shop", Uuid::from_u128(1)).await;
    assert_eq!(written.expect("the third is answered").at, 7);
    let asked = script.asked().await;
    let key = header(&asked[0], "idempotency-key").expect("a write has a key");
    assert!(asked.iter().all(|it| header(it, "idempotency-key") == Some(key)), "{asked:?}");
    assert!(asked.iter().all(|it| header(it, "authorization") == Some("Bearer swy_test")));
}

#[tokio::test]
async fn a_server_that_stays_busy_is_left_alone() {
    let options = Options { retries: 1, ..Options::default() };
    let script = Script::play(vec![problem(503, "busy", SOON), problem(503, "busy", SOON)]).await;
    let error = script.client(options).project("shop").await.expect_err("it stays busy");
    assert!(matches!(error, ClientError::Busy { .. }), "{error:?}");
    assert_eq!(error.status(), Some(503));
    assert_eq!(error.to_string(), "d; try again in 1 s");
    assert_eq!(script.asked().await.len(), 2);
}

#[tokio::test]
async fn a_claim_is_made_once() {
    let script = Script::play(vec![problem(429, "busy", SOON)]).await;
    let claimed = script.client(Options::default()).claim("shop", "a/b", &Claim::default()).await;
    assert!(claimed.is_err_and(|error| error.is("busy")));
    let asked = script.asked().await.remove(0);
    assert!(asked.starts_with("POST /v1/projects/shop/executors/a%2Fb/claim HTTP/1.1"), "{asked}");
}

#[tokio::test]
async fn a_refusal_is_told_as_the_server_says_it() {
    let script = Script::play(vec![problem(409, "stale-fence", "")]).await;
    let error = script.client(Options::default()).renew("shop", "t").await.expect_err("it is old");
    assert!(error.is("stale-fence") && !error.is_passing(), "{error:?}");
}

#[tokio::test]
async fn what_is_no_server_of_ours_is_recognised() {
    let html = answer("200 OK", "<html>\n");
    let moved = answer("302 Found\r\nlocation: https://elsewhere.example/", "");
    let script = Script::play(vec![html, moved, "SSH-2.0-x\r\n".to_owned()]).await;
    let client = script.client(Options::default());
    for (passing, part) in [(false, "200 OK with \"<html>\""), (false, "302 Found")] {
        let error = client.project("shop").await.expect_err("it is another server");
        assert!(matches!(error, ClientError::NotSeaway { .. }), "{error:?}");
        assert!(error.to_string().contains(part), "{error}");
        assert_eq!(error.is_passing(), passing);
    }
    let error = client.project("shop").await.expect_err("it is another protocol");
    assert!(matches!(error, ClientError::Broken { .. }), "{error:?}");
}

#[tokio::test]
async fn a_place_without_a_server_says_what_to_do() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let client = Client::new(&url, None, Options::default()).expect("it is an address");
    drop(listener);
    let error = client.project("shop").await.expect_err("nobody listens");
    let expected = format!(
        "no server answers at {url}; start one with `seaway serve`, or name another with --url or \
         SEAWAY_URL"
    );
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_server_without_tls_is_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    let url = format!("https://{}", listener.local_addr().expect("it is bound"));
    let plain = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("somebody connects");
        let mut hello = [0; 16];
        socket.read_exact(&mut hello).await.expect("it says hello");
        let refused = answer("400 Bad Request", "");
        socket.write_all(refused.as_bytes()).await.expect("it is read");
        socket
    });
    let client = Client::new(&url, None, Options::default()).expect("it is an address");
    let error = client.project("shop").await.expect_err("it does not speak TLS");
    drop(plain.await);
    assert!(error.to_string().starts_with("no safe connection to"), "{error}");
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for_forever() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let options = Options { timeout: Duration::from_millis(50), ..Options::default() };
    let client = Client::new(&url, None, options).expect("it is an address");
    let error = client.project("shop").await.expect_err("nobody answers");
    assert!(matches!(error, ClientError::TimedOut { .. }), "{error:?}");
    drop(listener);
}

#[tokio::test]
async fn bytes_and_scopes_reach_the_server() {
    let change = r#"{"kind":"resource","name":"a/b","change":"created"}"#;
    let script = Script::play(vec![answer("200 OK", change)]).await;
    let scope = ResourceScope { stage: Some("beta".into()), service: Some("cart & co".into()) };
    let client = script.client(Options::default());
    client.put_resource("shop", &scope, "a/b c", b"hello".to_vec()).await.expect("it is put");
    let asked = script.asked().await.remove(0);
    let line = "PUT /v1/projects/shop/resources/a/b%20c?stage=beta&service=cart+%26+co HTTP/1.1";
    assert!(asked.starts_with(line), "{asked}");
    assert_eq!(header(&asked, "content-type"), Some("application/octet-stream"));
    assert!(asked.ends_with("\r\n\r\nhello"), "{asked}");
}

#[tokio::test]
async fn a_list_is_read_to_its_end_or_to_the_bound() {
    let pages = |most| {
        whole(most, async |paging: Paging| {
            let at: usize = paging.cursor.map_or(0, |cursor| cursor.parse().expect("ours"));
            let end = (at + paging.limit.expect("it is bounded").min(3)).min(7);
            let next = (end < 7).then(|| end.to_string());
            Ok(Page { items: (at..end).collect(), next })
        })
    };
    let all = pages(100).await.expect("it is there");
    assert_eq!((all.items, all.next), ((0..7).collect(), None));
    let some = pages(4).await.expect("it is there");
    assert_eq!((some.items, some.next), ((0..4).collect(), Some("4".to_owned())));
}
