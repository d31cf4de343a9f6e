use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

/// The most of an environment that is looked at.
const ENVIRONMENT: u64 = 1 << 20;
const MOMENT: Duration = Duration::from_millis(1);
const MOMENTS: usize = 5;
/// The variable by which a process tells whose it is: no other command has the same path.
pub(super) const MARK: &str = "SEAWAY_MESSAGE";

/// A process as the kernel tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// In ticks since the machine was started. With the pid it names a process for good.
    pub(super) born: u64,
    pub(super) life: Life,
    /// What its environment says about whose it is, where that was looked at.
    pub(super) mark: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Alive,
    /// Over, and not yet waited for.
    Dead,
}

/// This process, and everything below it.
#[derive(Clone, Debug)]
pub(super) struct Census {
    pub(super) me: Process,
    pub(super) below: Vec<Process>,
}

impl Census {
    /// `None` where the machine does not tell.
    pub(super) fn take() -> Option<Self> {
        let mut all = BTreeMap::new();
        for entry in fs::read_dir("/proc").ok()?.flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
                continue;
            };
            // One that ended meanwhile has no file any more.
            let Some(process) = process(pid) else { continue };
            all.insert(pid, process);
        }
        let me = all.get(&i32::try_from(std::process::id()).ok()?)?.clone();
        let mut below = below(&me, all);
        let alive = |it: &&mut Process| it.parent == me.pid && it.life == Life::Alive;
        for process in below.iter_mut().filter(alive) {
            process.mark = mark(process.pid);
        }
        Some(Self { me, below })
    }
}

/// When a process was born.
pub(super) fn born(pid: i32) -> Option<u64> {
    Some(process(pid)?.born)
}

fn process(pid: i32) -> Option<Process> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `pid (name) state parent group session … born …`. The name may hold anything.
fn parse(stat: &str) -> Option<Process> {
    let (pid, rest) = stat.split_once(" (")?;
    let (_, rest) = rest.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
    let life = match *fields.first()? {
        "Z" | "X" | "x" => Life::Dead,
        _ => Life::Alive,
    };
    Some(Process {
        pid: pid.parse().ok()?,
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        born: fields.get(19)?.parse().ok()?,
        life,
        mark: None,
    })
}

fn below(me: &Process, mut all: BTreeMap<i32, Process>) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut next = vec![me.pid];
    while let Some(parent) = next.pop() {
        let children: Vec<i32> =
            all.values().filter(|it| it.parent == parent).map(|it| it.pid).collect();
        found.extend(children.iter().filter_map(|pid| all.remove(pid)));
        next.extend(children);
    }
    found
}

fn mark(pid: i32) -> Option<PathBuf> {
    let prefix = format!("{MARK}=");
    let environment = environment(pid)?;
    let mut variables = environment.split(|byte| *byte == 0);
    let found = variables.find_map(|it| it.strip_prefix(prefix.as_bytes()))?;
    Some(PathBuf::from(OsString::from_vec(found.to_vec())))
}

/// What a process was started with. While it becomes another program, that is nothing for a moment.
fn environment(pid: i32) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for _ in 0..MOMENTS {
        let file = File::open(format!("/proc/{pid}/environ")).ok()?;
        file.take(ENVIRONMENT).read_to_end(&mut bytes).ok()?;
        if !bytes.is_empty() {
            break;
        }
        std::thread::sleep(MOMENT);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_a_strange_name_is_understood() {
        let stat = "42 (a) S 1 (b) Z 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 9 9";
        let process = parse(stat).unwrap();
        let Process { pid, parent, group, session, born, life, .. } = process;
        assert_eq!((pid, parent, group, session, born), (42, 7, 8, 9, 12345));
        assert_eq!(life, Life::Dead);
        assert_eq!(parse("42 (a"), None);
    }
}
