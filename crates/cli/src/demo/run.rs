use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::demo::berth::Berth;
use crate::demo::harbor::Harbor;
use crate::demo::{example, scenario};
use crate::failure::Interrupted;
use crate::out::Out;
use crate::signals::Signals;

/// Delivers a few example revisions with a server and a worker of its own, and cleans up
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keeps the data in this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) async fn run(args: DemoArgs, out: &mut Out) -> Result<()> {
    let mut signals = Signals::listen()?;
    let berth = Berth::prepare(args.keep)?;
    let definitions = example::write(berth.path())?;
    let mut harbor = Harbor::open(berth.path(), &definitions).await?;
    out.line(format_args!("A server listens on {}, and a worker waits for tasks.", harbor.url))?;
    let client = harbor.client.clone();
    let ended = tokio::select! {
        played = scenario::play(&client, out) => played,
        error = harbor.failed() => Err(error),
        signal = signals.any() => Err(Interrupted(signal).into()),
    };
    harbor.close().await;
    let kept = berth.leave()?;
    ended?;
    match kept {
        Some(dir) => {
            let dir = dir.display();
            out.line(format_args!("Go on with: seaway serve --data {dir}"))
        }
        None => out.line("Done, and everything is removed."),
    }
}
