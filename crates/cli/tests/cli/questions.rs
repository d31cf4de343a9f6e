use seaway_model::Outcome;

use crate::harbor::{Harbor, shop};
use crate::program::{golden, log};

#[tokio::test]
async fn any_state_can_be_asked_for_as_of_any_moment() {
    let dir = shop().await;
    let mut shown = String::new();
    for question in [
        &[][..],
        &["#15"],
        &["0"],
        &["1999-01-01T00:00:00Z", "shop"],
        &["now", "--service", "cart"],
        &["now", "--place", "beta/delivery/deploy/eu/host-1"],
        &["now", "--place", "shop/beta/delivery#1/test", "--service", "cart"],
        &["-o", "json", "--place", "beta"],
    ] {
        let args = [&["as-of"], question].concat();
        let answer = log(dir.path(), &args).shown();
        shown.push_str(&format!("$ seaway log {}\n{answer}\n\n", args.join(" ")));
    }
    golden("as-of", dir.path(), &shown);
}

#[tokio::test]
async fn stats_say_how_much_there_is() {
    let dir = shop().await;
    golden("stats", dir.path(), &log(dir.path(), &["stats"]).ok());
    let json = log(dir.path(), &["stats", "-o", "json"]).ok();
    assert!(json.contains("\"deployments\":3"), "{json}");
}

#[tokio::test]
async fn a_running_process_can_be_looked_at() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut harbor = Harbor::open(dir.path(), "shop").await;
    for number in 1..=3 {
        harbor.deliver(number, ("cart", &number.to_string()), Outcome::Pass).await;
        let seen = log(dir.path(), &["list", "--kind", "pipeline-finished", "-o", "json"]).ok();
        assert_eq!(seen.lines().count() as u128, number, "what was answered is seen at once");
        log(dir.path(), &["verify"]).ok();
    }
    harbor.close().await;
}
