use seaway_engine::core::{
    Ask, Limits, LoadError, Loader, Need, Output, Replay, Request, RequestError, Ticket, Writer,
};
use seaway_kernel::{Command, Reply, Step};
use seaway_model::{Epoch, Timestamp};
use seaway_store::Checkpoint;
use seaway_wire::{Append, ChainCheck, Linked, Row, StoredTarget};

use crate::requests::{by, claim, ended, name, offered, start, structure};

/// What is durable: a log in memory.
#[derive(Clone, Default)]
pub(crate) struct Disk {
    pub(crate) rows: Vec<Row>,
    pub(crate) targets: Vec<StoredTarget>,
}

impl Disk {
    pub(crate) fn write(&mut self, append: Append) {
        assert_eq!(append.rows[0].seq, self.end().seq.next(), "positions are gapless");
        self.rows.extend(append.rows);
        self.targets.extend(append.targets);
    }

    pub(crate) fn end(&self) -> ChainCheck {
        let end = |row: &Row| ChainCheck { seq: row.seq, hash: row.hash };
        self.rows.last().map_or_else(ChainCheck::from_genesis, end)
    }

    pub(crate) fn loader(&self) -> Loader {
        Loader::from_start(&name("shop"), self.end())
    }

    pub(crate) fn loader_from(&self, checkpoint: &Checkpoint) -> Loader {
        Loader::from_checkpoint(&name("shop"), self.end(), checkpoint)
            .expect("the checkpoint is of this log")
    }

    /// Folds the log in pages of three, so that page ends fall everywhere.
    pub(crate) fn replay(&self, mut loader: Loader) -> Result<Replay, LoadError> {
        for target in &self.targets {
            loader.define(&target.def)?;
        }
        let mut replay = loader.replay().expect("the checkpoint agrees with itself");
        loop {
            match replay.need() {
                Need::Rows { after } => {
                    let rows = self.rows.iter().filter(|row| row.seq > after);
                    replay.feed(rows.take(3).cloned().collect())?;
                }
                Need::Deployment { deployment, before } => {
                    let its = |row: &Row| row.deployment == Some(deployment) && row.seq < before;
                    replay.revive(&Linked::pick(&self.rows, its))?;
                }
                Need::Nothing => return Ok(replay),
            }
        }
    }

    pub(crate) fn load(&self) -> Writer {
        let replay = self.replay(self.loader()).expect("the log is sound");
        replay.finish(Epoch(1), Timestamp(1_000), Limits::default())
    }
}

pub(crate) fn request(ticket: u64, command: Command) -> Request {
    let as_of = seaway_model::Seq(u64::MAX);
    Request { ticket: Ticket(ticket), ask: Ask::command(command, by(), as_of) }
}

/// A writer whose appends become durable at once.
pub(crate) struct Desk {
    pub(crate) disk: Disk,
    pub(crate) writer: Writer,
    pub(crate) offers: Vec<Step>,
    tickets: u64,
}

impl Desk {
    /// With a structure to deploy into.
    pub(crate) fn new() -> Self {
        let mut desk = Self::on(Disk::default());
        desk.send(structure()).expect("the structure is sound");
        desk
    }

    pub(crate) fn on(disk: Disk) -> Self {
        let writer = disk.load();
        Self { disk, writer, offers: Vec::new(), tickets: 0 }
    }

    pub(crate) fn send(&mut self, command: Command) -> Result<Reply, RequestError> {
        self.tickets += 1;
        self.writer.offer(request(self.tickets, command)).expect("the mailbox has room");
        self.settle().expect("the request was answered")
    }

    /// Until nothing is left to do; gives the answer to the last request.
    fn settle(&mut self) -> Option<Result<Reply, RequestError>> {
        let (mut out, mut answer) = (Vec::new(), None);
        loop {
            let append = self.writer.poll_append(Timestamp(1_000), &mut out);
            let wrote = append.is_some();
            if let Some(append) = append {
                self.disk.write(append);
                self.writer.committed(&mut out);
            }
            if !wrote && out.is_empty() {
                return answer;
            }
            for output in std::mem::take(&mut out) {
                match output {
                    Output::Durable { head } => assert_eq!(head, self.disk.end().seq),
                    Output::Reply { result, .. } => answer = Some(result),
                    Output::Effect(effect) => self.offers.extend(offered(&effect)),
                    Output::Load { deployment } => {
                        let its = |row: &Row| row.deployment == Some(deployment);
                        let rows = Linked::pick(&self.disk.rows, its);
                        self.writer.revive(deployment, &rows, &mut out);
                    }
                }
            }
        }
    }

    /// Starts a deployment and gives its first task.
    pub(crate) fn start(&mut self, number: u128) -> Step {
        self.send(start(number)).expect("it can be started");
        self.offers.pop().expect("its first task is offered")
    }

    /// Takes a task and ends it.
    pub(crate) fn work(&mut self, step: Step, outcome: seaway_model::Outcome) {
        let Ok(Reply::Claimed { fence, .. }) = self.send(claim(step)) else {
            panic!("an offered task can be claimed");
        };
        self.send(ended(step, fence, outcome)).expect("the holder's answer counts");
    }
}
