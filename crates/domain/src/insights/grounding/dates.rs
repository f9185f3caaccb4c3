//! Dates, months and weekdays of a text: each must be that of a date of the facts.

use rust_decimal::Decimal;
use time::{Date, Month};

use super::{
    Fact, Refusal, Unit, letters,
    lexer::{Number, Token, Word, is_word, sign, word},
    lexicon::Lexicon,
    numbers::Known,
    phrases::Sentence,
};

pub(super) fn known_day(day: Date, facts: &[Fact]) -> Result<(), Refusal> {
    let known = facts.contains(&Fact::Day(day));
    if known { Ok(()) } else { Err(Refusal::Number(day.to_string())) }
}

/// # Errors
/// When no fact is that day of that month, of whatever year if none is said.
pub(super) fn known_day_of_month(day: Decimal, month: Month, year: Option<i32>, facts: &[Fact]) -> Result<(), Refusal> {
    let is = |fact: &Fact| {
        matches!(fact, Fact::Day(known) if Decimal::from(known.day()) == day
            && known.month() == month && year.is_none_or(|year| year == known.year()))
    };
    if facts.iter().any(is) { Ok(()) } else { Err(Refusal::Number(format!("{day} {month}"))) }
}

fn numbered(names: &[(&str, u8)], word: &Word) -> Option<u8> {
    names.iter().find(|(name, _)| *name == word.text).map(|(_, number)| *number)
}

fn month(word: &Word, lexicon: &Lexicon) -> Option<Month> {
    let number = numbered(lexicon.months, word)?;
    // In English they have a capital, and "may" is a word of its own.
    let is_name = word.text != "may" || word.spelled.starts_with(|first: char| first.is_ascii_uppercase());
    if is_name { Month::try_from(number).ok() } else { None }
}

/// A month after the number of a day, in full or short.
fn month_of_day(word: &Word, lexicon: &Lexicon) -> Option<Month> {
    month(word, lexicon).or_else(|| Month::try_from(numbered(lexicon.short_months, word)?).ok())
}

/// `1 March 2026`, `1st March`, `1 de marzo del 2026`, and how many tokens that is. `None` when it is no date.
pub(super) fn spelled_day(tokens: &[Token], at: usize, known: Known<'_>) -> Result<Option<usize>, Refusal> {
    let Some(Token::Number(number)) = tokens.get(at) else { return Ok(None) };
    let of = usize::from(is_word(tokens, at + 1, &["de"]));
    let Some(month) = word(tokens, at + 1 + of).and_then(|word| month_of_day(word, known.lexicon)) else {
        return Ok(None);
    };
    let (year, taken) = year_after(tokens, at + 2 + of);
    known_date(number, month, year, known.facts)?;
    Ok(Some(2 + of + taken))
}

/// `, 2026`, `2026`, `de 2026` or `del 2026`, and how many tokens that is.
fn year_after(tokens: &[Token], at: usize) -> (Option<i32>, usize) {
    let between = usize::from(sign(tokens, at) == Some(',') || is_word(tokens, at, &["de", "del"]));
    match tokens.get(at + between) {
        Some(Token::Number(number)) if number.bare && number.suffix.is_empty() && number.spelled.len() == 4 => {
            (number.spelled.parse().ok(), between + 1)
        }
        _ => (None, 0),
    }
}

fn known_date(number: &Number, month: Month, year: Option<i32>, facts: &[Fact]) -> Result<(), Refusal> {
    let is_ordinal = matches!(number.suffix.as_str(), "" | "st" | "nd" | "rd" | "th")
        || (number.suffix.chars().all(letters::is_ordinal_mark) && number.value == Decimal::ONE);
    if number.bare && is_ordinal {
        known_day_of_month(number.value, month, year, facts)
    } else {
        Err(Refusal::Number(format!("{} {month}", number.spelled)))
    }
}

/// `el día 20`, `no dia 20`: a day of some month of the facts.
pub(super) fn day_of_month(tokens: &[Token], at: usize, number: &Number, facts: &[Fact]) -> bool {
    let follows_day = at.checked_sub(1).is_some_and(|back| {
        is_word(tokens, back, &["dia"])
            && back
                .checked_sub(1)
                .is_some_and(|back| is_word(tokens, back, &["el", "del", "al", "o", "no", "do", "ao"]))
    });
    let is = |fact: &Fact| matches!(fact, Fact::Day(day) if Decimal::from(day.day()) == number.value);
    follows_day && number.bare && number.suffix.is_empty() && facts.iter().any(is)
}

/// `March`, `March 1, 2026`, `marzo de 2026`, `Sunday`, `segunda-feira`, and how many tokens that is. `None` when it is neither
/// a month nor a weekday.
pub(super) fn calendar_word(
    tokens: &[Token],
    at: usize,
    word: &Word,
    known: Known<'_>,
) -> Result<Option<usize>, Refusal> {
    let unknown = || Refusal::Number(word.spelled.clone());
    if let Some(month) = month(word, known.lexicon) {
        let (year, taken) = year_after(tokens, at + 1);
        if let Some(Token::Number(number)) = tokens.get(at + 1)
            && number.spelled.len() < 4
            && known.lexicon.joiner == "and"
        {
            let (year, taken) = year_after(tokens, at + 2);
            known_date(number, month, year, known.facts)?;
            return Ok(Some(2 + taken));
        }
        let is = |fact: &Fact| matches!(fact, Fact::Day(day) if day.month() == month && year.is_none_or(|year| year == day.year()));
        // As a word, "May" begins sentences too.
        let is_word = month == Month::May && word.text == "may" && year.is_none();
        return if is_word || known.facts.iter().any(is) { Ok(Some(1 + taken)) } else { Err(unknown()) };
    }
    if let Some(weekday) = numbered(known.lexicon.weekdays, word) {
        let is = |fact: &Fact| matches!(fact, Fact::Day(day) if day.weekday().number_days_from_monday() == weekday);
        return if known.facts.iter().any(is) { Ok(Some(1)) } else { Err(unknown()) };
    }
    Ok(None)
}

/// Whether the word names a month or a weekday.
pub(super) fn is_calendar(word: &str, lexicon: &Lexicon) -> bool {
    lexicon.months.iter().chain(lexicon.weekdays).any(|(name, _)| *name == word)
}

/// Days told from the day of reading. What is read is not read on the day that it was written.
///
/// # Errors
/// "yesterday"; "last week", unless seven days are a fact; "today", unless it is advice.
pub(super) fn check_relative(
    sentences: &[Sentence],
    lexicon: &Lexicon,
    facts: &[Fact],
    is_advice: bool,
) -> Result<(), Refusal> {
    let is_a_week =
        |fact: &Fact| matches!(fact, Fact::Number { value, unit: Unit::Days, .. } if *value == Decimal::from(7));
    let week: &[&str] = if facts.iter().any(is_a_week) { &[] } else { lexicon.week };
    let today: &[&str] = if is_advice { &[] } else { lexicon.today };
    let mut phrases = lexicon.relative.iter().chain(week).chain(today);
    match phrases.find(|phrase| sentences.iter().any(|sentence| sentence.says(phrase))) {
        Some(phrase) => Err(Refusal::Number((*phrase).to_owned())),
        None => Ok(()),
    }
}
