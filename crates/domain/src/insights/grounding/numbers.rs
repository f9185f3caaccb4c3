//! Every number of a text, and every word that stands for one, must be a fact in its own unit.

use rust_decimal::Decimal;

use super::{
    Fact, Refusal, Unit,
    dates::{calendar_word, day_of_month, known_day, known_day_of_month, spelled_day},
    directions::known_direction,
    lexer::{Number, Token, Word, is_word, word},
    lexicon::{Lexicon, MILLION, THOUSAND},
    phrases::Sentence,
    units::{is_phrase, unit},
};
use crate::anomalies::Direction;

/// The largest part by which a rounded figure may differ from the fact: 3.47 may be called 3.5, not 3.
const MAX_ROUNDING: Decimal = Decimal::from_parts(5, 0, 0, false, 2);

/// What numbers are checked by.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub facts: &'a [Fact],
    pub lexicon: &'static Lexicon,
    pub others: [&'static Lexicon; 2],
}

/// # Errors
/// The first number that is none of the facts.
pub(super) fn check(tokens: &[Token], known: Known<'_>) -> Result<(), Refusal> {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += match token {
            Token::Day(day) => {
                known_day(*day, known.facts)?;
                1
            }
            Token::DayOfMonth { day, month, year } => {
                known_day_of_month((*day).into(), *month, *year, known.facts)?;
                1
            }
            Token::Number(number) => check_number(tokens, at, number, known)?,
            Token::Word(word) => check_word(tokens, at, word, known)?,
            Token::Name | Token::Cause | Token::Currency(_) | Token::Minus | Token::Sign(_) => 1,
        };
    }
    Ok(())
}

/// Refuses parts of a whole that are told in words: "most of the orders". "Longer than most" only compares.
///
/// # Errors
/// The first of them.
pub(super) fn check_shares(sentences: &[Sentence], lexicon: &Lexicon) -> Result<(), Refusal> {
    let compares = |before: &Vec<&str>| {
        before.first().is_some_and(|word| lexicon.compares.contains(word))
            && (lexicon.compared.is_empty() || before.iter().any(|word| lexicon.compared.contains(word)))
    };
    let told = |sentence: &Sentence| lexicon.shares.iter().find(|share| !sentence.before(share).iter().all(compares));
    match sentences.iter().find_map(told) {
        Some(share) => Err(Refusal::Number((*share).to_owned())),
        None => Ok(()),
    }
}

/// Checks the digits at `at` with what stands around them. Gives how many tokens they take.
fn check_number(tokens: &[Token], at: usize, number: &Number, known: Known<'_>) -> Result<usize, Refusal> {
    let unknown = || Refusal::Number(number.spelled.clone());
    if let Some(taken) = spelled_day(tokens, at, known)? {
        return Ok(taken);
    }
    if day_of_month(tokens, at, number, known.facts) {
        return Ok(1);
    }
    let (mut value, mut step, mut next) = (number.value, Decimal::new(1, number.decimals), at + 1);
    let factor = match number.suffix.as_str() {
        // "12 m" is no million.
        "" => word(tokens, next)
            .filter(|word| word.text.len() > 1)
            .and_then(|word| known.lexicon.multiplier(&word.text))
            .inspect(|_| next += 1),
        suffix => Some(known.lexicon.multiplier(&suffix.to_lowercase()).ok_or_else(unknown)?),
    };
    if let Some(factor) = factor.map(Decimal::from) {
        value = value.checked_mul(factor).ok_or_else(unknown)?;
        step = step.checked_mul(factor).ok_or_else(unknown)?;
    }
    let is_large = factor.is_some_and(|factor| factor >= MILLION);
    check_value(tokens, at, Value { value, step, next, is_large }, known)?.ok_or_else(unknown)
}

/// A number that has been read, in digits or words.
struct Value {
    value: Decimal,
    /// The step that it is printed in.
    step: Decimal,
    /// The token after it.
    next: usize,
    /// Whether it ends in a word for a million, which Spanish and Portuguese join to what it counts by `de`.
    is_large: bool,
}

/// How many tokens a number takes with its unit, if it is a fact.
fn check_value(tokens: &[Token], at: usize, number: Value, known: Known<'_>) -> Result<Option<usize>, Refusal> {
    let Value { mut value, step, mut next, is_large } = number;
    let is_negative = is_negative(tokens, at, known.lexicon);
    if is_negative {
        value = -value;
    }
    if is_large && is_word(tokens, next, &["de"]) {
        next += 1;
    }
    let Some((unit, taken)) = unit(tokens, at, next, known) else { return Ok(None) };
    // "The return was 3.00" is as good as "3.00 times what they cost".
    let is_of = |of: Unit| of == unit || (of == Unit::Times && unit == Unit::Plain);
    let is_fact = |value: Decimal| {
        known.facts.iter().any(|fact| {
            matches!(fact, Fact::Number { value: fact, unit: of, decimals }
                if is_of(*of) && says(value, step, *fact, *decimals))
        })
    };
    let is_loss = matches!(unit, Unit::Money(_)) && !is_negative && follows_loss(tokens, at, known.lexicon);
    if !(is_fact(value) || (is_loss && is_fact(-value))) {
        return Ok(None);
    }
    next += taken;
    if matches!(unit, Unit::Percent | Unit::Points | Unit::Money(_)) {
        if is_word(tokens, next, known.lexicon.more) {
            known_direction(Direction::Up, "more", known.facts)?;
        } else if is_word(tokens, next, known.lexicon.less) {
            known_direction(Direction::Down, "less", known.facts)?;
        }
    }
    Ok(Some(next - at))
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

fn check_word(tokens: &[Token], at: usize, found: &Word, known: Known<'_>) -> Result<usize, Refusal> {
    let unknown = || Refusal::Number(found.spelled.clone());
    if let Some(taken) = calendar_word(tokens, at, found, known)? {
        return Ok(taken);
    }
    let text = found.text.as_str();
    if known.lexicon.no_quantities.iter().any(|phrase| is_in_phrase(tokens, at, text, phrase)) {
        return Ok(1);
    }
    if let Some((value, taken)) = number_in_words(tokens, at, known.lexicon) {
        let is_large = value >= Decimal::from(MILLION);
        let number = Value { value, step: Decimal::ONE, next: at + taken, is_large };
        return check_value(tokens, at, number, known)?.ok_or_else(unknown);
    }
    let is_foreign =
        !known.lexicon.homographs.contains(&text) && known.others.iter().any(|other| other.is_figure(text));
    if known.lexicon.is_quantity(text) || is_foreign || is_roman(&found.spelled) { Err(unknown()) } else { Ok(1) }
}

/// Whether a word is a number in Roman numerals: `XIV`, `xiv`. Two of its letters at least are I, V or X, and in small letters all
/// of three or more are: others are rather words (mix, vi) or stand for some (CLV, DM, XL).
fn is_roman(word: &str) -> bool {
    let capitals = word.to_ascii_uppercase();
    let low = capitals.bytes().filter(|letter| b"IVX".contains(letter)).count();
    let is_told = if word == capitals { low >= 2 } else { low >= 3 && low == capitals.len() };
    let mut rest = capitals.trim_start_matches('M');
    for [nine, four, five, one] in [["CM", "CD", "D", "C"], ["XC", "XL", "L", "X"], ["IX", "IV", "V", "I"]] {
        rest = match rest.strip_prefix(nine).or_else(|| rest.strip_prefix(four)) {
            Some(after) => after,
            None => rest.strip_prefix(five).unwrap_or(rest).trim_start_matches(one),
        };
    }
    is_told && rest.is_empty()
}

/// Whether the word at a place is part of the phrase there.
fn is_in_phrase(tokens: &[Token], at: usize, text: &str, phrase: &str) -> bool {
    let back = phrase.split(' ').position(|word| word == text);
    back.and_then(|back| at.checked_sub(back)).is_some_and(|from| is_phrase(tokens, from, phrase))
}

/// "minus twelve", "-12", "-R$ 12".
fn is_negative(tokens: &[Token], at: usize, lexicon: &Lexicon) -> bool {
    let Some(mut back) = at.checked_sub(1) else { return false };
    if matches!(tokens.get(back), Some(Token::Currency(_))) {
        let Some(before) = back.checked_sub(1) else { return false };
        back = before;
    }
    let is_at_least = || back.checked_sub(1).is_some_and(|back| is_word(tokens, back, &["al", "lo", "pelo", "ao"]));
    tokens.get(back) == Some(&Token::Minus) || (is_word(tokens, back, lexicon.minus) && !is_at_least())
}

/// Whether a word for a loss stands up to three words before: "lost about 500", "una pérdida de $ 500".
fn follows_loss(tokens: &[Token], at: usize, lexicon: &Lexicon) -> bool {
    let before = tokens.get(..at).unwrap_or_default().iter().rev();
    let words = before.filter(|token| !matches!(token, Token::Currency(_)));
    words.take(3).any(|token| matches!(token, Token::Word(word) if lexicon.losses.contains(&word.text.as_str())))
}

/// A number in words and how many tokens it is. `None` when no number begins here, or a lone article.
fn number_in_words(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<(Decimal, usize)> {
    if let Some(taken) = only_one(tokens, at, lexicon) {
        return Some((Decimal::ONE, taken));
    }
    let mut words = InWords { total: 0, group: None, room: 1_000 };
    let mut next = at;
    loop {
        let joined =
            next > at && (is_word(tokens, next, &[lexicon.joiner]) || tokens.get(next) == Some(&Token::Sign('-')));
        let Some(word) = word(tokens, next + usize::from(joined)) else { break };
        let is_article = lexicon.articles.contains(&word.text.as_str());
        let starts_compound = || {
            let after = next + usize::from(joined) + 1;
            super::lexer::word(tokens, after).is_some_and(|word| {
                word.text == "hundred" || lexicon.multiplier(&word.text).is_some_and(|_| word.text.len() > 1)
            })
        };
        let taken = match (lexicon.cardinal(&word.text), lexicon.multiplier(&word.text)) {
            (Some(100), _) if word.text == "hundred" => words.hundred(),
            (Some(value), _) => words.add(value.into()),
            (None, Some(factor)) if word.text.len() > 1 && !joined => words.multiply(factor, lexicon.has_bare_thousand),
            _ if is_article && (joined || starts_compound()) => words.add(1),
            _ => false,
        };
        if !taken {
            break;
        }
        next += usize::from(joined) + 1;
    }
    if next == at { None } else { Some((Decimal::from(words.total.checked_add(words.group.unwrap_or(0))?), next - at)) }
}

/// "solo un", "um só", "a single", and how many tokens that is; an article after them counts.
fn only_one(tokens: &[Token], at: usize, lexicon: &Lexicon) -> Option<usize> {
    let is_pair = (is_word(tokens, at, lexicon.only) && is_word(tokens, at + 1, lexicon.articles))
        || (is_word(tokens, at, lexicon.articles) && is_word(tokens, at + 1, lexicon.single));
    is_pair.then_some(2)
}

/// A number that is read word by word.
struct InWords {
    /// The thousands and millions that are complete.
    total: u64,
    /// What stands before the next multiplier.
    group: Option<u64>,
    /// What comes next must be below this.
    room: u64,
}

impl InWords {
    /// Takes a word for a number below a thousand, if it can follow.
    const fn add(&mut self, value: u64) -> bool {
        if value >= self.room {
            return false;
        }
        let group = match self.group {
            // Nothing follows zero, and zero follows nothing.
            Some(_) if value == 0 => return false,
            Some(group) => group,
            None => 0,
        };
        self.group = Some(group + value);
        self.room = match value {
            100..1_000 => 100,
            20 | 30 | 40 | 50 | 60 | 70 | 80 | 90 => 10,
            _ => 0,
        };
        true
    }

    /// "two hundred".
    const fn hundred(&mut self) -> bool {
        match self.group {
            Some(group @ 1..=9) => {
                self.group = Some(group * 100);
                self.room = 100;
                true
            }
            _ => false,
        }
    }

    fn multiply(&mut self, factor: u64, has_bare_thousand: bool) -> bool {
        let is_thousand = factor == THOUSAND;
        let below =
            if is_thousand { self.group } else { self.group.map(|group| self.total + group).or(positive(self.total)) };
        let fits = if is_thousand { self.total.is_multiple_of(MILLION) } else { self.total < MILLION };
        let count = match below {
            Some(count) if count > 0 => count,
            None if is_thousand && has_bare_thousand => 1,
            _ => return false,
        };
        let Some(product) = count.checked_mul(factor).filter(|_| fits) else { return false };
        self.total = if is_thousand { self.total + product } else { product };
        (self.group, self.room) = (None, 1_000);
        true
    }
}

fn positive(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}
