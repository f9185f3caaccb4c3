//! What the pages of the settings share.

use actix_web::{HttpResponse, http::StatusCode};
use domain::people::Act;

use super::{html_with, shell::shell};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask::Said,
        layout::{Choice, Here},
        settings::{self, Model, Part},
    },
};

/// The pages, in the order of their navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    Account,
    People,
    Security,
    SecondFactor,
    Sessions,
    Activity,
    Export,
    Erase,
    System,
}

const TABS: [Tab; 9] = [
    Tab::Account,
    Tab::People,
    Tab::Security,
    Tab::SecondFactor,
    Tab::Sessions,
    Tab::Activity,
    Tab::System,
    Tab::Export,
    Tab::Erase,
];

impl Tab {
    pub const fn address(self) -> &'static str {
        match self {
            Self::Account => "/settings",
            Self::People => "/settings/people",
            Self::Security => "/settings/security",
            Self::SecondFactor => "/settings/second-factor",
            Self::Sessions => "/settings/sessions",
            Self::Activity => "/settings/activity",
            Self::Export => "/settings/export",
            Self::Erase => "/settings/delete",
            Self::System => "/settings/system",
        }
    }

    /// The key of its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::People => "people",
            Self::Security => "security",
            Self::SecondFactor => "second-factor",
            Self::Sessions => "sessions",
            Self::Activity => "activity",
            Self::Export => "export",
            Self::Erase => "erase",
            Self::System => "system",
        }
    }

    /// Whether only who administers the account goes there.
    pub const fn is_for_owners(self) -> bool {
        matches!(self, Self::People | Self::Activity | Self::Export | Self::Erase | Self::System)
    }
}

/// The choice among the pages that the member may go to.
pub fn tabs(viewer: &Viewer, writer: &Writer, tab: Tab) -> (String, Vec<Choice>) {
    let may = |tab: &&Tab| !tab.is_for_owners() || viewer.may(Act::Administer);
    let choice =
        |to: &Tab| Choice { address: to.address().to_owned(), text: writer.say(to.name()), is_chosen: *to == tab };
    (writer.say("settings"), TABS.iter().filter(may).map(choice).collect())
}

/// A page of the settings; 400 where it says that what was sent is wrong.
pub async fn page(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    tab: Tab,
    said: Option<Said>,
    parts: Vec<Part>,
) -> Result<HttpResponse, PageError> {
    let title = writer.say(tab.name());
    let is_refused = said.as_ref().is_some_and(|said| said.is_fault);
    let status = if is_refused { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let model = Model {
        shell: shell(viewer, state, writer, Here::Settings, title.clone()).await?,
        title,
        tabs: tabs(viewer, writer, tab),
        said,
        parts,
    };
    Ok(html_with(status, settings::page(&model)))
}

/// A sentence that says what was done.
pub fn done(writer: &Writer, text: &str) -> Option<Said> {
    Some(Said { is_fault: false, text: writer.say(text) })
}

/// A sentence that says what is wrong.
pub fn fault(text: String) -> Option<Said> {
    Some(Said { is_fault: true, text })
}
