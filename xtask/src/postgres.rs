use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use crate::shell::Shell;

/// The programs that have to lie beside each other.
const PROGRAMS: [&str; 3] = ["initdb", "postgres", "pg_ctl"];

/// The account that runs the server when we are root, which PostgreSQL refuses to run as.
const ACCOUNT: &str = "postgres";

/// The directory of PostgreSQL's programs; installs them when there is none.
pub(crate) fn find_or_install(shell: &Shell) -> Result<PathBuf> {
    if let Some(bin) = find() {
        return Ok(bin);
    }
    install(shell).context("PostgreSQL is not installed and could not be installed")?;
    find().context("PostgreSQL was installed, but its programs are not where they should be")
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // On PATH there may be links to some of the programs; all of them are where those lead.
    let linked = std::env::split_paths(&path)
        .filter_map(|dir| fs::canonicalize(dir.join("pg_ctl")).ok())
        .filter_map(|pg_ctl| pg_ctl.parent().map(Path::to_owned));
    linked.chain(versions()).find(|bin| PROGRAMS.iter().all(|name| bin.join(name).is_file()))
}

/// Where distributions keep one directory per version, newest first.
fn versions() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/usr/lib/postgresql") else { return Vec::new() };
    let versions: BTreeMap<u32, PathBuf> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    versions.into_values().rev().collect()
}

fn install(shell: &Shell) -> Result<()> {
    let apt = |args: &[&str]| {
        let mut command = if is_root()? {
            shell.command("env")
        } else {
            let mut sudo = shell.command("sudo");
            sudo.args(["-n", "env"]);
            sudo
        };
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y"]).args(args);
        let status = shell.run(&mut command)?;
        ensure!(status.success(), "`apt-get {}` failed", args.join(" "));
        anyhow::Ok(())
    };
    apt(&["update"])?;
    apt(&["install", "--no-install-recommends", "postgresql"])
}

fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("asking for the user id")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

/// A server with a cluster of its own, which is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Cluster {
    bin: PathBuf,
    port: u16,
    account: Option<&'static str>,
    /// Holds the cluster's files; deleted after the server was stopped.
    directory: TempDir,
}

impl Cluster {
    pub(crate) fn start(bin: &Path) -> Result<Self> {
        let account = is_root()?.then_some(ACCOUNT);
        let directory = tempfile::Builder::new().prefix("seaway-postgres-").tempdir()?;
        if let Some(account) = account {
            quietly(Command::new("chown").arg(account).arg(directory.path()))?;
        }
        let cluster = Self { bin: bin.to_owned(), port: free_port()?, account, directory };
        quietly(cluster.program("initdb").args([
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-instructions",
        ]))?;
        cluster.configure()?;
        let log = cluster.directory.path().join("start.log");
        quietly(cluster.program("pg_ctl").arg("-l").arg(log).args(["-w", "-t", "60", "start"]))?;
        Ok(cluster)
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Settings go into the file rather than on the command line, so that they also hold after a
    /// test restarted the server. Syncs stay on: what is tested and measured is durability.
    fn configure(&self) -> Result<()> {
        let path = self.data().join("postgresql.conf");
        let mut text = fs::read_to_string(&path).context("reading the server's settings")?;
        text.push_str(&format!(
            "\nlisten_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = ''\n\
             max_connections = 200\nlogging_collector = on\n",
            self.port
        ));
        fs::write(&path, text).context("writing the server's settings")
    }

    /// What tests read to find the server, and to restart it.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("SEAWAY_TEST_POSTGRES", self.url()),
            ("SEAWAY_TEST_PG_CTL", self.bin.join("pg_ctl").display().to_string()),
            ("SEAWAY_TEST_PG_DATA", self.data().display().to_string()),
        ];
        variables.extend(self.account.map(|name| ("SEAWAY_TEST_PG_USER", name.to_owned())));
        variables
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    fn program(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        let mut command = match self.account {
            Some(account) => {
                let mut runuser = Command::new("runuser");
                runuser.args(["-u", account, "--"]).arg(program);
                runuser
            }
            None => Command::new(program),
        };
        // The account may not be able to enter the workspace.
        command.current_dir(self.directory.path()).arg("-D").arg(self.data());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A restart by a test leaves another process behind than the one started here; the file
        // in the data directory names whichever runs now.
        if !self.data().join("postmaster.pid").exists() {
            return;
        }
        let stopped = quietly(self.program("pg_ctl").args(["-m", "immediate", "-w", "stop"]));
        if let Err(error) = stopped {
            eprintln!("PostgreSQL on port {} could not be stopped: {error:#}", self.port);
        }
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("looking for a free port")?;
    Ok(listener.local_addr().context("looking for a free port")?.port())
}

/// Runs a program whose output matters only when it fails. The output goes through a file because
/// a server that outlives the program would keep a pipe open.
fn quietly(command: &mut Command) -> Result<()> {
    let output = tempfile::NamedTempFile::new().context("making a file for output")?;
    let file = output.as_file();
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file.try_clone()?);
    let status =
        command.status().with_context(|| format!("starting {:?}", command.get_program()))?;
    if !status.success() {
        let text = fs::read_to_string(output.path()).unwrap_or_default();
        bail!("{command:?} failed: {}", text.trim());
    }
    Ok(())
}
