//! What a record means for the table that answers what is where.

use seaway_kernel::{Actor, Detail, Reason, Record};
use seaway_model::{
    Attempt, DeploymentId, Fact, Kind, Name, Revision, Seq, TargetTable, Timestamp,
};
use seaway_wire::SpanEdit;

#[test]
fn what_a_person_skips_opens_what_had_failed_around_it() {
    let mut targets = TargetTable::new("shop");
    let mut path = vec![TargetTable::ROOT];
    for part in ["beta", "delivery#1", "deployment", "eu", "host-7"] {
        let part = targets.intern_part(part);
        path.push(targets.intern(path[path.len() - 1], part, Seq(1)));
    }
    let deployment = DeploymentId(uuid::Uuid::from_u128(1));
    let mut record = Record {
        seq: Seq(9),
        at: Timestamp(0),
        deployment: Some(deployment),
        target: path[5],
        revision: Some(Revision(1)),
        kind: Kind::MemberFinished,
        fact: Fact::Skipped,
        attempt: Attempt(1),
        n: 0,
        outcome: None,
        detail: Some(Box::new(Detail::Because(Reason::Person("known".into())))),
        cause: None,
        by: Actor::named("alice"),
    };
    let service = Name::new("cart").expect("a valid name");
    // Neither the sequence nor the task has a span.
    let places: Vec<_> = [5, 4, 1, 0].map(|level| targets.get(path[level]).place).into();
    let close =
        SpanEdit::Close { place: places[0], deployment, ending: Fact::Skipped, seq: Seq(9) };
    let edits: Vec<_> = SpanEdit::of(&record, &targets, &service).collect();
    assert_eq!(edits, [SpanEdit::Reopen { places, deployment, seq: Seq(9) }, close.clone()]);

    // The scheduler's own skips change nothing around them.
    record.by = Actor::Seaway;
    let edits: Vec<_> = SpanEdit::of(&record, &targets, &service).collect();
    assert_eq!(edits, [close]);
}
