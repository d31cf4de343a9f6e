use anyhow::Result;

use crate::out::Out;
use crate::print::paint::Paint;

/// A table with as many columns as it needs, whose cells may have colours.
#[derive(Debug)]
pub(crate) struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

/// Pieces of text with a colour each, one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell(Vec<(Paint, String)>);

impl Cell {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self(vec![(Paint::Plain, text.into())])
    }

    /// Adds a piece, with a space before it where there is one already.
    pub(crate) fn and(mut self, paint: Paint, text: impl Into<String>) -> Self {
        if !self.is_empty() {
            self.0.push((Paint::Plain, " ".to_owned()));
        }
        self.0.push((paint, text.into()));
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.width() == 0
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.chars().count()).sum()
    }

    fn painted(&self, colours: bool) -> String {
        self.0.iter().map(|(paint, text)| paint.on(colours, text).to_string()).collect()
    }
}

impl Grid {
    pub(crate) fn new(header: Vec<String>) -> Self {
        Self { header, rows: Vec::new() }
    }

    /// Adds a row, which has a cell for each column.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// Like other tables, it never breaks lines.
    pub(crate) fn show(&self, out: &mut Out) -> Result<()> {
        let header: Vec<Cell> = self.header.iter().map(Cell::plain).collect();
        let mut widths: Vec<usize> = header.iter().map(Cell::width).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        out.line(line(&header, &widths, false))?;
        if out.is_terminal() {
            let whole = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
            out.line("─".repeat(whole))?;
        }
        let colours = out.has_colours();
        self.rows.iter().try_for_each(|row| out.line(line(row, &widths, colours)))
    }
}

fn line(row: &[Cell], widths: &[usize], colours: bool) -> String {
    let mut text = String::new();
    let mut gap = 0;
    for (cell, width) in row.iter().zip(widths) {
        // Nothing follows the last text of a line.
        if !cell.is_empty() {
            text.push_str(&" ".repeat(gap));
            text.push_str(&cell.painted(colours));
            gap = 0;
        }
        gap += width - cell.width() + 2;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_colours() {
        let cell = Cell::plain("1.0").and(Paint::Bad, "x");
        let widths = [3, 5, 4];
        let row = [Cell::plain("a"), cell, Cell::plain("end")];
        assert_eq!(line(&row, &widths, false), "a    1.0 x  end");
        assert_eq!(line(&row, &widths, true), "a    1.0 \u{1b}[31mx\u{1b}[0m  end");
        let gaps = [Cell::plain("a"), Cell::default(), Cell::plain("b")];
        assert_eq!(line(&gaps, &widths, false), "a           b");
        assert_eq!(line(&[Cell::plain("a"), Cell::default()], &widths, false), "a");
    }
}
