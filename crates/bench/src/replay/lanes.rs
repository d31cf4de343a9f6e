use std::collections::VecDeque;

use anyhow::{Context, Result};
use seaway_kernel::{Record, Step};
use seaway_model::{Fact, Name, Seq};

use crate::identity::{name, start};
use crate::pipeline::{done, two_stages};
use crate::scribe::Scribe;

/// Services that are being deployed, each over and over: as soon as a deployment has ended the next
/// one begins, so that always the same number is in flight.
#[derive(Debug)]
pub(super) struct Lanes(Vec<Lane>);

#[derive(Debug)]
struct Lane {
    service: Name,
    /// Steps of its deployment that wait to be reported.
    open: VecDeque<Step>,
}

impl Lanes {
    pub(super) fn begin(scribe: &mut Scribe, count: usize) -> Result<Self> {
        scribe.write(&two_stages(), |_| {})?;
        let mut lanes = Self(Vec::new());
        for number in 0..count {
            let service = name(&format!("service-{number}"));
            let mut lane = Lane { service, open: VecDeque::new() };
            lane.start(scribe)?;
            // They are not all at the same step.
            for _ in 0..number % 7 {
                lane.report(scribe)?;
            }
            lanes.0.push(lane);
        }
        Ok(lanes)
    }

    /// Goes on, each lane in turn, until the log is so long.
    pub(super) fn advance(&mut self, scribe: &mut Scribe, until: Seq) -> Result<()> {
        for turn in 0.. {
            if scribe.head() >= until {
                break;
            }
            let lane = turn % self.0.len();
            self.0[lane].report(scribe)?;
        }
        scribe.flush()
    }
}

impl Lane {
    fn start(&mut self, scribe: &mut Scribe) -> Result<()> {
        let (_, start) = start(&self.service);
        let open = &mut self.open;
        scribe.write(&start, |record| note(open, record))
    }

    fn report(&mut self, scribe: &mut Scribe) -> Result<()> {
        let step = self.open.pop_front().context("a deployment stands still")?;
        let open = &mut self.open;
        scribe.write(&done(step), |record| note(open, record))?;
        if self.open.is_empty() { self.start(scribe) } else { Ok(()) }
    }
}

fn note(open: &mut VecDeque<Step>, record: &Record) {
    if record.fact == Fact::Dispatched {
        open.extend(record.step());
    }
}
