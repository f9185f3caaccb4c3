//! The form of a new webhook subscription.

use domain::{events::EventKind, webhooks::url::MAX_URL_CHARS};

use super::{fields::Fields, webhooks::meaning};
use crate::{
    text::Writer,
    views::{
        form::{Button, Field, Form, Input, Pick},
        layout::Here,
        secret::Once,
    },
};

/// What came of the form, and what it sent.
#[derive(Default)]
pub struct Asked {
    pub once: Option<Once>,
    pub done: Option<String>,
    pub url_error: Option<String>,
    pub events_error: Option<String>,
    pub url: String,
    /// Whether only what is ticked is asked for.
    pub is_some: bool,
    pub ticked: Vec<String>,
}

impl Asked {
    pub fn sent(fields: &Fields) -> Self {
        Self {
            url: fields.one("url").unwrap_or_default().to_owned(),
            is_some: fields.one("which") == Some("some"),
            ticked: fields.all("event").map(ToOwned::to_owned).collect(),
            ..Self::default()
        }
    }
}

pub fn form(writer: &Writer, number: (&'static str, String), asked: &Asked) -> Form {
    let catalogue = EventKind::catalogue().len() as i64;
    let which = |value: &str, text: String| Pick {
        value: value.to_owned(),
        text,
        is_chosen: asked.is_some == (value == "some"),
    };
    let event = |kind: &EventKind| {
        let pick = Pick {
            value: kind.as_str().to_owned(),
            text: format!("{kind}: {}", meaning(writer, *kind)),
            is_chosen: asked.ticked.iter().any(|name| name == kind.as_str()),
        };
        ("event", pick)
    };
    Form {
        id: "h-new",
        title: writer.say("webhook-new"),
        about: vec![],
        is_get: false,
        action: Here::Webhooks.address().to_owned(),
        hidden: vec![number],
        fields: vec![
            Field {
                name: "url",
                label: writer.say("webhook-url"),
                help: Some(writer.say("webhook-url-help")),
                error: asked.url_error.clone(),
                input: Input::Line {
                    kind: "url",
                    value: asked.url.clone(),
                    max: Some(MAX_URL_CHARS),
                    is_required: true,
                },
            },
            Field {
                name: "which",
                label: writer.say("webhook-which"),
                help: None,
                error: None,
                input: Input::Radios(vec![
                    which("all", writer.message("which-all").count("count", catalogue).say()),
                    which("some", writer.say("which-some")),
                ]),
            },
            Field {
                name: "event",
                label: writer.say("webhook-events"),
                help: None,
                error: asked.events_error.clone(),
                input: Input::Ticks(EventKind::ALL.iter().map(event).collect()),
            },
        ],
        buttons: vec![Button::main(writer.say("webhook-create"))],
    }
}
