//! Wording that says or hints why something happened.

use super::{Refusal, lexer::Token};

/// Said only where the cause is known, and then only together with it.
const CAUSAL: [&str; 66] = [
    "because",
    "cos",
    "due to",
    "owing to",
    "thanks to",
    "caused",
    "causes",
    "causing",
    "cause",
    "led to",
    "leads to",
    "leading to",
    "result of",
    "results from",
    "resulted",
    "resulting",
    "results in",
    "driven by",
    "drove",
    "drives",
    "driver",
    "drivers",
    "driving",
    "attributable",
    "attributed",
    "attribute",
    "stems from",
    "stemming",
    "stemmed",
    "explains",
    "explain",
    "explained",
    "explanation",
    "reason",
    "reasons",
    "owed to",
    "consequence",
    "consequently",
    "therefore",
    "thus",
    "hence",
    "triggered",
    "triggers",
    "triggering",
    "sparked",
    "fuelled",
    "fueled",
    "prompted",
    "blame",
    "culprit",
    "responsible",
    "contributed",
    "contributes",
    "contributing",
    "contributor",
    "linked to",
    "tied to",
    "points to",
    "suggests",
    "suggesting",
    "likely",
    "probably",
    "presumably",
    "perhaps",
    "apparently",
    "stemmed from",
];

/// Sentences that say that a cause is not known.
const UNKNOWN: [&str; 12] = [
    "cause is unknown",
    "cause is not known",
    "cause was not found",
    "cause unknown",
    "no known cause",
    "no cause was found",
    "no cause is known",
    "reason is unknown",
    "reason is not known",
    "no reason is known",
    "does not explain",
    "does not tell the reason",
];

/// # Errors
/// The first causal wording, or "since" before anything but a date.
pub(super) fn check(tokens: &[Token]) -> Result<(), Refusal> {
    let mut text = String::from(" ");
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) if word.text == "since" && !is_date(tokens, at + 1) => {
                return Err(Refusal::Causal("since"));
            }
            Token::Word(word) => text.push_str(&word.text),
            _ => text.push('.'),
        }
        text.push(' ');
    }
    for phrase in UNKNOWN {
        text = text.replace(&format!(" {phrase} "), " . ");
    }
    let found = CAUSAL.iter().find(|phrase| text.contains(&format!(" {phrase} ")));
    found.map_or(Ok(()), |phrase| Err(Refusal::Causal(phrase)))
}

/// Since when: a date or "then". What follows has been checked to be a fact if it is a number or a month.
fn is_date(tokens: &[Token], at: usize) -> bool {
    match tokens.get(at) {
        Some(Token::Day(_) | Token::Number(_)) => true,
        Some(Token::Word(word)) => word.text == "then" || super::dates::is_calendar(word),
        _ => false,
    }
}
