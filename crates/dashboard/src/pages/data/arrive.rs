//! A file as it arrives: kept piece by piece, and none of it held for longer than it takes to keep.

use std::sync::Arc;

use actix_multipart::{Field, Multipart};
use actix_web::{
    HttpResponse,
    web::{Bytes, Data},
};
use app::outage;
use domain::{
    AccountId, UploadId,
    uploads::{Kind, MAX_BYTES, MAX_NAME_CHARS, PIECE_BYTES, Reading, UploadStore},
};
use futures_util::{Stream, TryStreamExt};
use time::OffsetDateTime;
use tokio::runtime::Handle;
use tracing::Instrument;

use crate::{
    error::PageError,
    pages::{see, upload::preview},
    session::Viewer,
    state::State,
};

/// Bytes of a field that is no file.
const MAX_FIELD: usize = 64;

/// Takes a file in, and leads on to what it is.
pub async fn post(viewer: Viewer, state: Data<State>, mut parts: Multipart) -> Result<HttpResponse, PageError> {
    let mut kind = None;
    while let Some(mut field) = parts.try_next().await.map_err(|_| PageError::Invalid("file"))? {
        match field.name() {
            Some("kind") => kind = Some(text(&mut field).await?.parse().map_err(|_| PageError::Invalid("kind"))?),
            Some("file") => {
                let kind = kind.ok_or(PageError::Invalid("kind"))?;
                let name = field.content_disposition().and_then(|about| about.get_filename()).unwrap_or_default();
                let name = file_name(name);
                let (account, reading) = (viewer.account(), Reading::default());
                let is_unreadable =
                    async |id: UploadId| preview(&state, &viewer, kind, &reading, id).await.map(|found| found.is_err());
                let id = arrive(&state.uploads, account, (kind, &name), field, is_unreadable, (state.clock)()).await?;
                return Ok(see(&format!("/data/{id}")));
            }
            _ => {}
        }
    }
    Err(PageError::Invalid("file"))
}

async fn text(field: &mut Field) -> Result<String, PageError> {
    let bytes = field.bytes(MAX_FIELD).await.map_err(|_| PageError::Invalid("kind"))?;
    let bytes = bytes.map_err(|_| PageError::Invalid("kind"))?;
    String::from_utf8(bytes.to_vec()).map_err(|_| PageError::Invalid("kind"))
}

/// An upload that is arriving. Dropped before it has arrived it is removed, and its place is free again: a client that hangs up
/// cancels the handler wherever it waits.
struct Arriving<'a> {
    uploads: &'a Arc<dyn UploadStore>,
    account: AccountId,
    id: UploadId,
    begun_at: OffsetDateTime,
    is_settled: bool,
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        // There is none where the process ends.
        let Ok(runtime) = Handle::try_current() else { return };
        let (uploads, account, id, now) = (self.uploads.clone(), self.account, self.id, self.begun_at);
        let discarding = async move {
            if let Err(error) = uploads.discard(account, id, None, now).await {
                outage::warn(&error, "a file that did not arrive could not be removed yet");
            }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with one transaction; what it misses goes with the old ones"
        )]
        runtime.spawn(discarding.in_current_span());
    }
}

/// Keeps the bytes of a file. What does not arrive whole is removed at once, or with the old ones where this process dies.
async fn arrive<E>(
    uploads: &Arc<dyn UploadStore>,
    account: AccountId,
    (kind, name): (Kind, &str),
    chunks: impl Stream<Item = Result<Bytes, E>> + Unpin,
    is_unreadable: impl AsyncFnOnce(UploadId) -> Result<bool, PageError>,
    now: OffsetDateTime,
) -> Result<UploadId, PageError> {
    let begun = uploads.begin(account, kind, name, now).await?;
    let id = begun.ok_or(PageError::TooManyFiles)?;
    let mut arriving = Arriving { uploads, account, id, begun_at: now, is_settled: false };
    let kept = keep(&arriving, chunks).await;
    match &kept {
        Ok(bytes) => uploads.arrived(account, id, *bytes, is_unreadable(id).await?).await?,
        Err(_) => {
            uploads.discard(account, id, None, now).await?;
        }
    }
    arriving.is_settled = true;
    kept.map(|_| id)
}

async fn keep<E>(
    arriving: &Arriving<'_>,
    mut chunks: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<i64, PageError> {
    let (mut held, mut number, mut total) = (Vec::with_capacity(PIECE_BYTES), 0, 0_u64);
    while let Some(chunk) = chunks.try_next().await.map_err(|_| PageError::Invalid("file"))? {
        total += chunk.len() as u64;
        if total > MAX_BYTES {
            return Err(PageError::TooLarge);
        }
        held.extend_from_slice(&chunk);
        while held.len() >= PIECE_BYTES {
            let rest = held.split_off(PIECE_BYTES);
            append(arriving, number, std::mem::replace(&mut held, rest)).await?;
            number += 1;
        }
    }
    if !held.is_empty() {
        append(arriving, number, held).await?;
    }
    if total == 0 { Err(PageError::Invalid("file")) } else { Ok(i64::try_from(total).unwrap_or(i64::MAX)) }
}

/// Keeps a piece. What has been arriving for too long was removed, and nothing is added to it.
async fn append(arriving: &Arriving<'_>, number: i64, bytes: Vec<u8>) -> Result<(), PageError> {
    let is_kept = arriving.uploads.append(arriving.account, arriving.id, number, bytes).await?;
    if is_kept { Ok(()) } else { Err(PageError::Invalid("file")) }
}

/// The last part of what the browser calls the file, without what cannot be shown.
fn file_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
    if name.trim().is_empty() { "–".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use domain::uploads::MockUploadStore;
    use futures_util::{FutureExt, StreamExt, stream};
    use time::macros::datetime;
    use tokio::sync::mpsc;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

    /// A store that says which uploads are removed.
    fn store() -> (MockUploadStore, mpsc::UnboundedReceiver<UploadId>) {
        let (removed, seen) = mpsc::unbounded_channel();
        let mut store = MockUploadStore::new();
        store.expect_begin().returning(|_, _, _, _| Ok(Some(UploadId(3))));
        store.expect_append().returning(|_, _, _, _| Ok(true));
        store.expect_discard().returning(move |_, id, _, _| {
            removed.send(id).unwrap();
            Ok(true)
        });
        (store, seen)
    }

    #[tokio::test]
    async fn a_file_whose_sender_hangs_up_leaves_its_place() {
        let (store, mut removed) = store();
        let uploads: Arc<dyn UploadStore> = Arc::new(store);
        let begun = stream::iter([Ok::<_, ()>(Bytes::from_static(b"sku,stock"))]).chain(stream::pending());
        let file = (Kind::Stock, "stock.csv");
        let mut arriving = Box::pin(arrive(&uploads, AccountId(1), file, begun, async |_| Ok(false), NOW));
        assert!(arriving.as_mut().now_or_never().is_none(), "more is to come");
        assert!(removed.try_recv().is_err());
        drop(arriving);
        assert_eq!(removed.recv().await, Some(UploadId(3)));
    }

    #[tokio::test]
    async fn a_file_that_has_arrived_stays_and_one_that_breaks_off_does_not() {
        let (mut store, mut removed) = store();
        store
            .expect_arrived()
            .withf(|_, id, bytes, is_unreadable| (*id, *bytes, *is_unreadable) == (UploadId(3), 9, true))
            .once()
            .returning(|_, _, _, _| Ok(()));
        let uploads: Arc<dyn UploadStore> = Arc::new(store);
        let chunk = || Ok(Bytes::from_static(b"sku,stock"));
        let file = (Kind::Stock, "stock.csv");
        let whole = arrive(&uploads, AccountId(1), file, stream::iter([chunk()]), async |_| Ok(true), NOW).await;
        assert_eq!(whole.ok(), Some(UploadId(3)));
        let broken = stream::iter([chunk(), Err(())]);
        let broken = arrive(&uploads, AccountId(1), file, broken, async |_| Ok(false), NOW).await;
        assert!(matches!(broken, Err(PageError::Invalid("file"))));
        assert_eq!(removed.recv().await, Some(UploadId(3)));
        drop(uploads);
        assert_eq!(removed.recv().await, None, "once");
    }

    #[test]
    fn a_file_is_called_as_the_browser_calls_it_without_its_folders() {
        assert_eq!(file_name("C:\\fakepath\\pedidos\u{7}.csv"), "pedidos.csv");
        assert_eq!(file_name("../../etc/passwd"), "passwd");
        assert_eq!(file_name(""), "–");
        assert_eq!(file_name(&"x".repeat(500)).len(), MAX_NAME_CHARS);
    }
}
