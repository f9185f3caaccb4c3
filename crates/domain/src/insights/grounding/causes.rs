//! Wording that says or hints why something happened.

use super::{
    Refusal,
    dates::is_calendar,
    lexicon::{Lexicon, Preposition},
    phrases::{FIGURE, Sentence},
};

/// What may stand between a preposition and a figure.
const BETWEEN: [&str; 14] = ["el", "la", "los", "las", "del", "o", "a", "os", "as", "dia", "de", "do", "da", "cerca"];

/// A cause may be told in a sentence that names the known one, once. Advice may speak of what the data says nothing about.
///
/// # Errors
/// The first causal wording that is told of anything else.
pub(super) fn check(
    sentences: &[Sentence],
    lexicon: &Lexicon,
    others: [&Lexicon; 2],
    is_advice: bool,
) -> Result<(), Refusal> {
    for sentence in sentences {
        let mut sentence = sentence.clone();
        for phrase in lexicon.unknown_cause {
            sentence.take_out(phrase);
        }
        let mut told: Vec<&'static str> =
            lexicon.prepositions.iter().flat_map(|it| causal_uses(&sentence, it, lexicon)).collect();
        for phrase in [lexicon, others[0], others[1]].into_iter().flat_map(|lexicon| lexicon.causal) {
            told.extend(std::iter::repeat_n(*phrase, sentence.take_out(phrase)));
        }
        let allowed = usize::from(sentence.has_cause);
        if let Some(phrase) = told.get(allowed) {
            return Err(Refusal::Causal(phrase));
        }
        let outside: &[&str] = if is_advice { &[] } else { lexicon.outside };
        if let Some(phrase) = outside.iter().find(|phrase| sentence.says(phrase)) {
            return Err(Refusal::Causal(phrase));
        }
    }
    Ok(())
}

/// The preposition, for each time that it tells a cause.
fn causal_uses(sentence: &Sentence, preposition: &Preposition, lexicon: &Lexicon) -> Vec<&'static str> {
    let words = sentence.words();
    let own: Vec<&str> = preposition.word.split(' ').collect();
    let ends = (0..words.len()).filter(|at| words.get(*at..*at + own.len()) == Some(&own)).map(|at| at + own.len());
    ends.filter(|at| words.get(*at..).is_some_and(|rest| tells_cause(rest, preposition, lexicon)))
        .map(|_| preposition.word)
        .collect()
}

fn tells_cause(rest: &[&str], preposition: &Preposition, lexicon: &Lexicon) -> bool {
    let Some(next) = rest.first() else { return false };
    let is_harmless = |phrase: &&str| phrase.split(' ').enumerate().all(|(at, word)| rest.get(at) == Some(&word));
    let is_figure =
        |word: &&&str| matches!(**word, FIGURE | "@") || is_calendar(word, lexicon) || lexicon.cardinal(word).is_some();
    let figure = rest.iter().find(|word| !BETWEEN.contains(*word)).filter(is_figure);
    let may_tell = preposition.causal.is_empty() || preposition.causal.contains(next);
    may_tell && !preposition.harmless.iter().any(is_harmless) && !(preposition.before_figures && figure.is_some())
}
