use std::cell::Cell;
use std::rc::Rc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::runtime;
use tokio::task::{JoinSet, LocalSet};

use crate::part::Part;
use crate::sample::Latencies;
use crate::serve::apply;
use crate::serve::work::{self, SERVICES};
use crate::watch::{Watch, per_second};
use crate::web::{Connection, Request, Target, processor_time};

/// Events to be sent, each as soon as a connection is free.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Flood {
    pub(crate) target: Target,
    pub(crate) events: usize,
    pub(crate) connections: usize,
    /// Whether the server has projects, and needs one.
    pub(crate) project: bool,
}

/// What a flood says when it has ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Flooded {
    pub(crate) events_per_s: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Processor time of the flood itself.
    pub(crate) processor_seconds: f64,
}

impl Flood {
    /// Runs in a process of its own.
    pub(crate) fn run(self) -> Result<Flooded> {
        Part::Flood(self).ask()
    }
}

/// Runs in this process, and prints what came of it.
pub(crate) fn flood(flood: Flood) -> Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("starting the runtime")?;
    let flooded = LocalSet::new().block_on(&runtime, send_all(flood))?;
    println!("{}", serde_json::to_string(&flooded).context("writing the report")?);
    Ok(())
}

async fn send_all(flood: Flood) -> Result<Flooded> {
    let mut connections = Vec::new();
    for _ in 0..flood.connections {
        connections.push(Connection::open(flood.target.address).await?);
    }
    if let Some(connection) = connections.first_mut().filter(|_| flood.project) {
        apply(connection, &flood.target).await?;
    }
    let (before, watch) = (processor_time("self")?, Watch::start());
    let numbers = Rc::new(Cell::new(0));
    let mut senders = JoinSet::new();
    for connection in connections {
        senders.spawn_local(send(flood.clone(), connection, numbers.clone()));
    }
    let mut latencies = Latencies::default();
    while let Some(ended) = senders.join_next().await {
        latencies.extend(ended.context("a sender panicked")??);
    }
    Ok(Flooded {
        events_per_s: per_second(latencies.len(), watch.elapsed()),
        p50_ms: latencies.quantile(0.5),
        p99_ms: latencies.quantile(0.99),
        processor_seconds: (processor_time("self")? - before).as_secs_f64(),
    })
}

/// Sends events that nobody has sent before, as long as there are some.
async fn send(
    flood: Flood,
    mut connection: Connection,
    numbers: Rc<Cell<usize>>,
) -> Result<Latencies> {
    let request = Request::event(&flood.target);
    let (mut body, mut latencies) = (Vec::new(), Latencies::default());
    loop {
        let number = numbers.get();
        if number == flood.events {
            return Ok(latencies);
        }
        numbers.set(number + 1);
        work::trigger(number, number % SERVICES, &mut body);
        let watch = Watch::start();
        let answer = connection.send(&request, &body).await?;
        answer.accepted().context("sending an event")?;
        latencies.push(watch.elapsed());
    }
}
