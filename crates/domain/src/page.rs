//! Keyset paging: a page is the rows whose key is below the cursor, newest first.

/// What a list endpoint asks a port for. `limit` is at least 1; the edge has clamped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    pub limit: i64,
    /// The key after which the page starts: `next_cursor` of the page before.
    pub cursor: Option<i64>,
}

/// One page and where the next one starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// `None` when there is no further row.
    pub next_cursor: Option<i64>,
}

impl<T> Page<T> {
    /// Cuts a page from `rows`, which were read with a limit of `limit + 1` so that a further row shows.
    pub fn cut(mut rows: Vec<T>, limit: i64, key: impl Fn(&T) -> i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next_cursor = if more { rows.last().map(key) } else { None };
        Self { items: rows, next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn a_further_row_gives_the_cursor_of_the_last_one_kept() {
        let page = Page::cut(vec![9, 7, 4], 2, |id| *id);
        assert_eq!((page.items, page.next_cursor), (vec![9, 7], Some(7)));
    }

    #[test]
    fn an_exactly_full_page_is_the_last() {
        let page = Page::cut(vec![9, 7], 2, |id| *id);
        assert_eq!((page.items, page.next_cursor), (vec![9, 7], None));
    }
}
