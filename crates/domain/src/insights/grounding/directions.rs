//! Which way something went, and what is denied.

use super::{
    Fact, Refusal,
    lexicon::Lexicon,
    phrases::{FIGURE, Sentence},
};
use crate::anomalies::Direction;

/// # Errors
/// The first word for a direction that is none of the facts, or that is denied: whether that is true cannot be told.
pub(super) fn check(sentences: &[Sentence], lexicon: &Lexicon, facts: &[Fact]) -> Result<(), Refusal> {
    let rises = lexicon.rises.iter().map(|phrase| (Direction::Up, *phrase));
    let falls = lexicon.falls.iter().map(|phrase| (Direction::Down, *phrase));
    for (direction, phrase) in rises.chain(falls) {
        for before in sentences.iter().flat_map(|sentence| sentence.before(phrase)) {
            known_direction(direction, phrase, facts)?;
            if is_negated(&before, lexicon) {
                return Err(Refusal::Direction(phrase));
            }
        }
    }
    let denied = |phrase: &&&'static str| {
        sentences.iter().flat_map(|sentence| sentence.before(phrase)).any(|before| is_negated(&before, lexicon))
    };
    let bare = lexicon.bare.iter().find(denied);
    bare.map_or(Ok(()), |phrase| Err(Refusal::Direction(phrase)))
}

/// Whether the words before a claim, the nearest first, deny it.
fn is_negated(before: &[&str], lexicon: &Lexicon) -> bool {
    let denying = before.iter().find(|word| !lexicon.auxiliaries.contains(*word));
    denying.is_some_and(|word| lexicon.negations.contains(word))
}

/// # Errors
/// When no fact went that way.
pub(super) fn known_direction(direction: Direction, phrase: &'static str, facts: &[Fact]) -> Result<(), Refusal> {
    if facts.contains(&Fact::Moved(direction)) { Ok(()) } else { Err(Refusal::Direction(phrase)) }
}

/// Words between a copula and its number.
const BETWEEN: [&str; 7] = ["de", "del", "un", "el", "about", "em", "en"];

/// "was not 12", "no fue de 12 %": a figure of the facts that is denied; and "sold nothing" where nothing is zero.
///
/// # Errors
/// The words that deny.
pub(super) fn check_denials(sentences: &[Sentence], lexicon: &Lexicon, facts: &[Fact]) -> Result<(), Refusal> {
    let is_zero = |fact: &Fact| matches!(fact, Fact::Number { value, .. } if value.is_zero());
    let none = lexicon.nothing.iter().find(|phrase| sentences.iter().any(|sentence| sentence.says(phrase)));
    if let Some(phrase) = none.filter(|_| !facts.iter().any(is_zero)) {
        return Err(Refusal::Number((*phrase).to_owned()));
    }
    for sentence in sentences {
        let words = sentence.words();
        let figures = words.iter().enumerate().filter(|(_, word)| **word == FIGURE).map(|(at, _)| at);
        for at in figures {
            let clause = words.get(..at).unwrap_or_default().iter().rev().take_while(|word| **word != ".");
            let before: Vec<&str> = clause.copied().skip_while(|word| BETWEEN.contains(word)).take(3).collect();
            let denied = lexicon.copulas.iter().find(|copula| is_denied(&before, copula, lexicon.negations));
            if let Some(copula) = denied {
                return Err(Refusal::Number((*copula).to_owned()));
            }
        }
    }
    Ok(())
}

/// Whether the words, the last first, end in a negation and the copula, or in the copula and a negation.
fn is_denied(backwards: &[&str], copula: &str, negations: &[&str]) -> bool {
    let copula: Vec<&str> = copula.split(' ').rev().collect();
    let is_copula = |from: usize| backwards.get(from..from + copula.len()) == Some(&copula);
    let is_negation = |at: usize| backwards.get(at).is_some_and(|word| negations.contains(word));
    (is_copula(0) && is_negation(copula.len())) || (is_negation(0) && is_copula(1))
}
