use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use seaway_api::Task;
use tokio::process::Command;

use crate::command::environment::{Outer, environment};
use crate::command::room::Room;
use crate::definition::{Definition, Fill, Program};

/// A command with everything filled in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    pub(super) program: OsString,
    arguments: Vec<String>,
    env: Outer,
    dir: PathBuf,
}

impl Invocation {
    pub(super) fn of(
        definition: &Definition,
        task: &Task,
        room: &Room,
        outer: &Outer,
    ) -> Result<Self, Fill> {
        let arguments = definition.arguments.iter().map(|it| it.fill(&task.event.data));
        Ok(Self {
            program: match &definition.program {
                Program::Word(word) => word.into(),
                Program::File(path) => path.into(),
            },
            arguments: arguments.collect::<Result<_, _>>()?,
            env: environment(definition, task, room, outer)?,
            dir: definition.work_dir.clone().unwrap_or_else(|| room.work()),
        })
    }

    /// Ready to be started: it reads nothing, and what it says is read.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env_clear().envs(&self.env).current_dir(&self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Why it could not be started, and what to do.
    pub(super) fn failure(&self, error: &std::io::Error) -> String {
        let program = self.program.display();
        if !self.dir.is_dir() {
            return format!(
                "there is no directory {} to run in; check workDir",
                self.dir.display()
            );
        }
        match error.kind() {
            std::io::ErrorKind::NotFound => format!(
                "there is no program {program}, or the interpreter that its first line names is \
                 missing; check the command of the definition"
            ),
            std::io::ErrorKind::PermissionDenied => {
                format!("{program} may not be executed; make it executable with chmod +x")
            }
            std::io::ErrorKind::ArgumentListTooLong => {
                format!("the arguments of {program} are too long; read $SEAWAY_MESSAGE instead")
            }
            _ => format!("{program} could not be started: {error}"),
        }
    }
}
