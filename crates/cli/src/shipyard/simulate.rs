use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use seaway_scenario::{Scenario, Transcript, Yards, parse, play};
use seaway_shipyard::{Checked, Problems, Shipyard};

use crate::out::Out;
use crate::shipyard::source;
use crate::shipyard::to::{Format, To};
use crate::shipyard::view::View;

/// Plays a pipeline document against a script of who answers what and when, on virtual time
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// The shipyard to begin with; - is standard input
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    shipyard: PathBuf,

    /// What happens; shipyards that it applies later are looked for beside it
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,

    /// Shows every record
    #[arg(long)]
    records: bool,

    /// Shows what the messages to executors carry
    #[arg(long)]
    data: bool,

    #[command(flatten)]
    to: To,
}

const EXAMPLES: &str = "\
Examples:
  seaway simulate -f shipyard.yaml scenario.yaml
  seaway simulate -f shipyard.yaml scenario.yaml --data       with what each task is given
  seaway simulate -f shipyard.yaml scenario.yaml -o json

The smallest scenario, in which everybody passes everything at once:
  steps:
  - trigger: dev.delivery

One in which the first test fails and is tried again by a person:
  executors:
  - {name: jmeter, tasks: [test], takes: 5m, answers: [fail, pass]}
  steps:
  - {trigger: dev.delivery, service: cart, version: 1.0.0, as: first}
  - {at: 10m, retry: dev.test}
  expect:
  - {deployment: first, result: pass}

Exit codes: 0 when everything that is expected came true, 1 if not, 2 wrong usage.";

pub(crate) fn run(args: &SimulateArgs, out: &mut Out) -> Result<()> {
    let first = shipyard(&args.shipyard)?;
    let scenario = scenario(&args.scenario)?;
    let beside = args.scenario.parent().unwrap_or(Path::new(""));
    let mut later = BTreeMap::new();
    for file in scenario.shipyards() {
        later.insert(file.to_owned(), shipyard(&beside.join(file))?);
    }
    let played = match play(&scenario, &Yards { first, later }) {
        Ok(played) => played,
        Err(problems) => return refuse(&problems),
    };
    let transcript = Transcript { played: &played, records: args.records, data: args.data };
    match args.to.output {
        Format::Text => out.line(transcript.to_string().trim_end())?,
        Format::Json => out.line(transcript.json())?,
    }
    if !played.holds() {
        bail!("{} did not go as expected", args.scenario.display());
    }
    Ok(())
}

fn shipyard(file: &Path) -> Result<Shipyard> {
    let text = source::read(file)?;
    match seaway_shipyard::parse(&text, &file.display().to_string()) {
        Ok(Checked { shipyard, warnings }) => {
            if !warnings.is_empty() {
                show(&Problems::new(&text, &file.display().to_string(), warnings));
            }
            Ok(shipyard)
        }
        Err(problems) => refuse(&problems),
    }
}

fn scenario(file: &Path) -> Result<Scenario> {
    let text = source::read(file)?;
    parse(&text, &file.display().to_string()).or_else(|problems| refuse(&problems))
}

fn refuse<T>(problems: &Problems) -> Result<T> {
    show(problems);
    bail!("{} does not pass", problems.file())
}

fn show(problems: &Problems) {
    eprintln!("{}", View { problems, terminal: stderr().is_terminal() });
}
