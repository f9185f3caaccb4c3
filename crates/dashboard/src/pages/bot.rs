//! What the pages of conversations share: the ways among them, where the bot stands, and the names of things.

use actix_web::HttpRequest;
use domain::{
    audit::{Action, Entry},
    people::Act,
    social::{
        Category, Mode, ReplyState, Tongue,
        settings::Setup,
        templates::{Template, TemplateState},
    },
};

use super::query;
use crate::{
    error::PageError,
    session::Viewer,
    text::Writer,
    views::{
        bot::Standing,
        form::{Field, Input, Pick},
        layout::Choice,
        rows::Badge,
    },
};

/// The pages, in the order of their navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Conversations,
    Templates,
    Settings,
}

impl Tab {
    pub const fn address(self) -> &'static str {
        match self {
            Self::Conversations => "/conversations",
            Self::Templates => "/conversations/templates",
            Self::Settings => "/conversations/settings",
        }
    }

    /// The key of its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Templates => "reply-templates",
            Self::Settings => "bot-settings",
        }
    }
}

pub fn tabs(writer: &Writer, here: Tab) -> (String, Vec<Choice>) {
    let choice =
        |tab: Tab| Choice { address: tab.address().to_owned(), text: writer.say(tab.name()), is_chosen: tab == here };
    let all = [Tab::Conversations, Tab::Templates, Tab::Settings];
    (writer.say("conversations"), all.into_iter().map(choice).collect())
}

pub fn standing(viewer: &Viewer, writer: &Writer, setup: &Setup) -> Standing {
    let mode = setup.settings.mode;
    let class = match mode {
        Mode::Off => "bad",
        Mode::DryRun => "",
        Mode::Approve => "warn",
        Mode::Auto => "good",
    };
    let blocked = |at| writer.message("bot-blocked").text("at", writer.moment(at)).say();
    Standing {
        mode: Badge { class, text: writer.say(&format!("bot-mode-{mode}")) },
        text: writer.say(&format!("bot-about-{mode}")),
        blocked: setup.blocked_at.map(blocked),
        stop: (mode != Mode::Off && viewer.may(Act::Change)).then(|| writer.say("bot-stop")),
    }
}

/// What the address says was just done, if it is one of these.
pub fn done(writer: &Writer, request: &HttpRequest, known: &[&str]) -> Result<Option<String>, PageError> {
    match query::one::<String>(request, "done")? {
        None => Ok(None),
        Some(done) if known.contains(&done.as_str()) => Ok(Some(writer.say(&format!("bot-done-{done}")))),
        Some(_) => Err(PageError::Invalid("done")),
    }
}

/// What the audit log says of what the viewer does.
pub fn note(viewer: &Viewer, action: Action, target: String) -> Entry {
    Entry { target: Some(target), ..viewer.note(action) }
}

pub fn category(writer: &Writer, category: Category) -> String {
    writer.say(&format!("comment-{category}"))
}

pub fn language(writer: &Writer, language: Tongue) -> String {
    writer.say(&format!("tongue-{language}"))
}

/// Where an answer stands, as a badge.
pub fn reply_state(writer: &Writer, state: ReplyState) -> Badge {
    let class = match state {
        ReplyState::Held => "warn",
        ReplyState::Sent => "good",
        ReplyState::Failed => "bad",
        ReplyState::Reserved | ReplyState::Sending | ReplyState::Unknown | ReplyState::Skipped | ReplyState::DryRun => {
            ""
        }
    };
    Badge { class, text: writer.say(&format!("reply-{state}")) }
}

pub fn template_state(writer: &Writer, state: TemplateState) -> Badge {
    let class = match state {
        TemplateState::Draft => "warn",
        TemplateState::Approved => "good",
        TemplateState::Retired => "",
    };
    Badge { class, text: writer.say(&format!("template-{state}")) }
}

/// Whether the bot, or a person in its place, may send it.
pub fn is_in_use(template: &Template) -> bool {
    template.approved_version.is_some() && template.state != TemplateState::Retired
}

/// A choice of one of some values, or of none of them.
pub fn pick<T: Copy + PartialEq>(
    name: &'static str,
    label: String,
    none: Option<String>,
    values: impl IntoIterator<Item = (T, String, String)>,
    chosen: Option<T>,
) -> Field {
    let none = none.map(|text| Pick { value: String::new(), text, is_chosen: chosen.is_none() });
    let picks =
        values.into_iter().map(|(value, sent, text)| Pick { value: sent, text, is_chosen: chosen == Some(value) });
    let input = Input::Select(none.into_iter().chain(picks).collect());
    Field { name, label, help: None, error: None, input }
}
