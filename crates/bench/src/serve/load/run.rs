use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tokio::runtime;
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval};

use super::report::Report;
use super::shift::Shift;
use super::{claims, hands, project};
use crate::serve::work::TASKS;
use crate::watch::per_second;
use crate::web::{Connection, Target, processor_time};

/// How often the load says how far it is, and how often it may say so without having moved.
const TELL: Duration = Duration::from_secs(10);
const PATIENCE: usize = 3;
/// Marks of a load that is long enough to compare its end with its beginning.
const LONG: usize = 10;

/// What a load is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) target: Target,
    /// Sequences in all.
    pub(crate) sequences: usize,
    /// Sequences under way at a time.
    pub(crate) concurrency: usize,
    /// Connections that claim tasks, and those that send events.
    pub(crate) claiming: usize,
    pub(crate) sending: usize,
}

/// Runs in this process, and prints what came of it.
pub(crate) fn load(load: Load) -> Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let report = runtime.context("starting the runtime")?.block_on(run(load))?;
    println!("{}", serde_json::to_string(&report).context("writing the report")?);
    Ok(())
}

async fn run(load: Load) -> Result<Report> {
    let target = load.target.clone();
    let mut connection = Connection::open(target.address).await?;
    project::apply(&mut connection, &target).await?;
    project::register(&mut connection, &target).await?;
    let (mut claiming, mut sending) = (Vec::new(), Vec::new());
    for _ in 0..load.claiming {
        claiming.push(Connection::open(target.address).await?);
    }
    for _ in 0..load.sending {
        sending.push(Connection::open(target.address).await?);
    }
    let before = processor_time("self")?;
    let shift = Rc::new(Shift::new(load));
    let everybody = LocalSet::new();
    for connection in claiming {
        everybody.spawn_local(claims::claim(shift.clone(), connection));
    }
    for connection in sending {
        everybody.spawn_local(hands::work(shift.clone(), connection));
    }
    everybody.run_until(follow(&shift)).await?;
    report(&shift, processor_time("self")? - before)
}

/// Waits for the end, and says now and then how far it is. Something that does not move is broken.
async fn follow(shift: &Shift) -> Result<()> {
    let mut tick = interval(TELL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick.tick().await;
    let (mut messages, mut since, mut still) = (0, shift.elapsed(), 0);
    loop {
        tokio::select! {
            () = shift.over.notified() => break,
            _ = tick.tick() => {}
        }
        let (now, state) = (shift.elapsed(), shift.state.borrow());
        let (sent, all) = (state.messages - messages, shift.load.sequences);
        still = if sent == 0 { still + 1 } else { 0 };
        ensure!(still < PATIENCE, "nothing moves after {} of {all} sequences", state.ended);
        let rate = per_second(sent, now - since);
        eprintln!("serve: {} of {all} sequences, {rate:.0} transitions/s", state.ended);
        (messages, since) = (state.messages, now);
    }
    shift.state.borrow_mut().failure.take().map_or(Ok(()), Err)
}

fn report(shift: &Shift, processors: Duration) -> Result<Report> {
    let took = shift.elapsed();
    let mut state = shift.state.borrow_mut();
    let sequences = shift.load.sequences;
    ensure!(state.ended == sequences, "{} of {sequences} sequences have ended", state.ended);
    // Started and finished of every task.
    let transitions = 2 * TASKS.len() * sequences;
    ensure!(state.messages == transitions, "there were {} answers", state.messages);
    let marks = &state.marks;
    let last = match marks[..] {
        [.., before, last] if marks.len() >= LONG => Some((last - before).as_secs_f64()),
        _ => None,
    };
    let first = marks.first().filter(|_| last.is_some()).map(Duration::as_secs_f64);
    Ok(Report {
        seconds: took.as_secs_f64(),
        transitions_per_s: per_second(transitions, took),
        sequences_per_s: per_second(sequences, took),
        handover_p50_ms: state.handovers.quantile(0.5),
        handover_p99_ms: state.handovers.quantile(0.99),
        processor_seconds: processors.as_secs_f64(),
        claims: state.claims,
        first_10k_seconds: first,
        last_10k_seconds: last,
    })
}
