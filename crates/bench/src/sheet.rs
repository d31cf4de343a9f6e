use std::fs;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, Table};

use crate::figure::{Beside, Figure};

/// Where figures go: a line of JSON for each at once, or a table when a bench has ended. What a
/// reader should know about them goes to the standard error output, in both cases.
#[derive(Debug)]
pub(crate) struct Sheet {
    json: bool,
    bench: &'static str,
    figures: Vec<Figure>,
}

impl Sheet {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, bench: "", figures: Vec::new() }
    }

    pub(crate) fn begin(&mut self, bench: &'static str) {
        self.bench = bench;
        self.note(&format!("load average {}", load_average()));
    }

    pub(crate) fn note(&self, text: &str) {
        eprintln!("{}: {text}", self.bench);
    }

    pub(crate) fn put(
        &mut self,
        case: &str,
        (metric, unit): (&'static str, &'static str),
        value: f64,
        baseline: Option<f64>,
    ) {
        let beside = baseline.map(|baseline| Beside::of(value, baseline));
        let (bench, case) = (self.bench, case.to_owned());
        let figure = Figure { bench, case, metric, value, unit, beside };
        if self.json {
            let line = serde_json::to_string(&figure).expect("a figure has only string keys");
            println!("{line}");
        }
        self.figures.push(figure);
    }

    /// A figure of this bench that was put before.
    pub(crate) fn get(&self, case: &str, metric: &str) -> Option<f64> {
        let mut figures = self.figures.iter();
        figures.find(|it| it.case == case && it.metric == metric).map(|it| it.value)
    }

    pub(crate) fn end(&mut self) {
        let figures = std::mem::take(&mut self.figures);
        self.note(&format!("load average {}", load_average()));
        if self.json {
            return;
        }
        let mut table = Table::new();
        table.load_preset(UTF8_HORIZONTAL_ONLY);
        table.set_header(["bench", "case", "metric", "value", "unit", "baseline", "ratio"]);
        for figure in figures {
            let (baseline, ratio) = match figure.beside {
                Some(Beside { baseline, ratio }) => (shown(baseline), shown(ratio)),
                None => (String::new(), String::new()),
            };
            let (case, value) = (figure.case, shown(figure.value));
            let (metric, unit) = (figure.metric.to_owned(), figure.unit.to_owned());
            table.add_row([figure.bench.to_owned(), case, metric, value, unit, baseline, ratio]);
        }
        for column in [3, 5, 6] {
            let column = table.column_mut(column).expect("the header has seven columns");
            column.set_cell_alignment(CellAlignment::Right);
        }
        println!("{table}");
    }
}

/// Three digits are as much as a run can tell.
fn shown(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// The figures are worth as much as the machine was idle.
fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "unknown".to_owned());
    text.split(' ').take(3).collect::<Vec<_>>().join(" ").trim().to_owned()
}
