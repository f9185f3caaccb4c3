//! Texts that come from outside and go into the database.

/// Why a text is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextRefused {
    #[error("it may hold at most {max} characters")]
    TooLong { max: usize },
    #[error("it must not hold the character U+0000")]
    Nul,
}

/// Checks a free text: at most `max` characters and no U+0000, which Postgres cannot store.
pub fn check(text: &str, max: usize) -> Result<(), TextRefused> {
    if text.contains('\0') {
        Err(TextRefused::Nul)
    } else if text.chars().count() > max {
        Err(TextRefused::TooLong { max })
    } else {
        Ok(())
    }
}
