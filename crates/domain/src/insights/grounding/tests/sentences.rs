//! What the service says outside of insights: it passes what a model's words must pass, resting on what the rule behind a sentence
//! knows.

use super::{language::say_about, *};

/// A sentence, and what it may rest on.
pub(crate) type Said = (String, Grounds);

/// Checks a sentence as the body of an insight: with its numbers, dates, directions and causes, and without the licences of
/// advice. It may speak of every lever that it names itself.
pub(crate) fn check_sentence(text: &str, grounds: &Grounds, writing: Writing) -> Result<(), Refusal> {
    say_about(text, text, grounds, writing)
}

/// What a rule knows and no fact says (a span in hours, half of something, since when), in the words of the catalogue in
/// English, Spanish and Portuguese; empty where those of a language pass as they are. As names of the [`Grounds`] they are left
/// out of the check: it refuses them from a model, to whom nobody told them.
pub(crate) fn known(language: Language, phrases: &[[&str; 3]]) -> Vec<String> {
    let words = phrases.iter().map(|phrase| in_language(language, *phrase));
    words.filter(|words| !words.is_empty()).map(str::to_owned).collect()
}

/// The English, the Spanish or the Portuguese words.
pub(crate) const fn in_language(language: Language, [english, spanish, portuguese]: [&str; 3]) -> &str {
    match language {
        Language::English => english,
        Language::Spanish => spanish,
        Language::BrazilianPortuguese => portuguese,
    }
}

#[rstest]
#[case("Our probes see everything working for 20 minutes.", true)]
#[case("Our probes see everything working for 30 minutes.", false)]
#[case("Our probes see everything working for 20 hours.", false)]
#[case("Our probes see everything working for 20 minutes, because of a restart.", false)]
#[case("Our probes see fewer faults: they fell.", false)]
fn what_a_rule_knows_is_known_in_those_words_alone(#[case] text: &str, #[case] passes: bool) {
    let names = known(Language::English, &[["20 minutes", "20 minutos", "20 minutos"]]);
    let said = check_sentence(text, &Grounds { names, ..Grounds::default() }, Writing::ENGLISH);
    assert_eq!(said.is_ok(), passes, "{text}: {said:?}");
}
