use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use seaway_model::FastMap;
use tokio::sync::Notify;
use uuid::Uuid;

use super::run::Load;
use crate::sample::Latencies;
use crate::serve::work::{SERVICES, TASKS};
use crate::watch::Watch;

/// A time is noted whenever so many sequences have ended.
pub(super) const MARK: usize = 10_000;

/// What everybody on the executor's side shares. One thread does everything, so that nothing has to
/// be locked.
#[derive(Debug)]
pub(super) struct Shift {
    pub(super) load: Load,
    clock: Watch,
    pub(super) state: RefCell<State>,
    /// Somebody may find work.
    pub(super) work: Notify,
    /// Everything was done, or something failed.
    pub(super) over: Notify,
}

#[derive(Debug)]
pub(super) struct State {
    jobs: VecDeque<Job>,
    /// For each sequence that is always under way, how many times it was triggered.
    lanes: Vec<usize>,
    /// When the last task of a deployment was finished, as long as nobody has its next one.
    finished: FastMap<Uuid, Duration>,
    pub(super) triggered: usize,
    pub(super) ended: usize,
    pub(super) messages: usize,
    pub(super) claims: usize,
    pub(super) handovers: Latencies,
    pub(super) marks: Vec<Duration>,
    pub(super) failure: Option<anyhow::Error>,
}

/// Something to do for whoever has a free connection.
#[derive(Debug)]
pub(super) enum Job {
    Trigger { lane: usize },
    Task(Held),
}

/// A task that was claimed.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: Box<str>,
    /// Its number in the sequence.
    pub(super) task: usize,
    pub(super) deployment: Uuid,
    pub(super) lane: usize,
}

/// A trigger that was decided: its number, and the service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) number: usize,
    pub(super) service: usize,
}

impl Shift {
    pub(super) fn new(load: Load) -> Self {
        let lanes = load.concurrency;
        let state = State {
            jobs: (0..lanes).map(|lane| Job::Trigger { lane }).collect(),
            lanes: vec![0; lanes],
            finished: FastMap::default(),
            triggered: 0,
            ended: 0,
            messages: 0,
            claims: 0,
            handovers: Latencies::default(),
            marks: Vec::new(),
            failure: None,
        };
        let (work, over) = (Notify::new(), Notify::new());
        Self { load, clock: Watch::start(), state: RefCell::new(state), work, over }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Waits until there is something to do.
    pub(super) async fn job(&self) -> Job {
        loop {
            if let Some(job) = self.state.borrow_mut().jobs.pop_front() {
                return job;
            }
            self.work.notified().await;
        }
    }

    /// The next sequence of a lane, unless all were triggered. The lanes share the services out, so
    /// that no sequence waits for another one of its service.
    pub(super) fn next(&self, lane: usize) -> Option<Next> {
        let mut state = self.state.borrow_mut();
        if state.triggered == self.load.sequences {
            return None;
        }
        let number = state.triggered;
        state.triggered += 1;
        let service = (lane + state.lanes[lane] * state.lanes.len()) % SERVICES;
        state.lanes[lane] += 1;
        Some(Next { number, service })
    }

    /// The number of the next message, which no other has.
    pub(super) fn message(&self) -> usize {
        let mut state = self.state.borrow_mut();
        state.messages += 1;
        state.messages
    }

    /// Tasks were claimed.
    pub(super) fn take(&self, held: Vec<Held>) {
        let now = self.elapsed();
        let mut state = self.state.borrow_mut();
        state.claims += 1;
        for held in held {
            if let Some(since) = state.finished.remove(&held.deployment) {
                state.handovers.push(now.saturating_sub(since));
            }
            state.jobs.push_back(Job::Task(held));
            self.work.notify_one();
        }
    }

    /// A task is about to be reported as finished.
    pub(super) fn finishes(&self, held: &Held) {
        if held.task + 1 < TASKS.len() {
            let now = self.elapsed();
            self.state.borrow_mut().finished.insert(held.deployment, now);
        }
    }

    /// The last task of a sequence was finished.
    pub(super) fn ended(&self) {
        let mut state = self.state.borrow_mut();
        state.ended += 1;
        if state.ended.is_multiple_of(MARK) {
            state.marks.push(self.clock.elapsed());
        }
        if state.ended == self.load.sequences {
            self.over.notify_one();
        }
    }

    pub(super) fn fail(&self, error: anyhow::Error) {
        self.state.borrow_mut().failure.get_or_insert(error);
        self.over.notify_one();
    }
}
