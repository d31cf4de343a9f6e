use clap::{Args, ValueEnum};

/// In which form the answer goes out.
#[derive(Debug, Args)]
pub(crate) struct To {
    /// How to print: text, or json, which is stable
    #[arg(
        short,
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "text",
        hide_possible_values = true
    )]
    pub(crate) output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}
