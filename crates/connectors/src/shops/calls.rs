//! How many calls reading a shop takes, and how long its limits make them wait: counted where calls are sent, for the stream
//! that is being read.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use domain::shops::{Calls, OrderBatch, ProductBatch, ShopStream};
use futures_util::{StreamExt, stream};

type Meter = Arc<Mutex<Calls>>;

tokio::task_local! {
    static METER: Meter;
}

fn count(of: impl FnOnce(&mut Calls)) {
    // What is not read as a stream, such as a token, is not counted.
    let _ = METER.try_with(|meter| of(&mut meter.lock().unwrap_or_else(PoisonError::into_inner)));
}

/// A call is sent.
pub(super) fn sent() {
    count(|calls| calls.made += 1);
}

/// A call waited for a limit.
pub(super) fn waited(pause: Duration) {
    count(|calls| calls.waited += pause);
}

/// Does `work`, and gives with it what was sent and waited for.
pub(crate) async fn metered<T>(work: impl Future<Output = T>) -> (T, Calls) {
    let meter = Meter::default();
    let done = METER.scope(meter.clone(), work).await;
    let calls = std::mem::take(&mut *meter.lock().unwrap_or_else(PoisonError::into_inner));
    (done, calls)
}

/// What says of itself what it took to read it.
pub(super) trait Batch: Send + 'static {
    fn calls(&mut self) -> &mut Calls;
}

impl Batch for OrderBatch {
    fn calls(&mut self) -> &mut Calls {
        &mut self.calls
    }
}

impl Batch for ProductBatch {
    fn calls(&mut self) -> &mut Calls {
        &mut self.calls
    }
}

/// Notes with each batch what was sent and waited for since the one before.
pub(super) fn counted<T: Batch>(mut stream: ShopStream<T>) -> ShopStream<T> {
    let meter = Meter::default();
    let of_batch = meter.clone();
    let read = stream::poll_fn(move |context| METER.sync_scope(meter.clone(), || stream.poll_next_unpin(context)));
    read.map(move |batch| {
        batch.map(|mut batch| {
            *batch.calls() = std::mem::take(&mut *of_batch.lock().unwrap_or_else(PoisonError::into_inner));
            batch
        })
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_batch_has_the_calls_since_the_one_before() {
        let batches = stream::iter([2_u64, 0, 3]).then(|calls| async move {
            for _ in 0..calls {
                sent();
            }
            waited(Duration::from_millis(calls));
            // The stream may be polled again at any await.
            tokio::task::yield_now().await;
            Ok(OrderBatch::default())
        });
        sent();
        let read = counted(batches.boxed());
        let made: Vec<_> =
            read.map(|batch| batch.map(|batch| (batch.calls.made, batch.calls.waited.as_millis()))).collect().await;
        assert_eq!(made, [Ok((2, 2)), Ok((0, 0)), Ok((3, 3))]);
    }
}
