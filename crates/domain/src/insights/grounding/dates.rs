//! Dates, months and weekdays of a text: each must be that of a date of the facts.

use rust_decimal::Decimal;
use time::{Date, Month};

use super::{
    Fact, Refusal,
    lexer::{Number, Token, Word, sign, word},
};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const SHORT_MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

pub(super) fn known_day(day: Date, facts: &[Fact]) -> Result<(), Refusal> {
    let known = facts.contains(&Fact::Day(day));
    if known { Ok(()) } else { Err(Refusal::Number(day.to_string())) }
}

fn month(word: &Word) -> Option<Month> {
    let number = MONTHS.iter().chain(&SHORT_MONTHS).position(|name| *name == word.text)? % 12;
    // "may" is a word of its own.
    let is_name = word.spelled.starts_with(|first: char| first.is_ascii_uppercase());
    if is_name { Month::try_from(u8::try_from(number + 1).ok()?).ok() } else { None }
}

/// `1 March 2026`, `1st March`, and how many tokens that is. `None` when it is no date.
pub(super) fn spelled_day(tokens: &[Token], at: usize, facts: &[Fact]) -> Result<Option<usize>, Refusal> {
    let Some(Token::Number(number)) = tokens.get(at) else { return Ok(None) };
    let Some(month) = word(tokens, at + 1).and_then(month) else { return Ok(None) };
    let (year, taken) = year_after(tokens, at + 2);
    known_date(number, month, year, facts)?;
    Ok(Some(2 + taken))
}

/// `, 2026` or `2026`, and how many tokens that is.
fn year_after(tokens: &[Token], at: usize) -> (Option<i32>, usize) {
    let comma = usize::from(sign(tokens, at) == Some(','));
    match tokens.get(at + comma) {
        Some(Token::Number(number)) if number.bare && number.suffix.is_empty() && number.spelled.len() == 4 => {
            (number.spelled.parse().ok(), comma + 1)
        }
        _ => (None, 0),
    }
}

fn known_date(number: &Number, month: Month, year: Option<i32>, facts: &[Fact]) -> Result<(), Refusal> {
    let is_day_of_month = number.bare && matches!(number.suffix.as_str(), "" | "st" | "nd" | "rd" | "th");
    let is = |fact: &Fact| {
        matches!(fact, Fact::Day(day) if Decimal::from(day.day()) == number.value
            && day.month() == month && year.is_none_or(|year| year == day.year()))
    };
    if is_day_of_month && facts.iter().any(is) {
        Ok(())
    } else {
        Err(Refusal::Number(format!("{} {month}", number.spelled)))
    }
}

/// `March`, `March 1, 2026`, `Sunday`, and how many tokens that is. `None` when it is neither a month nor a weekday.
pub(super) fn calendar_word(
    tokens: &[Token],
    at: usize,
    word: &Word,
    facts: &[Fact],
) -> Result<Option<usize>, Refusal> {
    let unknown = || Refusal::Number(word.spelled.clone());
    if let Some(month) = month(word) {
        if let Some(Token::Number(number)) = tokens.get(at + 1)
            && number.spelled.len() < 4
        {
            let (year, taken) = year_after(tokens, at + 2);
            known_date(number, month, year, facts)?;
            return Ok(Some(2 + taken));
        }
        // As a word, "May" begins sentences too.
        let is_known = facts.iter().any(|fact| matches!(fact, Fact::Day(day) if day.month() == month));
        return if is_known || month == Month::May { Ok(Some(1)) } else { Err(unknown()) };
    }
    if let Some(weekday) = WEEKDAYS.iter().position(|name| *name == word.text || word.text == format!("{name}s")) {
        let is = |fact: &Fact| matches!(fact, Fact::Day(day) if usize::from(day.weekday().number_days_from_monday()) == weekday);
        return if facts.iter().any(is) { Ok(Some(1)) } else { Err(unknown()) };
    }
    Ok(None)
}

/// Whether the word names a month or a weekday.
pub(super) fn is_calendar(word: &Word) -> bool {
    month(word).is_some() || WEEKDAYS.contains(&word.text.as_str())
}
