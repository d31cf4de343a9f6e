//! Whatever is in a data column, reading it ends with a record or an error.

use std::time::Duration;

use seaway_kernel::{Actor, Record};
use seaway_model::{Attempt, Digest, Fact, Kind, Seq, TargetId, Timestamp};
use seaway_wire::{ChainCheck, Row};

const TIME: Duration = Duration::from_secs(2);

fn row(data: &str) -> Row {
    let record = Record {
        seq: Seq(1),
        at: Timestamp(0),
        deployment: None,
        target: TargetId(0),
        revision: None,
        kind: Kind::Structure,
        fact: Fact::StructureChanged,
        attempt: Attempt(1),
        n: 0,
        outcome: None,
        detail: None,
        cause: None,
        by: Actor::Seaway,
    };
    Row { data: Some(data.into()), ..Row::seal(&record, &"shop", Digest::GENESIS) }
}

#[test]
fn any_data_is_read_or_refused() {
    bolero::check!(name = "data").with_test_time(TIME).for_each(|bytes: &[u8]| {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        let Ok(record) = row(text).open() else { return };
        let again = Row::seal(&record, &"shop", Digest::GENESIS);
        let reopened = again.open().expect("what was written by us can be read");
        assert_eq!(reopened, record, "a record survives being stored");
    });
}

#[test]
fn any_change_of_a_stored_record_breaks_the_chain() {
    let change = bolero::generator::produce::<(u8, u64)>();
    let check = bolero::check!(name = "tampering").with_test_time(TIME).with_generator(change);
    check.for_each(|(column, value)| {
        let sealed = {
            let record = row("null").open();
            assert!(record.is_err(), "null is no detail");
            Row { data: None, ..row("") }
        };
        let mut changed = sealed.clone();
        match column % 6 {
            0 => changed.at = Timestamp(*value as i64),
            1 => changed.attempt = Attempt(*value as u32),
            2 => changed.n = *value as u32,
            3 => changed.cause = Some(Seq(*value)),
            4 => changed.by = value.to_string().into(),
            _ => changed.data = Some(value.to_string().into()),
        }
        let broken = ChainCheck::from_genesis().check(&changed, &"shop").is_err();
        assert_eq!(broken, changed != sealed);
    });
}
