use anyhow::Result;
use seaway_api::{Cell as Standing, Place, Status};

use crate::out::Out;
use crate::print::{Cell, Format, Grid, Paint, one_line};

/// Draws services by stages.
pub(crate) fn show(status: &Status, to: Format, out: &mut Out) -> Result<()> {
    if status.rows.is_empty() {
        return out.aside(format_args!(
            "nothing was delivered in {} yet; begin with `seaway trigger`",
            status.project
        ));
    }
    let header = std::iter::once("SERVICE".to_owned()).chain(status.stages.iter().cloned());
    let mut grid = Grid::new(header.collect());
    for row in &status.rows {
        let cells = row.cells.iter().map(|it| cell(it, to));
        grid.push(std::iter::once(Cell::plain(&row.service)).chain(cells).collect());
    }
    grid.show(out)?;
    if status.next.is_some() {
        out.aside("there are more services than are shown")?;
    }
    Ok(())
}

fn cell(standing: &Standing, to: Format) -> Cell {
    let name = |place: &Place| match to {
        Format::Wide => format!("{} (revision {})", one_line(&place.version), place.revision),
        _ => one_line(&place.version),
    };
    let mut cell = match &standing.current {
        Some(place) => Cell::default().and(Paint::Good, name(place)),
        None => Cell::default(),
    };
    if let Some(place) = &standing.failed {
        cell = cell.and(Paint::Bad, format!("! {}", name(place)));
    }
    for place in &standing.moving {
        cell = cell.and(Paint::Busy, format!("> {}", name(place)));
    }
    match standing.count.saturating_sub(standing.moving.len()) {
        0 if cell.is_empty() => Cell::default().and(Paint::Faint, "-"),
        0 => cell,
        more => cell.and(Paint::Busy, format!("and {more} more")),
    }
}
