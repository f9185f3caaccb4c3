//! Every number of a text, and every word that stands for one, must be a fact in its own unit.

use rust_decimal::Decimal;

use super::{
    Fact, Refusal,
    dates::{calendar_word, known_day, spelled_day},
    lexer::{Number, Token, Word, is_word, word},
    units::unit,
    words::{CARDINALS, QUANTITIES},
};

/// The largest part by which a rounded figure may differ from the fact: 3.47 may be called 3.5, not 3.
const MAX_ROUNDING: Decimal = Decimal::from_parts(5, 0, 0, false, 2);

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

fn check_word(tokens: &[Token], at: usize, word: &Word, facts: &[Fact]) -> Result<usize, Refusal> {
    let unknown = || Refusal::Number(word.spelled.clone());
    if let Some(taken) = calendar_word(tokens, at, word, facts)? {
        return Ok(taken);
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
