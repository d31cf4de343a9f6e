use anyhow::Result;
use clap::Args;
use seaway_model::Name;
use seaway_store::{Stats, Store};

use crate::log::args::project_name;
use crate::moment;
use crate::out::Out;
use crate::place;
use crate::print::{Format, value};

/// Says how much there is, and since when
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The project; may be left out where there is only one
    #[arg(value_parser = project_name)]
    project: Option<Name>,
}

pub(crate) async fn run(store: &Store, args: StatsArgs, to: Format, out: &mut Out) -> Result<()> {
    let project = place::project(store, args.project.as_ref()).await?;
    let stats = store.stats(&project).await?;
    value(out, to, &json(&project, stats), |out, _| show(&project, stats, out))
}

fn show(project: &Name, stats: Stats, out: &mut Out) -> Result<()> {
    let time = |time: Option<_>| time.map_or_else(|| "-".to_owned(), moment::show);
    let lines = [
        ("project", project.to_string()),
        ("records", stats.records.to_string()),
        ("deployments", stats.deployments.to_string()),
        ("targets", stats.targets.to_string()),
        ("first record", time(stats.times.map(|(first, _)| first))),
        ("last record", time(stats.times.map(|(_, last)| last))),
        ("store size", size(stats.bytes)),
    ];
    lines.iter().try_for_each(|(what, value)| out.line(format_args!("{what:<13} {value}")))
}

fn json(project: &Name, stats: Stats) -> serde_json::Value {
    serde_json::json!({
        "project": project,
        "records": stats.records,
        "deployments": stats.deployments,
        "targets": stats.targets,
        "first": stats.times.map(|(first, _)| moment::show(first)),
        "last": stats.times.map(|(_, last)| moment::show(last)),
        "storeBytes": stats.bytes,
    })
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1_024 {
        return format!("{bytes} bytes");
    }
    let steps = (bytes.ilog2() / 10).min(UNITS.len() as u32);
    let amount = bytes as f64 / 1_024_f64.powi(steps as i32);
    format!("{amount:.1} {}", UNITS[steps as usize - 1])
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_readable() {
        assert_eq!(size(0), "0 bytes");
        assert_eq!(size(1_023), "1023 bytes");
        assert_eq!(size(1_536), "1.5 KiB");
        assert_eq!(size(5 << 30), "5.0 GiB");
        assert_eq!(size(u64::MAX), "16777216.0 TiB");
    }
}
