use std::collections::BTreeMap;

use seaway_model::{Fact, Kind, Name, Seq};
use seaway_store::Store;
use seaway_wire::Row;

/// Rows that are read at a time.
const PAGE: usize = 5_000;

/// Everything that was ever acknowledged, by position.
#[derive(Default)]
pub(crate) struct Ledger {
    acks: BTreeMap<Seq, String>,
    /// How often a command was told that the store was lost.
    pub(crate) losses: usize,
}

impl Ledger {
    pub(crate) fn note(&mut self, lines: Vec<String>) {
        for line in lines {
            if line == "lost" {
                self.losses += 1;
                continue;
            }
            let seq = line.split(' ').nth(1).and_then(|seq| seq.parse().ok());
            let seq = Seq(seq.unwrap_or_else(|| panic!("{line:?} is no acknowledgement")));
            let before = self.acks.insert(seq, line.clone());
            assert!(before.is_none(), "{before:?} and {line:?} are the same record");
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.acks.len()
    }

    /// The chain holds, positions are gapless, and nothing acknowledged is missing or different.
    pub(crate) async fn check(&self, store: &Store) {
        let project = Name::new("crash").expect("it is valid");
        let verified = store.verify(&project, |_| ()).await.expect("the chain holds");
        let mut open = self.acks.clone();
        let mut after = Seq(0);
        loop {
            let rows = store.rows(&project, after, PAGE).await.expect("the log can be read");
            if rows.is_empty() {
                break;
            }
            for row in rows {
                assert_eq!(row.seq, after.next(), "positions are gapless");
                after = row.seq;
                if let Some(line) = open.remove(&row.seq) {
                    assert_eq!(line, ack_of(&row), "the record is the one acknowledged");
                }
            }
        }
        assert!(open.is_empty(), "acknowledged, and gone: {open:#?}");
        assert_eq!(verified.head.seq, after, "the head is the last record");
    }
}

/// The line with which the record would have been acknowledged.
fn ack_of(row: &Row) -> String {
    let deployment = row.deployment.map_or_else(String::new, |id| id.to_string());
    let (seq, target): (Seq, _) = (row.seq, row.target);
    let (kind, fact): (Kind, Fact) = (row.kind, row.fact);
    format!("ack {seq} {deployment} {target} {kind} {fact}")
}
