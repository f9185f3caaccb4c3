//! What a number of a text counts: the unit that stands before or after it.

use super::{
    Fact, Unit,
    lexer::{Token, Word, is_word, word},
    lexicon::Lexicon,
    numbers::Known,
};
use crate::money::Currency;

/// Codes that stand for a currency next to a number.
const CODES: [&str; 44] = [
    "USD", "EUR", "GBP", "BRL", "ARS", "MXN", "CLP", "COP", "PEN", "UYU", "PYG", "BOB", "VES", "CRC", "GTQ", "DOP",
    "CAD", "AUD", "NZD", "CHF", "JPY", "CNY", "INR", "KRW", "TRY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON",
    "ZAR", "NGN", "KES", "EGP", "ILS", "AED", "SAR", "SGD", "HKD", "THB", "IDR", "KWD",
];

/// Signs of currencies and the codes that they may mean.
#[rustfmt::skip]
const SIGNS: [(&str, &[&str]); 31] = [
    ("$", &["USD", "CAD", "AUD", "NZD", "SGD", "HKD", "ARS", "MXN", "CLP", "COP", "UYU", "DOP"]), ("US$", &["USD"]),
    ("U$S", &["USD"]), ("u$s", &["USD"]), ("R$", &["BRL"]), ("A$", &["AUD"]), ("AU$", &["AUD"]), ("C$", &["CAD"]),
    ("CA$", &["CAD"]), ("MX$", &["MXN"]), ("Mex$", &["MXN"]), ("AR$", &["ARS"]), ("CL$", &["CLP"]), ("COL$", &["COP"]),
    ("UY$", &["UYU"]), ("RD$", &["DOP"]), ("NZ$", &["NZD"]), ("S$", &["SGD"]), ("HK$", &["HKD"]), ("€", &["EUR"]),
    ("£", &["GBP"]), ("¥", &["JPY", "CNY"]), ("₹", &["INR"]), ("₩", &["KRW"]), ("₺", &["TRY"]), ("₫", &["VND"]),
    ("₱", &["PHP"]), ("₴", &["UAH"]), ("₡", &["CRC"]), ("₲", &["PYG"]), ("₦", &["NGN"]),
];

/// Words for a country after a word for money, by how they begin, and the currencies of which they are said.
const COUNTRIES: [(&str, &[&str]); 14] = [
    ("argentin", &["ARS"]),
    ("mexican", &["MXN"]),
    ("chilen", &["CLP"]),
    ("colombian", &["COP"]),
    ("uruguay", &["UYU"]),
    ("uruguai", &["UYU"]),
    ("dominican", &["DOP"]),
    ("estadounidens", &["USD"]),
    ("estadunidens", &["USD"]),
    ("norteamerican", &["USD"]),
    ("american", &["USD"]),
    ("canad", &["CAD"]),
    ("australian", &["AUD"]),
    ("brasile", &["BRL"]),
];

/// The unit of the number between `at` and `next`, and how many tokens after it belong to it. `None` when it is one that
/// no fact has, or two at once.
pub(super) fn unit(tokens: &[Token], at: usize, next: usize, known: Known<'_>) -> Option<(Unit, usize)> {
    let currency = currency_of(known.facts);
    let before = money_before(tokens, at, currency)?;
    let (after, taken) = unit_after(tokens, next, currency, known.lexicon)?;
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
    if back.is_some_and(|back| matches!(tokens.get(back), Some(Token::Minus | Token::Sign('+')))) {
        back = back.and_then(|back| back.checked_sub(1));
    }
    let is_money = match back.and_then(|back| tokens.get(back)) {
        Some(Token::Currency(sign)) => sign_means(sign, currency),
        Some(Token::Word(word)) if is_any_code(word, currency) => is_code(word, currency),
        _ => return Some(None),
    };
    is_money.then_some(currency.map(Unit::Money))
}

fn is_any_code(word: &Word, currency: Option<Currency>) -> bool {
    CODES.contains(&word.spelled.as_str()) || is_code(word, currency)
}

fn is_code(word: &Word, currency: Option<Currency>) -> bool {
    currency.is_some_and(|currency| currency.as_str() == word.spelled)
}

fn is_one_of(currency: Option<Currency>, codes: &[&str]) -> bool {
    currency.is_some_and(|currency| codes.contains(&currency.as_str()))
}

fn sign_means(sign: &str, currency: Option<Currency>) -> bool {
    SIGNS.iter().any(|(known, codes)| *known == sign && is_one_of(currency, codes))
}

/// Outer `None`: a unit that no fact has.
fn unit_after(
    tokens: &[Token],
    next: usize,
    currency: Option<Currency>,
    lexicon: &Lexicon,
) -> Option<(Option<Unit>, usize)> {
    let phrase = |phrases: &[&str]| {
        phrases.iter().find(|phrase| is_phrase(tokens, next, phrase)).map(|phrase| phrase.split(' ').count())
    };
    let money = |taken: usize| (currency.map(Unit::Money), taken);
    match tokens.get(next) {
        Some(Token::Sign('%')) => Some((Some(Unit::Percent), 1)),
        Some(Token::Currency(sign)) => sign_means(sign, currency).then(|| money(1)),
        // `30-day`, not `10-20`.
        Some(Token::Sign('-')) if is_word(tokens, next + 1, lexicon.days) => Some((Some(Unit::Days), 2)),
        Some(Token::Sign('-')) if word(tokens, next + 1).is_some() => None,
        Some(Token::Word(word)) => {
            if let Some(taken) = phrase(lexicon.percent) {
                return Some((Some(Unit::Percent), taken));
            }
            if let Some(taken) = phrase(lexicon.points) {
                return Some((Some(Unit::Points), taken));
            }
            if lexicon.days.contains(&word.text.as_str()) {
                return Some((Some(Unit::Days), 1));
            }
            if let Some(taken) = phrase(lexicon.times) {
                return Some((Some(Unit::Times), taken));
            }
            if phrase(lexicon.other_units).is_some() {
                return None;
            }
            if let Some((_, codes)) = lexicon.money.iter().find(|(name, _)| *name == word.text) {
                let of_country = country_after(tokens, next + 1);
                let is_right = is_one_of(currency, codes) && of_country.is_none_or(|codes| is_one_of(currency, codes));
                return is_right.then(|| money(1 + usize::from(of_country.is_some())));
            }
            if is_any_code(word, currency) {
                return is_code(word, currency).then(|| money(1));
            }
            Some((None, 0))
        }
        _ => Some((None, 0)),
    }
}

/// `argentinos` in "pesos argentinos".
fn country_after(tokens: &[Token], at: usize) -> Option<&'static [&'static str]> {
    let word = word(tokens, at)?;
    COUNTRIES.iter().find(|(start, _)| word.text.starts_with(start)).map(|(_, codes)| *codes)
}

/// Whether the words of the phrase stand at a place.
pub(super) fn is_phrase(tokens: &[Token], at: usize, phrase: &str) -> bool {
    phrase.split(' ').enumerate().all(|(ahead, text)| is_word(tokens, at + ahead, &[text]))
}
