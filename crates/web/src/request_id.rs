//! What a request is called.

use std::{
    cell::Cell,
    hash::{BuildHasher, RandomState},
    rc::Rc,
    time::{SystemTime, UNIX_EPOCH},
};

use actix_web::http::header::{HeaderMap, HeaderName};
use uuid::{Builder, Uuid};

/// The header that names a request, on its way in and out.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The name of a request in logs and answers.
#[derive(Debug, Clone)]
pub struct RequestId(pub Rc<str>);

impl RequestId {
    /// The client's own, when it is one that logs can hold; else a new one.
    pub fn of(headers: &HeaderMap) -> Self {
        let valid = |id: &&str| {
            (8..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        let mut sent = headers.get_all(HEADER);
        match (sent.next().and_then(|value| value.to_str().ok()).filter(valid), sent.next()) {
            (Some(id), None) => Self(id.into()),
            _ => Self(new().simple().to_string().into()),
        }
    }
}

thread_local! {
    /// A hash under secret keys of this thread, and what it has hashed so far.
    static RANDOM: (RandomState, Cell<u64>) = (RandomState::new(), Cell::new(0));
}

/// A UUID of version 7. It need be unique and not a secret, so its random bits cost no call of the system.
fn new() -> Uuid {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let (random, count) = RANDOM.with(|(hash, counter)| {
        let count = counter.get().wrapping_add(1);
        counter.set(count);
        (hash.hash_one(count), count)
    });
    let ([a, b, c, d, e, f, g, h], [.., y, z]) = (random.to_be_bytes(), count.to_be_bytes());
    Builder::from_unix_timestamp_millis(u64::try_from(millis).unwrap_or(0), &[y, z, a, b, c, d, e, f, g, h]).into_uuid()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_requests_of_any_threads_have_the_same_name() {
        let threads: Vec<_> =
            (0..4).map(|_| std::thread::spawn(|| (0..50_000).map(|_| new()).collect::<Vec<_>>())).collect();
        let names: Vec<Uuid> = threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect();
        assert!(names.iter().all(|name| name.get_version_num() == 7));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 200_000);
    }
}
