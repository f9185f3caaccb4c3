//! One connected profile.

use maud::{Markup, html};

use super::{
    connect::{Form, form},
    figures::{Fact, facts},
    layout::{Shell, page as whole},
    panel::{Panel, Way, panel},
    rows::{Badge, Head, Row, badge, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub crumb: Way,
    pub channel: String,
    pub state: Badge,
    /// What was just done.
    pub done: Option<String>,
    pub facts: Vec<Fact>,
    pub missing_title: String,
    pub missing: Vec<String>,
    /// Connects it again.
    pub again: Option<Form>,
    pub head: Vec<Head>,
    pub permissions: Panel<Row>,
    pub ending: Option<Ending>,
}

/// What ends a profile.
pub struct Ending {
    pub address: String,
    pub title: String,
    /// What that means, and the words of the button that does it.
    pub what: String,
    pub go: String,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.crumb.address) { (model.crumb.text) } " / " (model.channel) }
                    h1 { (model.title) }
                    p { (badge(&model.state)) }
                }
            }
            @if let Some(done) = &model.done { div.note.good.since role="status" { (done) } }
            (facts(&model.facts))
            @if !model.missing.is_empty() {
                section.panel aria-labelledby="h-missing" {
                    header { h2 #h-missing { (model.missing_title) } }
                    ul.stack { @for sentence in &model.missing { li.note { (sentence) } } }
                }
            }
            (panel(&model.permissions, |items| rows(&model.head, items)))
            @if let Some(again) = &model.again { (form(again)) }
            @if let Some(ending) = &model.ending { (end(ending)) }
        },
    )
}

/// Asks once more before it ends.
fn end(ending: &Ending) -> Markup {
    html! {
        section.panel aria-labelledby="h-disconnect" {
            header { h2 #h-disconnect { (ending.title) } }
            p { (ending.what) }
            form.acts.gap method="post" action=(ending.address) { button.btn.danger { (ending.go) } }
        }
    }
}
