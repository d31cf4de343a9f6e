use std::fs;

use crate::harbor::{Harbor, shop};
use crate::program::{command, golden, log, ran, run};

#[tokio::test]
async fn wrong_arguments_are_explained() {
    let dir = shop().await;
    let mut shown = String::new();
    for args in [
        &["list", "nope"][..],
        &["list", "not a name"],
        &["list", "--kind", "stage-ended"],
        &["list", "--fact", "lost"],
        &["list", "--since", "yesterday"],
        &["list", "--deployment", "7"],
        &["as-of", "2026-03-01"],
        &["as-of", "#1000"],
        &["as-of", "now", "--place", "gamma"],
        &["list", "--after", "x"],
    ] {
        let answer = log(dir.path(), args).shown();
        shown.push_str(&format!("$ seaway log {}\n{answer}\n\n", args.join(" ")));
    }
    golden("wrong-arguments", dir.path(), &shown);
    assert_eq!(run(&["sail"]).code, 2);
    assert_eq!(run(&[]).code, 2);
}

#[tokio::test]
async fn one_of_several_projects_has_to_be_named() {
    let dir = shop().await;
    Harbor::open(dir.path(), "bank").await.close().await;
    golden("several-projects", dir.path(), &log(dir.path(), &["stats"]).shown());
    let named = log(dir.path(), &["list", "bank"]).ok();
    assert_eq!(named.lines().count(), 2, "{named}");
}

#[tokio::test]
async fn a_place_without_a_usable_store_is_explained() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut shown = String::new();
    let mut show = |what: &str| {
        let answer = log(dir.path(), &["stats"]).shown();
        shown.push_str(&format!("{what}\n{answer}\n\n"));
    };
    show("an empty directory");
    let database = dir.path().join("seaway.db");
    fs::write(&database, "not a database, however long it is".repeat(100)).expect("it is written");
    show("another file");
    fs::write(&database, "").expect("it is written");
    show("a file that was never written to");
    fs::remove_file(&database).expect("it is there");
    Harbor::open(dir.path(), "shop").await.close().await;
    let newer = rusqlite::Connection::open(&database).expect("it is a database");
    newer.execute_batch("PRAGMA user_version = 99").expect("the statement is valid");
    drop(newer);
    show("a newer schema");
    let mut missing = command(&["log", "stats", "--data"]);
    let missing = ran(missing.arg(dir.path().join("nothing"))).shown();
    shown.push_str(&format!("no directory\n{missing}\n"));
    golden("unusable-places", dir.path(), &shown);
}
