//! What a language model may say: nothing beyond the facts it was given.
//!
//! The check looks at the text alone, so it holds whatever made the model write it. It is strict: a sentence that is
//! true but cannot be told from a false one is refused, and the text of the rules is shown instead.

mod causes;
mod dates;
mod lexer;
mod numbers;
#[cfg(test)]
mod tests;
mod units;
mod words;

use std::fmt;

use rust_decimal::Decimal;
use time::Date;

use super::Draft;
use crate::money::Currency;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Money(Currency),
    Percent,
    /// A count or a ratio.
    Plain,
    Days,
}

/// A figure that the service computed, as it may be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    Number {
        value: Decimal,
        unit: Unit,
        /// Decimals that it is printed with.
        decimals: u32,
    },
    Day(Date),
}

impl Fact {
    pub fn money(value: Decimal, currency: Currency) -> Self {
        Self::Number { value, unit: Unit::Money(currency), decimals: currency.exponent() }
    }
    /// `value` in percent.
    pub const fn percent(value: Decimal, decimals: u32) -> Self {
        Self::Number { value, unit: Unit::Percent, decimals }
    }
    pub fn count(value: impl Into<Decimal>) -> Self {
        Self::Number { value: value.into(), unit: Unit::Plain, decimals: 0 }
    }
    pub const fn ratio(value: Decimal) -> Self {
        Self::Number { value, unit: Unit::Plain, decimals: 2 }
    }
    pub fn days(value: impl Into<Decimal>) -> Self {
        Self::Number { value: value.into(), unit: Unit::Days, decimals: 0 }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => write!(f, "{day}"),
            Self::Number { value, unit, decimals } => {
                let mut shown = crate::money::round(*value, *decimals);
                shown.rescale(*decimals);
                if shown.is_zero() {
                    shown.set_sign_positive(true);
                }
                match unit {
                    Unit::Money(currency) => write!(f, "{shown} {currency}"),
                    Unit::Percent => write!(f, "{shown} %"),
                    Unit::Days => write!(f, "{shown} {}", if shown == Decimal::ONE { "day" } else { "days" }),
                    Unit::Plain => write!(f, "{shown}"),
                }
            }
        }
    }
}

/// Characters of a name that a text shows; longer ones are cut.
const MAX_NAME_CHARS: usize = 60;

/// A name from outside (a product, a shop, a campaign) as texts show it: bounded, on one line, in quotes. In quotes it
/// is told from what the service says, whatever it reads.
pub fn quoted(name: &str) -> String {
    let plain = |c: char| if c.is_control() || is_quote(c) { ' ' } else { c };
    let cut: String = name.chars().map(plain).take(MAX_NAME_CHARS).collect();
    format!("\"{}\"", cut.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '`')
}

/// What a text about one situation may rest on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grounds {
    pub facts: Vec<Fact>,
    /// Names that may be mentioned, as [`quoted`] writes them.
    pub names: Vec<String>,
    /// Why, word for word; `None` when it is not known, and then no text may say why.
    pub cause: Option<String>,
}

/// The four texts of an insight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    pub title: String,
    pub body: String,
    pub suggested_action: String,
    pub impact_estimate: String,
}

impl Wording {
    /// Each text with its name and the most characters that it may have.
    fn fields(&self) -> [(&'static str, &str, usize); 4] {
        [
            ("title", &self.title, 120),
            ("body", &self.body, 700),
            ("suggested_action", &self.suggested_action, 300),
            ("impact_estimate", &self.impact_estimate, 200),
        ]
    }
}

impl From<&Draft> for Wording {
    fn from(draft: &Draft) -> Self {
        Self {
            title: draft.title.clone(),
            body: draft.body.clone(),
            suggested_action: draft.suggested_action.clone(),
            impact_estimate: draft.impact_estimate.clone(),
        }
    }
}

/// Why a text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than {0} characters")]
    TooLong(usize),
    /// Control characters, other alphabets and their digits, symbols that texts have no use for.
    #[error("it holds the character U+{:04X}", u32::from(*.0))]
    Character(char),
    #[error("it holds a link, an address or markup")]
    Markup,
    #[error("it quotes what is no name of the facts")]
    Quote,
    /// A number, a word for one, or a date that is none of the facts.
    #[error("`{0}` is none of the facts")]
    Number(String),
    #[error("`{0}` tells a cause that is not known")]
    Causal(&'static str),
}

/// Checks every text of a wording. The error names the text at fault.
///
/// # Errors
/// The first [`Refusal`].
pub fn check(wording: &Wording, grounds: &Grounds) -> Result<(), (&'static str, Refusal)> {
    wording
        .fields()
        .into_iter()
        .try_for_each(|(field, text, most)| check_text(text, most, grounds).map_err(|refusal| (field, refusal)))
}

/// Stands in a text where a name or the cause stood.
const MASK: char = '\u{fffc}';

fn check_text(text: &str, most: usize, grounds: &Grounds) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if text.chars().count() > most {
        return Err(Refusal::TooLong(most));
    }
    if text.contains(MASK) {
        return Err(Refusal::Character(MASK));
    }
    let names_the_cause = grounds.cause.as_ref().is_some_and(|cause| contains_phrase(text, cause));
    let masked = mask(text, grounds);
    check_characters(&masked)?;
    let tokens = lexer::tokens(&masked)?;
    numbers::check(&tokens, &grounds.facts)?;
    if names_the_cause { Ok(()) } else { causes::check(&tokens) }
}

/// Whether the text says the phrase, its first letter in capitals or not.
fn contains_phrase(text: &str, phrase: &str) -> bool {
    !phrase.trim().is_empty() && (text.contains(phrase) || text.contains(&capitalised(phrase)))
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The text without the names and the cause, which were put together by the service. Long names go first: one may be
/// part of another.
fn mask(text: &str, grounds: &Grounds) -> String {
    let mut masked = text.replace(['“', '”'], "\"");
    if let Some(cause) = grounds.cause.as_ref().filter(|cause| !cause.trim().is_empty()) {
        let placeholder = format!(" {MASK} ");
        masked = masked.replace(cause.as_str(), &placeholder).replace(&capitalised(cause), &placeholder);
    }
    let mut names: Vec<&String> = grounds.names.iter().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        masked = masked.replace(name.as_str(), &format!(" {MASK} "));
    }
    masked
}

/// Plain English on one line: what is left after names are taken out needs no more than this.
fn check_characters(text: &str) -> Result<(), Refusal> {
    for c in text.chars() {
        let allowed = c.is_ascii_alphanumeric()
            || matches!(c, ' ' | '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '%' | '+' | '-' | '\'' | '/' | '&')
            || matches!(c, '\u{a0}' | '\u{2009}' | '\u{202f}' | '−' | '–' | '—' | '’' | '‘' | '…' | MASK)
            || lexer::is_currency_symbol(c);
        match c {
            _ if allowed => {}
            '"' | '„' | '«' | '»' => return Err(Refusal::Quote),
            '<' | '>' | '`' | '*' | '_' | '#' | '[' | ']' | '{' | '}' | '|' | '\\' | '@' | '~' | '=' => {
                return Err(Refusal::Markup);
            }
            other => return Err(Refusal::Character(other)),
        }
    }
    let lower = text.to_ascii_lowercase();
    let letters_around =
        |pair: &[char; 3]| pair[1] == '.' && pair[0].is_alphanumeric() && pair[2].is_ascii_alphabetic();
    let chars: Vec<char> = lower.chars().collect();
    let is_link = lower.contains("://") || lower.contains("http") || lower.contains("www.") || lower.contains("//");
    if is_link || chars.array_windows::<3>().any(letters_around) {
        return Err(Refusal::Markup);
    }
    Ok(())
}
