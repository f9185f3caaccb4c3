//! Two replicas that count in one server.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use domain::{
    KeyId, PersonId,
    rate_limit::{Bucket, Quota, RateLimiter, WINDOW},
};
use redis_adapter::{Counters, Link};
use testkit::Redis;

const KEY: Bucket = Bucket::Key(KeyId(7));

/// Stands in for the counters of a process: refuses nothing and counts what it was asked.
#[derive(Default)]
struct Alone {
    hits: AtomicU32,
    given_back: AtomicU32,
}

#[async_trait::async_trait]
impl RateLimiter for Alone {
    async fn take(&self, _: Bucket, _: u32, limit: u32) -> Quota {
        Quota::of(limit, self.hits.fetch_add(1, Ordering::Relaxed) + 1, WINDOW, false)
    }

    async fn refund(&self, _: Bucket) {
        self.given_back.fetch_add(1, Ordering::Relaxed);
    }
}

/// A way to the server that is kept up.
pub async fn linked(redis: &Redis) -> Arc<Link> {
    let link = Link::connect(&redis.url()).await.unwrap();
    let kept = link.clone();
    tokio::spawn(async move { kept.keep().await });
    link
}

async fn replica(redis: &Redis) -> (Arc<Counters>, Arc<Alone>) {
    let alone = Arc::new(Alone::default());
    (Arc::new(Counters::new(linked(redis).await, alone.clone())), alone)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_61_requests_over_two_replicas_exactly_one_is_refused() {
    let Some(redis) = Redis::start().unwrap() else { return };
    let (one, alone) = replica(&redis).await;
    let (other, _) = replica(&redis).await;
    let hits = (0..61).map(|i| {
        let replica = if i % 2 == 0 { one.clone() } else { other.clone() };
        tokio::spawn(async move { replica.hit(KEY, 60).await })
    });
    let mut quotas = Vec::new();
    for hit in hits.collect::<Vec<_>>() {
        quotas.push(hit.await.unwrap());
    }
    assert_eq!(quotas.iter().filter(|quota| quota.exceeded).count(), 1);
    let mut remaining: Vec<u32> = quotas.iter().map(|quota| quota.remaining).collect();
    remaining.sort_unstable();
    assert_eq!(remaining, std::iter::once(0).chain(0..60).collect::<Vec<_>>());
    assert!(quotas.iter().all(|quota| quota.limit == 60 && (59..=60).contains(&quota.reset_seconds)));
    assert_eq!(alone.hits.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_request_given_back_can_be_made_again_and_moves_no_window() {
    let Some(redis) = Redis::start().unwrap() else { return };
    let ((one, _), (other, _)) = (replica(&redis).await, replica(&redis).await);
    assert!(!one.hit(KEY, 1).await.exceeded);
    assert!(other.hit(KEY, 1).await.exceeded);
    // The window is made to end in five seconds: a hit after the give-back must not start another.
    command::<i64>(&redis, &["PEXPIRE", "requests:{key:7}", "5000"]).await;
    other.refund(KEY).await;
    let taken = one.hit(KEY, 1).await;
    assert_eq!((taken.exceeded, taken.remaining), (false, 0));
    assert!(taken.reset_seconds <= 5, "{taken:?}");
    assert!(one.hit(KEY, 1).await.exceeded);
}

#[tokio::test]
async fn what_is_given_back_to_a_window_that_is_over_is_nothing() {
    let Some(redis) = Redis::start().unwrap() else { return };
    let (one, _) = replica(&redis).await;
    one.hit(KEY, 2).await;
    one.refund(KEY).await;
    one.refund(KEY).await;
    assert_eq!(one.hit(KEY, 2).await.remaining, 1);
    command::<i64>(&redis, &["DEL", "requests:{key:7}"]).await;
    one.refund(KEY).await;
    assert_eq!(one.hit(KEY, 2).await.remaining, 1);
}

#[tokio::test]
async fn a_window_ends_by_itself_and_buckets_do_not_share_a_count() {
    let Some(redis) = Redis::start().unwrap() else { return };
    let (one, _) = replica(&redis).await;
    let address: IpAddr = "192.0.2.1".parse().unwrap();
    let of_key = [KEY, Bucket::Key(KeyId(8)), Bucket::NotModified(KeyId(7)), Bucket::EventKib(KeyId(7))];
    let of_addresses = [Bucket::refused(address), Bucket::public(address), Bucket::PublicNotModified(address)];
    let of_person = [Bucket::Reads(PersonId(7)), Bucket::Writes(PersonId(7))];
    let shared = [Bucket::Overflow, Bucket::OverflowNotModified];
    for bucket in of_key.into_iter().chain(of_addresses).chain(of_person).chain(shared) {
        assert!(!one.hit(bucket, 1).await.exceeded, "{bucket:?}");
    }
    let lives: i64 = command(&redis, &["PTTL", "requests:{public:192.0.2.1}"]).await;
    assert!((50_000..=60_000).contains(&lives), "{lives}");
    command::<i64>(&redis, &["PEXPIRE", "requests:{key:7}", "0"]).await;
    assert_eq!(one.hit(KEY, 1).await, Quota { limit: 1, remaining: 0, reset_seconds: 60, exceeded: false });
}

#[tokio::test]
async fn an_amount_is_taken_whole_until_the_limit_is_reached_by_all_replicas() {
    let Some(redis) = Redis::start().unwrap() else { return };
    let ((one, _), (other, _)) = (replica(&redis).await, replica(&redis).await);
    assert_eq!(one.take(Bucket::EventKib(KeyId(7)), 4, 10).await.remaining, 6);
    let last = other.take(Bucket::EventKib(KeyId(7)), 1_000, 10).await;
    assert_eq!((last.exceeded, last.remaining), (false, 0));
    assert!(one.take(Bucket::EventKib(KeyId(7)), 1, 10).await.exceeded);
}

#[tokio::test]
async fn while_the_server_is_away_the_process_counts_and_no_request_waits_long() {
    let Some(mut redis) = Redis::start().unwrap() else { return };
    let (one, alone) = replica(&redis).await;
    one.hit(KEY, 60).await;
    assert_eq!(alone.hits.load(Ordering::Relaxed), 0);

    // Halted: the first request finds out, the others are told at once.
    redis.halt().unwrap();
    let asked = Instant::now();
    for _ in 0..1_000 {
        one.hit(KEY, 60).await;
    }
    one.refund(KEY).await;
    // A thousand that wait for an answer would take minutes.
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
    assert_eq!(alone.hits.load(Ordering::Relaxed), 1_000);
    assert_eq!(alone.given_back.load(Ordering::Relaxed), 1);
    redis.go_on().unwrap();
    counts_again(&one, &alone).await;

    // The server is gone.
    redis.stop().unwrap();
    let before = alone.hits.load(Ordering::Relaxed);
    assert!(!one.hit(KEY, 60).await.exceeded);
    assert_eq!(alone.hits.load(Ordering::Relaxed), before + 1);
    redis.resume().unwrap();
    counts_again(&one, &alone).await;
}

/// Waits until the server counts again.
async fn counts_again(replica: &Counters, alone: &Alone) {
    let began = Instant::now();
    loop {
        let before = alone.hits.load(Ordering::Relaxed);
        replica.hit(Bucket::Key(KeyId(9)), 1_000_000).await;
        if alone.hits.load(Ordering::Relaxed) == before {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "the server was not found again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_its_password() {
    let refused = Link::connect("http://user:hunter2@host").await.err().unwrap().to_string();
    assert!(refused.contains("REDIS_URL") && !refused.contains("hunter2"), "{refused}");
}

#[tokio::test]
async fn a_server_that_is_not_there_at_the_start_is_waited_for() {
    let Some(mut redis) = Redis::start().unwrap() else { return };
    redis.stop().unwrap();
    let (one, alone) = replica(&redis).await;
    one.hit(KEY, 60).await;
    assert_eq!(alone.hits.load(Ordering::Relaxed), 1);
    redis.resume().unwrap();
    counts_again(&one, &alone).await;
}

async fn command<T: redis::FromRedisValue>(redis: &Redis, words: &[&str]) -> T {
    let client = redis::Client::open(redis.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd(words[0]).arg(&words[1..]).query_async(&mut connection).await.unwrap()
}
