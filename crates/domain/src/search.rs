//! Looking something up by how its name begins.

/// Characters that are looked at.
pub const MAX_CHARS: usize = 100;
/// What begins with a text is found up to this number; more is a list, not an answer.
pub const MOST_FOUND: i64 = 500;

/// The beginning of a name, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix(String);

impl Prefix {
    /// `None` for nothing but blanks.
    pub fn new(text: &str) -> Option<Self> {
        let text: String = text.trim().chars().take(MAX_CHARS).filter(|c| *c != '\0').collect();
        (!text.is_empty()).then(|| Self(text.to_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Comes behind every text that begins with it, where texts are compared byte by byte.
    pub fn end(&self) -> String {
        format!("{}\u{10FFFF}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_with_it_lies_between_it_and_its_end() {
        let prefix = Prefix::new("  MUG Ñ ").unwrap();
        assert_eq!(prefix.as_str(), "mug ñ");
        for found in ["mug ñ", "mug ñandú", "mug ñ🦤"] {
            assert!((prefix.as_str()..prefix.end().as_str()).contains(&found), "{found}");
        }
        for other in ["mug", "mug n", "mugñ", "mug o", "a mug ñ"] {
            assert!(!(prefix.as_str()..prefix.end().as_str()).contains(&other), "{other}");
        }
    }

    #[test]
    fn blanks_are_nothing_to_look_up() {
        assert_eq!(Prefix::new(" \t"), None);
        assert_eq!(Prefix::new(&"x".repeat(1_000)).unwrap().as_str().len(), MAX_CHARS);
    }
}
