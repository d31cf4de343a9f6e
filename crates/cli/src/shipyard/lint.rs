use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;

use crate::out::Out;
use crate::shipyard::to::{Format, To};
use crate::shipyard::verdict::{self, Verdict};
use crate::shipyard::view::View;

/// Checks pipeline documents, and says everything that is wrong with them at once
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LintArgs {
    /// The shipyards to check; - is standard input
    #[arg(value_name = "FILE", required_unless_present = "schema")]
    files: Vec<PathBuf>,

    /// Counts warnings as errors
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    to: To,

    /// Prints the JSON Schema of shipyards instead, for editors
    #[arg(long, conflicts_with_all = ["files", "strict", "output"])]
    schema: bool,
}

const EXAMPLES: &str = "\
Examples:
  seaway lint shipyard.yaml
  seaway lint --strict stages/*.yaml
  git show HEAD:shipyard.yaml | seaway lint -
  seaway lint -o json shipyard.yaml          one object per file and line
  seaway lint --schema > shipyard.json       for completion in an editor

Exit codes: 0 when there are only warnings, 1 with errors, 2 wrong usage.";

pub(crate) fn run(args: LintArgs, out: &mut Out) -> Result<()> {
    if args.schema {
        return out.line(format_args!("{:#}", seaway_shipyard::schema()));
    }
    out.go_on_unread();
    let mut wrong = 0;
    for file in &args.files {
        let passes = match Verdict::of(file) {
            Ok(verdict) => {
                show(&verdict, &args, out)?;
                verdict.passes(args.strict)
            }
            Err(error) => {
                unreadable(&format!("{error:#}"), file, &args, out)?;
                false
            }
        };
        wrong += usize::from(!passes);
    }
    match (wrong, &args.files[..]) {
        (0, _) => Ok(()),
        (_, [file]) => bail!("{} does not pass", file.display()),
        (_, files) => bail!("{wrong} of {} files do not pass", files.len()),
    }
}

fn show(verdict: &Verdict, args: &LintArgs, out: &mut Out) -> Result<()> {
    if args.to.output == Format::Json {
        return out.line(verdict.json(args.strict));
    }
    if !verdict.problems.all().is_empty() {
        let terminal = out.is_terminal();
        out.line(View { problems: &verdict.problems, terminal })?;
    }
    out.line(verdict.summary(args.strict))
}

/// The other files are checked nevertheless.
fn unreadable(why: &str, file: &Path, args: &LintArgs, out: &mut Out) -> Result<()> {
    match args.to.output {
        Format::Json => out.line(verdict::unreadable(file, why)),
        Format::Text => out.line(why),
    }
}
