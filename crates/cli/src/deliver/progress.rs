use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::out::aside;
use crate::print::{Paint, colours_wanted};

/// How often the sign that something is going on moves.
const TICK: Duration = Duration::from_millis(120);

/// Shows how a deployment is doing, beside the answer: live on a terminal, in lines elsewhere.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    colours: bool,
}

impl Progress {
    pub(super) fn begin(what: &str) -> Self {
        let terminal = stderr().is_terminal();
        let bar = terminal.then(|| {
            let bar = ProgressBar::new_spinner().with_message(what.to_owned());
            let style = ProgressStyle::with_template("{spinner} {elapsed:>4} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(TICK);
            bar
        });
        Self { bar, colours: terminal && colours_wanted() }
    }

    /// A line that stays.
    pub(super) fn line(&self, paint: Paint, text: &str) {
        let text = paint.on(self.colours, text);
        match &self.bar {
            Some(bar) => bar.suspend(|| aside(text)),
            None => aside(text),
        }
    }

    /// What is going on now; nobody reads that in a file.
    pub(super) fn now(&self, text: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(text.to_owned());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
