//! Slowing down who tries again and again: wrong passwords and codes, and mails that are asked for.
//!
//! Nobody is ever locked out by somebody else: a wait has an end, and a device that its person logged in with before is counted by
//! itself.

use async_trait::async_trait;
use ring::digest::{SHA256, digest};
use time::{Duration, OffsetDateTime};

use crate::StoreError;

/// Tries that cost no wait.
pub const FREE: i32 = 5;
/// Invitations that cost no wait: a shop may invite its whole team at once.
pub const FREE_INVITATIONS: i32 = 20;
/// The longest wait between two tries.
pub const LONGEST_WAIT: Duration = Duration::seconds(300);
/// Wrong passwords in a row after which an address can log in by a link from a mail only, but on devices that are known.
pub const MOST: i32 = 100;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Passwords for an e-mail address, whether it is anybody's or not.
    Login,
    /// Passwords from a network address.
    LoginFrom,
    /// Passwords for a person, on a device that the person logged in with before.
    LoginOn,
    /// Codes of a person's second factor.
    Code,
    /// Mails to an e-mail address for a sign-up. Each kind of mail is counted by itself, so that nobody keeps another from a new
    /// password by asking for something else.
    SignUpTo,
    /// Mails to an e-mail address for a new password.
    ResetTo,
    /// Mails to an e-mail address that a person wants to have, and those that a person asks for.
    NewAddress,
    /// Mails that a network address asks for.
    MailFrom,
    /// Invitations of a user.
    Invitations,
    /// Invitations to an e-mail address, whoever sends them.
    InvitationsTo,
}

impl Counted {
    const fn name(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::LoginFrom => "login_from",
            Self::LoginOn => "login_on",
            Self::Code => "code",
            Self::SignUpTo => "sign_up_to",
            Self::ResetTo => "reset_to",
            Self::NewAddress => "new_address",
            Self::MailFrom => "mail_from",
            Self::Invitations => "invitations",
            Self::InvitationsTo => "invitations_to",
        }
    }

    /// How long after the last try it is forgotten.
    const fn lasts(self) -> Duration {
        match self {
            Self::Login | Self::LoginOn | Self::Code => Duration::days(30),
            // Many people may have one address, and others tomorrow.
            Self::LoginFrom
            | Self::SignUpTo
            | Self::ResetTo
            | Self::NewAddress
            | Self::MailFrom
            | Self::Invitations
            | Self::InvitationsTo => Duration::hours(1),
        }
    }

    /// Tries that cost no wait.
    const fn free(self) -> i32 {
        match self {
            Self::Invitations => FREE_INVITATIONS,
            _ => FREE,
        }
    }

    const fn ends(self) -> bool {
        matches!(self, Self::Login)
    }
}

/// A counter, stored under a hash: a database does not list the addresses that somebody tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    pub counted: Counted,
    pub key: [u8; 32],
}

impl Counter {
    pub fn new(counted: Counted, of: &str) -> Self {
        let mut key = [0; 32];
        key.copy_from_slice(digest(&SHA256, format!("{}:{of}", counted.name()).as_bytes()).as_ref());
        Self { counted, key }
    }

    /// That of a network address: the whole of an IPv4 one, the /64 of an IPv6 one, which one household has.
    pub fn of_address(counted: Counted, address: std::net::IpAddr) -> Self {
        let network = match address {
            std::net::IpAddr::V4(address) => address.to_string(),
            std::net::IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        };
        Self::new(counted, &network)
    }

    pub fn expires_at(&self, now: OffsetDateTime) -> OffsetDateTime {
        now + self.counted.lasts()
    }

    /// What a try at `now` meets, after this number of `tries` of which the last was at `last_at`.
    pub fn verdict(&self, tries: i32, last_at: OffsetDateTime, now: OffsetDateTime) -> Verdict {
        if self.counted.ends() && tries >= MOST {
            return Verdict::Ended;
        }
        let left = wait(tries - self.counted.free()) - (now - last_at);
        if left.is_positive() { Verdict::Wait(left) } else { Verdict::Go }
    }
}

/// Whether a try is looked at. What is worse is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Go,
    /// Not before this has passed.
    Wait(Duration),
    /// Not any more, until the counter is cleared.
    Ended,
}

/// What counting a try says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    pub verdict: Verdict,
    /// Tries in a row under the first counter, with this one if it is counted.
    pub tries: i32,
}

/// The pause after a number of tries in a row beyond the free ones: 1, 2, 4 … [`LONGEST_WAIT`].
pub fn wait(beyond: i32) -> Duration {
    match beyond {
        ..0 => Duration::ZERO,
        over => Duration::seconds(1 << over.min(9)).min(LONGEST_WAIT),
    }
}

#[async_trait]
pub trait ThrottleStore: Send + Sync {
    /// Counts a try under every counter, unless one of them has it wait: that is then the answer, and nothing is counted. Of
    /// tries that come at once each sees those before it.
    async fn count(&self, counters: &[Counter], now: OffsetDateTime) -> Result<Tally, StoreError>;
    /// Takes one try back: it turned out to be right.
    async fn give_back(&self, counter: &Counter) -> Result<(), StoreError>;
    /// Forgets what was counted.
    async fn clear(&self, counters: &[Counter]) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

    #[test]
    fn from_the_sixth_on_a_try_waits_longer_and_longer() {
        let seconds: Vec<_> = (0..17).map(|tries| wait(tries - FREE).whole_seconds()).collect();
        assert_eq!(seconds, [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(wait(i32::MAX), LONGEST_WAIT);
        let invitations = Counter::new(Counted::Invitations, "user_1");
        let verdict = |tries| invitations.verdict(tries, NOW, NOW);
        assert_eq!((verdict(19), verdict(20)), (Verdict::Go, Verdict::Wait(Duration::seconds(1))));
        let counter = Counter::new(Counted::LoginFrom, "203.0.113.7");
        assert_eq!(counter.verdict(6, NOW, NOW + Duration::seconds(1)), Verdict::Wait(Duration::seconds(1)));
        assert_eq!(counter.verdict(6, NOW, NOW + Duration::seconds(2)), Verdict::Go);
        assert_eq!(counter.verdict(10_000, NOW, NOW + LONGEST_WAIT), Verdict::Go);
    }

    /// 10,000 guesses, one a second, each taken where it may be.
    #[test]
    fn of_ten_thousand_guesses_few_are_looked_at() {
        let looked_at = |counter: Counter| {
            let (mut tries, mut last_at) = (0, NOW);
            for second in 0..10_000 {
                let now = NOW + Duration::seconds(second);
                if counter.verdict(tries, last_at, now) == Verdict::Go {
                    (tries, last_at) = (tries + 1, now);
                }
            }
            tries
        };
        assert_eq!(looked_at(Counter::new(Counted::Login, "ana@example.com")), 45);
        // However long it goes on, an address that is guessed for is closed after a hundred.
        let counter = Counter::new(Counted::Login, "ana@example.com");
        assert_eq!(counter.verdict(MOST, NOW, NOW + Duration::days(29)), Verdict::Ended);
        assert_eq!(Counter::new(Counted::LoginOn, "7").verdict(MOST, NOW, NOW + LONGEST_WAIT), Verdict::Go);
    }

    #[test]
    fn a_network_is_one_address_and_nothing_of_it_is_kept() {
        let key = |text: &str| Counter::of_address(Counted::LoginFrom, text.parse().unwrap()).key;
        assert_eq!(key("2001:db8:1:2::3"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::3"), key("2001:db8:1:3::3"));
        assert_ne!(key("203.0.113.7"), key("203.0.113.8"));
        assert_ne!(Counter::new(Counted::ResetTo, "a").key, Counter::new(Counted::Login, "a").key);
    }
}
