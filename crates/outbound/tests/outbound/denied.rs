use std::process::Command;

use seaway_outbound::{Outbound, OutboundError, Policy, Range};

use crate::server::Server;
use crate::{allowing, get};

/// The name of the test below, and what tells it that it runs in a process of its own.
const PROXIED: &str = "denied::proxies_of_the_environment_are_not_used";
const PROXY: &str = "http://127.0.0.1:9";

#[tokio::test]
async fn this_machine_is_reached_only_where_an_admin_allowed_it() {
    let (server, other) = (Server::start().await, Server::start().await);
    let outbound = allowing([server.destination()]);
    assert_eq!(outbound.send(get(&server.url("/status/200"))).await.unwrap().status, 200);
    for (outbound, server) in [(&Outbound::new(Policy::default()), &server), (&outbound, &other)] {
        let asked = server.asked();
        let error = outbound.send(get(&server.url("/status/200"))).await.unwrap_err();
        let OutboundError::Denied(denied) = &error else { panic!("{error}") };
        assert_eq!((denied.range, &denied.destination), (Range::Loopback, &server.destination()));
        assert_eq!(server.asked(), asked, "nothing was sent");
    }
}

#[tokio::test]
async fn a_name_is_judged_by_where_it_leads() {
    let server = Server::start().await;
    let url = format!("http://localhost:{}/status/204", server.port);
    // That the address is allowed does not allow names that lead to it.
    for outbound in [Outbound::new(Policy::default()), allowing([server.destination()])] {
        let error = outbound.send(get(&url)).await.unwrap_err();
        let OutboundError::Denied(denied) = &error else { panic!("{error}") };
        assert!(denied.address.is_loopback());
        let text = error.to_string();
        assert!(text.starts_with("localhost leads to "), "{text}");
        let advice = format!("--allow-outbound localhost:{}", server.port);
        assert!(text.ends_with(&advice), "{text}");
    }
    assert_eq!(server.asked(), 0);
    let outbound = allowing([server.named("localhost")]);
    assert_eq!(outbound.send(get(&url)).await.unwrap().status, 204);
    // The allowance is for one port, also once a connection to the host is there.
    let other = Server::start().await;
    let url = format!("http://localhost:{}/status/204", other.port);
    assert!(matches!(outbound.send(get(&url)).await, Err(OutboundError::Denied(_))));
}

#[tokio::test]
async fn a_name_without_an_address_is_told() {
    // A part of a name is never that long, which is known without asking anybody.
    let host = format!("{}.invalid", "a".repeat(64));
    let error = Outbound::new(Policy::default()).send(get(&format!("http://{host}/"))).await;
    let error = error.unwrap_err();
    assert!(matches!(error, OutboundError::Unresolved { .. }), "{error}");
    assert!(error.to_string().starts_with(&format!("{host} has no address: ")), "{error}");
}

/// Variables of this process cannot be changed safely, so another one is started for it.
#[tokio::test]
async fn proxies_of_the_environment_are_not_used() {
    if std::env::var("HTTP_PROXY").is_ok_and(|proxy| proxy == PROXY) {
        let server = Server::start().await;
        let outbound = allowing([server.destination()]);
        assert_eq!(outbound.send(get(&server.url("/status/200"))).await.unwrap().status, 200);
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", PROXIED]);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, PROXY);
    }
    for name in ["no_proxy", "NO_PROXY", "REQUEST_METHOD"] {
        child.env_remove(name);
    }
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
