use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write};

use anyhow::{Context, Result};
use comfy_table::{ContentArrangement, Table, TableComponent, presets};

use crate::failure::ReaderGone;
use crate::print::colours_wanted;

/// Standard output, whose reader may go away at any time.
#[derive(Debug)]
pub(crate) struct Out {
    writer: BufWriter<Stdout>,
    /// A person is looking: lines appear at once, and tables have a rule under their header.
    terminal: bool,
    colours: bool,
    without_reader: WithoutReader,
}

/// What becomes of a command whose reader has gone away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WithoutReader {
    Stops,
    /// Goes on without printing, because its exit code says something.
    GoesOn,
}

impl Out {
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        let without_reader = WithoutReader::Stops;
        let colours = terminal && colours_wanted();
        Self { writer: BufWriter::new(stdout), terminal, colours, without_reader }
    }

    /// From now on the command goes on to its verdict, whether or not somebody reads the rest.
    pub(crate) fn go_on_unread(&mut self) {
        self.without_reader = WithoutReader::GoesOn;
    }

    /// Whether a person is looking.
    pub(crate) fn is_terminal(&self) -> bool {
        self.terminal
    }

    pub(crate) fn has_colours(&self) -> bool {
        self.colours
    }

    /// Prints bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.writer.write_all(bytes);
        self.checked(written)
    }

    pub(crate) fn line(&mut self, line: impl Display) -> Result<()> {
        let written = writeln!(self.writer, "{line}");
        self.checked(written)
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
        let flushed = self.writer.flush();
        self.checked(flushed)
    }

    fn checked(&self, written: io::Result<()>) -> Result<()> {
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => match self.without_reader {
                WithoutReader::Stops => Err(ReaderGone.into()),
                WithoutReader::GoesOn => Ok(()),
            },
            written => written.context("standard output cannot be written"),
        }
    }

    /// Says something beside the answer, after everything that was printed before it.
    pub(crate) fn aside(&mut self, line: impl Display) -> Result<()> {
        self.flush()?;
        aside(line);
        Ok(())
    }
}

/// A line on standard error. Nobody can be told that it is closed.
pub(crate) fn aside(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
