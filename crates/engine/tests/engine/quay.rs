use std::collections::BTreeMap;

use seaway_engine::core::{Ask, Limits, Output, Request, RequestError, Seen, Ticket, Writer};
use seaway_kernel::{Command, Reply, Taken};
use seaway_model::{Epoch, Seq, Span, Timestamp};
use seaway_wire::{Append, KeptAnswer};

use crate::disk::Disk;
use crate::requests::{by, executor, register, yard};

/// A writer, its log, a clock, and everybody who asked for something.
pub(crate) struct Quay {
    pub(crate) disk: Disk,
    pub(crate) writer: Writer,
    pub(crate) now: Timestamp,
    /// What the store keeps beside the log.
    pub(crate) kept: Vec<KeptAnswer>,
    answers: BTreeMap<u64, Result<Reply, RequestError>>,
    tickets: u64,
}

impl Quay {
    /// With a pipeline, and the executor `winch` for it.
    pub(crate) fn new(limits: Limits) -> Self {
        let disk = Disk::default();
        let replay = disk.replay(disk.loader()).expect("an empty log is sound");
        let writer = replay.finish(Epoch(1), Timestamp(1_000), limits);
        let (kept, answers) = (Vec::new(), BTreeMap::new());
        let now = Timestamp(1_000);
        let mut quay = Self { disk, writer, now, kept, answers, tickets: 0 };
        for command in [yard(), register("winch", 10)] {
            let ticket = quay.send(command);
            quay.settle();
            assert!(quay.answer(ticket).is_some_and(Result::is_ok), "it is sound");
        }
        quay
    }

    /// Everything that is not durable is gone, and the log is read again.
    pub(crate) fn crash(&mut self) {
        self.writer = self.disk.load();
        self.answers.clear();
    }

    pub(crate) fn ask(&mut self, ask: Ask) -> u64 {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.writer.offer(Request { ticket, ask }).expect("the mailbox has room");
        self.tickets
    }

    pub(crate) fn send(&mut self, command: Command) -> u64 {
        // An id that nobody used before: the store was asked.
        let seen = Seen { as_of: Seq(u64::MAX), fresh: matches!(command, Command::Trigger { .. }) };
        self.ask(Ask::Command { command, by: by(), seen, key: None })
    }

    /// The executor `winch` asks for tasks, and has patience for so many seconds.
    pub(crate) fn take(&mut self, max: usize, patience: i64) -> u64 {
        let (ttl, patience) = (Span::from_secs(60), Span::from_secs(patience));
        self.ask(Ask::Take { executor: executor("winch"), max, ttl, patience, by: by() })
    }

    /// The next append, which is not durable yet.
    pub(crate) fn poll(&mut self) -> Option<Append> {
        let mut out = Vec::new();
        let append = self.writer.poll_append(self.now, &mut out);
        self.tell(out);
        append
    }

    /// The oldest append that was handed out is durable.
    pub(crate) fn commit(&mut self, append: Append) {
        self.kept.extend(append.answers.iter().copied());
        self.disk.write(append);
        let mut out = Vec::new();
        self.writer.committed(&mut out);
        self.tell(out);
    }

    pub(crate) fn settle(&mut self) {
        while let Some(append) = self.poll() {
            self.commit(append);
        }
    }

    pub(crate) fn wait(&mut self, seconds: i64) {
        self.now = self.now + Span::from_secs(seconds);
        self.settle();
    }

    pub(crate) fn tell(&mut self, out: Vec<Output>) {
        for output in out {
            if let Output::Reply { ticket, result } = output {
                let before = self.answers.insert(ticket.0, result);
                assert_eq!(before, None, "{ticket:?} is answered once");
            }
        }
    }

    pub(crate) fn answer(&self, ticket: u64) -> Option<&Result<Reply, RequestError>> {
        self.answers.get(&ticket)
    }

    /// What somebody who asked for tasks got; none while it waits.
    pub(crate) fn taken(&self, ticket: u64) -> Option<&[Taken]> {
        match self.answers.get(&ticket)? {
            Ok(Reply::Taken { tasks, .. }) => Some(tasks),
            other => panic!("{ticket} was told {other:?}"),
        }
    }
}
