use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::Result;

use crate::postgres::{self, Cluster};
use crate::shell::Shell;
use crate::test::Part;
use crate::test::output::TestOutput;
use crate::test::report::{Report, Verdict};
use crate::{layers, python, tidy};

const WORLDS: &str = "500";

pub(crate) fn run(shell: &Shell, only: &[Part]) -> Result<ExitCode> {
    let mut run = Run { shell, cluster: None, python: None, report: Report::default() };
    for part in Part::selected(only) {
        run.part(part);
    }
    // The server ends before the report, which is the last thing that is printed.
    drop(run.cluster.take());
    println!("{}", run.report);
    Ok(if run.report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Run<'a> {
    shell: &'a Shell,
    cluster: Option<Cluster>,
    python: Option<PathBuf>,
    report: Report,
}

impl Run<'_> {
    fn part(&mut self, part: Part) {
        let name = part.name();
        println!("\n=== {name}");
        let start = now();
        let mut output = None;
        let verdict = if self.shell.interrupted() {
            Verdict::Failed("interrupted before it ran".to_owned())
        } else {
            let verdict = match part {
                Part::Fmt => self.cargo(&["fmt", "--all", "--check"]),
                Part::Clippy => self.clippy(),
                Part::Tidy => tidy::violations(self.shell).map(|found| listed(&found)),
                Part::Layers => layers::violations(self.shell).map(|found| listed(&found)),
                Part::Postgres => Ok(self.postgres()),
                Part::Python => Ok(self.python()),
                Part::Tests => self.tests(output.insert(TestOutput::default())),
                Part::Sim => self.sim(&["--seeds", WORLDS]),
                Part::Planted => self.sim(&["--planted-recorded"]),
                Part::Deny => self.deny(),
                Part::Advisories => self.advisories(),
            };
            verdict.unwrap_or_else(|error| Verdict::Failed(format!("{error:#}")))
        };
        let took = start.elapsed();
        match &verdict {
            Verdict::Passed => println!("=== {name} passed in {:.1} s", took.as_secs_f64()),
            Verdict::Failed(why) => println!("=== {name} FAILED: {why}"),
            Verdict::Skipped(why) => println!("=== {name} SKIPPED: {why}"),
        }
        match output {
            Some(output) => self.report.tests(name, took, verdict, output),
            None => self.report.part(name, took, verdict),
        }
    }

    fn cargo(&self, args: &[&str]) -> Result<Verdict> {
        self.program(&mut self.shell.cargo(args))
    }

    fn program(&self, command: &mut Command) -> Result<Verdict> {
        let status = self.shell.run(command)?;
        Ok(if status.success() { Verdict::Passed } else { Verdict::Failed(status.to_string()) })
    }

    fn clippy(&self) -> Result<Verdict> {
        let args = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        self.cargo(&args)
    }

    fn postgres(&mut self) -> Verdict {
        let started = postgres::find_or_install(self.shell).and_then(|bin| Cluster::start(&bin));
        match started {
            Ok(cluster) => {
                println!("listening at {}", cluster.url());
                self.cluster = Some(cluster);
                Verdict::Passed
            }
            Err(error) => Verdict::Skipped(format!("nothing ran against PostgreSQL: {error:#}")),
        }
    }

    fn python(&mut self) -> Verdict {
        match python::find_or_install(self.shell) {
            Ok(found) => {
                self.python = Some(found);
                Verdict::Passed
            }
            Err(error) => Verdict::Skipped(format!("no client in Python ran: {error:#}")),
        }
    }

    fn tests(&self, output: &mut TestOutput) -> Result<Verdict> {
        let args = ["test", "--workspace", "--locked", "--no-fail-fast"];
        let mut command = self.shell.cargo(&args);
        if let Some(cluster) = &self.cluster {
            command.envs(cluster.environment());
        }
        if let Some(python) = &self.python {
            command.env("SEAWAY_TEST_PYTHON", python);
        }
        let status = self.shell.run_lines(&mut command, |line| {
            println!("{line}");
            output.feed(line);
        })?;
        Ok(if status.success() { Verdict::Passed } else { Verdict::Failed(status.to_string()) })
    }

    fn sim(&self, args: &[&str]) -> Result<Verdict> {
        let mut command =
            self.shell.cargo(&["run", "--release", "--locked", "-p", "seaway-sim", "--"]);
        self.program(command.args(args))
    }

    fn deny(&self) -> Result<Verdict> {
        if let Some(verdict) = self.without_deny() {
            return Ok(verdict);
        }
        self.cargo(&["deny", "--locked", "check", "bans", "licenses", "sources"])
    }

    fn advisories(&self) -> Result<Verdict> {
        if let Some(verdict) = self.without_deny() {
            return Ok(verdict);
        }
        let mut last = String::new();
        let fetched =
            self.shell.run_lines(&mut self.shell.cargo(&["deny", "fetch", "db"]), |line| {
                println!("{line}");
                if !line.trim().is_empty() {
                    last = line.trim().to_owned();
                }
            })?;
        if !fetched.success() {
            let why = format!("the database of advisories cannot be reached: {last}");
            return Ok(Verdict::Skipped(why));
        }
        self.cargo(&["deny", "--locked", "check", "--disable-fetch", "advisories"])
    }

    fn without_deny(&self) -> Option<Verdict> {
        let mut command = self.shell.cargo(&["deny", "--version"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let why = "cargo-deny is not installed; `cargo install cargo-deny --locked` brings it";
        (!status.is_ok_and(|status| status.success())).then(|| Verdict::Skipped(why.to_owned()))
    }
}

fn listed(found: &[impl ToString]) -> Verdict {
    for violation in found {
        println!("{}", violation.to_string());
    }
    match found.len() {
        0 => Verdict::Passed,
        count => Verdict::Failed(format!("{count} to fix")),
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a part took is shown, not decided on")]
fn now() -> Instant {
    Instant::now()
}
