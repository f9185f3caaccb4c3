//! A text as its sentences, in which phrases are looked for.

use super::lexer::Token;

/// Stand in a sentence for what is no word.
pub(super) const FIGURE: &str = "#";
const NAME: &str = "@";
const CAUSE: &str = "^";
const BREAK: &str = ".";

/// Words in a row with a space around each; what ends a clause is a [`BREAK`].
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    folded: String,
    accented: String,
    pub has_cause: bool,
}

/// The sentences of a text. A colon and a comma end no sentence.
pub(super) fn sentences(tokens: &[Token]) -> Vec<Sentence> {
    tokens.split(|token| matches!(token, Token::Sign('.' | '!' | '?' | ';' | '…'))).map(Sentence::of).collect()
}

impl Sentence {
    fn of(tokens: &[Token]) -> Self {
        let has_cause = tokens.contains(&Token::Cause);
        let mut sentence = Self { folded: " ".to_owned(), accented: " ".to_owned(), has_cause };
        for token in tokens {
            match token {
                Token::Word(word) => sentence.push(&word.text, &word.accented),
                Token::Number(_) | Token::Day(_) | Token::DayOfMonth { .. } => sentence.push(FIGURE, FIGURE),
                Token::Name => sentence.push(NAME, NAME),
                Token::Cause => sentence.push(CAUSE, CAUSE),
                // Hyphens join words, and the others belong to the number beside them.
                Token::Sign('-' | '%') | Token::Currency(_) | Token::Minus => {}
                Token::Sign(_) => sentence.push(BREAK, BREAK),
            }
        }
        sentence
    }

    fn push(&mut self, folded: &str, accented: &str) {
        for (text, word) in [(&mut self.folded, folded), (&mut self.accented, accented)] {
            text.push_str(word);
            text.push(' ');
        }
    }

    /// The words before each place where the phrase stands, back to the break before it, the nearest first. A phrase with an
    /// accent is looked for with it.
    pub(super) fn before<'a>(&'a self, phrase: &str) -> Vec<Vec<&'a str>> {
        let text = if phrase.is_ascii() { &self.folded } else { &self.accented };
        let before = |(at, _): (usize, &str)| {
            let clause = text.get(..at).unwrap_or_default().rsplit(BREAK).next().unwrap_or_default();
            clause.split_whitespace().rev().collect()
        };
        text.match_indices(&format!(" {phrase} ")).map(before).collect()
    }

    pub(super) fn says(&self, phrase: &str) -> bool {
        !self.before(phrase).is_empty()
    }

    pub(super) fn begins_with_any(&self, starts: &[&str]) -> bool {
        starts.iter().any(|start| self.folded.trim_start().starts_with(start))
    }

    pub(super) fn words(&self) -> Vec<&str> {
        self.folded.split_whitespace().collect()
    }

    /// Takes the phrase out, wherever it stands, and says how often it did. One with an accent is looked for with it.
    pub(super) fn take_out(&mut self, phrase: &str) -> usize {
        let text = if phrase.is_ascii() { &mut self.folded } else { &mut self.accented };
        let pattern = format!(" {phrase} ");
        let count = text.matches(&pattern).count();
        if count > 0 {
            *text = text.replace(&pattern, " . ");
        }
        count
    }
}
