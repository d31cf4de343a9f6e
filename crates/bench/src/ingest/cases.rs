use anyhow::{Context, Result};

use super::flood::{Flood, Flooded};
use crate::disk;
use crate::part::Part;
use crate::sample::median;
use crate::serve::{program, seaway};
use crate::sheet::Sheet;
use crate::web::Served;

const CONNECTIONS: usize = 64;
const EVENTS: usize = 50_000;
const ROUNDS: usize = 3;

pub(crate) fn run(quick: bool, sheet: &mut Sheet) -> Result<()> {
    let (events, rounds) = if quick { (1_000, 1) } else { (EVENTS, ROUNDS) };
    sheet.note("the baseline is an echo that keeps the same bytes: one row each, group-committed");
    let program = program(sheet);
    let (mut of_server, mut of_keeper) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let dir = disk::directory()?;
        let mut keeper = Part::Keeper { dir: dir.path().to_owned() }.command()?;
        of_keeper.push(round(Served::start(&mut keeper, dir)?, (events, false), sheet)?);
        if let Some(program) = &program {
            let dir = disk::directory()?;
            let mut server = seaway(program, dir.path());
            of_server.push(round(Served::start(&mut server, dir)?, (events, true), sheet)?);
        }
    }
    let case = format!("connections={CONNECTIONS}");
    let middle = |all: &[Flooded], of: fn(&Flooded) -> f64| median(all.iter().map(of).collect());
    if program.is_none() {
        let rate = middle(&of_keeper, |it| it.events_per_s);
        sheet.put(&case, ("keeper_events_per_s", "1/s"), rate, None);
        return Ok(());
    }
    let mut put = |metric, of: fn(&Flooded) -> f64| {
        sheet.put(&case, metric, middle(&of_server, of), Some(middle(&of_keeper, of)));
    };
    put(("events_per_s", "1/s"), |it| it.events_per_s);
    put(("p50_ms", "ms"), |it| it.p50_ms);
    put(("p99_ms", "ms"), |it| it.p99_ms);
    Ok(())
}

fn round(served: Served, (events, project): (usize, bool), sheet: &Sheet) -> Result<Flooded> {
    let flood = Flood { target: served.target(), events, connections: CONNECTIONS, project };
    let before = served.processor_time()?;
    let flooded = flood.run().with_context(|| format!("it has said last: {}", served.said()))?;
    let processors = (served.processor_time()? - before).as_secs_f64();
    let (memory, name) = (served.memory()?, if project { "server" } else { "baseline" });
    sheet.note(&format!(
        "{name}: {:.0} events/s; processor time {processors:.1} s and {:.1} s for the load; \
         {:.1} MiB",
        flooded.events_per_s, flooded.processor_seconds, memory.peak_mib
    ));
    served.stop()?.close().context("removing a database")?;
    Ok(flooded)
}
