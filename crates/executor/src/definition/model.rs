use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use seaway_api::Subscription;
use seaway_model::Name;

use crate::definition::template::Template;

/// A command that carries out a task.
#[derive(Clone, Debug)]
pub struct Definition {
    pub name: Name,
    /// The file that it stands in, as messages name it.
    pub file: String,
    /// Which tasks it is for.
    pub subscription: Subscription,
    /// Never from the message: whoever sends one does not choose what runs here.
    pub program: Program,
    pub arguments: Vec<Template>,
    pub env: BTreeMap<String, Template>,
    /// Where the command runs; none: in an empty directory of its own.
    pub work_dir: Option<PathBuf>,
    /// How long the command may run.
    pub timeout: Duration,
    /// How long a command that is asked to end has until it is killed.
    pub grace: Duration,
    /// How much output is looked at, in bytes. What is more is read and dropped.
    pub output_limit: u64,
    pub inherit_env: bool,
}

/// A program: a word that is looked for in `PATH`, or the path of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    Word(String),
    File(PathBuf),
}
