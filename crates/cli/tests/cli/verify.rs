use std::path::Path;

use crate::harbor::shop;
use crate::program::{golden, log};

/// Changes the store behind its back.
fn tamper(dir: &Path, sql: &str) {
    let database = rusqlite::Connection::open(dir.join("seaway.db")).expect("it is a database");
    database.execute_batch(sql).expect("the statement is valid");
}

#[tokio::test]
async fn an_intact_log_is_said_to_be_intact() {
    let dir = shop().await;
    golden("verify", dir.path(), &log(dir.path(), &["verify"]).shown());
    golden("verify-json", dir.path(), &log(dir.path(), &["verify", "shop", "-o", "json"]).shown());
}

#[tokio::test]
async fn a_log_that_was_changed_is_found_out() {
    let mut shown = String::new();
    for sql in [
        "UPDATE record SET \"by\" = 'eve' WHERE seq = 9",
        "DELETE FROM record WHERE seq = 9",
        "DELETE FROM record WHERE seq > 9",
        "UPDATE project SET hash = zeroblob(32)",
        "UPDATE target SET path = 'shop/gamma' WHERE path = 'shop/beta'",
        "UPDATE record SET target = 999 WHERE seq = 9",
        "UPDATE record SET kind = 99 WHERE seq = 9",
    ] {
        let dir = shop().await;
        tamper(dir.path(), sql);
        let answer = log(dir.path(), &["verify"]);
        assert_eq!(answer.code, 1, "{sql}");
        shown.push_str(&format!("{sql}\n{}\n\n", answer.shown()));
    }
    golden("verify-broken", Path::new(""), &shown);
}
