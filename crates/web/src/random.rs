//! Random bytes from the operating system.

use ring::{
    error::Unspecified,
    rand::{SecureRandom, SystemRandom},
};

/// 32 of them, for a secret or a state that nobody can guess.
///
/// # Errors
/// When the operating system has none.
pub fn bytes() -> Result<[u8; 32], Unspecified> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes)?;
    Ok(bytes)
}
