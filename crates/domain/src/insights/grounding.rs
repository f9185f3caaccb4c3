//! What a language model may say: nothing beyond the facts it was given.
//!
//! The check looks at the text alone, so it holds whatever made the model write it. It is strict: a sentence that is
//! true but cannot be told from a false one is refused, and the text of the rules is shown instead.

mod causes;
mod dates;
mod directions;
mod fact;
mod letters;
mod levers;
mod lexer;
mod lexicon;
mod numbers;
mod phrases;
#[cfg(test)]
mod tests;
mod units;

use levers::Topics;
use lexicon::Lexicon;
use numbers::Known;
use ring::digest::{Context, SHA256};

use crate::language::Language;
pub use fact::{Fact, Unit};
#[cfg(test)]
pub(crate) use tests::{Said, check_sentence, in_language, known};

/// How a region writes numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFormat {
    /// `1,234.56`, as in the United States and Mexico.
    Point,
    /// `1.234,56`, as in Argentina and Brazil.
    Comma,
}

/// The language of a text, and how its numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writing {
    pub language: Language,
    pub numbers: NumberFormat,
}

impl Writing {
    pub const ENGLISH: Self = Self { language: Language::English, numbers: NumberFormat::Point };
}

/// Characters of a name that a text shows; longer ones are cut.
const MAX_NAME_CHARS: usize = 60;

/// A name from outside (a product, a shop, a campaign) as texts show it: bounded, on one line, in quotes. In quotes it
/// is told from what the service says, whatever it reads.
pub fn quoted(name: &str) -> String {
    let plain = |c: char| if c.is_control() || is_quote(c) { ' ' } else { c };
    let cut: String = name.chars().filter(|c| !turns(*c)).map(plain).take(MAX_NAME_CHARS).collect();
    format!("\"{}\"", cut.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Whether it turns the order in which the text after it is drawn, beyond the quotes (Unicode UAX 9).
pub const fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
    /// SHA-256 of the texts: the same facts in the same situation and language give the same.
    pub fn basis(&self) -> [u8; 32] {
        let mut context = Context::new(&SHA256);
        for (_, text, _) in self.fields() {
            context.update(text.as_bytes());
            context.update(&[0]);
        }
        let mut basis = [0; 32];
        basis.copy_from_slice(context.finish().as_ref());
        basis
    }

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

/// Why a text is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than {0} characters")]
    TooLong(usize),
    /// Control characters, other alphabets and their digits, letters and symbols that texts have no use for.
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
    /// What moves figures and is none of the draft's matter.
    #[error("`{0}` is not what the draft speaks of")]
    Lever(String),
    /// Up for down, or either where neither is known; or a movement that is denied.
    #[error("`{0}` is not the way that the facts went")]
    Direction(&'static str),
    #[error("`{0}` is not of the language that was asked for")]
    Language(String),
}

/// Checks every text of another wording of `draft` that was asked for in `writing`. The error names the text at fault.
///
/// # Errors
/// The first [`Refusal`].
pub fn check(
    wording: &Wording,
    draft: &Wording,
    grounds: &Grounds,
    writing: Writing,
) -> Result<(), (&'static str, Refusal)> {
    let topics = Topics::of(draft);
    wording.fields().into_iter().try_for_each(|(field, text, most)| {
        let kind = Kind { most, is_advice: field == "suggested_action" };
        check_text(text, kind, &topics, grounds, writing).map_err(|refusal| (field, refusal))
    })
}

/// What is asked of one of the texts.
#[derive(Clone, Copy)]
struct Kind {
    /// Characters that it has at most.
    most: usize,
    /// Whether it says what to do, and not what is.
    is_advice: bool,
}

/// Stand in a text where a name or the cause stood.
const NAME_MASK: char = '\u{fffc}';
const CAUSE_MASK: char = '\u{fffd}';

fn check_text(text: &str, kind: Kind, topics: &Topics, grounds: &Grounds, writing: Writing) -> Result<(), Refusal> {
    let Kind { most, is_advice } = kind;
    if text.trim().is_empty() {
        return Err(Refusal::Empty);
    }
    if text.chars().count() > most {
        return Err(Refusal::TooLong(most));
    }
    if let Some(mask) = text.chars().find(|c| matches!(*c, NAME_MASK | CAUSE_MASK)) {
        return Err(Refusal::Character(mask));
    }
    let masked = mask(&letters::composed(text), grounds);
    check_characters(&masked, writing.language)?;
    let lexicon = Lexicon::of(writing.language);
    let others = Lexicon::others(writing.language);
    let tokens = lexer::tokens(&masked, writing)?;
    check_language(&tokens, others)?;
    numbers::check(&tokens, Known { facts: &grounds.facts, lexicon, others })?;
    let sentences = phrases::sentences(&tokens);
    numbers::check_shares(&sentences, lexicon)?;
    dates::check_relative(&sentences, lexicon, &grounds.facts, is_advice)?;
    directions::check(&sentences, lexicon, &grounds.facts)?;
    directions::check_denials(&sentences, lexicon, &grounds.facts)?;
    causes::check(&sentences, lexicon, others, is_advice)?;
    if is_advice { Ok(()) } else { topics.check(&sentences, lexicon) }
}

/// Refuses a text with a word that only another language has. What hangs on a hyphen is part of a longer word.
fn check_language(tokens: &[lexer::Token], others: [&Lexicon; 2]) -> Result<(), Refusal> {
    for (at, token) in tokens.iter().enumerate() {
        let hangs = at.checked_sub(1).and_then(|back| lexer::sign(tokens, back)) == Some('-');
        if let lexer::Token::Word(word) = token
            && !hangs
            && others.iter().any(|other| other.function_words.contains(&word.text.as_str()))
        {
            return Err(Refusal::Language(word.spelled.clone()));
        }
    }
    Ok(())
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The text without the names and the cause, which were put together by the service. Long names go first: one may be
/// part of another.
fn mask(text: &str, grounds: &Grounds) -> String {
    let mut masked = text.replace(['“', '”', '«', '»'], "\"");
    if let Some(cause) = grounds.cause.as_ref().filter(|cause| !cause.trim().is_empty()) {
        let (cause, placeholder) = (letters::composed(cause), format!(" {CAUSE_MASK} "));
        masked = masked.replace(&cause, &placeholder).replace(&capitalised(&cause), &placeholder);
    }
    let mut names: Vec<String> = grounds.names.iter().map(|name| letters::composed(name)).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        masked = masked.replace(&name, &format!(" {NAME_MASK} "));
    }
    masked
}

/// Plain words of the language on one line: what is left after names are taken out needs no more than this.
fn check_characters(text: &str, language: Language) -> Result<(), Refusal> {
    for c in text.chars() {
        let allowed = letters::is_of(language, c)
            || matches!(c, ' ' | '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '%' | '+' | '-' | '\'' | '/' | '&')
            || matches!(c, '\u{a0}' | '\u{2009}' | '\u{202f}' | '−' | '–' | '—' | '’' | '‘' | '…')
            || matches!(c, NAME_MASK | CAUSE_MASK)
            || (language != Language::English && (letters::is_ordinal_mark(c) || matches!(c, '¿' | '¡')))
            || lexer::is_currency_symbol(c);
        match c {
            _ if allowed => {}
            '"' | '„' => return Err(Refusal::Quote),
            '<' | '>' | '`' | '*' | '_' | '#' | '[' | ']' | '{' | '}' | '|' | '\\' | '@' | '~' | '=' | '^' => {
                return Err(Refusal::Markup);
            }
            other => return Err(Refusal::Character(other)),
        }
    }
    let lower = text.to_lowercase();
    let is_letter = |c: char| c.is_alphabetic() && !letters::is_ordinal_mark(c);
    let letters_around = |pair: &[char; 3]| pair[1] == '.' && pair[0].is_alphanumeric() && is_letter(pair[2]);
    let chars: Vec<char> = lower.chars().collect();
    let is_link = lower.contains("://") || lower.contains("http") || lower.contains("www.") || lower.contains("//");
    if is_link || chars.array_windows::<3>().any(letters_around) {
        return Err(Refusal::Markup);
    }
    Ok(())
}
