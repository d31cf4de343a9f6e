use std::borrow::Cow;

use seaway_model::{Seq, Timestamp};
use seaway_wire::Append;

use crate::error::AppendError;

/// Checks what must hold of an append whatever the log says, and gives its last position and time.
pub(crate) fn check(append: &Append) -> Result<(Seq, Timestamp), AppendError> {
    let Some(last) = append.rows.last() else {
        return Err(AppendError::Malformed("it has no records"));
    };
    for pair in append.rows.windows(2) {
        if pair[1].seq != pair[0].seq.next() {
            return Err(AppendError::Malformed("its positions have a gap"));
        }
        if pair[1].at < pair[0].at {
            return Err(AppendError::Malformed("its times go back"));
        }
    }
    Ok((last.seq, last.at))
}

/// A path without the run number of its sequence. All targets of a place share it, so that the
/// place is found by it.
pub(crate) fn place_path(path: &str) -> Cow<'_, str> {
    let Some(hash) = path.find('#') else { return path.into() };
    let rest = &path[hash..];
    let after = rest.find(['/', '@']).map_or("", |end| &rest[end..]);
    format!("{}{after}", &path[..hash]).into()
}

#[cfg(test)]
mod tests {
    use super::place_path;

    #[test]
    fn the_targets_of_all_runs_share_a_place_path() {
        for run in ["shop/beta/delivery", "shop/beta/delivery#1", "shop/beta/delivery#23"] {
            assert_eq!(place_path(run), "shop/beta/delivery");
            assert_eq!(place_path(&format!("{run}/test@agent")), "shop/beta/delivery/test@agent");
        }
        assert_eq!(place_path("shop"), "shop");
    }
}
