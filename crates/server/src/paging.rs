use std::fmt::Display;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use seaway_api::Page;
use seaway_model::{Name, Seq};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::problem::Failure;
use crate::query::bad;

/// The query of a list that has no other parameters.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paged {
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// The `next` of the piece before.
    #[param(max_length = 400)]
    cursor: Option<String>,
}

impl Paged {
    pub(crate) fn piece(&self) -> Result<Piece, Failure> {
        Piece::new(self.limit, self.cursor.as_deref())
    }
}

/// Which piece of a list is asked for.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) limit: usize,
    /// What comes before it, in whatever words the list finds its place again.
    after: Option<String>,
}

const MOST: u32 = 1_000;
const USUAL: u32 = 100;

impl Piece {
    pub(crate) fn new(limit: Option<u32>, cursor: Option<&str>) -> Result<Self, Failure> {
        let limit = limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(bad(format!("limit is {limit}; ask for 1 to {MOST} items at once")));
        }
        let after = cursor.map(|cursor| {
            let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
            String::from_utf8(bytes).ok()
        });
        let after = after.map(|after| after.ok_or_else(bad_cursor)).transpose()?;
        Ok(Self { limit: limit as usize, after })
    }

    pub(crate) fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// For lists that go on after a position of the log.
    pub(crate) fn seq(&self) -> Result<Option<Seq>, Failure> {
        Ok(self.parsed()?.map(Seq))
    }

    /// For lists that go on after a name.
    pub(crate) fn name(&self) -> Result<Option<Name>, Failure> {
        let named = self.after().map(|after| Name::new(after).ok());
        named.map(|named| named.ok_or_else(bad_cursor)).transpose()
    }

    /// The piece itself, of items of which one more than its limit was looked for. `key` tells
    /// where the list goes on after an item.
    pub(crate) fn page<T, U>(
        &self,
        mut items: Vec<T>,
        key: impl FnOnce(&T) -> String,
        view: impl FnMut(T) -> U,
    ) -> Page<U> {
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        let next = items.last().filter(|_| more).map(|last| cursor(key(last)));
        Page { items: items.into_iter().map(view).collect(), next }
    }

    pub(crate) fn parsed<T: FromStr>(&self) -> Result<Option<T>, Failure> {
        let parsed = self.after().map(|after| after.parse().ok());
        parsed.map(|parsed| parsed.ok_or_else(bad_cursor)).transpose()
    }
}

/// The cursor that goes on after a place in the list.
pub(crate) fn cursor(after: impl Display) -> String {
    URL_SAFE_NO_PAD.encode(after.to_string())
}

pub(crate) fn bad_cursor() -> Failure {
    let detail = "the cursor is none of this list; send the `next` of the piece before as it is";
    Failure::bad_request("bad-cursor", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_seen_whole_from_piece_to_piece() {
        let all: Vec<u32> = (0..7).collect();
        let (mut seen, mut next) = (Vec::new(), None::<String>);
        for _ in 0..3 {
            let piece = Piece::new(Some(3), next.as_deref()).unwrap();
            let after: Option<u32> = piece.parsed().unwrap();
            let rest = all.iter().copied().filter(|it| after.is_none_or(|after| *it > after));
            let page = piece.page(rest.take(4).collect(), u32::to_string, |it| it);
            seen.extend(page.items);
            next = page.next;
        }
        assert_eq!((seen, next), (all, None));
    }

    #[test]
    fn a_cursor_is_read_back_and_a_bad_one_is_refused() {
        let cursor = cursor(Seq(12));
        assert_eq!(Piece::new(None, Some(&cursor)).unwrap().seq().unwrap(), Some(Seq(12)));
        assert_eq!(Piece::new(Some(5), None).unwrap().limit, 5);
        assert!(Piece::new(Some(5), None).unwrap().seq().unwrap().is_none());
        for bad in ["12", "!", "é", &super::cursor("twelve")] {
            let read = Piece::new(None, Some(bad)).and_then(|piece| piece.seq());
            assert_eq!(read.unwrap_err().problem().code, "bad-cursor", "{bad}");
        }
        for bad in [0, 1_001] {
            assert_eq!(Piece::new(Some(bad), None).unwrap_err().problem().code, "bad-query");
        }
    }
}
