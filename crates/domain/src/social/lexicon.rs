//! The words by which comments are told apart.
//!
//! A phrase is words in a row, in small letters and without accents. A word that ends in `*` stands for all that begin so;
//! `~` for up to three words of any kind. The lists were written before the test set, from what people ask shops, and are not
//! changed by what comes out there.

mod english;
mod portuguese;
mod spanish;

use super::Tongue;

/// The words of one language.
pub(super) struct Lexicon {
    /// Words that hardly another of the three languages has: what the language of a comment is told by.
    pub common: &'static [&'static str],
    /// The commenter is unhappy, accuses, or asks for something that was paid for.
    pub complaint: &'static [&'static str],
    /// The commenter wants to sell or to lure away.
    pub spam: &'static [&'static str],
    /// A topic comes up in a way that no template answers: other shops, orders that were placed, wholesale, instructions.
    pub out_of_scope: &'static [&'static str],
    /// Asks by itself.
    pub price_asked: &'static [&'static str],
    pub shipping_asked: &'static [&'static str],
    pub stock_asked: &'static [&'static str],
    /// Asks together with a sign of a question, or alone in a short comment.
    pub price_topic: &'static [&'static str],
    pub shipping_topic: &'static [&'static str],
    pub stock_topic: &'static [&'static str],
    /// Turns a comment with a topic into a question.
    pub question: &'static [&'static str],
    pub praise: &'static [&'static str],
    /// Words that may stand beside a bare topic: greetings, thanks, please.
    pub filler: &'static [&'static str],
    /// Something is not as it should be, or not wanted: what is asked beside that may be a reproach.
    pub negation: &'static [&'static str],
    /// The end of a question that may be answered with no.
    pub or_not: &'static str,
}

impl Tongue {
    pub(super) const fn lexicon(self) -> &'static Lexicon {
        match self {
            Self::Spanish => &spanish::LEXICON,
            Self::Portuguese => &portuguese::LEXICON,
            Self::English => &english::LEXICON,
        }
    }
}

/// Letters of a word that is known to be one of grammar, whatever it is.
const SHORT: usize = 3;

impl Lexicon {
    /// Whether a word belongs to the language of questions, so that it does not name what is asked for.
    pub fn knows(&self, word: &str) -> bool {
        let lists = [self.common, self.price_asked, self.shipping_asked, self.stock_asked, self.price_topic];
        let lists = lists.into_iter().chain([self.shipping_topic, self.stock_topic, self.question, self.filler]);
        let is_short = word.chars().nth(SHORT).is_none() || word.chars().all(|c| c.is_ascii_digit());
        // `a*` stands for any word, not for those of questions.
        let mut parts = lists.flatten().flat_map(|phrase| phrase.split(' ')).filter(|part| part.len() > SHORT);
        is_short || parts.any(|part| is_like(part, word))
    }
}

/// Whether the phrase occurs among the words.
pub(super) fn occurs(phrase: &str, words: &[String]) -> bool {
    let pattern: Vec<&str> = phrase.split(' ').collect();
    (0..words.len()).any(|at| words.get(at..).is_some_and(|rest| begins(&pattern, rest)))
}

/// The first phrase of a list that occurs.
pub(super) fn first_of(phrases: &'static [&'static str], words: &[String]) -> Option<&'static str> {
    phrases.iter().copied().find(|phrase| occurs(phrase, words))
}

/// Whether the words begin as the pattern says.
fn begins(pattern: &[&str], words: &[String]) -> bool {
    let Some((wanted, pattern)) = pattern.split_first() else { return true };
    if *wanted == "~" {
        return (0..=3).any(|skipped| words.get(skipped..).is_some_and(|rest| begins(pattern, rest)));
    }
    words.split_first().is_some_and(|(word, rest)| is_like(wanted, word) && begins(pattern, rest))
}

/// Whether a word is the one of a pattern, or begins with it.
fn is_like(wanted: &str, word: &str) -> bool {
    wanted.strip_suffix('*').map_or(word == wanted, |stem| word.starts_with(stem))
}
