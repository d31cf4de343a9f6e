use std::collections::{BTreeMap, BTreeSet, VecDeque};

use seaway_engine::core::{
    AppendFailure, EngineClock, Limits, Loader, Need, Replay, Ticket, Writer,
};
use seaway_model::{Epoch, Name, Span, Timestamp};

use super::disk::Disk;
use super::event::Errand;
use crate::verify::{Rule, Violation};

/// A process that believes it owns the project.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) number: u32,
    pub(super) epoch: Epoch,
    pub(super) writer: Writer,
    clock: EngineClock,
    /// What its monotonic clock shows at time zero of the world.
    pub(super) offset: i64,
    pub(super) callers: BTreeMap<Ticket, Errand>,
    /// Those of them who no longer wait.
    pub(super) gone: BTreeSet<Ticket>,
    /// Appends that the store has not answered, oldest first.
    pub(super) appends: VecDeque<u64>,
    /// The first append that failed, and whether nothing under this ownership can still land.
    pub(super) failure: Option<(AppendFailure, bool)>,
    pub(super) wake: Option<i64>,
}

/// What a load came to.
pub(super) struct Loaded {
    pub(super) replay: Replay,
    pub(super) checkpoint_used: bool,
    pub(super) set_aside: Option<String>,
}

impl Owner {
    pub(super) fn new(
        (number, epoch): (u32, Epoch),
        replay: Replay,
        (now, offset): (i64, i64),
        limits: Limits,
    ) -> Self {
        let reading = Span(now + offset);
        let mut clock = EngineClock::new(replay.time(), reading);
        let writer = replay.finish(epoch, clock.now(reading), limits);
        Self {
            number,
            epoch,
            writer,
            clock,
            offset,
            callers: BTreeMap::new(),
            gone: BTreeSet::new(),
            appends: VecDeque::new(),
            failure: None,
            wake: None,
        }
    }

    /// Engine time, which its own clock decides.
    pub(super) fn time(&mut self, now: i64) -> Timestamp {
        self.clock.now(Span(now + self.offset))
    }

    /// How long to sleep until engine time is `time`.
    pub(super) fn until(&self, time: Timestamp) -> i64 {
        self.clock.until(time).0
    }
}

/// Folds the durable log, from the checkpoint if there is one that can be used.
pub(super) fn fold(disk: &Disk, project: &Name, page: usize) -> Result<Loaded, Violation> {
    let end = disk.head();
    let mut set_aside = None;
    if let Some(checkpoint) = &disk.checkpoint {
        let loaded = match Loader::from_checkpoint(project, end, checkpoint) {
            Ok(loader) => follow(disk, loader, page),
            Err(rejected) => Err(rejected.to_string()),
        };
        match loaded {
            Ok(replay) => return Ok(Loaded { replay, checkpoint_used: true, set_aside }),
            Err(why) => set_aside = Some(why),
        }
    }
    let broken = |why| Violation::new(Rule::Replay, format!("the log cannot be loaded: {why}"));
    let replay = follow(disk, Loader::from_start(project, end), page).map_err(broken)?;
    Ok(Loaded { replay, checkpoint_used: false, set_aside })
}

fn follow(disk: &Disk, mut loader: Loader, page: usize) -> Result<Replay, String> {
    for target in disk.targets() {
        loader.define(&target.def).map_err(|error| error.to_string())?;
    }
    let mut replay = loader.replay().map_err(|error| error.to_string())?;
    loop {
        let fed = match replay.need() {
            Need::Rows { after } => replay.feed(disk.rows_after(after, page)),
            Need::Deployment { deployment, before } => {
                replay.revive(&disk.rows_of(deployment, before))
            }
            Need::Nothing => return Ok(replay),
        };
        fed.map_err(|error| format!("{error}: {:?}", std::error::Error::source(&error)))?;
    }
}
