use std::process::{Command, Stdio};
use std::time::Duration;

use seaway_store::Store;
use tokio_postgres::NoTls;

use crate::ledger::Ledger;
use crate::random::Delays;
use crate::victim::Victim;

const KILLS: usize = 50;
const RESTARTS: usize = 3;
const DATABASE: &str = "crashling";

#[tokio::test]
async fn what_postgres_acknowledged_survives_kills_and_restarts_of_the_server() {
    let Some(url) = database().await else { return };
    let place = ["postgres", &*url];
    let mut delays = Delays::seeded(2);
    let mut ledger = Ledger::default();
    for kill in 1..=KILLS {
        let victim = Victim::start(&place, "run");
        let mut lines = Vec::new();
        victim.until_ack(&mut lines);
        victim.lines_for(delays.next(), &mut lines);
        victim.kill(&mut lines);
        ledger.note(lines);
        if kill % 10 == 0 {
            check(&ledger, &url).await;
        }
    }
    restarts(&place, &mut delays, &mut ledger).await;
    let mut lines = Vec::new();
    Victim::start(&place, "drain").finish(&mut lines);
    ledger.note(lines);
    check(&ledger, &url).await;
    println!("{KILLS} kills, {} acknowledged commands, none lost", ledger.len());
}

/// The server is restarted under one process, which must find it again by itself.
async fn restarts(place: &[&str; 2], delays: &mut Delays, ledger: &mut Ledger) {
    let (Ok(pg_ctl), Ok(data)) =
        (std::env::var("SEAWAY_TEST_PG_CTL"), std::env::var("SEAWAY_TEST_PG_DATA"))
    else {
        skipped("restarts of PostgreSQL; set SEAWAY_TEST_PG_CTL and SEAWAY_TEST_PG_DATA");
        return;
    };
    sync_faster(place[1]).await;
    let victim = Victim::start(place, "run");
    let mut lines = Vec::new();
    victim.until_ack(&mut lines);
    for _ in 0..RESTARTS {
        victim.lines_for(delays.next(), &mut lines);
        restart(&pg_ctl, &data);
        // What was acknowledged before the restart may still be in the pipe.
        victim.lines_for(Duration::ZERO, &mut lines);
        victim.until_ack(&mut lines);
    }
    victim.kill(&mut lines);
    ledger.note(lines);
    assert!(ledger.losses >= RESTARTS, "the restarts were noticed");
    check(ledger, place[1]).await;
}

/// A server that crashed syncs every file of every database one by one before it starts, which
/// takes longer than the whole test; one call for the file system is as good.
async fn sync_faster(url: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("it answers");
    let connection = tokio::spawn(connection);
    let setting = "ALTER SYSTEM SET recovery_init_sync_method = 'syncfs'";
    if let Err(error) = client.batch_execute(setting).await {
        println!("restarts take longer, because this server cannot sync at once: {error}");
    }
    drop(client);
    connection.await.expect("it does not panic").expect("it ends well");
}

fn restart(pg_ctl: &str, data: &str) {
    let mut command = match std::env::var("SEAWAY_TEST_PG_USER") {
        Ok(user) => {
            let mut command = Command::new("runuser");
            command.args(["-u", &user, "--", pg_ctl]);
            command
        }
        Err(_) => Command::new(pg_ctl),
    };
    // A server that outlives this program must not keep the pipes of the test open.
    let status = command
        .args(["-D", data, "-m", "immediate", "-w", "restart"])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("pg_ctl can be started").success(), "the server did not restart");
}

/// An empty database on the server that the environment names.
async fn database() -> Option<String> {
    let Ok(server) = std::env::var("SEAWAY_TEST_POSTGRES") else {
        skipped("kills on PostgreSQL; set SEAWAY_TEST_POSTGRES=postgres://… to run it");
        return None;
    };
    let (client, connection) =
        tokio_postgres::connect(&server, NoTls).await.expect("the server answers");
    let connection = tokio::spawn(connection);
    for statement in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
        let force = if statement.starts_with("DROP") { "WITH (FORCE)" } else { "" };
        let sql = format!("{statement} {DATABASE} {force}");
        client.batch_execute(&sql).await.expect("databases can be made");
    }
    drop(client);
    connection.await.expect("it does not panic").expect("it ends well");
    let (server, query) = match server.split_once('?') {
        Some((server, query)) => (server, format!("?{query}")),
        None => (&*server, String::new()),
    };
    let (base, _) = server.rsplit_once('/').expect("the address names a database");
    Some(format!("{base}/{DATABASE}{query}"))
}

async fn check(ledger: &Ledger, url: &str) {
    let store = Store::postgres(url).await.expect("it can be opened after a kill");
    ledger.check(&store).await;
}

/// Past the capture of the test harness, so that the report sees it.
fn skipped(what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}
