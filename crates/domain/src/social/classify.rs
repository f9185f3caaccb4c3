//! What a comment is about, by rules: a complaint before spam, spam before questions, and two questions are none.

use std::sync::LazyLock;

use ring::digest;
use rust_decimal::{Decimal, dec};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{
    Category, Tongue,
    lexicon::{Lexicon, first_of, occurs},
};

/// How sure the rules are of a clear sign. The two figures order what was found; they are no measured probabilities.
const STRONG: Decimal = dec!(0.97);
/// Of a sign that may mean something else.
const WEAK: Decimal = dec!(0.80);
/// Words of a comment that the lexicon does not know and that may still be one question: it names what is asked for. With
/// more of them it is about something else as well.
const MAX_UNKNOWN: usize = 1;
/// Words of a comment that may be nothing but its topic.
const MAX_BARE_WORDS: usize = 7;
/// Handles in a comment that tags people to be seen.
const SPAM_MENTIONS: usize = 3;
/// Digits in a row, spaces and hyphens left out, that make a telephone number.
const PHONE_DIGITS: usize = 8;

const PLEASED: &str = "😍🥰😘❤🧡💛💚💙💜🖤🤍💕💖💗💘💓💞😻🔥👏🙌👌🤩💯✨👍😊";
const DISPLEASED: &str = "😡😠🤬👎💩🤮🤢🖕😤";

/// What the rules made of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    pub category: Category,
    /// A second question in the same comment.
    pub also: Option<Category>,
    /// 0 to 1; not a probability.
    pub confidence: Decimal,
    /// `None`: the words are of no language, or of two alike.
    pub language: Option<Tongue>,
    /// The phrases and signs that it was told by.
    pub hits: Vec<&'static str>,
}

impl Classified {
    /// Whether the rules are in doubt, and a second voter may know better. What they are sure of they are not asked about.
    pub fn is_doubtful(&self) -> bool {
        self.also.is_some() || self.confidence < STRONG
    }
}

/// The words of a text: small letters without accents, a letter that is drawn out written once.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            word.push(c);
        } else if !matches!(c, '\0' | '\'' | '’' | '\u{200b}'..='\u{200f}' | '\u{feff}') && !word.is_empty() {
            words.push(squashed(&std::mem::take(&mut word)));
        }
    }
    if !word.is_empty() {
        words.push(squashed(&word));
    }
    words
}

/// Three or more of the same letter become one.
fn squashed(word: &str) -> String {
    let mut kept: Vec<char> = Vec::new();
    let letters: Vec<char> = word.chars().collect();
    for run in letters.chunk_by(|a, b| a == b) {
        let count = if run.len() >= 3 && run.iter().all(|c| c.is_alphabetic()) { 1 } else { run.len() };
        kept.extend(run.iter().take(count));
    }
    kept.into_iter().collect()
}

/// SHA-256 of a text's words: the same for what only differs in case, accents, punctuation and emoji.
pub fn fingerprint_of(text: &str) -> [u8; 32] {
    let digest = digest::digest(&digest::SHA256, words(text).join(" ").as_bytes());
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest.as_ref());
    bytes
}

/// The languages that a text may be in, and the one that it is in.
fn best(words: &[String]) -> (Vec<Tongue>, Option<Tongue>) {
    let scores: Vec<(Tongue, usize)> =
        Tongue::ALL.iter().map(|tongue| (*tongue, score(tongue.lexicon(), words))).collect();
    let most = scores.iter().map(|(_, score)| *score).max().unwrap_or_default();
    let likely: Vec<Tongue> = scores.iter().filter(|(_, score)| *score == most).map(|(tongue, _)| *tongue).collect();
    let only = match likely.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    (likely, only)
}

fn score(lexicon: &Lexicon, words: &[String]) -> usize {
    let common = words.iter().filter(|word| lexicon.common.contains(&word.as_str())).count();
    let lists = [lexicon.price_asked, lexicon.shipping_asked, lexicon.stock_asked, lexicon.price_topic];
    let lists = lists.into_iter().chain([lexicon.shipping_topic, lexicon.stock_topic, lexicon.praise]);
    common + lists.filter(|list| first_of(list, words).is_some()).count()
}

/// Sorts a comment.
pub fn classify(text: &str) -> Classified {
    let words = words(text);
    let (likely, language) = best(&words);
    let found = |category, confidence, hits| Classified { category, also: None, confidence, language, hits };
    if let Some(hit) = complaint(text, &words) {
        return found(Category::Complaint, STRONG, vec![hit]);
    }
    if let Some(hit) = spam(text, &words) {
        return found(Category::Spam, STRONG, vec![hit]);
    }
    if words.is_empty() {
        let pleased = text.chars().any(|c| PLEASED.contains(c));
        return if pleased {
            found(Category::Praise, STRONG, vec!["emoji"])
        } else {
            found(Category::Other, WEAK, vec![])
        };
    }
    let out_of_scope = likely.iter().find_map(|tongue| first_of(tongue.lexicon().out_of_scope, &words));
    if let Some(hit) = out_of_scope.or_else(|| text.contains('@').then_some("mention")) {
        return found(Category::Other, STRONG, vec![hit]);
    }
    let asked = likely.iter().map(|tongue| questions(tongue.lexicon(), text, &words)).find(|found| !found.is_empty());
    if let Some(asked) = asked {
        let unknown = words.iter().filter(|word| !likely.iter().any(|tongue| tongue.lexicon().knows(word))).count();
        let is_plain = unknown <= MAX_UNKNOWN && !likely.iter().any(|tongue| denies(tongue.lexicon(), &words));
        return question(&asked, is_plain, language);
    }
    match likely.iter().find_map(|tongue| first_of(tongue.lexicon().praise, &words)) {
        // Praise and a question that the rules did not understand.
        Some(_) if text.contains('?') => found(Category::Other, WEAK, vec!["question mark"]),
        Some(hit) => found(Category::Praise, STRONG, vec![hit]),
        None => found(Category::Other, WEAK, vec![]),
    }
}

/// Whether something is denied, other than as the one of two answers.
fn denies(lexicon: &Lexicon, words: &[String]) -> bool {
    first_of(lexicon.negation, &without(std::slice::from_ref(&lexicon.or_not), words)).is_some()
}

fn question(asked: &[Asked], is_plain: bool, language: Option<Tongue>) -> Classified {
    let (first, others) = (asked.first(), asked.get(1));
    let is_sure = asked.iter().all(|asked| asked.is_strong) && is_plain;
    Classified {
        category: first.map_or(Category::Other, |asked| asked.category),
        also: others.map(|asked| asked.category),
        confidence: if is_sure { STRONG } else { WEAK },
        language,
        hits: asked.iter().map(|asked| asked.hit).collect(),
    }
}

/// In any of the languages: who is unhappy is not to be misunderstood for the language's sake.
fn complaint(text: &str, words: &[String]) -> Option<&'static str> {
    let said = Tongue::ALL.iter().find_map(|tongue| first_of(tongue.lexicon().complaint, words));
    said.or_else(|| text.chars().any(|c| DISPLEASED.contains(c)).then_some("displeased emoji"))
}

fn spam(text: &str, words: &[String]) -> Option<&'static str> {
    if has_link(text) {
        return Some("link");
    }
    if text.split_whitespace().filter(|word| word.starts_with('@')).count() >= SPAM_MENTIONS {
        return Some("mentions");
    }
    if has_phone(text) {
        return Some("telephone number");
    }
    Tongue::ALL.iter().find_map(|tongue| first_of(tongue.lexicon().spam, words))
}

/// Top-level domains that addresses in comments end in.
static DOMAINS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let ends = "com net org info biz shop store online site xyz club io me ly gl app link top live br ar mx es";
    ends.split(' ').collect()
});

fn has_link(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | ',')).any(|part| {
        let part = part.trim_matches(|c: char| !c.is_alphanumeric());
        let Some((name, end)) = part.split_once('/').map_or(part, |(host, _)| host).rsplit_once('.') else {
            return part.starts_with("http");
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-.:/".contains(c));
        part.contains("://") || part.starts_with("www.") || (is_name && DOMAINS.contains(&end))
    })
}

fn has_phone(text: &str) -> bool {
    let mut run = 0;
    for c in text.chars() {
        match c {
            '0'..='9' => run += 1,
            ' ' | '-' | '(' | ')' | '.' => {}
            _ => run = 0,
        }
        if run >= PHONE_DIGITS {
            return true;
        }
    }
    false
}

/// A question that a comment asks.
struct Asked {
    category: Category,
    hit: &'static str,
    is_strong: bool,
}

/// The questions that a comment asks, each category once.
fn questions(lexicon: &Lexicon, text: &str, words: &[String]) -> Vec<Asked> {
    // What the shipping costs is no question for the price.
    let about_goods = without(lexicon.shipping_asked, words);
    let has_mark = text.contains(['?', '¿']);
    let sign = has_mark || first_of(lexicon.question, words).is_some();
    let topics = [lexicon.price_topic, lexicon.shipping_topic, lexicon.stock_topic];
    let is_bare = words.len() <= MAX_BARE_WORDS
        && words.iter().all(|word| {
            let word = word.as_str();
            lexicon.filler.contains(&word) || topics.iter().any(|topic| topic.contains(&word))
        });
    let one = |category, asked, topic, words: &[String]| {
        if let Some(hit) = first_of(asked, words) {
            return Some(Asked { category, hit, is_strong: true });
        }
        let hit = first_of(topic, words)?;
        (sign || is_bare).then_some(Asked { category, hit, is_strong: has_mark || is_bare })
    };
    [
        one(Category::PriceQuestion, lexicon.price_asked, lexicon.price_topic, &about_goods),
        one(Category::ShippingQuestion, lexicon.shipping_asked, lexicon.shipping_topic, words),
        one(Category::StockQuestion, lexicon.stock_asked, lexicon.stock_topic, words),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The words without those from the first to the last one of a phrase that occurs.
fn without(phrases: &[&str], words: &[String]) -> Vec<String> {
    let mut kept = words.to_vec();
    for phrase in phrases {
        let mut at = 0;
        while at < kept.len() {
            let longest = kept.len().min(at + phrase.split(' ').count() + 3);
            let span = (at + 1..=longest).find(|end| kept.get(at..*end).is_some_and(|part| occurs_whole(phrase, part)));
            match span {
                Some(end) => drop(kept.drain(at..end)),
                None => at += 1,
            }
        }
    }
    kept
}

/// Whether a phrase is all of the words.
fn occurs_whole(phrase: &str, words: &[String]) -> bool {
    occurs(phrase, words)
        && !words.split_first().is_some_and(|(_, rest)| occurs(phrase, rest))
        && !words.split_last().is_some_and(|(_, rest)| occurs(phrase, rest))
}

#[cfg(test)]
mod tests;
