//! What a number of a text counts: the unit that stands before or after it.

use super::{
    Fact, Unit,
    lexer::{Token, Word, is_currency_symbol, is_word, sign, word},
};
use crate::money::Currency;

/// What follows a number and makes it a number of something that no fact counts.
const OTHER_UNITS: [&str; 29] = [
    "hour",
    "hours",
    "minute",
    "minutes",
    "second",
    "seconds",
    "week",
    "weeks",
    "month",
    "months",
    "year",
    "years",
    "point",
    "points",
    "percentage",
    "pp",
    "bps",
    "basis",
    "times",
    "fold",
    "kg",
    "km",
    "cent",
    "cents",
    "bucks",
    "permille",
    "pct",
    "grand",
    "lakh",
];

/// Codes that stand for a currency next to a number.
const CODES: [&str; 44] = [
    "USD", "EUR", "GBP", "BRL", "ARS", "MXN", "CLP", "COP", "PEN", "UYU", "PYG", "BOB", "VES", "CRC", "GTQ", "DOP",
    "CAD", "AUD", "NZD", "CHF", "JPY", "CNY", "INR", "KRW", "TRY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON",
    "ZAR", "NGN", "KES", "EGP", "ILS", "AED", "SAR", "SGD", "HKD", "THB", "IDR", "KWD",
];

/// Words for the money of several countries.
const MONEY_WORDS: [(&str, &[&str]); 15] = [
    ("euro", &["EUR"]),
    ("euros", &["EUR"]),
    ("dollar", DOLLARS),
    ("dollars", DOLLARS),
    ("pound", &["GBP"]),
    ("pounds", &["GBP"]),
    ("yen", &["JPY"]),
    ("peso", PESOS),
    ("pesos", PESOS),
    ("real", &["BRL"]),
    ("reais", &["BRL"]),
    ("franc", &["CHF"]),
    ("francs", &["CHF"]),
    ("rupees", &["INR"]),
    ("won", &["KRW"]),
];
const DOLLARS: &[&str] = &["USD", "CAD", "AUD", "NZD", "SGD", "HKD"];
const PESOS: &[&str] = &["ARS", "MXN", "CLP", "COP", "UYU", "DOP"];

/// The unit of the number between `at` and `next`, and how many tokens after it belong to it. `None` when it is one that
/// no fact has, or two at once.
pub(super) fn unit(tokens: &[Token], at: usize, next: usize, facts: &[Fact]) -> Option<(Unit, usize)> {
    let currency = currency_of(facts);
    let before = money_before(tokens, at, currency)?;
    let (after, taken) = unit_after(tokens, next, currency)?;
    match (before, after) {
        (None, None) => Some((Unit::Plain, 0)),
        (Some(money), None) => Some((money, 0)),
        (None, Some(unit)) => Some((unit, taken)),
        (Some(before), Some(after)) => (before == after).then_some((before, taken)),
    }
}

fn currency_of(facts: &[Fact]) -> Option<Currency> {
    facts.iter().find_map(|fact| match fact {
        Fact::Number { unit: Unit::Money(currency), .. } => Some(*currency),
        _ => None,
    })
}

/// Outer `None`: money of another currency.
#[expect(clippy::option_option, reason = "no money, the account's, another's")]
fn money_before(tokens: &[Token], at: usize, currency: Option<Currency>) -> Option<Option<Unit>> {
    let mut back = at.checked_sub(1);
    if back.and_then(|back| sign(tokens, back)).is_some_and(|c| matches!(c, '-' | '−' | '–' | '+')) {
        back = back.and_then(|back| back.checked_sub(1));
    }
    let Some(back) = back else { return Some(None) };
    if let Some(symbol) = sign(tokens, back).filter(|c| is_currency_symbol(*c)) {
        let prefix = back.checked_sub(1).and_then(|back| word(tokens, back)).map(|word| word.spelled.as_str());
        return symbol_means(prefix, symbol, currency?).then_some(Some(Unit::Money(currency?)));
    }
    match word(tokens, back) {
        Some(word) if CODES.contains(&word.spelled.as_str()) || is_code(word, currency) => {
            is_code(word, currency).then_some(currency.map(Unit::Money))
        }
        _ => Some(None),
    }
}

fn is_code(word: &Word, currency: Option<Currency>) -> bool {
    currency.is_some_and(|currency| currency.as_str() == word.spelled)
}

fn symbol_means(prefix: Option<&str>, symbol: char, currency: Currency) -> bool {
    let code = currency.as_str();
    match (prefix, symbol) {
        (Some("R"), '$') => code == "BRL",
        (Some("US"), '$') => code == "USD",
        (Some("A" | "AU"), '$') => code == "AUD",
        (Some("C" | "CA"), '$') => code == "CAD",
        (Some("MX"), '$') => code == "MXN",
        (_, '$') => DOLLARS.contains(&code) || PESOS.contains(&code),
        (_, '€') => code == "EUR",
        (_, '£') => code == "GBP",
        (_, '¥') => matches!(code, "JPY" | "CNY"),
        (_, '₹') => code == "INR",
        (_, '₩') => code == "KRW",
        (_, '₺') => code == "TRY",
        (_, '₫') => code == "VND",
        (_, '₱') => code == "PHP",
        (_, '₴') => code == "UAH",
        (_, '₪') => code == "ILS",
        (_, '₦') => code == "NGN",
        (_, '₡') => code == "CRC",
        (_, '₲') => code == "PYG",
        (_, '₽') => code == "RUB",
        _ => false,
    }
}

/// Outer `None`: a unit that no fact has.
fn unit_after(tokens: &[Token], next: usize, currency: Option<Currency>) -> Option<(Option<Unit>, usize)> {
    match tokens.get(next) {
        Some(Token::Sign('%')) => Some((Some(Unit::Percent), 1)),
        Some(Token::Sign(symbol)) if is_currency_symbol(*symbol) => {
            symbol_means(None, *symbol, currency?).then_some((Some(Unit::Money(currency?)), 1))
        }
        // `30-day`, not `10-20`.
        Some(Token::Sign('-')) if is_word(tokens, next + 1, &["day", "days"]) => Some((Some(Unit::Days), 2)),
        Some(Token::Sign('-')) if word(tokens, next + 1).is_some() => None,
        Some(Token::Word(word)) => match word.text.as_str() {
            "percent" => Some((Some(Unit::Percent), 1)),
            "per" if is_word(tokens, next + 1, &["cent"]) => Some((Some(Unit::Percent), 2)),
            "day" | "days" => Some((Some(Unit::Days), 1)),
            text if OTHER_UNITS.contains(&text) => None,
            text if MONEY_WORDS.iter().any(|(name, _)| *name == text) => {
                let codes = MONEY_WORDS.iter().find(|(name, _)| *name == text).map(|(_, codes)| *codes)?;
                codes.contains(&currency?.as_str()).then_some((Some(Unit::Money(currency?)), 1))
            }
            _ if is_code(word, currency) => Some((currency.map(Unit::Money), 1)),
            _ if CODES.contains(&word.spelled.as_str()) => None,
            _ => Some((None, 0)),
        },
        _ => Some((None, 0)),
    }
}
