use std::io::{IsTerminal, Write, stderr};

use anyhow::{Result, anyhow};
use clap::Args;
use seaway_model::{Name, Seq};
use seaway_store::{Store, StoreError, Verified, VerifyError};

use crate::log::args::{Format, project_name};
use crate::moment;
use crate::out::Out;
use crate::place;

/// Checks every record of the log against its hash and its predecessor
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The project; may be left out where there is only one
    #[arg(value_parser = project_name)]
    project: Option<Name>,
}

pub(crate) async fn run(store: &Store, args: VerifyArgs, to: Format, out: &mut Out) -> Result<()> {
    let project = place::project(store, args.project.as_ref()).await?;
    let end = store.head(&project).await?.seq;
    let mut progress = Progress { end, shown: stderr().is_terminal() };
    let verified = store.verify(&project, |seq| progress.reached(seq)).await;
    progress.clear();
    let verified = verified.map_err(|error| broken(&project, end, error))?;
    match to {
        Format::Json => out.line(json(&project, verified)),
        Format::Table | Format::Wide => out.line(sentence(&project, verified)),
    }
}

fn broken(project: &Name, end: Seq, error: VerifyError) -> anyhow::Error {
    match error {
        // What cannot be read because it is damaged is not what was written.
        VerifyError::Store(error @ StoreError::Corrupt(_)) => {
            anyhow!(error).context(format!("the log of {project} is broken"))
        }
        // The store did not answer, which says nothing about the log.
        VerifyError::Store(error) => anyhow!(error).context("the log could not be verified"),
        VerifyError::Head => anyhow!(
            "the log of {project} is broken: record {end} is not the one that was written last"
        ),
        VerifyError::Elsewhere(_) => anyhow!("the log of {project} is intact, but {error}"),
        error => anyhow!(error).context(format!("the log of {project} is broken")),
    }
}

fn sentence(project: &Name, Verified { records, head }: Verified) -> String {
    match records {
        0 => format!("the log of {project} is empty"),
        records => format!(
            "the log of {project} is intact: {records} records, the last of {} with hash {}",
            moment::show(head.at),
            head.hash
        ),
    }
}

fn json(project: &Name, Verified { records, head }: Verified) -> serde_json::Value {
    serde_json::json!({
        "project": project,
        "records": records,
        "at": moment::show(head.at),
        "hash": head.hash.to_string(),
    })
}

/// A line on the terminal that is written over and over.
struct Progress {
    end: Seq,
    shown: bool,
}

impl Progress {
    fn reached(&mut self, seq: Seq) {
        let percent = seq.0.saturating_mul(100) / self.end.0.max(1);
        self.write(&format!("\r{percent:3} %  record {seq} of {}", self.end));
    }

    fn clear(&mut self) {
        self.write("\r\u{1b}[K");
    }

    fn write(&mut self, text: &str) {
        if !self.shown {
            return;
        }
        // Progress is a courtesy: a terminal that went away must not end the verification.
        self.shown = write!(stderr(), "{text}").and_then(|()| stderr().flush()).is_ok();
    }
}
