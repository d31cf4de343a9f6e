use seaway_wire::{Row, ShownRecord};

use crate::clock;

/// A record as machines read it. What its executor sent stays as it came.
pub(crate) fn record<'a>(row: &'a Row, path: &'a str) -> ShownRecord<'a> {
    ShownRecord::new(row, path, clock::show(row.at))
}
