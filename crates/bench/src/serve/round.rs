use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::load::{Load, Report, verify};
use super::rows;
use crate::disk;
use crate::part::Part;
use crate::web::{Memory, Served};

/// Who serves.
#[derive(Clone, Debug)]
pub(super) enum Side {
    Server(PathBuf),
    Skeleton,
}

/// A load as it is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) concurrency: usize,
    pub(super) sequences: usize,
    pub(super) rounds: usize,
    pub(super) claiming: usize,
    pub(super) sending: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) report: Report,
    pub(super) memory: Memory,
    pub(super) processor_seconds: f64,
    /// How many rows each table has for a sequence.
    pub(super) rows: BTreeMap<String, f64>,
}

impl Side {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Server(_) => "server",
            Self::Skeleton => "skeleton",
        }
    }

    /// The program that serves a data directory on a port of its own choice.
    fn command(&self, dir: &Path) -> Result<Command> {
        match self {
            Self::Server(program) => Ok(seaway(program, dir)),
            Self::Skeleton => Part::Skeleton { dir: dir.to_owned() }.command(),
        }
    }
}

/// The real server, with everything as it is by default.
pub(crate) fn seaway(program: &Path, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("serve").arg("--data").arg(dir).args(["--listen", "127.0.0.1:0"]);
    command
}

impl Case {
    pub(super) fn name(&self) -> String {
        format!("concurrency={}", self.concurrency)
    }

    /// The whole load against a server that starts for it, and a look at what is left of it.
    pub(super) fn round(&self, side: &Side) -> Result<Round> {
        let dir = disk::directory()?;
        let served = Served::start(&mut side.command(dir.path())?, dir)?;
        let load = Load {
            target: served.target(),
            sequences: self.sequences,
            concurrency: self.concurrency,
            claiming: self.claiming,
            sending: self.sending,
        };
        let before = served.processor_time()?;
        let report: Report = Part::Load(load)
            .ask()
            .with_context(|| format!("the {} has said last: {}", side.name(), served.said()))?;
        let processor_seconds = (served.processor_time()? - before).as_secs_f64();
        let memory = served.memory()?;
        verify(&served.target())?;
        let dir = served.stop()?;
        // The skeleton begins with a sequence of its own.
        let sequences = self.sequences + usize::from(matches!(side, Side::Skeleton));
        let finished = rows::finished(dir.path())?;
        ensure!(
            finished as usize == sequences,
            "{finished} of {sequences} sequences are on the disk of the {}",
            side.name()
        );
        let per_sequence = |(table, rows): (_, u32)| (table, f64::from(rows) / sequences as f64);
        let rows = rows::rows(dir.path())?.into_iter().map(per_sequence).collect();
        dir.close().context("removing a database")?;
        Ok(Round { report, memory, processor_seconds, rows })
    }
}
