use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::out::Out;

/// Prints a script with which a shell completes this command
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionArgs {
    /// The shell: bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  seaway completion bash > ~/.local/share/bash-completion/completions/seaway
  seaway completion zsh > ~/.zfunc/_seaway
  seaway completion fish > ~/.config/fish/completions/seaway.fish";

pub(crate) fn run(args: &CompletionArgs, out: &mut Out) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut crate::args::Args::command(), "seaway", &mut script);
    out.bytes(&script)
}
