use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write};

use anyhow::{Context, Result};
use comfy_table::{ContentArrangement, Table, TableComponent, presets};

use crate::failure::ReaderGone;

/// Standard output, whose reader may go away at any time.
#[derive(Debug)]
pub(crate) struct Out {
    writer: BufWriter<Stdout>,
    /// A person is looking: lines appear at once, and tables have a rule under their header.
    terminal: bool,
}

impl Out {
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        Self { writer: BufWriter::new(stdout), terminal }
    }

    /// Whether a person is looking.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(crate) fn line(&mut self, line: impl Display) -> Result<()> {
        checked(writeln!(self.writer, "{line}"))
    }

    /// Tables never break lines: a path that is cut in two cannot be copied.
    pub(crate) fn table<const N: usize>(
        &mut self,
        header: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Result<()> {
        let mut table = Table::new();
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.load_preset(presets::NOTHING).set_header(header);
        if self.terminal {
            table.set_style(TableComponent::HeaderLines, '─');
            table.set_style(TableComponent::MiddleHeaderIntersections, '─');
        }
        rows.into_iter().for_each(|row| {
            table.add_row(row);
        });
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        table.lines().try_for_each(|line| self.line(line.trim_end()))
    }

    pub(crate) fn flush(&mut self) -> Result<()> {
        checked(self.writer.flush())
    }
}

fn checked(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        written => written.context("standard output cannot be written"),
    }
}
