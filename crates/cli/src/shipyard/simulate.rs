use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use seaway_scenario::{MOST_RECORDS, Scenario, Stopped, Transcript, Yards, parse, play};
use seaway_shipyard::{Checked, Problems, Shipyard};

use crate::out::{Out, aside};
use crate::shipyard::source;
use crate::shipyard::to::{Format, To};
use crate::shipyard::verdict::{self, Verdict};
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

Exit codes: 0 when everything that is expected came true, 1 if not or if it was cut off, 2 wrong
usage.";

pub(crate) fn run(args: &SimulateArgs, out: &mut Out) -> Result<()> {
    out.go_on_unread();
    let played = match prepare(args).and_then(|(scenario, yards)| Ok(play(&scenario, &yards)?)) {
        Ok(played) => played,
        Err(wrong) => return wrong.tell(args.to.output, out),
    };
    let transcript = Transcript { played: &played, records: args.records, data: args.data };
    match args.to.output {
        Format::Text => out.line(transcript.to_string().trim_end())?,
        Format::Json => out.line(transcript.json())?,
    }
    let shown = args.scenario.display();
    if played.stopped == Stopped::TooLong {
        bail!("{shown} was cut off: a play writes at most {MOST_RECORDS} records");
    }
    if !played.holds() {
        bail!("{shown} did not go as expected");
    }
    Ok(())
}

fn prepare(args: &SimulateArgs) -> Result<(Scenario, Yards), Wrong> {
    let first = shipyard(&args.shipyard)?;
    let scenario = scenario(&args.scenario)?;
    let beside = args.scenario.parent().unwrap_or(Path::new(""));
    let mut later = BTreeMap::new();
    for file in scenario.shipyards() {
        later.insert(file.to_owned(), shipyard(&beside.join(file))?);
    }
    Ok((scenario, Yards { first, later }))
}

fn shipyard(file: &Path) -> Result<Shipyard, Wrong> {
    let text = read(file)?;
    let shown = file.display().to_string();
    let Checked { shipyard, warnings } = seaway_shipyard::parse(&text, &shown)?;
    if !warnings.is_empty() {
        show(&Problems::new(&text, &shown, warnings));
    }
    Ok(shipyard)
}

fn scenario(file: &Path) -> Result<Scenario, Wrong> {
    Ok(parse(&read(file)?, &file.display().to_string())?)
}

fn read(file: &Path) -> Result<String, Wrong> {
    source::read(file).map_err(|error| Wrong::Unreadable(file.to_owned(), error))
}

fn show(problems: &Problems) {
    aside(View { problems, terminal: stderr().is_terminal() });
}

/// Why nothing was played.
#[derive(Debug)]
enum Wrong {
    Unreadable(PathBuf, anyhow::Error),
    Problems(Problems),
}

impl From<Problems> for Wrong {
    fn from(problems: Problems) -> Self {
        Self::Problems(problems)
    }
}

impl Wrong {
    /// Machines get the same object as from `lint`.
    fn tell(self, to: Format, out: &mut Out) -> Result<()> {
        match (self, to) {
            (Self::Unreadable(file, error), Format::Json) => {
                out.line(verdict::unreadable(&file, &format!("{error:#}")))?;
                Err(error)
            }
            (Self::Unreadable(_, error), Format::Text) => Err(error),
            (Self::Problems(problems), to) => {
                let does_not_pass = format!("{} does not pass", problems.file());
                match to {
                    Format::Json => out.line(Verdict::refusal(problems).json(false))?,
                    Format::Text => show(&problems),
                }
                bail!(does_not_pass)
            }
        }
    }
}
