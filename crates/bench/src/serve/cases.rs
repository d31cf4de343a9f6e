use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::round::{Case, Round, Side};
use crate::disk;
use crate::ingest::Flood;
use crate::part::Part;
use crate::sample::median;
use crate::sheet::Sheet;
use crate::web::Served;

/// What is short is done more than once. A few connections that claim keep up with the others; and
/// with more that send than these, appends grow but the rate does not.
const CASES: [Case; 3] = [
    Case { concurrency: 1, sequences: 300, rounds: 3, claiming: 1, sending: 1 },
    Case { concurrency: 100, sequences: 20_000, rounds: 3, claiming: 2, sending: 100 },
    Case { concurrency: 1_000, sequences: 100_000, rounds: 1, claiming: 4, sending: 256 },
];

/// Names the program of the real server.
const VARIABLE: &str = "SEAWAY_BIN";

/// The program of the real server, which `cargo xtask bench` builds.
pub(crate) fn program(sheet: &Sheet) -> Option<PathBuf> {
    let found = std::env::var_os(VARIABLE).map(PathBuf::from);
    if found.is_none() {
        sheet.note(&format!("SKIPPED: the server, because {VARIABLE} does not name its program"));
    }
    found
}

pub(crate) fn run((quick, only): (bool, Option<&str>), sheet: &mut Sheet) -> Result<()> {
    let cases = CASES.into_iter().filter(|case| only.is_none_or(|only| case.name() == only));
    let cases: Vec<Case> = cases.collect();
    ensure!(!cases.is_empty(), "there is no such case: say concurrency=1, 100 or 1000");
    sheet.note("the baseline is the skeleton: the same requests and rows, and no kernel");
    let program = program(sheet);
    for case in cases {
        let case = match quick {
            true => Case { sequences: case.sequences / 50 + 10, rounds: 1, ..case },
            false => case,
        };
        put_echo(&case, quick, sheet)?;
        let (mut of_server, mut of_skeleton) = (Vec::new(), Vec::new());
        for _ in 0..case.rounds {
            of_skeleton.push(measure(&case, &Side::Skeleton, sheet)?);
            if let Some(program) = &program {
                of_server.push(measure(&case, &Side::Server(program.clone()), sheet)?);
            }
        }
        compare(&case, (&of_server, &of_skeleton), sheet);
        put(&case, (&of_server, &of_skeleton), sheet);
    }
    Ok(())
}

fn measure(case: &Case, side: &Side, sheet: &Sheet) -> Result<Round> {
    let name = format!("{}, {}", case.name(), side.name());
    let round = case.round(side).with_context(|| name.clone())?;
    let Round { report, processor_seconds, memory, rows } = &round;
    let rows = rows.iter().filter(|(_, rows)| **rows > 0.5);
    let rows: Vec<String> = rows.map(|(table, rows)| format!("{rows:.2} {table}")).collect();
    sheet.note(&format!(
        "{name}: {:.0} transitions/s for {:.1} s; processor time {:.1} s and {:.1} s for the load; \
         {:.1} MiB at the end; {} claims; rows per sequence: {}",
        report.transitions_per_s,
        report.seconds,
        processor_seconds,
        report.processor_seconds,
        memory.now_mib,
        report.claims,
        rows.join(", ")
    ));
    Ok(round)
}

/// A baseline that writes other rows than the server is none. What either writes only once matters
/// little.
fn compare(case: &Case, (rounds, baseline): (&[Round], &[Round]), sheet: &Sheet) {
    let (Some(server), Some(skeleton)) = (rounds.first(), baseline.first()) else { return };
    let tables: BTreeSet<&String> = server.rows.keys().chain(skeleton.rows.keys()).collect();
    for table in tables {
        let rows = |round: &Round| round.rows.get(table).copied().unwrap_or_default();
        let (of_server, of_skeleton) = (rows(server), rows(skeleton));
        let once = 100.0 / case.sequences as f64;
        if (of_server - of_skeleton).abs() > 0.1 + once {
            sheet.note(&format!(
                "WARNING: the server writes {of_server:.2} rows into {table} for a sequence, and \
                 the skeleton {of_skeleton:.2}; mend the skeleton before you trust the ratio"
            ));
        }
    }
}

/// How many requests HTTP alone allows, over as many connections.
fn put_echo(case: &Case, quick: bool, sheet: &mut Sheet) -> Result<()> {
    let events = match (quick, case.concurrency) {
        (true, _) => 1_000,
        (false, 1) => 20_000,
        (false, _) => 100_000,
    };
    let served = Served::start(&mut Part::Echo.command()?, disk::directory()?)?;
    let (target, connections) = (served.target(), case.sending);
    let flood = Flood { target, events, connections, project: false };
    let flooded = flood.run()?;
    served.stop()?;
    sheet.put(&case.name(), ("echo_requests_per_s", "1/s"), flooded.events_per_s, None);
    Ok(())
}

fn put(case: &Case, (rounds, baseline): (&[Round], &[Round]), sheet: &mut Sheet) {
    let name = case.name();
    let middle = |all: &[Round], of: fn(&Round) -> f64| median(all.iter().map(of).collect());
    if rounds.is_empty() {
        let rate = middle(baseline, |it| it.report.transitions_per_s);
        return sheet.put(&name, ("skeleton_transitions_per_s", "1/s"), rate, None);
    }
    let mut put = |metric, of: fn(&Round) -> f64| {
        sheet.put(&name, metric, middle(rounds, of), Some(middle(baseline, of)));
    };
    put(("transitions_per_s", "1/s"), |it| it.report.transitions_per_s);
    put(("sequences_per_s", "1/s"), |it| it.report.sequences_per_s);
    put(("handover_p50_ms", "ms"), |it| it.report.handover_p50_ms);
    put(("handover_p99_ms", "ms"), |it| it.report.handover_p99_ms);
    put(("server_rss_mib", "MiB"), |it| it.memory.peak_mib);
    let last = |it: &Round| it.report.first_10k_seconds.zip(it.report.last_10k_seconds);
    if let Some((first, last)) = rounds.first().and_then(last) {
        sheet.note("the baseline of last_10k_s is the time of the first ten thousand sequences");
        sheet.put(&name, ("last_10k_s", "s"), last, Some(first));
    }
}
