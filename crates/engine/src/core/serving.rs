use seaway_kernel::{Actor, Record, Reply};
use seaway_model::planted::{Bug, planted};
use seaway_model::{ExecutorName, Span, Timestamp};

use super::batch::Batch;
use super::takers::Taker;
use super::writer::{Decided, Writer};
use super::{Output, Overloaded, Ticket};

/// Executors that wait for work get it in the append that makes it available.
impl Writer {
    /// Gives an executor what waits for it, or lets it wait.
    pub(super) fn take(
        &mut self,
        ticket: Ticket,
        executor: &ExecutorName,
        (max, ttl, patience): (usize, Span, Span),
        by: &Actor,
        (now, records): (Timestamp, &mut Vec<Record>),
    ) -> Decided {
        // Who waits must be heard of again before it counts as gone.
        let ttl_of_executor = self.kernel.time_to_live(executor).unwrap_or_default();
        let patience = patience.min(Span(ttl_of_executor.0 / 2));
        let waits = max > 0 && patience > Span(0);
        let taker = Taker { ticket, max, ttl, by: by.clone(), until: now + patience };
        let taken = self.kernel.decide(&taker.command(executor), now, by, records);
        match taken {
            Ok(Reply::Taken { tasks, .. }) if tasks.is_empty() && waits => {
                if self.takers.len() >= self.limits.takers {
                    let retry_after = self.limits.retry_after;
                    return Decided::Answer(ticket, Err(Overloaded { retry_after }.into()));
                }
                self.takers.park(executor, taker);
                Decided::Parked
            }
            taken => Decided::Answer(ticket, taken.map_err(Into::into)),
        }
    }

    /// Hands out what became available, and sends those away whose patience is over.
    pub(super) fn serve(&mut self, now: Timestamp, records: &mut Vec<Record>, batch: &mut Batch) {
        let mut woken = self.kernel.woken();
        if !planted(Bug::WokenForgotten) {
            self.woken.append(&mut woken);
        }
        while let Some(executor) = self.woken.pop_first() {
            while let Some(taker) = self.takers.first(&executor) {
                if records.len() >= 2 * self.limits.records {
                    self.woken.insert(executor);
                    return;
                }
                let (ticket, by) = (taker.ticket, taker.by.clone());
                let command = taker.command(&executor);
                let taken = self.kernel.decide(&command, now, &by, records);
                if matches!(&taken, Ok(Reply::Taken { tasks, .. }) if tasks.is_empty()) {
                    break;
                }
                self.takers.pop(&executor);
                let answer = taken.map_err(Into::into);
                if planted(Bug::HandedOutTwice)
                    && let Some(next) = self.takers.first(&executor).map(|it| it.ticket)
                {
                    self.takers.pop(&executor);
                    batch.replies.push((next, answer.clone()));
                }
                batch.replies.push((ticket, answer));
            }
        }
        while let Some((ticket, executor)) = self.takers.expired(now) {
            // Who waited was there all the time.
            let there = self.kernel.heartbeat(&executor, now);
            let taken = Reply::Taken { at: self.kernel.head(), tasks: Vec::new() };
            batch.replies.push((ticket, there.map(|()| taken).map_err(Into::into)));
        }
    }

    /// Nothing more is handed out: everybody who waits is told that there is nothing.
    pub fn dismiss(&mut self, out: &mut Vec<Output>) {
        let at = self.durable();
        out.extend(self.takers.dismiss().into_iter().map(|ticket| Output::Reply {
            ticket,
            result: Ok(Reply::Taken { at, tasks: Vec::new() }),
        }));
    }
}
