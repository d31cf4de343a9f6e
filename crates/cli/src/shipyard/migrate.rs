use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use seaway_shipyard::{Migrated, Problems};

use crate::failure::WrongUsage;
use crate::out::{Out, aside};
use crate::print::counted;
use crate::shipyard::source;
use crate::shipyard::view::View;

/// Turns a pipeline document of the old format 0.1 into one of spec.keptn.sh/0.2.4
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MigrateArgs {
    /// The old shipyard; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Writes to this file instead of standard output, which is also -
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrites the file of --output
    #[arg(long, requires = "output")]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  seaway migrate old.yaml
  seaway migrate old.yaml --output shipyard.yaml
  seaway migrate old.yaml | seaway lint -

What was decided on the way is said in comments of the result.";

pub(crate) fn run(args: &MigrateArgs, out: &mut Out) -> Result<()> {
    let text = source::read(&args.file)?;
    let shown = args.file.display().to_string();
    let terminal = stderr().is_terminal();
    let migrated = match seaway_shipyard::migrate(&text, &shown) {
        Ok(migrated) => migrated,
        Err(problems) => {
            aside(View { problems: &problems, terminal });
            bail!("{shown} cannot be migrated");
        }
    };
    let Migrated { text: new, decisions, warnings } = migrated;
    if !warnings.is_empty() {
        let problems = Problems::new(&text, &shown, warnings);
        aside(View { problems: &problems, terminal });
    }
    match args.output.as_deref() {
        Some(file) if file != Path::new("-") => write(file, &new, args.force)?,
        _ => out.line(new.trim_end())?,
    }
    match decisions {
        0 => Ok(()),
        count => {
            let decisions = counted(count, "decision");
            out.aside(format_args!("{decisions} on the way; each has a comment in the result"))
        }
    }
}

fn write(file: &Path, text: &str, force: bool) -> Result<()> {
    let shown = file.display();
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(file).and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let advice = format!("{shown} is there already; overwrite it with --force");
            Err(WrongUsage(advice).into())
        }
        written => written.with_context(|| format!("{shown} cannot be written")),
    }
}
