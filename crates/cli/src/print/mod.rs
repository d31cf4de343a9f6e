//! How answers are printed: tables for people, JSON and YAML for machines.

mod format;
mod grid;
mod paint;
mod times;
mod words;
mod yaml;

pub(crate) use format::{Format, OutputArgs, list, value};
pub(crate) use grid::{Cell, Grid};
pub(crate) use paint::{Paint, wanted as colours_wanted};
pub(crate) use times::{Length, ago, ahead, length, now};
pub(crate) use words::{counted, deployment_id, maybe, one_line, word};
pub(crate) use yaml::Yaml;
