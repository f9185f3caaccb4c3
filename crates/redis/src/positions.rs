//! The [`Positions`] that all replicas share.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use domain::{AccountId, positions::Positions};
use redis::Script;

use crate::Link;

/// Keeps the higher of two positions. They come as 20 digits, so that they compare as text: Lua's numbers would round
/// them.
const NOTE: &str = "
local known = redis.call('GET', KEYS[1])
if known and known > ARGV[1] then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1";

/// Positions in Redis.
pub struct SharedPositions {
    link: Arc<Link>,
    note: Script,
}

impl SharedPositions {
    pub fn new(link: Arc<Link>) -> Self {
        Self { link, note: Script::new(NOTE) }
    }
}

fn name(account: AccountId) -> String {
    format!("wrote:{{account:{}}}", account.0)
}

#[async_trait]
impl Positions for SharedPositions {
    async fn note(&self, account: AccountId, position: u64, remembered: Duration) {
        let noted: Option<i64> = self
            .link
            .ask(async |mut connection| {
                let mut note = self.note.key(name(account));
                note.arg(format!("{position:020}")).arg(u64::try_from(remembered.as_millis()).unwrap_or(u64::MAX));
                note.invoke_async(&mut connection).await
            })
            .await;
        if noted.is_none() {
            metrics::counter!("writes_not_shared_total").increment(1);
        }
    }

    async fn last(&self, account: AccountId) -> Option<u64> {
        let found: Option<Option<String>> = self
            .link
            .ask(async |mut connection| redis::cmd("GET").arg(name(account)).query_async(&mut connection).await)
            .await;
        match found? {
            None => Some(0),
            Some(position) => position.parse().ok(),
        }
    }
}
