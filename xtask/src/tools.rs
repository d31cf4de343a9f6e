use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Result, ensure};

use crate::postgres::{self, Cluster};
use crate::shell::Shell;

pub(crate) fn sim(shell: &Shell, args: &[String]) -> Result<ExitCode> {
    let mut command = shell.cargo(&["run", "--release", "--locked", "-p", "seaway-sim", "--"]);
    command.args(args);
    pass_on(shell, &mut command)
}

pub(crate) fn bench(
    shell: &Shell,
    (name, case): (Option<&str>, Option<&str>),
    json: bool,
) -> Result<ExitCode> {
    let mut command = shell.cargo(&["run", "--release", "--locked", "-p", "seaway-bench", "--"]);
    command.args(name);
    if let Some(case) = case {
        command.args(["--case", case]);
    }
    if json {
        command.arg("--json");
    }
    let needs_postgres = name.is_none_or(|name| name == "append");
    let cluster = if needs_postgres { start_or_say_why(shell) } else { None };
    if let Some(cluster) = &cluster {
        command.envs(cluster.environment());
    }
    if name.is_none_or(|name| ["serve", "ingest"].contains(&name)) {
        command.env("SEAWAY_BIN", server(shell)?);
    }
    pass_on(shell, &mut command)
}

/// Builds the server as people run it, and tells where its program is.
fn server(shell: &Shell) -> Result<PathBuf> {
    let mut build = shell.cargo(&["build", "--release", "--locked", "-p", "seaway-cli"]);
    ensure!(shell.run(&mut build)?.success(), "the server cannot be built");
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| "target".into());
    Ok(shell.root.join(target).join("release/seaway"))
}

fn start_or_say_why(shell: &Shell) -> Option<Cluster> {
    let started = postgres::find_or_install(shell).and_then(|bin| Cluster::start(&bin));
    match started {
        Ok(cluster) => Some(cluster),
        Err(error) => {
            eprintln!("SKIPPED: PostgreSQL is not measured: {error:#}");
            None
        }
    }
}

pub(crate) fn setup(shell: &Shell) -> Result<ExitCode> {
    let bin = postgres::find_or_install(shell)?;
    println!("PostgreSQL: {}", bin.display());
    Ok(ExitCode::SUCCESS)
}

fn pass_on(shell: &Shell, command: &mut Command) -> Result<ExitCode> {
    let code = shell.run(command)?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
