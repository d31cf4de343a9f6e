use anyhow::Result;
use seaway_api::{Affected, Applied, ChangeKind, Plan};

use crate::out::Out;
use crate::print::{Cell, Grid, Paint, counted, word};

/// Shows what changes, and what that means for what is under way.
pub(super) fn show(applied: &Applied, out: &mut Out) -> Result<()> {
    let mut grid = Grid::new(["CHANGE", "KIND", "NAME"].map(str::to_owned).to_vec());
    for it in &applied.changes {
        let change = Cell::default().and(paint(it.change), word(it.change));
        grid.push(vec![change, Cell::plain(&it.kind), Cell::plain(&it.name)]);
    }
    if !applied.changes.is_empty() {
        grid.show(out)?;
    }
    if let Some(plan) = &applied.plan {
        foresee(plan, out)?;
    }
    applied.warnings.iter().try_for_each(|it| out.aside(format_args!("warning: {it}")))
}

/// Whether anything is different from before.
pub(super) fn any(applied: &Applied) -> bool {
    applied.changes.iter().any(|it| it.change != ChangeKind::Unchanged)
}

fn foresee(plan: &Plan, out: &mut Out) -> Result<()> {
    if plan.affected.is_empty() && plan.unaffected == 0 {
        return out.line("nothing is under way");
    }
    let under_way = counted(plan.affected.len() + plan.unaffected, "deployment");
    let least = if plan.whole { "" } else { " at least" };
    let affected = plan.affected.len();
    out.line(format_args!("of {under_way} under way,{least} {affected} would go another way"))?;
    for Affected { deployment, service, version, revision, changes } in &plan.affected {
        out.line(format_args!("  {service} {version} (revision {revision}, {deployment})"))?;
        for it in changes {
            out.line(format_args!("    {} {}: {}", it.kind, it.target, it.fate))?;
        }
    }
    Ok(())
}

fn paint(change: ChangeKind) -> Paint {
    match change {
        ChangeKind::Created => Paint::Good,
        ChangeKind::Changed => Paint::Busy,
        ChangeKind::Unchanged => Paint::Faint,
        ChangeKind::Deleted => Paint::Bad,
    }
}
