//! Every number of a text, and every word that stands for one, must be a fact in its own unit.

use rust_decimal::Decimal;
use time::{Date, Month};

use super::{
    Fact, Refusal, Unit,
    lexer::{Number, Token, Word, is_currency_symbol},
};
use crate::money::Currency;

/// The largest part by which a rounded figure may differ from the fact: 3.47 may be called 3.5, not 3.
const MAX_ROUNDING: Decimal = Decimal::from_parts(5, 0, 0, false, 2);

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

/// Words that are a whole number.
const CARDINALS: [(&str, i64); 29] = [
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fourty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

/// Words that say how many or how many times and are never a fact as they stand. The last lines are those of Spanish
/// and Portuguese that mean nothing else in English.
const QUANTITIES: [&str; 92] = [
    "hundred",
    "hundreds",
    "thousand",
    "thousands",
    "million",
    "millions",
    "billion",
    "billions",
    "trillion",
    "dozen",
    "dozens",
    "score",
    "half",
    "halve",
    "halved",
    "halves",
    "halving",
    "third",
    "thirds",
    "quarter",
    "quarters",
    "fourth",
    "fourths",
    "fifth",
    "fifths",
    "sixth",
    "sixths",
    "seventh",
    "eighth",
    "eighths",
    "ninth",
    "tenth",
    "tenths",
    "hundredth",
    "double",
    "doubled",
    "doubles",
    "doubling",
    "twice",
    "thrice",
    "triple",
    "tripled",
    "triples",
    "tripling",
    "treble",
    "trebled",
    "quadruple",
    "quadrupled",
    "quintuple",
    "quintupled",
    "twofold",
    "threefold",
    "fourfold",
    "fivefold",
    "tenfold",
    "hundredfold",
    "manifold",
    "century",
    "decade",
    "fortnight",
    "uno",
    "dos",
    "tres",
    "cuatro",
    "cinco",
    "siete",
    "ocho",
    "nueve",
    "diez",
    "doce",
    "trece",
    "quince",
    "veinte",
    "treinta",
    "cuarenta",
    "cincuenta",
    "cien",
    "ciento",
    "mil",
    "mitad",
    "doble",
    "dois",
    "quatro",
    "sete",
    "oito",
    "nove",
    "dez",
    "doze",
    "vinte",
    "metade",
    "dobro",
    "cem",
];

/// What follows a number and makes it a number of something that no fact counts.
const OTHER_UNITS: [&str; 30] = [
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
    "times",
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

/// # Errors
/// The first number that is none of the facts.
pub(super) fn check(tokens: &[Token], facts: &[Fact]) -> Result<(), Refusal> {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += match token {
            Token::Day(day) => {
                known_day(*day, facts)?;
                1
            }
            Token::Number(number) => check_number(tokens, at, number, facts)?,
            Token::Word(word) => check_word(tokens, at, word, facts)?,
            Token::Name | Token::Sign(_) => 1,
        };
    }
    Ok(())
}

fn known_day(day: Date, facts: &[Fact]) -> Result<(), Refusal> {
    let known = facts.contains(&Fact::Day(day));
    if known { Ok(()) } else { Err(Refusal::Number(day.to_string())) }
}

fn word(tokens: &[Token], at: usize) -> Option<&Word> {
    if let Some(Token::Word(word)) = tokens.get(at) { Some(word) } else { None }
}

fn sign(tokens: &[Token], at: usize) -> Option<char> {
    if let Some(Token::Sign(sign)) = tokens.get(at) { Some(*sign) } else { None }
}

/// Checks the number at `at` with what stands around it. Gives how many tokens it takes.
fn check_number(tokens: &[Token], at: usize, number: &Number, facts: &[Fact]) -> Result<usize, Refusal> {
    let unknown = || Refusal::Number(number.spelled.clone());
    if let Some(taken) = spelled_day(tokens, at, facts)? {
        return Ok(taken);
    }
    let (mut value, mut step, mut next) = (number.value, Decimal::new(1, number.decimals), at + 1);
    let factor = match number.suffix.as_str() {
        "" => word(tokens, next).and_then(|word| multiplier(&word.text)).inspect(|_| next += 1),
        suffix => Some(multiplier_suffix(suffix).ok_or_else(unknown)?),
    };
    if let Some(factor) = factor {
        value = value.checked_mul(factor).ok_or_else(unknown)?;
        step = step.checked_mul(factor).ok_or_else(unknown)?;
    }
    if number.negative {
        value = -value;
    }
    let (unit, taken) = unit(tokens, at, next, facts).ok_or_else(unknown)?;
    let is = |fact: &Fact| {
        matches!(fact, Fact::Number { value: known, unit: of, decimals }
        if *of == unit && says(value, step, *known, *decimals))
    };
    if facts.iter().any(is) { Ok(next + taken - at) } else { Err(unknown()) }
}

/// Whether a number printed in steps of `step` says the fact.
fn says(printed: Decimal, step: Decimal, fact: Decimal, decimals: u32) -> bool {
    let shown = crate::money::round(fact, decimals);
    if printed == shown {
        return true;
    }
    let near = |exact: Decimal| {
        let off = (printed - exact).abs();
        off + off <= step && off <= exact.abs() * MAX_ROUNDING
    };
    // Neither zero nor the other sign is a rounding of anything.
    !printed.is_zero() && printed.is_sign_negative() == fact.is_sign_negative() && (near(fact) || near(shown))
}

fn multiplier(word: &str) -> Option<Decimal> {
    match word {
        "thousand" => Some(Decimal::ONE_THOUSAND),
        "million" | "mn" => Some(Decimal::from(1_000_000)),
        "billion" | "bn" => Some(Decimal::from(1_000_000_000)),
        _ => None,
    }
}

fn multiplier_suffix(suffix: &str) -> Option<Decimal> {
    match suffix {
        "k" | "K" => Some(Decimal::ONE_THOUSAND),
        "m" | "M" => multiplier("mn"),
        "b" | "B" => multiplier("bn"),
        other => multiplier(other),
    }
}

/// The unit of the number between `at` and `next`, and how many tokens after it belong to it. `None` when it is one that
/// no fact has, or two at once.
fn unit(tokens: &[Token], at: usize, next: usize, facts: &[Fact]) -> Option<(Unit, usize)> {
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

fn is_word(tokens: &[Token], at: usize, texts: &[&str]) -> bool {
    word(tokens, at).is_some_and(|word| texts.contains(&word.text.as_str()))
}

fn month(word: &Word) -> Option<Month> {
    let number = MONTHS.iter().chain(&SHORT_MONTHS).position(|name| *name == word.text)? % 12;
    // "may" is a word of its own.
    let is_name = word.spelled.starts_with(|first: char| first.is_ascii_uppercase());
    if is_name { Month::try_from(u8::try_from(number + 1).ok()?).ok() } else { None }
}

/// `1 March 2026`, `1st March`. `None` when it is no date.
fn spelled_day(tokens: &[Token], at: usize, facts: &[Fact]) -> Result<Option<usize>, Refusal> {
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

fn check_word(tokens: &[Token], at: usize, word: &Word, facts: &[Fact]) -> Result<usize, Refusal> {
    let unknown = || Refusal::Number(word.spelled.clone());
    if let Some(month) = month(word) {
        if let Some(Token::Number(number)) = tokens.get(at + 1)
            && number.spelled.len() < 4
        {
            let (year, taken) = year_after(tokens, at + 2);
            known_date(number, month, year, facts)?;
            return Ok(2 + taken);
        }
        // As a word, "May" begins sentences too.
        let is_known = facts.iter().any(|fact| matches!(fact, Fact::Day(day) if day.month() == month));
        return if is_known || month == Month::May { Ok(1) } else { Err(unknown()) };
    }
    if let Some(weekday) = WEEKDAYS.iter().position(|name| *name == word.text || word.text == format!("{name}s")) {
        let is = |fact: &Fact| matches!(fact, Fact::Day(day) if usize::from(day.weekday().number_days_from_monday()) == weekday);
        return if facts.iter().any(is) { Ok(1) } else { Err(unknown()) };
    }
    if QUANTITIES.contains(&word.text.as_str()) || word.text.ends_with("fold") {
        return Err(unknown());
    }
    let Some((_, value)) = CARDINALS.iter().find(|(name, _)| *name == word.text) else { return Ok(1) };
    let number = Number {
        value: Decimal::from(*value),
        decimals: 0,
        negative: at.checked_sub(1).is_some_and(|back| is_minus_word(tokens, back)),
        bare: false,
        suffix: String::new(),
        spelled: word.spelled.clone(),
    };
    check_number(tokens, at, &number, facts)
}

/// "minus twelve", "negative twelve".
fn is_minus_word(tokens: &[Token], back: usize) -> bool {
    is_word(tokens, back, &["minus", "negative"])
}

/// Whether the word names a month or a weekday.
pub(super) fn is_calendar(word: &Word) -> bool {
    month(word).is_some() || WEEKDAYS.contains(&word.text.as_str())
}
