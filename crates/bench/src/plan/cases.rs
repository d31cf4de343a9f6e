use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::{kernel, reference};
use crate::sample::median;
use crate::sheet::Sheet;

/// The case that the reference is able to do.
const COMPARED: usize = 10_000;

/// Each case runs so often, by turns, so that a busy moment of the machine does not fall on one
/// case only; the run in the middle counts.
const RUNS: usize = 5;

/// What a process that ran one case says about it.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    steps_per_s: f64,
    peak_mib: f64,
}

/// Runs one case in this process, and prints what came of it.
pub(crate) fn answer(members: usize) -> Result<()> {
    let steps_per_s = kernel::steps_per_second(members)?;
    let answer = Answer { steps_per_s, peak_mib: peak_mib()? };
    println!("{}", serde_json::to_string(&answer).context("writing the answer")?);
    Ok(())
}

pub(crate) fn run(quick: bool, sheet: &mut Sheet) -> Result<()> {
    let (cases, runs): (&[usize], _) = match quick {
        true => (&[1, 100, COMPARED], 1),
        false => (&[1, 100, COMPARED, 1_000_000], RUNS),
    };
    let mut answers: Vec<Vec<Answer>> = cases.iter().map(|_| Vec::new()).collect();
    for _ in 0..runs {
        for (answers, &members) in answers.iter_mut().zip(cases) {
            answers.push(ask(members)?);
        }
    }
    for (answers, &members) in answers.iter().zip(cases) {
        let case = case(members);
        let rate = median(answers.iter().map(|it| it.steps_per_s).collect());
        let peak = median(answers.iter().map(|it| it.peak_mib).collect());
        let baseline = if members == COMPARED {
            let timed = reference::steps_per_second(members)?;
            sheet.note(&timed.what);
            Some(timed.steps_per_second)
        } else {
            None
        };
        sheet.put(&case, ("steps_per_s", "1/s"), rate, baseline);
        sheet.put(&case, ("peak_mib", "MiB"), peak, None);
        let compared = sheet.get(&self::case(COMPARED), "steps_per_s");
        if let Some(compared) = compared.filter(|_| members > COMPARED) {
            sheet.note("the baseline of ns_per_step is what a step costs with 10,000 members");
            sheet.put(&case, ("ns_per_step", "ns"), 1e9 / rate, Some(1e9 / compared));
        }
    }
    Ok(())
}

fn case(members: usize) -> String {
    format!("members={members}")
}

fn ask(members: usize) -> Result<Answer> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new(program);
    command.args(["plan", "--members", &members.to_string()]).stderr(Stdio::inherit());
    let output = command.output().context("starting this program again")?;
    ensure!(output.status.success(), "the run with {members} members ended: {}", output.status);
    serde_json::from_slice(&output.stdout).context("reading what the run has printed")
}

/// The most memory that this process ever had.
fn peak_mib() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status").context("reading the peak of memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()).context("it has no peak")?;
    Ok(number.parse::<f64>().context("reading the peak of memory")? / 1_024.0)
}
