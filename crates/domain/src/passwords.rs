//! Passwords: which are allowed (NIST SP 800-63B-4, section 3.1.1.2), and what is kept of them.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

/// Characters (code points after normalisation) of a password at least.
pub const MIN_CHARS: usize = 15;
/// And at most.
pub const MAX_CHARS: usize = 128;

/// Of what is left beside words that anybody would try first.
const MIN_CHARS_OF_ITS_OWN: usize = 6;
/// Shorter words are in too much.
const MIN_WORD: usize = 4;

/// A password, in Unicode's form NFC, so that it is the same from every keyboard. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

/// Why a password cannot be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasswordFault {
    #[error("a password has at least {MIN_CHARS} characters")]
    TooShort,
    #[error("a password has at most {MAX_CHARS} characters")]
    TooLong,
    #[error("the password is among the first that would be tried")]
    Guessable,
}

impl Password {
    /// One that somebody enters to log in; none has more than [`MAX_CHARS`] characters.
    pub fn entered(text: &str) -> Option<Self> {
        let normal: String = text.nfc().take(MAX_CHARS + 1).collect();
        (normal.chars().count() <= MAX_CHARS).then_some(Self(normal))
    }

    /// One that somebody chooses. `own_words` are known of the person: parts of the address, names of person and shop.
    ///
    /// # Errors
    /// [`PasswordFault`]
    pub fn chosen(text: &str, own_words: &[&str]) -> Result<Self, PasswordFault> {
        let password = Self::entered(text).ok_or(PasswordFault::TooLong)?;
        if password.0.chars().count() < MIN_CHARS {
            return Err(PasswordFault::TooShort);
        }
        if is_guessable(&password.0, own_words) { Err(PasswordFault::Guessable) } else { Ok(password) }
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Words that stand in most lists of leaked passwords, and those of this service.
const COMMON: &[&str] = &[
    "password",
    "contraseña",
    "contrasena",
    "senha",
    "passwort",
    "letmein",
    "welcome",
    "bienvenido",
    "admin",
    "qwerty",
    "iloveyou",
    "tequiero",
    "teamo",
    "football",
    "futbol",
    "dragon",
    "monkey",
    "sunshine",
    "princess",
    "princesa",
    "business",
    "analytics",
    "dashboard",
];

/// What stands beside each other on a keyboard or in an alphabet.
const ROWS: &[&str] = &["01234567890", "qwertyuiop", "asdfghjklñ", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz"];

/// Whether little is left once common words, own words, runs and repetitions are taken out.
fn is_guessable(text: &str, own_words: &[&str]) -> bool {
    let mut left = text.to_lowercase();
    let own = own_words.iter().map(|word| word.to_lowercase());
    let mut words: Vec<String> = COMMON.iter().map(|word| (*word).to_owned()).chain(own).collect();
    words.retain(|word| word.chars().count() >= MIN_WORD);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    for word in words {
        left = left.replace(&word, "");
    }
    new_pairs(&left) < MIN_CHARS_OF_ITS_OWN
}

/// Pairs of neighbours that come for the first time, and are no step along a row.
fn new_pairs(text: &str) -> usize {
    let chars: Vec<char> = text.chars().collect();
    let is_step = |a: char, b: char| {
        ROWS.iter().any(|row| {
            let row: Vec<char> = row.chars().collect();
            row.windows(2).any(|pair| matches!(pair, [x, y] if (*x, *y) == (a, b) || (*x, *y) == (b, a)))
        })
    };
    let mut seen = std::collections::BTreeSet::new();
    chars
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a != b && !is_step(*a, *b) && seen.insert((*a, *b))))
        .count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::words("correct horse battery staple")]
    #[case::spaces_and_signs("  ¿dónde está mi té?  ")]
    #[case::fifteen("kTr9 vXq2_LmZ7w")]
    #[case::long(&"ñ€🦤 vkq".repeat(16))]
    fn any_characters_do(#[case] text: &str) {
        assert!(Password::chosen(text, &["ana", "casaclara"]).is_ok(), "{text}");
    }

    #[rstest]
    #[case("fourteen chars", PasswordFault::TooShort)]
    #[case("", PasswordFault::TooShort)]
    #[case(&"kTr9 vXq2_LmZ7w ".repeat(9), PasswordFault::TooLong)]
    #[case("aaaaaaaaaaaaaaaaaaaa", PasswordFault::Guessable)]
    #[case("abababababababababab", PasswordFault::Guessable)]
    #[case("123456789012345678", PasswordFault::Guessable)]
    #[case("qwertyuiopasdfghjkl", PasswordFault::Guessable)]
    #[case("PasswordPassword1!", PasswordFault::Guessable)]
    #[case("contraseña12345678", PasswordFault::Guessable)]
    #[case("casaclara-casaclara1", PasswordFault::Guessable)]
    #[case("ana.ruiz ana.ruiz 1", PasswordFault::Guessable)]
    fn others_are_refused(#[case] text: &str, #[case] fault: PasswordFault) {
        assert_eq!(Password::chosen(text, &["ana.ruiz", "Casaclara"]), Err(fault), "{text}");
    }

    #[test]
    fn a_password_is_the_same_from_every_keyboard() {
        let [composed, decomposed] = ["contraste\u{f1}o y caf\u{e9}", "contrasten\u{303}o y cafe\u{301}"];
        assert_ne!(composed, decomposed);
        assert_eq!(Password::entered(composed), Password::entered(decomposed));
        assert_eq!(format!("{:?}", Password::entered(composed)), "Some(Password(…))");
    }

    proptest! {
        /// What is long and random enough is never called guessable.
        #[test]
        fn random_letters_are_no_word(text in "[a-zA-Z0-9!?_]{24,128}") {
            prop_assert!(Password::chosen(&text, &["ana", "shop"]).is_ok());
        }
    }
}
