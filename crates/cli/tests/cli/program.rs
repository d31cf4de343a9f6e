use std::ffi::OsStr;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};

/// What a run of the binary printed, and how it ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The binary, with nothing from the environment of the tests that could change what it prints.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seaway"));
    command.args(args).env("SEAWAY_CONFIG", "/dev/null").stdin(Stdio::null());
    for name in ["SEAWAY_DATA", "SEAWAY_URL", "SEAWAY_TOKEN", "SEAWAY_CA_FILE", "NO_COLOR"] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn run(args: &[&str]) -> Ran {
    ran(&mut command(args))
}

/// Looks at the log in a data directory, which is named by the environment.
pub(crate) fn log(dir: &Path, args: &[&str]) -> Ran {
    let mut command = command(&["log"]);
    ran(command.args(args).env("SEAWAY_DATA", dir))
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    let output = command.output().expect("the binary was built for this test");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    let code = output.status.code().expect("it ended by itself");
    Ran { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The exit code where nobody reads what is printed, and what goes to standard error.
pub(crate) fn unread(command: &mut Command) -> (i32, String) {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    // Gone before the first line is written.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it was started here");
    let stderr = String::from_utf8(output.stderr).expect("it prints text");
    (output.status.code().expect("it ended by itself"), stderr)
}

/// What both outputs give together, as on a terminal.
pub(crate) fn together(command: &mut Command) -> String {
    let mut file = tempfile::tempfile().expect("a temporary file");
    let copy = || file.try_clone().expect("it is open");
    command.stdout(copy()).stderr(copy()).status().expect("the binary was built for this test");
    let mut text = String::new();
    file.rewind().expect("it is a file");
    file.read_to_string(&mut text).expect("it is text");
    text
}

impl Ran {
    /// All of it, for a golden file.
    pub(crate) fn shown(&self) -> String {
        let Self { code, stdout, stderr } = self;
        let stderr: String = stderr.lines().map(|line| format!("! {line}\n")).collect();
        format!("{stdout}{stderr}exit code {code}")
    }

    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, &*self.stderr), (0, ""), "{}", self.stdout);
        self.stdout
    }
}

/// Compares with a golden file, in which times, hashes and the directory are always the same.
pub(crate) fn golden(name: &str, dir: &Path, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let dir = dir.as_os_str();
    if dir != OsStr::new("") {
        settings.add_filter(&dir.to_string_lossy(), "DIR");
    }
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "2026-01-01T00:00:00.000000Z");
    settings.add_filter(r"store size .*", "store size    (some)");
    settings.add_filter(r"\b[0-9a-f]{64}\b", "0123".repeat(16));
    settings.bind(|| insta::assert_snapshot!(name, text));
}
