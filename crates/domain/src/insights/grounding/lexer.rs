//! Cuts a masked text into words, numbers and signs.

use rust_decimal::Decimal;
use time::{Date, Month};

use super::{CAUSE_MASK, NAME_MASK, NumberFormat, Refusal, Writing, letters};
use crate::language::Language;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    Number(Number),
    /// `2026-03-01`.
    Day(Date),
    /// `01/03` or `01/03/2026`, the day first.
    DayOfMonth {
        day: u8,
        month: Month,
        year: Option<i32>,
    },
    /// Where a name stood.
    Name,
    /// Where the cause stood.
    Cause,
    /// The sign of a currency with the letters that belong to it: `$`, `R$`, `U$S`.
    Currency(String),
    /// Before a number or a currency, and no hyphen.
    Minus,
    Sign(char),
}

/// Letters in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// In small letters without accents.
    pub text: String,
    /// In small letters.
    pub accented: String,
    /// As it stands in the text.
    pub spelled: String,
}

/// Digits in a row with their separators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number {
    pub value: Decimal,
    /// Decimals that it is written with.
    pub decimals: u32,
    /// Whether it is digits and nothing else.
    pub bare: bool,
    /// Letters that follow at once.
    pub suffix: String,
    pub spelled: String,
}

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

pub(super) fn tokens(text: &str, writing: Writing) -> Result<Vec<Token>, Refusal> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { chars: &chars, at: 0, writing };
    let mut tokens = Vec::new();
    while let Some(c) = lexer.peek(0) {
        let token = if c.is_ascii_digit() {
            lexer.number()?
        } else if let Some(currency) = lexer.currency() {
            currency
        } else if is_letter(c) {
            Token::Word(lexer.word())
        } else {
            let minus = is_minus(c) && lexer.is_negative();
            lexer.at += 1;
            match c {
                NAME_MASK => Token::Name,
                CAUSE_MASK => Token::Cause,
                c if c.is_whitespace() => continue,
                _ if minus => Token::Minus,
                c => Token::Sign(c),
            }
        };
        tokens.push(token);
    }
    Ok(tokens)
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !letters::is_ordinal_mark(c)
}

struct Lexer<'a> {
    chars: &'a [char],
    at: usize,
    writing: Writing,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn before(&self) -> Option<char> {
        self.at.checked_sub(1).and_then(|at| self.chars.get(at)).copied()
    }

    fn take(&mut self, count: usize) -> String {
        let taken = self.chars.get(self.at..self.at + count).unwrap_or_default().iter().collect();
        self.at += count;
        taken
    }

    fn count(&self, ahead: usize, is: impl Fn(char) -> bool) -> usize {
        (0..).take_while(|n| self.peek(ahead + n).is_some_and(&is)).count()
    }

    fn word(&mut self) -> Word {
        let spelled = self.take(self.count(0, |c| is_letter(c) || matches!(c, '\'' | '’')));
        Word { text: letters::folded(&spelled), accented: spelled.to_lowercase(), spelled }
    }

    /// How many characters the sign of a currency takes that begins `ahead`, with up to three letters before it and, in
    /// `U$S`, one after it. Zero if there is none.
    fn currency_length(&self, ahead: usize) -> usize {
        let letters = self.count(ahead, |c| c.is_ascii_alphabetic());
        if letters > 3 || !self.peek(ahead + letters).is_some_and(is_currency_symbol) {
            return 0;
        }
        let after = ahead + letters + 1;
        let has_tail = letters == 1 && self.count(after, is_letter) == 1;
        letters + 1 + usize::from(has_tail)
    }

    fn currency(&mut self) -> Option<Token> {
        let length = self.currency_length(0);
        (length > 0).then(|| Token::Currency(self.take(length)))
    }

    /// Whether the minus here stands before a number or a currency, with nothing to its left that would make it a hyphen or
    /// a range.
    fn is_negative(&self) -> bool {
        let goes_on = self.peek(1).is_some_and(|next| next.is_ascii_digit()) || self.currency_length(1) > 0;
        goes_on && !self.before().is_some_and(char::is_alphanumeric)
    }

    fn digits(&self, ahead: usize) -> usize {
        self.count(ahead, |c| c.is_ascii_digit())
    }

    fn parsed<T: std::str::FromStr>(&self, ahead: usize, length: usize) -> Option<T> {
        let from = self.at + ahead;
        self.chars.get(from..from + length)?.iter().collect::<String>().parse().ok()
    }

    fn iso_day(&mut self) -> Option<Token> {
        let shaped = self.digits(0) == 4
            && self.digits(5) == 2
            && self.digits(8) == 2
            && [self.peek(4), self.peek(7)] == [Some('-'), Some('-')]
            && !self.peek(10).is_some_and(|c| c.is_alphanumeric() || c == '-');
        if !shaped {
            return None;
        }
        let month = Month::try_from(self.parsed::<u8>(5, 2)?).ok()?;
        let date = Date::from_calendar_date(self.parsed(0, 4)?, month, self.parsed(8, 2)?).ok()?;
        self.at += 10;
        Some(Token::Day(date))
    }

    /// `1/3`, `01/03/2026`: in Spanish and Portuguese the day is first. English readers differ on that.
    fn slashed_day(&mut self) -> Option<Token> {
        let day_length = self.digits(0);
        let month_length = self.digits(day_length + 1);
        let is_day = (1..=2).contains(&day_length) && (1..=2).contains(&month_length);
        if self.writing.language == Language::English || !is_day || self.peek(day_length) != Some('/') {
            return None;
        }
        let (day, month) = (self.parsed(0, day_length)?, self.parsed::<u8>(day_length + 1, month_length)?);
        let mut length = day_length + 1 + month_length;
        let year_length = if self.peek(length) == Some('/') { self.digits(length + 1) } else { 0 };
        let year = if year_length == 4 { self.parsed(length + 1, 4) } else { None };
        if year.is_some() {
            length += 5;
        }
        let goes_on = self.peek(length).is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '-' | '%'));
        if goes_on {
            return None;
        }
        self.at += length;
        Some(Token::DayOfMonth { day, month: Month::try_from(month).ok()?, year })
    }

    fn number(&mut self) -> Result<Token, Refusal> {
        let start = self.at;
        // A letter, a digit group's point or the like just before: part of something that is no number.
        let glued =
            self.before().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | ',' | '/' | ':' | '\'' | '’'));
        if !glued && let Some(day) = self.iso_day().or_else(|| self.slashed_day()) {
            return Ok(day);
        }
        let mut written = String::new();
        while let Some(c) = self.peek(0) {
            let next_is_digit = self.peek(1).is_some_and(|next| next.is_ascii_digit());
            if c.is_ascii_digit() || (matches!(c, '.' | ',') && next_is_digit) {
                written.push(c);
            } else if (is_thin_space(c) && next_is_digit) || (c == ' ' && self.digits(1) == 3) {
                written.push(' ');
            } else {
                break;
            }
            self.at += 1;
        }
        if self.peek(0) == Some('.') && self.peek(1).is_some_and(letters::is_ordinal_mark) {
            self.at += 1;
        }
        let suffix = self.take(self.count(0, |c| is_letter(c) || letters::is_ordinal_mark(c)));
        let spelled: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let unknown = || Refusal::Number(spelled.clone());
        // 12:30, 24/7, 3/1/2026.
        let goes_on = self.peek(0).is_some_and(|c| matches!(c, ':' | '/' | '\'' | '’'))
            && self.peek(1).is_some_and(|c| c.is_ascii_digit());
        if glued || goes_on {
            return Err(unknown());
        }
        let (value, decimals) = read(&written, self.writing.numbers).ok_or_else(unknown)?;
        let bare = written.bytes().all(|b| b.is_ascii_digit());
        Ok(Token::Number(Number { value, decimals, bare, suffix, spelled }))
    }
}

/// Reads digits as the region writes them, and in no other way: `1,234` is a thousand in one and one and a bit in another.
/// Gives the value and how many decimals it has.
fn read(written: &str, format: NumberFormat) -> Option<(Decimal, u32)> {
    let (point, separator) = match format {
        NumberFormat::Point => ('.', ','),
        NumberFormat::Comma => (',', '.'),
    };
    let (whole, fraction) = match written.split_once(point) {
        Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
        Some(_) => return None,
        None => (written, ""),
    };
    let is_grouped = |by: char| {
        let mut groups = whole.split(by);
        let digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
        groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && digits(first))
            && groups.all(|group| group.len() == 3 && digits(group))
    };
    let is_whole = whole.bytes().all(|b| b.is_ascii_digit()) || is_grouped(separator) || is_grouped(' ');
    let digits: String = whole.chars().filter(char::is_ascii_digit).chain(fraction.chars()).collect();
    if !is_whole || digits.len() > 24 || fraction.bytes().any(|b| !b.is_ascii_digit()) {
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
