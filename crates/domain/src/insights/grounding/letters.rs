//! Letters with their accents: put together, and taken off.

use crate::language::Language;

/// Letters with an accent that the three languages write, each with the letter below it and the combining mark.
const ACCENTED: [(char, char, char); 38] = [
    ('á', 'a', '\u{301}'),
    ('é', 'e', '\u{301}'),
    ('í', 'i', '\u{301}'),
    ('ó', 'o', '\u{301}'),
    ('ú', 'u', '\u{301}'),
    ('ý', 'y', '\u{301}'),
    ('à', 'a', '\u{300}'),
    ('è', 'e', '\u{300}'),
    ('ò', 'o', '\u{300}'),
    ('â', 'a', '\u{302}'),
    ('ê', 'e', '\u{302}'),
    ('î', 'i', '\u{302}'),
    ('ô', 'o', '\u{302}'),
    ('û', 'u', '\u{302}'),
    ('ã', 'a', '\u{303}'),
    ('õ', 'o', '\u{303}'),
    ('ñ', 'n', '\u{303}'),
    ('ü', 'u', '\u{308}'),
    ('ç', 'c', '\u{327}'),
    ('Á', 'A', '\u{301}'),
    ('É', 'E', '\u{301}'),
    ('Í', 'I', '\u{301}'),
    ('Ó', 'O', '\u{301}'),
    ('Ú', 'U', '\u{301}'),
    ('Ý', 'Y', '\u{301}'),
    ('À', 'A', '\u{300}'),
    ('È', 'E', '\u{300}'),
    ('Ò', 'O', '\u{300}'),
    ('Â', 'A', '\u{302}'),
    ('Ê', 'E', '\u{302}'),
    ('Î', 'I', '\u{302}'),
    ('Ô', 'O', '\u{302}'),
    ('Û', 'U', '\u{302}'),
    ('Ã', 'A', '\u{303}'),
    ('Õ', 'O', '\u{303}'),
    ('Ñ', 'N', '\u{303}'),
    ('Ü', 'U', '\u{308}'),
    ('Ç', 'C', '\u{327}'),
];

/// Letters and combining marks in a row, put together as far as the languages write them so (NFD to NFC).
pub(super) fn composed(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    for c in text.chars() {
        let below = whole.chars().next_back();
        match ACCENTED.iter().find(|(_, base, mark)| *mark == c && Some(*base) == below) {
            Some((accented, ..)) => {
                whole.pop();
                whole.push(*accented);
            }
            None => whole.push(c),
        }
    }
    whole
}

/// In small letters and without accents: writers leave them out.
pub(super) fn folded(word: &str) -> String {
    let plain = |c: char| ACCENTED.iter().find(|(accented, ..)| *accented == c).map_or(c, |(_, base, _)| *base);
    word.chars().flat_map(char::to_lowercase).map(plain).collect()
}

/// Whether texts in the language are written with this letter or digit.
pub(super) fn is_of(language: Language, c: char) -> bool {
    c.is_ascii_alphanumeric() || (language != Language::English && ACCENTED.iter().any(|(accented, ..)| *accented == c))
}

/// The marks of ordinals, as in `1º de março`.
pub(super) const fn is_ordinal_mark(c: char) -> bool {
    matches!(c, 'º' | 'ª' | '°')
}
