//! Cuts a masked text into words, numbers and signs.

use rust_decimal::Decimal;
use time::{Date, Month};

use super::{MASK, Refusal};

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    Number(Number),
    /// `2026-03-01`.
    Day(Date),
    /// Where a name or the cause stood.
    Name,
    Sign(char),
}

/// Letters in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// In small letters.
    pub text: String,
    /// As it stands in the text.
    pub spelled: String,
}

/// Digits in a row with their separators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    pub value: Decimal,
    /// Decimals that it is written with.
    pub decimals: u32,
    pub negative: bool,
    /// Whether it is digits and nothing else.
    pub bare: bool,
    /// Letters that follow at once.
    pub suffix: String,
    pub spelled: String,
}

/// Signs of currencies; `R$` and `US$` are a word and a sign.
pub(super) const fn is_currency_symbol(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹' | '₩' | '₺' | '₫' | '₱' | '₴' | '₪' | '₦' | '₡' | '₲' | '₽' | '¢')
}

const fn is_minus(c: char) -> bool {
    matches!(c, '-' | '−' | '–' | '—')
}

/// Spaces that group digits; an ordinary one does so as well when three digits follow.
const fn is_thin_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2009}' | '\u{202f}')
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Refusal> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0 };
    let mut tokens = Vec::new();
    while let Some(c) = lexer.peek(0) {
        if c.is_ascii_digit() {
            tokens.push(lexer.number()?);
        } else if c.is_ascii_alphabetic() {
            tokens.push(Token::Word(lexer.word()));
        } else {
            lexer.at += 1;
            match c {
                MASK => tokens.push(Token::Name),
                c if c.is_whitespace() => {}
                c => tokens.push(Token::Sign(c)),
            }
        }
    }
    Ok(tokens)
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn before(&self, back: usize) -> Option<char> {
        self.at.checked_sub(back).and_then(|at| self.chars.get(at)).copied()
    }

    fn word(&mut self) -> Word {
        let mut spelled = String::new();
        while let Some(c) = self.peek(0).filter(|c| c.is_ascii_alphabetic() || matches!(c, '\'' | '’')) {
            spelled.push(c);
            self.at += 1;
        }
        Word { text: spelled.to_ascii_lowercase(), spelled }
    }

    fn digits(&self, ahead: usize) -> usize {
        (0..).take_while(|n| self.peek(ahead + n).is_some_and(|c| c.is_ascii_digit())).count()
    }

    fn day(&mut self) -> Option<Token> {
        let shaped = self.digits(0) == 4
            && self.digits(5) == 2
            && self.digits(8) == 2
            && [self.peek(4), self.peek(7)] == [Some('-'), Some('-')]
            && !self.peek(10).is_some_and(|c| c.is_ascii_alphanumeric() || c == '-');
        if !shaped {
            return None;
        }
        let part = |from: usize, len: usize| -> Option<u32> {
            self.chars.get(self.at + from..self.at + from + len)?.iter().collect::<String>().parse().ok()
        };
        let month = Month::try_from(u8::try_from(part(5, 2)?).ok()?).ok()?;
        let day = u8::try_from(part(8, 2)?).ok()?;
        let date = Date::from_calendar_date(i32::try_from(part(0, 4)?).ok()?, month, day).ok()?;
        self.at += 10;
        Some(Token::Day(date))
    }

    fn number(&mut self) -> Result<Token, Refusal> {
        let start = self.at;
        // A letter, a digit group's point or the like just before: part of something that is no number.
        let glued =
            self.before(1).is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '/' | ':' | '\''));
        let negative = self.is_negative();
        if !glued && let Some(day) = self.day() {
            return Ok(day);
        }
        let mut written = String::new();
        while let Some(c) = self.peek(0) {
            let next_is_digit = self.peek(1).is_some_and(|next| next.is_ascii_digit());
            if c.is_ascii_digit() || (matches!(c, '.' | ',' | '\'' | '’') && next_is_digit) {
                written.push(c);
            } else if (is_thin_space(c) && next_is_digit) || (c == ' ' && self.digits(1) == 3) {
                written.push(' ');
            } else {
                break;
            }
            self.at += 1;
        }
        let mut suffix = String::new();
        while let Some(c) = self.peek(0).filter(char::is_ascii_alphabetic) {
            suffix.push(c);
            self.at += 1;
        }
        let spelled: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let unknown = || Refusal::Number(spelled.clone());
        // 12:30, 24/7, 3/1/2026.
        let goes_on =
            self.peek(0).is_some_and(|c| matches!(c, ':' | '/')) && self.peek(1).is_some_and(|c| c.is_ascii_digit());
        if glued || goes_on {
            return Err(unknown());
        }
        let (value, decimals) = read(&written).ok_or_else(unknown)?;
        let bare = written.bytes().all(|b| b.is_ascii_digit());
        Ok(Token::Number(Number { value, decimals, negative, bare, suffix, spelled }))
    }

    /// A minus just before the digits, or before the currency sign that stands before them, with nothing to its left
    /// that would make it a hyphen or a range.
    fn is_negative(&self) -> bool {
        let back = if self.before(1).is_some_and(is_currency_symbol) { 2 } else { 1 };
        self.before(back).is_some_and(is_minus) && !self.before(back + 1).is_some_and(|c| c.is_ascii_alphanumeric())
    }
}

/// Reads digits the English way: `,`, `'` and spaces group by three, `.` is the decimal point. A single comma that
/// does not group is a decimal comma, and `1.234,56` is read as it can only be meant.
fn read(written: &str) -> Option<(Decimal, u32)> {
    let groups_well = |whole: &str, separator: char| {
        let mut groups = whole.split(separator);
        groups.next().is_some_and(|first| (1..=3).contains(&first.len())) && groups.all(|group| group.len() == 3)
    };
    let separators: Vec<char> = written.chars().filter(|c| !c.is_ascii_digit()).collect();
    let (whole, fraction) = match (written.rfind('.'), written.rfind(',')) {
        (Some(point), Some(comma)) if comma > point => written.split_at_checked(comma)?,
        (Some(point), _) if separators.iter().filter(|c| **c == '.').count() == 1 => written.split_at_checked(point)?,
        (None, Some(comma))
            if separators.iter().filter(|c| **c == ',').count() == 1
                && separators.last() == Some(&',')
                && (separators.len() > 1 || written.len() - comma != 4) =>
        {
            written.split_at_checked(comma)?
        }
        _ => (written, ""),
    };
    let fraction = fraction.get(1..).unwrap_or_default();
    let mut used: Vec<char> = whole.chars().filter(|c| !c.is_ascii_digit()).collect();
    used.dedup();
    match used.as_slice() {
        [] => {}
        [separator] if groups_well(whole, *separator) => {}
        _ => return None,
    }
    let digits: String = whole.chars().chain(fraction.chars()).filter(char::is_ascii_digit).collect();
    if digits.len() > 24 || fraction.bytes().any(|b| !b.is_ascii_digit()) {
        return None;
    }
    let decimals = u32::try_from(fraction.len()).ok()?;
    Some((Decimal::try_from_i128_with_scale(digits.parse().ok()?, decimals).ok()?, decimals))
}

/// The word at a place.
pub(super) fn word(tokens: &[Token], at: usize) -> Option<&Word> {
    if let Some(Token::Word(word)) = tokens.get(at) { Some(word) } else { None }
}

/// The sign at a place.
pub(super) fn sign(tokens: &[Token], at: usize) -> Option<char> {
    if let Some(Token::Sign(sign)) = tokens.get(at) { Some(*sign) } else { None }
}

/// Whether one of these words is at a place.
pub(super) fn is_word(tokens: &[Token], at: usize, texts: &[&str]) -> bool {
    word(tokens, at).is_some_and(|word| texts.contains(&word.text.as_str()))
}
