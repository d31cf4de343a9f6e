use seaway_wire::Row;

/// What happened in a world, line by line, for people. Without being asked for it costs nothing.
#[derive(Debug)]
pub(crate) struct Transcript {
    lines: Option<Vec<String>>,
}

impl Transcript {
    pub(crate) fn new(wanted: bool) -> Self {
        Self { lines: wanted.then(Vec::new) }
    }

    pub(crate) fn note(&mut self, now: i64, text: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines {
            lines.push(format!("{}      {}", clock(now), text()));
        }
    }

    /// A record that became durable.
    pub(crate) fn record(&mut self, now: i64, row: &Row, path: impl FnOnce() -> String) {
        let Some(lines) = &mut self.lines else { return };
        let revision = row.revision.map_or(String::new(), |revision| format!("r{revision}"));
        let mut line = format!(
            "{} {:>4} {revision:<4} {:<34} {} {}",
            clock(now),
            row.seq.0,
            path(),
            row.kind.shown(row.fact),
            row.fact,
        );
        if row.attempt.0 > 1 && row.deployment.is_some() {
            line.push_str(&format!(" attempt {}", row.attempt));
        }
        if row.n > 0 {
            line.push_str(&format!(" n {}", row.n));
        }
        if let Some(data) = &row.data {
            line.push_str(&format!(" {data}"));
        }
        lines.push(line);
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

fn clock(now: i64) -> String {
    format!("{:>9.3}", now as f64 / 1_000_000.0)
}
