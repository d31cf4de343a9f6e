use std::path::Path;

use seaway_store::Store;

use crate::ledger::Ledger;
use crate::random::Delays;
use crate::victim::Victim;

const KILLS: usize = 50;

#[tokio::test]
async fn what_sqlite_acknowledged_survives_kills() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let place = ["sqlite", dir.path().to_str().expect("temporary paths are plain")];
    let mut delays = Delays::seeded(1);
    let mut ledger = Ledger::default();
    for kill in 1..=KILLS {
        let victim = Victim::start(&place, "run");
        let mut lines = Vec::new();
        victim.until_ack(&mut lines);
        victim.lines_for(delays.next(), &mut lines);
        victim.kill(&mut lines);
        ledger.note(lines);
        if kill % 5 == 0 {
            check(&ledger, dir.path()).await;
        }
    }
    let mut lines = Vec::new();
    Victim::start(&place, "drain").finish(&mut lines);
    ledger.note(lines);
    check(&ledger, dir.path()).await;
    println!("{KILLS} kills, {} acknowledged commands, none lost", ledger.len());
}

/// Reading a directory right after a kill must need no repair by a writer.
async fn check(ledger: &Ledger, dir: &Path) {
    let store = Store::sqlite_read_only(dir).expect("it can be read after a kill");
    ledger.check(&store).await;
}

/// A check that cannot find a loss proves nothing.
#[tokio::test]
#[should_panic(expected = "acknowledged, and gone")]
async fn a_lost_acknowledgement_is_found() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let place = ["sqlite", dir.path().to_str().expect("temporary paths are plain")];
    let victim = Victim::start(&place, "run");
    let mut lines = Vec::new();
    victim.until_ack(&mut lines);
    victim.kill(&mut lines);
    let lost = lines[0].replacen("ack ", "ack 1000000", 1);
    lines.push(lost);
    let mut ledger = Ledger::default();
    ledger.note(lines);
    check(&ledger, dir.path()).await;
}
