//! Lists that are read page by page, as fast as their client reads them.
//!
//! No connection is held while a client reads, and a page is read only when the one before it has been taken. The pages
//! of all streams together take a quarter of a pool's connections at most, so that other requests find one, and a processor,
//! however many streams there are.

use std::{future::Future, sync::Arc};

use domain::{StoreError, page::Page};
use futures_util::{
    StreamExt, TryStreamExt,
    future::ready,
    stream::{self, BoxStream},
};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::{PoolOptions, Store};

/// Rows that a stream reads at a time, and so holds at most: enough to make the round trips cheap, few enough for many
/// streams to be small, and for pages not to wait for long while the rows are taken in.
pub(crate) const STREAM_BATCH: i64 = 200;
/// The same of lists whose every page sums the whole window again: that is then what costs.
pub(crate) const SUMMED_BATCH: i64 = 2_000;

/// Of a pool's connections, one in this number may read for streams.
const SHARE: usize = 4;

/// The turns that the streams of a pool take.
pub(crate) fn turns(options: &PoolOptions) -> Arc<Semaphore> {
    Arc::new(Semaphore::new((options.max_connections / SHARE).max(1)))
}

impl Store {
    /// A turn to read the first page: it comes in time, or the stream is refused.
    pub(crate) async fn first_turn(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        let crowded = || StoreError::Overloaded("too many lists are being streamed".into());
        timeout(self.wait(), self.turn()).await.map_err(|_| crowded())?
    }

    /// A turn to read a further page. Nobody waits for the answer to begin, so it waits for as long as it takes: there are
    /// a limited number of streams, and each page has its time limit.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>, StoreError> {
        self.streams.acquire().await.map_err(|_| StoreError::Unavailable("the pool is closed".into()))
    }
}

/// The rows of the first page, then of those that `read` finds from a cursor on.
pub(crate) fn rows<T, F>(
    first: Page<T>,
    read: impl Fn(i64) -> F + Send + 'static,
) -> BoxStream<'static, Result<T, StoreError>>
where
    T: Send + 'static,
    F: Future<Output = Result<Page<T>, StoreError>> + Send + 'static,
{
    rows_from(first, |page| page.next_cursor, read)
}

/// The same of a list whose order may change while it is read: `read` finds the rows behind the place at which the last one stood
/// when it was read. Looked up again, that row might stand elsewhere or nowhere, and half a list would pass for a whole one.
pub(crate) fn rows_behind<T, P, F>(
    first: Page<T>,
    place: fn(&T) -> P,
    read: impl Fn(P) -> F + Send + 'static,
) -> BoxStream<'static, Result<T, StoreError>>
where
    T: Send + 'static,
    P: Send + 'static,
    F: Future<Output = Result<Page<T>, StoreError>> + Send + 'static,
{
    rows_from(first, move |page| page.next_cursor.and(page.items.last()).map(place), read)
}

fn rows_from<T, P, F>(
    first: Page<T>,
    next: impl Fn(&Page<T>) -> Option<P> + Copy + Send + 'static,
    read: impl Fn(P) -> F + Send + 'static,
) -> BoxStream<'static, Result<T, StoreError>>
where
    T: Send + 'static,
    P: Send + 'static,
    F: Future<Output = Result<Page<T>, StoreError>> + Send + 'static,
{
    let further = stream::try_unfold(next(&first), move |at| {
        let page = at.map(&read);
        async move {
            let Some(page) = page else { return Ok(None) };
            let page = page.await?;
            let at = next(&page);
            Ok::<_, StoreError>(Some((page.items, at)))
        }
    });
    let pages = stream::once(ready(Ok::<_, StoreError>(first.items))).chain(further);
    pages.map_ok(|items| stream::iter(items.into_iter().map(Ok))).try_flatten().boxed()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn page(items: &[i64], next_cursor: Option<i64>) -> Page<i64> {
        Page { items: items.to_vec(), next_cursor }
    }

    #[test]
    fn streams_leave_most_of_the_connections_to_others() {
        let of = |max_connections| turns(&PoolOptions { max_connections, ..PoolOptions::default() });
        assert_eq!([1, 2, 4, 7, 8].map(|connections| of(connections).available_permits()), [1, 1, 1, 1, 2]);
    }

    #[tokio::test]
    async fn a_page_is_read_when_the_one_before_has_been_taken() {
        let reads = Arc::new(AtomicUsize::new(0));
        let counted = reads.clone();
        let mut rows = rows(page(&[9, 8], Some(8)), move |cursor| {
            counted.fetch_add(1, Ordering::Relaxed);
            ready(Ok(if cursor == 8 { page(&[7], Some(7)) } else { page(&[5], None) }))
        });
        assert_eq!((rows.try_next().await.unwrap(), rows.try_next().await.unwrap()), (Some(9), Some(8)));
        assert_eq!(reads.load(Ordering::Relaxed), 0);
        assert_eq!((rows.try_next().await.unwrap(), reads.load(Ordering::Relaxed)), (Some(7), 1));
        assert_eq!(rows.try_collect::<Vec<_>>().await.unwrap(), [5]);
    }

    #[tokio::test]
    async fn what_cannot_be_read_ends_the_rows_with_an_error() {
        let lost = || StoreError::Unavailable("away".into());
        let mut rows = rows(page(&[9], Some(9)), move |_| ready(Err(lost())));
        assert_eq!(rows.try_next().await.unwrap(), Some(9));
        assert!(rows.try_next().await.is_err());
        assert!(rows.next().await.is_none());
    }
}
