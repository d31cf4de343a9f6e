use std::time::Duration;

use anyhow::{Result, bail};
use seaway_executor::{
    Definitions, LoadError, Projects, Stop, Summary, Worker, WorkerError, WorkerOptions,
};
use tokio::sync::watch;

use crate::connection::{Server, ServerArgs};
use crate::out::{Out, aside};
use crate::signals::Signals;
use crate::worker::args::WorkerArgs;
use crate::worker::logging;

pub(crate) async fn run(args: WorkerArgs, outer: &ServerArgs, out: &mut Out) -> Result<()> {
    let definitions = load(&args)?;
    if args.check {
        let count = definitions.all().len();
        return out.line(format_args!("ok, {count} task definitions"));
    }
    let server = args.server.server(outer)?;
    let options = options(&args, definitions, &server);
    logging::start();
    let mut signals = Signals::listen()?;
    let (stop, stopping) = watch::channel(Stop::No);
    let mut working = std::pin::pin!(Worker::new(server.client.clone(), options).run(stopping));
    let worked = loop {
        tokio::select! {
            worked = &mut working => break worked,
            _ = signals.any() => {
                let first = *stop.borrow() == Stop::No;
                aside(match first {
                    true => "stopping when everything that runs is done; once more ends it now",
                    false => "ending everything that runs",
                });
                stop.send_replace(if first { Stop::Drain } else { Stop::Now });
            }
        }
    };
    let Summary { passed, warned, failed, lost } = worked.map_err(told)?;
    out.line(format_args!("{passed} passed, {warned} warned, {failed} failed, {lost} lost"))
}

fn load(args: &WorkerArgs) -> Result<Definitions> {
    match Definitions::load(&args.files) {
        Ok(definitions) => {
            definitions.warnings().iter().for_each(|it| aside(it.plain()));
            Ok(definitions)
        }
        Err(error) if is_silent(&error) => Err(error.into()),
        Err(error) => {
            aside(error.plain().trim_end());
            bail!("the task definitions cannot be used")
        }
    }
}

/// There is nothing to show but the error itself.
fn is_silent(error: &LoadError) -> bool {
    error.problems.is_empty() && error.unreadable.len() < 2
}

fn options(args: &WorkerArgs, definitions: Definitions, server: &Server) -> WorkerOptions {
    let named: Vec<String> = args.projects.iter().map(ToString::to_string).collect();
    let projects = match (named.is_empty(), server.usual_project()) {
        (false, _) => Projects::Named(named),
        (true, Some(usual)) => Projects::Named(vec![usual.to_owned()]),
        (true, None) => Projects::All,
    };
    WorkerOptions {
        projects,
        name: args.name.clone(),
        concurrency: args.concurrency,
        lease: Duration::from_secs(args.lease),
        drain: Duration::from_secs(args.drain),
        definitions,
        replica: args.replica,
    }
}

/// With the answer of the server as the cause, which decides about the exit code.
fn told(error: WorkerError) -> anyhow::Error {
    let what = error.to_string();
    match error {
        WorkerError::Denied { source, .. } | WorkerError::Unlisted(source) => {
            anyhow::Error::from(source).context(what)
        }
        WorkerError::Refused { source, .. } => {
            let what = format!("{what}: {source}");
            anyhow::Error::from(source).context(what)
        }
        WorkerError::UnknownProject(_) => error.into(),
    }
}
