//! How many requests a key or an address may make.
//!
//! Windows are fixed and last [`WINDOW`]; a window starts with its bucket's first request. So in any burst the first
//! request over the limit is refused, and the answer can say to the second when the next one will be taken.

use std::{
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use async_trait::async_trait;

/// Length of a window.
pub const WINDOW: Duration = Duration::from_secs(60);

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Requests with a key, by the key's id.
    Key(i64),
    /// Requests of an address that were refused for want of a valid key.
    Refused(IpAddr),
    /// Requests of an address to public endpoints.
    Public(IpAddr),
    /// Requests of all addresses for which there was no room.
    Crowd,
}

impl Bucket {
    /// For the refused requests of an address; of IPv6 the /64 counts, which is what one customer has.
    pub fn refused(address: IpAddr) -> Self {
        Self::Refused(subscriber(address))
    }

    /// For the public requests of an address; of IPv6 the /64 counts.
    pub fn public(address: IpAddr) -> Self {
        Self::Public(subscriber(address))
    }
}

fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Where a bucket stands after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Requests per window.
    pub limit: u32,
    /// Requests left in this window.
    pub remaining: u32,
    /// Whole seconds until the window ends, 1 to 60.
    pub reset_seconds: u64,
    /// This request was one too many.
    pub exceeded: bool,
}

impl Quota {
    /// Of a window in which `count` requests have been taken and `left` of its time remains.
    pub fn of(limit: u32, count: u32, left: Duration, exceeded: bool) -> Self {
        let seconds = u64::try_from(left.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX);
        let reset_seconds = seconds.clamp(1, WINDOW.as_secs());
        Self { limit, remaining: limit.saturating_sub(count), reset_seconds, exceeded }
    }
}

/// Counts requests. An implementation over a network must not fail a request when that network fails.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Counts a request.
    async fn hit(&self, bucket: Bucket, limit: u32) -> Quota;
    /// Takes one counted request back, because it turned out to be free.
    async fn give_back(&self, bucket: Bucket);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_an_ipv6_customer_counts_as_one() {
        let one = Bucket::refused("2a00:1:2:3::1".parse().unwrap());
        assert_eq!(one, Bucket::refused("2a00:1:2:3:ffff::2".parse().unwrap()));
        assert_ne!(one, Bucket::refused("2a00:1:2:4::1".parse().unwrap()));
        assert_eq!(Bucket::refused("::ffff:192.0.2.1".parse().unwrap()), Bucket::refused("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn a_begun_second_counts_as_a_whole_one_and_none_as_one() {
        let reset = |millis| Quota::of(60, 3, Duration::from_millis(millis), false).reset_seconds;
        assert_eq!([0, 1, 1_000, 1_001, 60_000].map(reset), [1, 1, 1, 2, 60]);
        assert_eq!(Quota::of(60, 61, WINDOW, true).remaining, 0);
    }
}
