//! Random bytes from the operating system, for keys and identifiers.

use domain::webhooks::signature::Secret;
use ring::rand::{SecureRandom, SystemRandom};

/// An endless supply of random bytes. Ends when the operating system has none, which makes a key come out too short
/// and be refused, never predictable.
pub fn bytes() -> impl Iterator<Item = u8> {
    let source = SystemRandom::new();
    std::iter::from_fn(move || {
        let mut chunk = [0u8; 64];
        source.fill(&mut chunk).ok().map(|()| chunk)
    })
    .flatten()
}

/// A secret that signs webhooks; none when the operating system has no random bytes.
pub fn secret() -> Option<Secret> {
    let mut random = [0; 32];
    SystemRandom::new().fill(&mut random).ok().map(|()| Secret::generate(random))
}
