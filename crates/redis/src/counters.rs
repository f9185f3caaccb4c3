//! The [`RateLimiter`] that all replicas share.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use domain::rate_limit::{Bucket, Quota, RateLimiter, WINDOW};
use redis::Script;

use crate::Link;

/// Counts an amount, unless the window is full. A window is a number that expires, so it starts with its first
/// request and ends by the server's clock, which all replicas share. Answers: what has been taken, milliseconds left,
/// whether this was too much.
const TAKE: &str = "
local held = redis.call('GET', KEYS[1])
if not held then
    redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2])
    return {tonumber(ARGV[3]), tonumber(ARGV[2]), 0}
end
local count, exceeded = tonumber(held), 1
if count < tonumber(ARGV[1]) then
    count, exceeded = redis.call('INCRBY', KEYS[1], ARGV[3]), 0
end
return {count, redis.call('PTTL', KEYS[1]), exceeded}";

/// Takes one request back. `DECR` leaves the end of the window as it is; a window that is over has nothing to give.
const GIVE_BACK: &str = "
if (tonumber(redis.call('GET', KEYS[1]) or '0')) > 0 then
    return redis.call('DECR', KEYS[1])
end
return 0";

/// Counts in Redis; while that is away, in the process.
pub struct Counters {
    link: Arc<Link>,
    alone: Arc<dyn RateLimiter>,
    take: Script,
    refund: Script,
}

impl Counters {
    /// `alone` counts while the server is away.
    pub fn new(link: Arc<Link>, alone: Arc<dyn RateLimiter>) -> Self {
        Self { link, alone, take: Script::new(TAKE), refund: Script::new(GIVE_BACK) }
    }
}

/// The name of a bucket's counter. The braces make it a hash tag: on a cluster the whole bucket is on one node.
fn name(bucket: Bucket) -> String {
    match bucket {
        Bucket::Key(id) => format!("requests:{{key:{id}}}"),
        Bucket::Reads(person) => format!("reads:{{person:{person}}}"),
        Bucket::Writes(person) => format!("writes:{{person:{person}}}"),
        Bucket::Refused(address) => format!("requests:{{refused:{address}}}"),
        Bucket::Public(address) => format!("requests:{{public:{address}}}"),
        Bucket::Unsigned(address) => format!("requests:{{unsigned:{address}}}"),
        Bucket::Signed(address) => format!("requests:{{signed:{address}}}"),
        Bucket::Overflow => "requests:{crowd}".to_owned(),
        Bucket::NotModified(id) => format!("not_modified:{{key:{id}}}"),
        Bucket::PublicNotModified(address) => format!("not_modified:{{public:{address}}}"),
        Bucket::OverflowNotModified => "not_modified:{overflow}".to_owned(),
        Bucket::EventKib(id) => format!("event_kib:{{key:{id}}}"),
    }
}

#[async_trait]
impl RateLimiter for Counters {
    async fn take(&self, bucket: Bucket, amount: u32, limit: u32) -> Quota {
        let asked = self.link.ask(async |mut connection| {
            let mut take = self.take.key(name(bucket));
            take.arg(limit).arg(u64::try_from(WINDOW.as_millis()).unwrap_or(u64::MAX)).arg(amount);
            take.invoke_async::<(u64, i64, bool)>(&mut connection).await
        });
        match asked.await {
            Some((count, left, exceeded)) => {
                let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
                Quota::of(limit, u32::try_from(count).unwrap_or(u32::MAX), left, exceeded)
            }
            None => {
                metrics::counter!("rate_limit_alone_total").increment(1);
                self.alone.take(bucket, amount, limit).await
            }
        }
    }

    async fn refund(&self, bucket: Bucket) {
        let asked = self
            .link
            .ask(async |mut connection| self.refund.key(name(bucket)).invoke_async::<i64>(&mut connection).await);
        if asked.await.is_none() {
            self.alone.refund(bucket).await;
        }
    }
}
