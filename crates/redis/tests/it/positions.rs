//! Two replicas that tell each other how far they wrote.

use std::time::Duration;

use domain::{AccountId, positions::Positions};
use redis_adapter::SharedPositions;
use testkit::Redis;

const ACCOUNT: AccountId = AccountId(3);
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_highest_position_of_any_replica_is_seen_by_all_until_it_is_forgotten() {
    let Some(mut redis) = Redis::start().unwrap() else { return };
    let (one, other) = (replica(&redis).await, replica(&redis).await);
    assert_eq!(other.last(ACCOUNT).await, Some(0));
    // Numbers that binary floats cannot tell apart, and the highest there is.
    for (noted, seen) in [(9, 9), (10, 10), ((1 << 60) + 1, (1 << 60) + 1), (1 << 60, (1 << 60) + 1)] {
        one.note(ACCOUNT, noted, LONG).await;
        assert_eq!(other.last(ACCOUNT).await, Some(seen));
    }
    assert_eq!(other.last(AccountId(4)).await, Some(0));
    other.note(AccountId(4), u64::MAX, Duration::from_millis(1)).await;
    let began = std::time::Instant::now();
    while one.last(AccountId(4)).await != Some(0) {
        assert!(began.elapsed() < Duration::from_secs(10), "the position is not forgotten");
    }
    redis.stop().unwrap();
    one.note(ACCOUNT, 1, LONG).await;
    assert_eq!(one.last(ACCOUNT).await, None);
}

async fn replica(redis: &Redis) -> SharedPositions {
    SharedPositions::new(crate::counters::linked(redis).await)
}
