//! Records that were written once must be read for ever, and their hashes must stay the same.

use std::fmt::Write as _;

use seaway_kernel::{Actor, Detail, Edit, Reason, Record, StructureChange};
use seaway_model::{
    Attempt, DeploymentId, Digest, ExecutorName, Fact, Kind, Name, Outcome, Revision, Seq, Span,
    TargetId, Timestamp,
};
use seaway_wire::{ChainCheck, Row};

fn name(text: &str) -> Name {
    Name::new(text).expect("a valid name")
}

/// A record with everything that is not said left out.
fn record(seq: u64, kind: Kind, fact: Fact) -> Record {
    Record {
        seq: Seq(seq),
        at: Timestamp(1_700_000_000_000_000 + seq as i64),
        deployment: Some(DeploymentId(uuid::Uuid::from_u128(7))),
        target: TargetId(4),
        revision: Some(Revision(12)),
        kind,
        fact,
        attempt: Attempt(1),
        n: 0,
        outcome: None,
        detail: None,
        cause: None,
        by: Actor::Seaway,
    }
}

fn one_of_each() -> Vec<(Record, &'static str)> {
    let with = |record: Record, detail: Detail| Record { detail: Some(Box::new(detail)), ..record };
    let task = "shop/beta/delivery#1/test";
    let change = StructureChange(vec![Edit::AddMembers {
        stage: name("beta"),
        group: name("hosts"),
        members: vec![name("h1"), name("h2")],
    }]);
    let structure = Record {
        deployment: None,
        revision: None,
        target: TargetId(0),
        by: Actor::named("alice"),
        ..record(1, Kind::Structure, Fact::StructureChanged)
    };
    let start = Record {
        target: TargetId(0),
        by: Actor::named("ci"),
        ..record(2, Kind::PipelineStarted, Fact::Finished)
    };
    let deploys = Detail::Deploys { service: name("cart"), version: "1.4.0".into() };
    let lease = Detail::Lease { executor: ExecutorName("jmeter".into()), ttl: Span::from_secs(30) };
    let pins =
        Record { outcome: Some(Outcome::Pass), ..record(4, Kind::SequenceStarted, Fact::Finished) };
    let claimed =
        Record { n: 1, by: Actor::named("jmeter"), ..record(6, Kind::TaskDone, Fact::Claimed) };
    let failed = Record {
        n: 1,
        outcome: Some(Outcome::Fail),
        cause: Some(Seq(6)),
        by: Actor::named("jmeter"),
        ..record(7, Kind::TaskDone, Fact::Failed)
    };
    let retried = Record {
        attempt: Attempt(2),
        by: Actor::named("alice"),
        ..record(8, Kind::TaskDone, Fact::Retried)
    };
    let skipped = Record { attempt: Attempt(2), ..record(9, Kind::TaskDone, Fact::Skipped) };
    let person = Detail::Because(Reason::Person("flaky \"suite\"\n".into()));
    vec![
        (with(structure, Detail::Change(change)), "shop"),
        (with(Record { outcome: Some(Outcome::Pass), ..start }, deploys), "shop"),
        (record(3, Kind::Deployment, Fact::Paused), "shop"),
        (with(pins, Detail::Pins { definition: 3 }), "shop/beta/delivery#1"),
        (record(5, Kind::TaskDone, Fact::Dispatched), task),
        (with(claimed, lease), task),
        (with(failed, Detail::Answer("{\"p95\": 312}".into())), task),
        (retried, task),
        (with(skipped, person), task),
    ]
}

#[test]
fn stored_records_and_their_hashes_stay_as_they_are() {
    let mut shown = String::new();
    let mut previous = Digest::GENESIS;
    let mut check = ChainCheck::from_genesis();
    for (record, path) in one_of_each() {
        let row = Row::seal(&record, &path, previous);
        check.check(&row, &path).expect("each row is chained to the one before it");
        assert_eq!(row.open().expect("what was sealed can be opened"), record);
        previous = row.hash;
        let data = row.data.as_deref().unwrap_or("-");
        writeln!(shown, "{} {path} {} {} by {}", row.seq, row.kind, row.fact, row.by)
            .and_then(|()| writeln!(shown, "  {data}"))
            .and_then(|()| writeln!(shown, "  {}", row.hash))
            .expect("strings can be written to");
    }
    insta::assert_snapshot!(shown);
}
