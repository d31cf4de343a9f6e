use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::str::FromStr;

use anyhow::{Context, Result, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{ingest, serve};

/// What this program does in a process of its own, so that its memory, its time and its threads are
/// its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Part {
    /// The executor of `serve`.
    Load(serve::Load),
    /// A server without a kernel.
    Skeleton { dir: PathBuf },
    /// A server that gives back what it gets.
    Echo,
    /// The sender of `ingest`.
    Flood(ingest::Flood),
    /// A server that keeps what it gets, and gives it back.
    Keeper { dir: PathBuf },
}

impl FromStr for Part {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text)
    }
}

impl Part {
    /// Plays the part in this process, to its end.
    pub(crate) fn play(self) -> Result<()> {
        match self {
            Self::Load(load) => serve::load(load),
            Self::Skeleton { dir } => serve::skeleton(&dir),
            Self::Echo => serve::echo(),
            Self::Flood(flood) => ingest::flood(flood),
            Self::Keeper { dir } => ingest::keeper(&dir),
        }
    }

    /// This program in that part.
    pub(crate) fn command(&self) -> Result<Command> {
        let program = std::env::current_exe().context("finding this program")?;
        let mut command = Command::new(program);
        let text = serde_json::to_string(self).context("writing down what is to be done")?;
        command.arg("--part").arg(text);
        Ok(command)
    }

    /// Lets it play, and reads the object that it prints at the end.
    pub(crate) fn ask<T: DeserializeOwned>(&self) -> Result<T> {
        let mut command = self.command()?;
        let output = command.stderr(Stdio::inherit()).output();
        let output = output.context("starting this program again")?;
        ensure!(output.status.success(), "a part of the benchmark ended: {}", output.status);
        serde_json::from_slice(&output.stdout).context("reading what a part has printed")
    }
}
