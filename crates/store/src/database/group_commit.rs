//! Events that arrive together are stored together: one statement, one transaction, one write to the disk.
//!
//! There is no batching delay: what arrives while nothing is written is written at once, alone if it is alone; what arrives
//! meanwhile is the next group. So there is no timer, an idle service answers as fast as before, and the busier it is
//! the larger the groups become. Each caller is answered after the commit of its own event.

use std::{
    any::Any,
    collections::{BTreeMap, VecDeque},
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use domain::{
    AccountId, StoreError, TrackingEventId,
    error::{Cause, Chain},
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    tracking::{EventStore, NewEvent, Refusal},
};
use futures_util::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use time::OffsetDateTime;
use tokio::{
    runtime::Handle,
    sync::{Notify, oneshot},
};

use crate::{
    Store,
    ingest::tracking::{EventRow, insert_rows_as, take_ids},
};

/// Events that may wait; further ones are refused at once.
const QUEUE_CAPACITY: usize = 2_048;
/// Events of a group at most.
const BATCH_MAX: usize = 256;
/// Ids that are taken at a time, so that few groups wait for theirs.
const ID_BLOCK: usize = 1_024;

/// An [`EventStore`] that stores events in groups, one group at a time. Cloning shares the queue.
#[derive(Clone)]
pub struct GroupCommit {
    /// For what is not stored in a group.
    store: Store,
    queue: Arc<Queue>,
    /// What the writer stores groups through.
    of_writer: Store,
    /// Where the writer runs: it outlives the request that started it.
    runtime: Handle,
}

struct Queue {
    state: Mutex<State>,
    /// Ids for events to come; those left at the end are never given.
    ids: Mutex<Vec<i64>>,
    /// Told when the writer is done.
    idle: Notify,
    on_panic: OnPanic,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Waiting>,
    is_written: bool,
}

/// Told what a batch writer said when it panicked. It has gone on with the next batch.
type OnPanic = Box<dyn Fn(&(dyn Any + Send)) + Send + Sync>;

/// The lowest, so that ids rise from group to group.
fn take_reserved(ids: &mut Vec<i64>, count: usize) -> Option<Vec<i64>> {
    (count <= ids.len()).then(|| ids.drain(..count).collect())
}

/// An event, and who waits for its id. The client may be gone: the event is stored nevertheless.
struct Waiting {
    row: EventRow,
    answer: oneshot::Sender<Result<TrackingEventId, StoreError>>,
}

impl Queue {
    fn new(on_panic: OnPanic) -> Self {
        Self { state: Mutex::default(), ids: Mutex::default(), idle: Notify::new(), on_panic }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that may panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next group, or none: then the writer has ended.
    fn next(&self) -> Option<Vec<Waiting>> {
        let mut state = self.lock();
        let group = state.waiting.len().min(BATCH_MAX);
        if group > 0 {
            return Some(state.waiting.drain(..group).collect());
        }
        // Under the lock of the look above: an event that comes now starts a writer.
        self.end_writer(&mut state);
        None
    }

    /// `count` ids for events, from the reserved block if it holds enough.
    async fn ids(&self, store: &Store, count: usize) -> Result<Vec<i64>, StoreError> {
        let lock = || self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ids) = take_reserved(&mut lock(), count) {
            return Ok(ids);
        }
        let mut ids = take_ids(store, ID_BLOCK.max(count)).await?;
        *lock() = ids.split_off(count.min(ids.len()));
        Ok(ids)
    }

    fn end_writer(&self, state: &mut State) {
        state.is_written = false;
        self.idle.notify_waiters();
    }
}

/// A writer at work. One that is never run because its thread has ended makes room for another.
struct Writer(Option<Arc<Queue>>);

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(queue) = self.0.take() {
            queue.end_writer(&mut queue.lock());
        }
    }
}

impl GroupCommit {
    /// A queue whose events are stored through `store`. To be called on the runtime that its writer is to run on.
    /// A panic of a writer fails the batch that it was at and no other; `on_panic` is given its payload.
    pub fn new(store: Store, on_panic: impl Fn(&(dyn Any + Send)) + Send + Sync + 'static) -> Self {
        let queue = Arc::new(Queue::new(Box::new(on_panic)));
        Self { of_writer: store.clone(), store, queue, runtime: Handle::current() }
    }

    /// The same queue and writer, and `store` for what is not stored in a group.
    #[must_use]
    pub fn with_store(&self, store: Store) -> Self {
        Self { store, ..self.clone() }
    }

    /// Events that wait to be written.
    pub fn waiting(&self) -> usize {
        self.queue.lock().waiting.len()
    }

    /// Waits until everything that was taken in is written.
    pub async fn drain(&self) {
        loop {
            let mut idle = std::pin::pin!(self.queue.idle.notified());
            // From here on no notification is missed.
            idle.as_mut().enable();
            let is_left = {
                let mut state = self.queue.lock();
                if !state.is_written && state.waiting.is_empty() {
                    return;
                }
                !std::mem::replace(&mut state.is_written, true)
            };
            // The thread that the writer ran on has ended, and the writer with it.
            if is_left {
                self.write().await;
            } else {
                idle.await;
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "it ends when nothing waits, and its panics are reported")]
    fn enqueue(&self, waiting: Waiting) -> Result<(), StoreError> {
        let mut state = self.queue.lock();
        if state.waiting.len() >= QUEUE_CAPACITY {
            return Err(StoreError::Overloaded(format!("{QUEUE_CAPACITY} events wait to be written already").into()));
        }
        state.waiting.push_back(waiting);
        if !std::mem::replace(&mut state.is_written, true) {
            self.runtime.spawn(self.write());
        }
        Ok(())
    }

    /// A writer, to be run.
    fn write(&self) -> impl Future<Output = ()> + Send + 'static {
        let (store, queue) = (self.of_writer.clone(), Arc::clone(&self.queue));
        write(Writer(Some(Arc::clone(&self.queue))), move |group| {
            let (store, queue) = (store.clone(), Arc::clone(&queue));
            async move { write_group(&store, &queue, group).await }.boxed()
        })
    }
}

/// Writes groups until nothing waits. A panic over one of them answers its senders with an error, and the next is written.
async fn write(mut writer: Writer, write_group: impl Fn(Vec<Waiting>) -> BoxFuture<'static, ()> + Send) {
    let Some(queue) = writer.0.clone() else { return };
    while let Some(group) = queue.next() {
        if let Err(panic) = AssertUnwindSafe(async { write_group(group).await }).catch_unwind().await {
            (queue.on_panic)(&*panic);
        }
    }
    // Counted out already.
    writer.0 = None;
}

/// Writes a group. Where accounts live on several nodes, each shard's part apart: a node that is away takes nothing along
/// of the others, and no part is committed in two phases.
async fn write_group(store: &Store, queue: &Queue, group: Vec<Waiting>) {
    let accounts: Vec<i64> = group.iter().map(|waiting| waiting.row.account().0).collect();
    match store.shards(&accounts).await.map_err(StoreError::from) {
        Ok(None) => write_part(store, queue, group).await,
        Ok(Some(shards)) => {
            let mut parts: BTreeMap<i64, Vec<Waiting>> = BTreeMap::new();
            for (waiting, shard) in group.into_iter().zip(shards) {
                parts.entry(shard).or_default().push(waiting);
            }
            join_all(parts.into_values().map(|part| write_part(store, queue, part))).await;
        }
        Err(error) => group.into_iter().for_each(|waiting| drop(waiting.answer.send(Err(again(&error))))),
    }
}

async fn write_part(store: &Store, queue: &Queue, group: Vec<Waiting>) {
    let (rows, answers): (Vec<_>, Vec<_>) = group.into_iter().map(|waiting| (waiting.row, waiting.answer)).unzip();
    match insert(store, queue, rows.clone()).await {
        Ok(ids) => {
            for (answer, id) in answers.into_iter().zip(ids) {
                // A client that has gone needs no answer.
                answer.send(Ok(TrackingEventId(id))).ok();
            }
        }
        // One event may be invalid: each is written alone, then.
        Err(StoreError::Internal(_)) if rows.len() > 1 => {
            for (row, answer) in rows.into_iter().zip(answers) {
                answer.send(insert_one(store, queue, row).await).ok();
            }
        }
        Err(error) => {
            for answer in answers {
                answer.send(Err(again(&error))).ok();
            }
        }
    }
}

/// Stores the rows and gives their ids in the same order.
async fn insert(store: &Store, queue: &Queue, rows: Vec<EventRow>) -> Result<Vec<i64>, StoreError> {
    let ids = queue.ids(store, rows.len()).await?;
    insert_rows_as(store, ids.clone(), rows).await?;
    Ok(ids)
}

async fn insert_one(store: &Store, queue: &Queue, row: EventRow) -> Result<TrackingEventId, StoreError> {
    let ids = insert(store, queue, vec![row]).await?;
    ids.first()
        .copied()
        .map(TrackingEventId)
        .ok_or_else(|| StoreError::Internal("an event was stored without an id".into()))
}

/// The same error for another caller: its causes as a text, since they cannot be shared.
fn again(error: &StoreError) -> StoreError {
    let text = |cause: &Cause| Chain(&**cause).to_string().into();
    match error {
        StoreError::Unavailable(cause) => StoreError::Unavailable(text(cause)),
        StoreError::Overloaded(cause) => StoreError::Overloaded(text(cause)),
        StoreError::Internal(cause) => StoreError::Internal(text(cause)),
    }
}

#[async_trait]
impl EventStore for GroupCommit {
    /// An event under an idempotency key has a transaction of its own: its key is held until the commit.
    async fn insert(
        &self,
        account: AccountId,
        event: NewEvent,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Idempotent<TrackingEventId>, IdempotencyError> {
        if idempotency.is_some() {
            return self.store.insert(account, event, idempotency).await;
        }
        let (answer, answered) = oneshot::channel();
        self.enqueue(Waiting { row: EventRow::new(account, event), answer })?;
        let lost = || StoreError::Unavailable("the writer of events ended".into());
        let value = answered.await.unwrap_or_else(|_| Err(lost()))?;
        Ok(Idempotent { value, replayed: false })
    }

    async fn stored_under(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        now: OffsetDateTime,
    ) -> Result<Option<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError> {
        self.store.stored_under(account, key, now).await
    }

    async fn insert_batch(
        &self,
        account: AccountId,
        events: Vec<Result<NewEvent, Refusal>>,
        idempotency: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError> {
        self.store.insert_batch(account, events, idempotency, now).await
    }

    async fn insert_many(&self, account: AccountId, events: Vec<NewEvent>) -> Result<(), StoreError> {
        self.store.insert_many(account, events).await
    }

    async fn latest(&self, account: AccountId) -> Result<Option<OffsetDateTime>, StoreError> {
        self.store.latest(account).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(queue: &Queue, name: &str) -> oneshot::Receiver<Result<TrackingEventId, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let event = NewEvent {
            name: domain::tracking::EventName::parse(name.to_owned()).unwrap(),
            props: serde_json::Map::new(),
            visitor_id: None,
            session_id: None,
            url: None,
            location: domain::tracking::Location::default(),
            occurred_at: OffsetDateTime::UNIX_EPOCH,
            received_at: OffsetDateTime::UNIX_EPOCH,
        };
        queue.lock().waiting.push_back(Waiting { row: EventRow::new(AccountId(1), event), answer });
        answered
    }

    #[tokio::test]
    async fn a_panic_over_a_batch_fails_its_events_and_the_next_batch_is_written() {
        let (told, heard) = std::sync::mpsc::channel();
        let on_panic: OnPanic = Box::new(move |panic| {
            told.send(panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap();
        });
        let queue = Arc::new(Queue::new(on_panic));
        let batches = Mutex::new((0..BATCH_MAX).map(|_| queued(&queue, "first")).collect::<Vec<_>>());
        let last = queued(&queue, "last");
        queue.lock().is_written = true;
        write(Writer(Some(Arc::clone(&queue))), |batch| {
            assert_eq!(batch.len(), 1, "a defect that only a full batch meets");
            async move { batch.into_iter().for_each(|waiting| waiting.answer.send(Ok(TrackingEventId(7))).unwrap()) }
                .boxed()
        })
        .await;
        assert_eq!(last.await.unwrap().unwrap(), TrackingEventId(7));
        for answer in batches.into_inner().unwrap() {
            answer.await.expect_err("its sender is answered: the writer has ended");
        }
        assert!(heard.recv().unwrap().is_none(), "assert_eq! panics with a String");
        assert!(!queue.lock().is_written, "the next event starts a writer");
    }

    #[test]
    fn ids_rise_from_group_to_group() {
        let mut ids = vec![1, 2, 3, 4, 5];
        assert_eq!(take_reserved(&mut ids, 2), Some(vec![1, 2]));
        assert_eq!(take_reserved(&mut ids, 3), Some(vec![3, 4, 5]));
        assert_eq!(take_reserved(&mut ids, 1), None);
    }
}
