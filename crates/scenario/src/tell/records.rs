use seaway_kernel::{Detail, Record};

use super::line::{Grain, Line};
use crate::play::find::Spot;
use crate::play::{Player, START};

impl Player<'_> {
    /// A record as it is in the log.
    pub(super) fn say_record(&mut self, record: &Record, spot: Option<Spot>) {
        let path = self.kernel.targets().path(record.target).to_string();
        let mut text = format!("[{}] {path} {}", record.seq, record.kind.shown(record.fact));
        text += &format!(" {}", record.fact);
        // Records about the project count by themselves, and mean no attempts by it.
        if record.attempt.0 > 1 && record.deployment.is_some() {
            text += &format!(" attempt {}", record.attempt);
        }
        if record.n > 0 {
            text += &format!(" n {}", record.n);
        }
        if let Some(outcome) = record.outcome {
            text += &format!(" {outcome}");
        }
        if let Some(Detail::Lease { executor, ttl }) = record.detail.as_deref() {
            text += &format!(" by {executor} for {ttl}");
        }
        if let Some(reason) = record.reason() {
            text += &format!(" ({reason})");
        }
        if let Some(cause) = record.cause {
            text += &format!(" because of [{cause}]");
        }
        let ship = record.deployment.and_then(|id| self.ship_of(id));
        let deployment = ship.map(|ship| self.ships()[ship].name.clone());
        let run = spot.as_ref().map(Spot::run_text);
        let (at, depth, grain) = (self.now - START, 3, Grain::Record);
        let data = None;
        self.story.push(Line { at, deployment, ship, spot, run, depth, text, data, grain });
    }
}
