//! One connected profile.

use maud::{Markup, html};

use super::{
    connect::{Form, form},
    connection::{Ending, end, missing},
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
            (missing(&model.missing_title, &model.missing))
            (panel(&model.permissions, |items| rows(&model.head, items)))
            @if let Some(again) = &model.again { (form(again)) }
            @if let Some(ending) = &model.ending { (end(ending)) }
        },
    )
}
