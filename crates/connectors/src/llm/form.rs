//! The form of a request, and which one a provider is known to take.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How long a plainer form that was taken is asked for first. After that the best one is tried again, so that neither an
/// update of the provider nor one odd request decides for good.
const KEPT: Duration = Duration::from_secs(3_600);

/// How the shape of the answer is asked for, and what the limit of tokens is called. Providers differ in both, and
/// answer 400 or 422 to what they do not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    #[default]
    Schema,
    SchemaWithCompletionLimit,
    Object,
    Text,
}

impl Form {
    /// The form to try next where this one is refused.
    pub(super) const fn plainer(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::SchemaWithCompletionLimit),
            Self::SchemaWithCompletionLimit => Some(Self::Object),
            Self::Object => Some(Self::Text),
            Self::Text => None,
        }
    }

    pub(super) const fn response_format(self) -> &'static str {
        match self {
            Self::Schema | Self::SchemaWithCompletionLimit => "json_schema",
            Self::Object => "json_object",
            Self::Text => "text",
        }
    }

    pub(super) const fn token_limit(self) -> &'static str {
        match self {
            Self::SchemaWithCompletionLimit => "max_completion_tokens",
            Self::Schema | Self::Object | Self::Text => "max_tokens",
        }
    }
}

/// The form that the provider took lately. A refusal alone is not remembered: it may be about what one account asked,
/// such as a prompt that is too long, and not about the form.
#[derive(Debug, Default)]
pub(super) struct KnownForm(Mutex<Option<(Form, Instant)>>);

impl KnownForm {
    /// The form to try first.
    pub(super) fn get(&self, now: Instant) -> Form {
        let known = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .filter(|(_, since)| now.saturating_duration_since(*since) < KEPT)
            .map(|(form, _)| form)
            .unwrap_or_default()
    }

    /// Remembers a form that the provider took after it had refused the one that was known.
    pub(super) fn set(&self, form: Form, now: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((form, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plainer_form_is_forgotten_after_an_hour() {
        let (known, start) = (KnownForm::default(), Instant::now());
        assert_eq!(known.get(start), Form::Schema);
        known.set(Form::Object, start);
        assert_eq!(known.get(start + Duration::from_secs(3_599)), Form::Object);
        assert_eq!(known.get(start + Duration::from_secs(3_600)), Form::Schema);
    }
}
