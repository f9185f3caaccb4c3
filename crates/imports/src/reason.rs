//! Why a line, or a whole file, is refused: kept as data, and said in the language of who reads it.

use std::fmt;

use domain::texts::{Locale, Texts};

/// Who reads why lines are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user of a command, in English: fields are called as its options call them.
    Command,
    /// The user of the page that the file was brought to: columns are called as the file calls them.
    Page(Locale),
}

/// A message of the catalogue, by its id, with what is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    id: &'static str,
    /// The field that is wrong, and the column that it was read from.
    field: Option<(&'static str, Option<String>)>,
    args: Vec<(&'static str, String)>,
    /// The message that is `$why` in this one.
    why: Option<&'static str>,
}

impl Reason {
    pub(super) const fn new(id: &'static str) -> Self {
        Self { id, field: None, args: Vec::new(), why: None }
    }

    pub(super) fn of_field(id: &'static str, field: &'static str, column: Option<String>) -> Self {
        Self { field: Some((field, column)), ..Self::new(id) }
    }

    pub(super) fn because(id: &'static str, why: &'static str) -> Self {
        Self { why: Some(why), ..Self::new(id) }
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: impl fmt::Display) -> Self {
        self.args.push((name, value.to_string()));
        self
    }

    /// The text.
    pub(super) fn say(&self, audience: Audience) -> String {
        let (by, locale) = match audience {
            Audience::Command => ("command", Locale::ENGLISH),
            Audience::Page(locale) => ("page", locale),
        };
        let texts = Texts::of(locale);
        let message = texts.message(self.id).text("by", by);
        let message = match &self.field {
            Some((_, Some(column))) if by == "page" => message.text("field", column),
            Some((field, _)) => message.text("field", field),
            None => message,
        };
        let message = match self.why {
            Some(why) => message.text("why", texts.message(why).say()),
            None => message,
        };
        self.args.iter().fold(message, |message, (name, value)| message.text(name, value)).say()
    }
}

/// As commands say it.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.say(Audience::Command))
    }
}
