use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args;
use seaway_api::Project;
use seaway_model::{Name, Seq};
use seaway_store::{Store, StoreError, Verified, VerifyError};
use serde::Serialize;

use crate::connection::ServerArgs;
use crate::log::args::project_name;
use crate::moment;
use crate::out::Out;
use crate::place;
use crate::print::{Format, value};

/// Checks every record of the log against its hash and its predecessor
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The project; may be left out where there is only one
    #[arg(value_parser = project_name)]
    project: Option<Name>,

    /// Checks this file of archived records instead, by itself
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    pub(super) archive: Option<PathBuf>,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

/// Checks a file that `seaway archive` wrote, wherever it is now.
pub(crate) async fn run_archive(file: &Path, to: Format, out: &mut Out) -> Result<()> {
    let content = Store::verify_archive(file).await?;
    let archive = IntactArchive {
        first: content.first.0,
        hash: content.hash.to_string(),
        last: content.last.0,
        project: content.project.to_string(),
    };
    value(out, to, &archive, |out, IntactArchive { project, first, last, hash }| {
        out.line(format_args!(
            "the archive of {project} is intact: records {first} to {last}, the last with hash \
             {hash}"
        ))
    })
}

/// A file that is what was written.
#[derive(Debug, Serialize)]
struct IntactArchive {
    first: u64,
    hash: String,
    last: u64,
    project: String,
}

pub(crate) async fn run(store: &Store, args: VerifyArgs, to: Format, out: &mut Out) -> Result<()> {
    let project = place::project(store, args.project.as_ref()).await?;
    let end = store.head(&project).await?.seq;
    let mut progress = Progress { end, shown: stderr().is_terminal() };
    let verified = store.verify(&project, |seq| progress.reached(seq)).await;
    progress.clear();
    let verified = verified.map_err(|error| broken(&project, end, error))?;
    let intact = Intact::of(&project, verified);
    value(out, to, &intact, |out, intact| out.line(intact.sentence()))
}

/// Has the server do it, for those who have no other access to the log.
pub(crate) async fn run_remote(
    args: &VerifyArgs,
    outer: &ServerArgs,
    to: Format,
    out: &mut Out,
) -> Result<()> {
    let server = args.server.server(outer)?;
    let project = server.project(args.project.as_ref()).await?;
    let Project { head, hash, time, .. } = server.client.verify(&project).await?;
    let intact = Intact { project, records: head, at: time.unwrap_or_default(), hash };
    value(out, to, &intact, |out, intact| out.line(intact.sentence()))
}

/// A log that is what was written.
#[derive(Debug, Serialize)]
struct Intact {
    at: String,
    hash: String,
    project: String,
    records: u64,
}

impl Intact {
    fn of(project: &Name, Verified { records, head }: Verified) -> Self {
        let (at, hash) = (moment::show(head.at), head.hash.to_string());
        Self { project: project.to_string(), records, at, hash }
    }

    fn sentence(&self) -> String {
        let Self { project, records, at, hash } = self;
        match records {
            0 => format!("the log of {project} is empty"),
            records => format!(
                "the log of {project} is intact: {records} records, the last of {at} with hash \
                 {hash}"
            ),
        }
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
