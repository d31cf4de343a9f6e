use seaway_api::Page;

use crate::call::Call;
use crate::error::ClientError;

/// Which piece of a list is asked for. The default is the first, as long as the server likes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// The `next` of the piece before it.
    pub cursor: Option<String>,
    pub limit: Option<usize>,
}

impl Call<'_> {
    pub(crate) fn page(self, paging: &Paging) -> Self {
        self.ask("cursor", paging.cursor.as_ref()).ask("limit", paging.limit)
    }
}

/// A list that was read to its end, or to the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole<T> {
    pub items: Vec<T>,
    /// Where it goes on, if the bound was met.
    pub next: Option<String>,
}

/// Pieces that are read at most: one may be empty although more follows.
const MOST_PIECES: usize = 10_000;

/// The most that is asked for at once.
const PIECE: usize = 500;

/// Reads a list piece by piece, up to `most` items.
///
/// # Errors
/// Those of `read`.
pub async fn whole<T>(
    most: usize,
    mut read: impl AsyncFnMut(Paging) -> Result<Page<T>, ClientError>,
) -> Result<Whole<T>, ClientError> {
    let mut items = Vec::new();
    let mut cursor = None;
    for _ in 0..MOST_PIECES {
        let limit = Some((most - items.len()).min(PIECE));
        let page = read(Paging { cursor, limit }).await?;
        items.extend(page.items);
        cursor = page.next;
        if cursor.is_none() || items.len() >= most {
            break;
        }
    }
    Ok(Whole { items, next: cursor })
}
