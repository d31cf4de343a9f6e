use std::rc::Rc;

use anyhow::{Context, Result};

use super::shift::{Held, Job, Shift};
use crate::serve::work::{self, TASKS, Verb};
use crate::web::{Connection, Request};

/// Does whatever there is to do, one request after the other.
pub(super) async fn work(shift: Rc<Shift>, connection: Connection) {
    let request = Request::event(&shift.load.target);
    let mut hand = Hand { shift: shift.clone(), connection, request, body: Vec::new() };
    loop {
        let done = match shift.job().await {
            Job::Trigger { lane } => hand.trigger(lane).await,
            Job::Task(held) => hand.answer(held).await,
        };
        if let Err(error) = done {
            return shift.fail(error);
        }
    }
}

struct Hand {
    shift: Rc<Shift>,
    connection: Connection,
    request: Request,
    body: Vec<u8>,
}

impl Hand {
    async fn trigger(&mut self, lane: usize) -> Result<()> {
        let Some(next) = self.shift.next(lane) else { return Ok(()) };
        work::trigger(next.number, next.service, &mut self.body);
        self.send().await.context("triggering a sequence")
    }

    /// Reports the beginning and the end of a task; when it was the last one, the next sequence
    /// begins.
    async fn answer(&mut self, held: Held) -> Result<()> {
        for verb in [Verb::Started, Verb::Finished] {
            let (number, task) = (self.shift.message(), held.task);
            work::answer(number, (task, verb), (&held.id, held.deployment), &mut self.body);
            if matches!(verb, Verb::Finished) {
                self.shift.finishes(&held);
            }
            let sent = self.send().await;
            sent.with_context(|| format!("{} {verb:?} for {}", TASKS[task], held.deployment))?;
        }
        if held.task + 1 == TASKS.len() {
            self.shift.ended();
            self.trigger(held.lane).await?;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<()> {
        self.connection.send(&self.request, &self.body).await?.accepted().map(|_| ())
    }
}
