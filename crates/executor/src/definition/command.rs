use std::path::{Path, PathBuf};

use seaway_shipyard::Code;
use seaway_shipyard::reading::{Draft, Node, shown};

use crate::definition::check::Reader;
use crate::definition::model::Program;
use crate::definition::template::{Template, Unclear};

const ARGUMENTS: usize = 1_000;

impl Reader<'_, '_> {
    pub(super) fn command(&mut self, node: &Node, base: &Path) -> Option<(Program, Vec<Template>)> {
        if let Some(text) = node.text() {
            let message = "`command` has to be a list: the program and its arguments";
            let draft = Draft::error(Code::WrongType, node.place, message);
            let words: Vec<String> =
                text.split_whitespace().take(8).map(|it| format!("{it:?}")).collect();
            let list = words.join(", ");
            self.check
                .push(draft.hint(format!("no shell reads it; write something like [{list}]")));
            return None;
        }
        let items = self.check.items(node, "command", (ARGUMENTS, "arguments"))?;
        let Some((first, rest)) = items.split_first() else {
            let draft = Draft::error(Code::Empty, node.place, "`command` needs a program");
            self.check.push(draft.hint("write something like `[\"./test.sh\", \"--fast\"]`"));
            return None;
        };
        let program = self.program(first, base);
        let arguments: Vec<Option<Template>> =
            rest.iter().map(|node| self.template(node, "an argument")).collect();
        Some((program?, arguments.into_iter().collect::<Option<_>>()?))
    }

    fn program(&mut self, node: &Node, base: &Path) -> Option<Program> {
        let template = self.template(node, "the program of a command")?;
        let Some(text) = template.literal().filter(|text| !text.is_empty()) else {
            let message = "the program of a command has to be given, not taken from a message";
            let draft = Draft::error(Code::WrongValue, node.place, message);
            self.check.push(draft.hint("values of a message can be its arguments"));
            return None;
        };
        if !text.contains('/') {
            return Some(Program::Word(text));
        }
        let path = absolute(&base.join(&text));
        if !path.is_file() {
            let message = format!("there is no file {} yet", shown(&path.display().to_string()));
            let hint = "a path is looked for in `workDir`, or beside the file of the definition";
            self.check.push(Draft::warning(Code::WrongValue, node.place, message).hint(hint));
        }
        Some(Program::File(path))
    }

    pub(super) fn work_dir(&mut self, node: &Node) -> Option<PathBuf> {
        let text = self.check.text(node, "`workDir`")?;
        let path = absolute(&self.base.join(text));
        if !path.is_dir() {
            let message =
                format!("there is no directory {} yet", shown(&path.display().to_string()));
            let hint = "a path is looked for beside the file of the definition";
            self.check.push(Draft::warning(Code::WrongValue, node.place, message).hint(hint));
        }
        Some(path)
    }

    pub(super) fn template(&mut self, node: &Node, what: &str) -> Option<Template> {
        let text = self.check.text(node, what)?;
        if text.contains('\0') {
            let message = format!("{what} cannot hold a zero byte");
            self.check.push(Draft::error(Code::WrongValue, node.place, message));
            return None;
        }
        match Template::parse(text) {
            Ok(template) => Some(template),
            Err(unclear) => {
                let hint = match unclear {
                    Unclear::Open => "close it with `}}`; `{{ \"{{\" }}` stands for the braces",
                    Unclear::Path(_) => {
                        "write names with dots between them, such as `{{ test.users }}`; to pass \
                         braces on, write `{{ \"{{…}}\" }}`"
                    }
                };
                let draft = Draft::error(Code::WrongValue, node.place, unclear.to_string());
                self.check.push(draft.hint(hint));
                None
            }
        }
    }
}

/// A command runs somewhere else, where a path from here would mean something different.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
