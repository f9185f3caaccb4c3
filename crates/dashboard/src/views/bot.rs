//! What the bot may do, on every page of conversations, with what stops it.

use maud::{Markup, html};

use super::{
    layout::{Choice, segments},
    rows::{Badge, badge},
};

pub struct Standing {
    pub mode: Badge,
    /// What the mode means.
    pub text: String,
    /// Why it is not what was chosen.
    pub blocked: Option<String>,
    /// The words of the button that turns it off; none where it is off, or for who may not.
    pub stop: Option<String>,
}

/// The head of a page: its title and the ways to the other pages of conversations.
pub fn head(title: &str, place: &str, tabs: &(String, Vec<Choice>)) -> Markup {
    html! {
        div.head {
            div { h1 { (title) } p.soft { (place) } }
            div.tools { (segments(&tabs.0, &tabs.1)) }
        }
    }
}

pub fn standing(standing: &Standing) -> Markup {
    html! {
        div.note.acts.since {
            span { (badge(&standing.mode)) " " (standing.text) }
            @if let Some(blocked) = &standing.blocked { span { (blocked) } }
            @if let Some(words) = &standing.stop {
                form method="post" action="/conversations/stop" { button.btn.danger { (words) } }
            }
        }
    }
}
