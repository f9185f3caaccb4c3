//! How many requests a key, a person or an address may make.
//!
//! Windows are fixed and last [`WINDOW`]; a window starts with its bucket's first request. So in any burst the first
//! request over the limit is refused, and the answer can say to the second when the next one will be taken.

use std::{
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use async_trait::async_trait;

use crate::{KeyId, PersonId};

/// Length of a window.
pub const WINDOW: Duration = Duration::from_secs(60);

/// What is counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Requests with a key, by the key's id.
    Key(KeyId),
    /// Answers 304 to a key.
    NotModified(KeyId),
    /// KiB of events that were sent with a key to be stored.
    EventKib(KeyId),
    /// Requests of a person who is logged in that change nothing.
    Reads(PersonId),
    /// The others of that person.
    Writes(PersonId),
    /// Requests of an address that were refused for want of a valid key.
    Refused(IpAddr),
    /// Requests of an address to public endpoints.
    Public(IpAddr),
    /// Answers 304 of public endpoints to an address.
    PublicNotModified(IpAddr),
    /// Notifications of an address that are not signed as they should be.
    Unsigned(IpAddr),
    /// Notifications of an address that are.
    Signed(IpAddr),
    /// Requests of all addresses for which there was no room.
    Overflow,
    /// Answers 304 to all addresses for which there was no room.
    OverflowNotModified,
}

/// Requests in a window of a person who is logged in, unless a key may make more: those that change nothing, and the others.
const OF_PERSON: (u32, u32) = (600, 60);

/// How many times its limit of requests a bucket may be answered 304 in a window at no cost.
pub const NOT_MODIFIED_FACTOR: u32 = 10;

impl Bucket {
    /// For the requests of a person who is logged in, with their limit where that of a key is `of_key`.
    pub fn of_person(person: PersonId, reads: bool, of_key: u32) -> (Self, u32) {
        let (most_reads, most_writes) = OF_PERSON;
        if reads {
            (Self::Reads(person), most_reads.max(of_key))
        } else {
            (Self::Writes(person), most_writes.max(of_key))
        }
    }

    /// For the refused requests of an address; of IPv6 the /64 counts, which is what one customer has.
    pub fn refused(address: IpAddr) -> Self {
        Self::Refused(subscriber(address))
    }

    /// For the public requests of an address; of IPv6 the /64 counts.
    pub fn public(address: IpAddr) -> Self {
        Self::Public(subscriber(address))
    }

    /// Where the free answers 304 to requests of this bucket are counted; `None` for a bucket whose requests never get one.
    pub const fn not_modified(self) -> Option<Self> {
        match self {
            Self::Key(id) => Some(Self::NotModified(id)),
            Self::Public(address) => Some(Self::PublicNotModified(address)),
            Self::Overflow => Some(Self::OverflowNotModified),
            Self::NotModified(_)
            | Self::EventKib(_)
            | Self::Reads(_)
            | Self::Writes(_)
            | Self::Refused(_)
            | Self::Unsigned(_)
            | Self::Signed(_)
            | Self::PublicNotModified(_)
            | Self::OverflowNotModified => None,
        }
    }

    /// Whether it belongs to an address that has proved nothing: anyone can make requests from ever new ones, so
    /// implementations bound how many of these they count one by one. The others share [`Bucket::shared`].
    pub const fn is_of_address(self) -> bool {
        matches!(self, Self::Refused(_) | Self::Public(_) | Self::PublicNotModified(_) | Self::Unsigned(_))
    }

    /// The bucket in which addresses without room for their own are counted.
    pub const fn shared(self) -> Self {
        match self {
            Self::PublicNotModified(_) => Self::OverflowNotModified,
            _ => Self::Overflow,
        }
    }

    /// For notifications of an address that do not prove who sent them; of IPv6 the /64 counts.
    pub fn unsigned(address: IpAddr) -> Self {
        Self::Unsigned(subscriber(address))
    }

    /// For notifications of an address that do; of IPv6 the /64 counts.
    pub fn signed(address: IpAddr) -> Self {
        Self::Signed(subscriber(address))
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
    /// Counts `amount` at once, unless `limit` or more has been counted in the window already. The last amount is taken
    /// whole, though it may go over the limit: so one that is larger than the limit is not refused for ever.
    async fn take(&self, bucket: Bucket, amount: u32, limit: u32) -> Quota;
    /// Counts a request.
    async fn hit(&self, bucket: Bucket, limit: u32) -> Quota {
        self.take(bucket, 1, limit).await
    }
    /// Takes one counted request back, because it turned out to be free.
    async fn refund(&self, bucket: Bucket);
}

#[cfg(test)]
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
    fn a_person_may_read_and_write_at_least_as_much_as_a_key() {
        let of = |reads, of_key| Bucket::of_person(PersonId(7), reads, of_key);
        assert_eq!([of(true, 1), of(true, 601)], [600, 601].map(|limit| (Bucket::Reads(PersonId(7)), limit)));
        assert_eq!([of(false, 1), of(false, 61)], [60, 61].map(|limit| (Bucket::Writes(PersonId(7)), limit)));
    }

    #[test]
    fn a_begun_second_counts_as_a_whole_one_and_none_as_one() {
        let reset = |millis| Quota::of(60, 3, Duration::from_millis(millis), false).reset_seconds;
        assert_eq!([0, 1, 1_000, 1_001, 60_000].map(reset), [1, 1, 1, 2, 60]);
        assert_eq!(Quota::of(60, 61, WINDOW, true).remaining, 0);
    }
}
