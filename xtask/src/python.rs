use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell::Shell;

/// What tests run clients of other projects with.
const PACKAGES: [&str; 2] = ["cloudevents==2.2.0", "schemathesis==4.32.5"];

/// A Python with the packages that the tests need, in a folder of its own.
pub(crate) fn find_or_install(shell: &Shell) -> Result<PathBuf> {
    let dir = shell.root.join("target/python");
    let python = dir.join("bin/python");
    let wanted = PACKAGES.join("\n");
    let stamp = dir.join("packages.txt");
    if python.exists() && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    let base = base(shell)?;
    run(shell, Command::new(base).args(["-m", "venv"]).arg(&dir), "making a Python environment")?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    run(shell, install.args(PACKAGES), "installing Python packages")?;
    std::fs::write(stamp, wanted)?;
    Ok(python)
}

/// A Python that can make environments; Debian has that in a package of its own.
fn base(shell: &Shell) -> Result<&'static Path> {
    let base = Path::new("python3");
    let able = |base: &Path| {
        let found = Command::new(base).args(["-c", "import ensurepip, venv"]).output();
        found.is_ok_and(|output| output.status.success())
    };
    if !able(base) {
        let mut update = Command::new("apt-get");
        run(shell, update.args(["update", "-qq"]), "apt-get update")?;
        let mut install = Command::new("apt-get");
        install.args(["install", "-y", "-qq", "python3", "python3-venv"]);
        run(shell, &mut install, "installing Python")?;
    }
    Ok(base)
}

fn run(shell: &Shell, command: &mut Command, what: &str) -> Result<()> {
    let status = shell.run(command).with_context(|| format!("{what} failed"))?;
    if status.success() { Ok(()) } else { bail!("{what} failed: {status}") }
}
