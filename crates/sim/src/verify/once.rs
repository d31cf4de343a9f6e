use std::collections::BTreeMap;

use seaway_kernel::{Actor, Record, Reply};
use seaway_model::Seq;

use super::log::Verifier;
use super::violation::{Rule, Violation};

/// What requests with a key did and were told, by the names under which they act.
#[derive(Debug, Default)]
pub(super) struct Once {
    /// The last record of each.
    effects: BTreeMap<Actor, Seq>,
    answers: BTreeMap<Actor, Reply>,
}

/// The mark in the name of whoever asks under a key.
const MARK: char = '#';

impl Verifier {
    /// All records of a request with a key follow each other: they come from one decision.
    pub(super) fn check_once(&mut self, record: &Record) -> Result<(), Violation> {
        if !record.by.as_str().contains(MARK) {
            return Ok(());
        }
        let before = self.once.effects.insert(record.by.clone(), record.seq);
        match before {
            Some(seq) if seq.next() != record.seq => {
                let detail = format!("{} did it at {seq} already", record.by);
                Err(Violation::new(Rule::Once, detail))
            }
            _ => Ok(()),
        }
    }

    /// A request with a key is told that it was done; the same every time, once it had an effect.
    /// Says whether it was told so before.
    pub(crate) fn answered(&mut self, by: &Actor, reply: &Reply) -> Result<bool, Violation> {
        let (Reply::Done { at }
        | Reply::Started { at, .. }
        | Reply::Claimed { at, .. }
        | Reply::Taken { at, .. }) = reply;
        let Some(effect) = self.once.effects.get(by) else { return Ok(false) };
        let before = self.once.answers.insert(by.clone(), reply.clone());
        let differs = before.as_ref().is_some_and(|before| before != reply);
        if effect == at && !differs {
            return Ok(before.is_some());
        }
        let detail = format!("{by} is told {reply:?}, after {before:?} and an effect at {effect}");
        Err(Violation::new(Rule::Once, detail))
    }
}
