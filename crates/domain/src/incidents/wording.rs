//! What automatic incidents say. Fixed texts, of the component alone: no error, host or account is in them. They are stored in
//! English, as a person's are in whatever language, and are known by it when they are read.

use super::{Incident, Severity, Update};
use crate::{
    texts::{Locale, Texts},
    uptime::Component,
};

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

impl Occasion {
    const ALL: [Self; 5] = [Self::Opened, Self::Raised, Self::Monitoring, Self::Again, Self::Resolved];
}

/// The title of an incident of a component.
pub fn title(component: Component, severity: Severity, texts: &Texts) -> String {
    let id = match (component, severity) {
        (Component::Api, Severity::Minor) => "incident-api-slow",
        (Component::Api, _) => "incident-api-down",
        (Component::Database, Severity::Minor) => "incident-database-slow",
        (Component::Database, _) => "incident-database-down",
        (Component::Jobs, _) => "incident-jobs",
        (Component::Webhooks, _) => "incident-webhooks",
        (Component::Social, _) => "incident-social",
    };
    texts.message(id).say()
}

/// The body of an update.
pub fn body(occasion: Occasion, texts: &Texts) -> String {
    let id = match occasion {
        Occasion::Opened => "incident-opened",
        Occasion::Raised => "incident-raised",
        Occasion::Monitoring => "incident-monitoring",
        Occasion::Again => "incident-again",
        Occasion::Resolved => "incident-over",
    };
    texts.message(id).say()
}

/// How the service is, by the worst of the incidents that go on.
pub fn summary(worst: Option<Severity>, texts: &Texts) -> String {
    texts.message(format!("incidents-{}", worst.map_or("none", Severity::as_str))).say()
}

impl Incident {
    /// The title as it is shown: what the probes wrote in the language of the texts, a person's words as they are.
    pub fn title_in(&self, texts: &Texts) -> String {
        let english = Texts::of(Locale::ENGLISH);
        let mut known =
            self.components.iter().flat_map(|of| Severity::ALL.iter().map(move |severity| (*of, *severity)));
        let found = known.find(|(component, severity)| title(*component, *severity, &english) == self.title);
        found.map_or_else(|| self.title.clone(), |(component, severity)| title(component, severity, texts))
    }
}

impl Update {
    /// The body as it is shown, in the same way.
    pub fn body_in(&self, texts: &Texts) -> String {
        let english = Texts::of(Locale::ENGLISH);
        let found = Occasion::ALL.into_iter().find(|occasion| body(*occasion, &english) == self.body);
        found.map_or_else(|| self.body.clone(), |occasion| body(occasion, texts))
    }
}

/// Every text with what it may rest on, and that each is known again.
#[cfg(test)]
pub(crate) fn say_all(texts: &Texts) -> Vec<crate::insights::grounding::Said> {
    use super::automation::RESOLVED_GOOD;
    use crate::insights::grounding::{Grounds, in_language, known};
    let english = Texts::of(Locale::ENGLISH);
    let worst = Severity::ALL.iter().map(|severity| Some(*severity)).chain([None]);
    let mut said: Vec<String> = worst.map(|worst| summary(worst, texts)).collect();
    let at = time::OffsetDateTime::UNIX_EPOCH;
    for component in Component::ALL {
        for severity in Severity::ALL {
            let written = title(*component, *severity, &english);
            let incident = Incident::begun(written, *severity, vec![Component::Jobs, *component], true, at);
            assert_eq!(incident.title_in(texts), title(*component, *severity, texts));
            let own = Incident { title: "Delayed imports".to_owned(), ..incident };
            assert_eq!(own.title_in(texts), "Delayed imports");
            said.push(title(*component, *severity, texts));
        }
    }
    for occasion in Occasion::ALL {
        let update =
            |body| Update { id: crate::IncidentUpdateId(1), status: super::Status::Resolved, body, created_at: at };
        assert_eq!(update(body(occasion, &english)).body_in(texts), body(occasion, texts));
        assert_eq!(update("We are on it.".to_owned()).body_in(texts), "We are on it.");
        said.push(body(occasion, texts));
    }
    let language = texts.locale().language;
    // When it began is a figure of the incident, beside its texts.
    let began = ["since the time given", "desde la hora indicada", "desde o horário indicado"];
    let mut names = known(language, &[began]);
    names.push(format!("{RESOLVED_GOOD} {}", in_language(language, ["minutes", "minutos", "minutos"])));
    let grounds = Grounds { names, ..Grounds::default() };
    said.into_iter().map(|text| (text, grounds.clone())).collect()
}
