use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::out::Out;
use crate::print::yaml::Yaml;

/// In which form the answer goes out.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// How to print: table, wide, or json and yaml, which are stable
    #[arg(
        short,
        long,
        value_enum,
        value_name = "FORMAT",
        default_value = "table",
        hide_possible_values = true
    )]
    pub(crate) output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Wide,
    Json,
    Yaml,
}

impl Format {
    /// Whether a person reads it.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, Self::Table | Self::Wide)
    }
}

/// Prints one answer for machines, or has it shown to people.
pub(crate) fn value<T: Serialize>(
    out: &mut Out,
    to: Format,
    value: &T,
    show: impl FnOnce(&mut Out, &T) -> Result<()>,
) -> Result<()> {
    match to {
        Format::Json => out.line(json(value)?),
        Format::Yaml => out.line(Yaml(&tree(value)?)),
        Format::Table | Format::Wide => show(out, value),
    }
}

/// Prints a list for machines, one object per line in JSON, or has it shown to people.
pub(crate) fn list<T: Serialize>(
    out: &mut Out,
    to: Format,
    items: &[T],
    show: impl FnOnce(&mut Out, &[T]) -> Result<()>,
) -> Result<()> {
    match to {
        Format::Json => items.iter().try_for_each(|item| out.line(json(item)?)),
        Format::Yaml => out.line(Yaml(&tree(&items)?)),
        Format::Table | Format::Wide => show(out, items),
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).context("the answer cannot be written as JSON")
}

fn tree(value: &impl Serialize) -> Result<serde_json::Value> {
    serde_json::to_value(value).context("the answer cannot be written as YAML")
}
