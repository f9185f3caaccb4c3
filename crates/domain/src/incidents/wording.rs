//! What automatic incidents say. Fixed texts, of the component alone: no error, host or account is in them. A further language is
//! a further value of [`Language`], which the compiler then asks a text of everything for.

use super::Severity;
use crate::uptime::Component;

/// In which language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
}

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    Opened,
    /// It is worse than it was.
    Raised,
    /// It looks mended.
    Monitoring,
    /// It looked mended and was not, or came back soon.
    Again,
    Resolved,
}

/// The title of an incident of a component.
pub const fn title(component: Component, severity: Severity, language: Language) -> &'static str {
    match language {
        Language::English => match (component, severity) {
            (Component::Api, Severity::Minor) => "The API answers slowly",
            (Component::Api, _) => "The API does not answer",
            (Component::Database, Severity::Minor) => "The database answers slowly",
            (Component::Database, _) => "The database does not answer",
            (Component::Jobs, _) => "Computed figures are late",
            (Component::Webhooks, _) => "Webhook deliveries are late",
            (Component::Social, _) => "Answers to comments are late",
        },
    }
}

/// The body of an update.
pub const fn body(occasion: Occasion, language: Language) -> &'static str {
    match language {
        Language::English => match occasion {
            Occasion::Opened => "Our probes see this since the time given. It is being looked into.",
            Occasion::Raised => "It goes on, and is rated as more severe.",
            Occasion::Monitoring => "Our probes see everything at work again. We keep watching.",
            Occasion::Again => "Our probes see this again. It is being looked into.",
            Occasion::Resolved => "Our probes have seen everything at work for 20 minutes. This is over.",
        },
    }
}
