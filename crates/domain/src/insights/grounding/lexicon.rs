//! The words of each language that say how many, when, why or which way. All in small letters and without accents, but for the
//! phrases that mean something else without them.

mod english;
mod portuguese;
mod spanish;

use crate::language::Language;

/// What the checker knows of a language.
pub(super) struct Lexicon {
    /// Words for the numbers below a thousand.
    pub cardinals: &'static [(&'static str, u32)],
    /// Articles that are also the number one; a number only in compounds, after [`Self::only`] and before [`Self::single`].
    pub articles: &'static [&'static str],
    pub only: &'static [&'static str],
    pub single: &'static [&'static str],
    /// Words that multiply the number before them, and by how much.
    pub multipliers: &'static [(&'static str, u64)],
    /// Between the parts of a number in words.
    pub joiner: &'static str,
    /// Whether the word for a thousand is a number without another before it.
    pub has_bare_thousand: bool,
    /// Words that say how many or how many times and are never a fact as they stand.
    pub quantities: &'static [&'static str],
    /// Beginnings of such words.
    pub quantity_stems: &'static [&'static str],
    /// Phrases in which such a word is none.
    pub no_quantities: &'static [&'static str],
    /// Parts of a whole in words: no fact is one, and a number that says the same would be checked.
    pub shares: &'static [&'static str],
    /// Before a share they make it none: "longer than most", "the most orders".
    pub compares: &'static [&'static str],
    /// If there are any, one of them has to stand somewhere before those: "más tiempo que la mayoría".
    pub compared: &'static [&'static str],
    /// Number words of the other languages that are ordinary words in this one.
    pub homographs: &'static [&'static str],
    /// Said before a number, they make it negative.
    pub minus: &'static [&'static str],
    /// Months with their numbers.
    pub months: &'static [(&'static str, u8)],
    /// Abbreviations that are a month only after the number of a day.
    pub short_months: &'static [(&'static str, u8)],
    /// Days of the week from Monday, 0.
    pub weekdays: &'static [(&'static str, u8)],
    /// Days and spans told from the day of reading: no fact holds on another day of reading.
    pub relative: &'static [&'static str],
    /// The last or the present week: needs a fact about seven days.
    pub week: &'static [&'static str],
    /// The day of reading: only advice may name it.
    pub today: &'static [&'static str],
    pub days: &'static [&'static str],
    pub percent: &'static [&'static str],
    pub points: &'static [&'static str],
    /// After a quotient of sales and ad spend.
    pub times: &'static [&'static str],
    /// What follows a number and makes it a number of something that no fact counts.
    pub other_units: &'static [&'static str],
    /// Words for money, with the codes of the currencies that they may mean.
    pub money: &'static [(&'static str, &'static [&'static str])],
    /// Words that belong to this language and to neither of the others.
    pub function_words: &'static [&'static str],
    /// Wording that says or hints why something happened.
    pub causal: &'static [&'static str],
    /// What the data of a shop says nothing about: where it is named outside of advice, it hints at a cause.
    pub outside: &'static [&'static str],
    /// What sentences of advice begin with.
    pub advice: &'static [&'static str],
    /// Prepositions that tell a cause, and what may follow them without one.
    pub prepositions: &'static [Preposition],
    /// Sentences that say that a cause is not known or is to be looked for.
    pub unknown_cause: &'static [&'static str],
    pub rises: &'static [&'static str],
    pub falls: &'static [&'static str],
    /// After an amount or a percentage.
    pub more: &'static [&'static str],
    pub less: &'static [&'static str],
    /// Verbs that tell a direction only where they are denied: elsewhere they advise.
    pub bare: &'static [&'static str],
    /// Before an amount, they make it negative.
    pub losses: &'static [&'static str],
    pub negations: &'static [&'static str],
    /// What may stand between a negation and what it denies.
    pub auxiliaries: &'static [&'static str],
    /// Said with a negation before a number, they deny the number.
    pub copulas: &'static [&'static str],
    /// Phrases that say zero.
    pub nothing: &'static [&'static str],
}

/// A preposition that tells a time or a place before some words and a cause before all others.
pub(super) struct Preposition {
    pub word: &'static str,
    /// What is causal after it; empty for everything that is not in `harmless`.
    pub causal: &'static [&'static str],
    pub harmless: &'static [&'static str],
    /// Whether it is harmless before a number, a date or a name.
    pub before_figures: bool,
}

pub(super) const THOUSAND: u64 = 1_000;
pub(super) const MILLION: u64 = 1_000_000;
const BILLION: u64 = 1_000_000_000;

const DOLLARS: &[&str] = &["USD", "CAD", "AUD", "NZD", "SGD", "HKD"];
const PESOS: &[&str] = &["ARS", "MXN", "CLP", "COP", "UYU", "DOP"];

impl Lexicon {
    pub(super) const fn of(language: Language) -> &'static Self {
        match language {
            Language::English => &english::ENGLISH,
            Language::Spanish => &spanish::SPANISH,
            Language::BrazilianPortuguese => &portuguese::PORTUGUESE,
        }
    }

    /// The other languages, whose words a text must not smuggle in.
    pub(super) const fn others(language: Language) -> [&'static Self; 2] {
        match language {
            Language::English => [&spanish::SPANISH, &portuguese::PORTUGUESE],
            Language::Spanish => [&english::ENGLISH, &portuguese::PORTUGUESE],
            Language::BrazilianPortuguese => [&english::ENGLISH, &spanish::SPANISH],
        }
    }

    pub(super) fn cardinal(&self, word: &str) -> Option<u32> {
        self.cardinals.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }

    pub(super) fn multiplier(&self, word: &str) -> Option<u64> {
        self.multipliers.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    }

    /// Whether the word is one for how many.
    pub(super) fn is_quantity(&self, word: &str) -> bool {
        self.quantities.contains(&word)
            || word.ends_with("fold")
            || self.quantity_stems.iter().any(|stem| word.starts_with(stem))
    }

    /// Whether the word is a number, a month or a weekday, or says how many, and is no abbreviation.
    pub(super) fn is_figure(&self, word: &str) -> bool {
        self.quantities.contains(&word)
            || self.cardinal(word).is_some()
            || self.multiplier(word).is_some_and(|_| word.len() > 2)
            || self.months.iter().any(|(name, _)| *name == word && word.len() > 4)
            || self.weekdays.iter().any(|(name, _)| *name == word && word.len() > 4)
    }
}
