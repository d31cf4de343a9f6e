use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use seaway_engine::{Engine, Options};
use seaway_store::Store;
use tokio::sync::mpsc;

use crate::demo::berth::Berth;
use crate::demo::example::{Example, PROJECT, name};
use crate::demo::executors::Executors;
use crate::demo::scenario::Scenario;
use crate::demo::signals::Signals;
use crate::failure::Interrupted;
use crate::out::Out;

/// Offers that may wait for the executors of the example, which has far fewer steps.
const OFFERS: usize = 1_024;

/// Delivers a few example revisions in this process, and leaves nothing behind
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keeps the data in this directory, which must be new or empty
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) async fn run(args: DemoArgs, out: &mut Out) -> Result<()> {
    let mut signals = Signals::listen()?;
    let berth = Berth::prepare(args.keep)?;
    let store = Store::sqlite(berth.path())?;
    store.create_project(&name(PROJECT)).await?;
    let (effects, notices) = mpsc::channel(OFFERS);
    let options = Options { owner: "demo".into(), effects: Some(effects), ..Options::default() };
    let engine = Engine::start(store.clone(), options);
    let ended = {
        let project = engine.project(&name(PROJECT));
        let example = Example::new();
        let executors = Executors::new(project.clone(), &example);
        let asked = executors.asked();
        let scenario = Scenario { store: &store, project, example: &example, asked, out };
        tokio::select! {
            played = scenario.play() => played,
            failed = executors.serve(notices) => failed,
            signal = signals.any() => Err(Interrupted(signal).into()),
        }
    };
    engine.stop().await;
    drop(store);
    let kept = berth.leave()?;
    ended?;
    match kept {
        Some(dir) => {
            let dir = dir.display();
            out.line(format_args!("Look around with: seaway log list --data {dir}"))
        }
        None => out.line("Done, and everything is removed."),
    }
}
