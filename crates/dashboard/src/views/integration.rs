//! One connected shop.

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
    pub platform: String,
    pub state: Badge,
    /// What was just done.
    pub done: Option<String>,
    pub facts: Vec<Fact>,
    pub missing_title: String,
    pub missing: Vec<String>,
    pub acts: Option<Acts>,
    /// Connects one that has ended again.
    pub again: Option<Form>,
    pub head: Vec<Head>,
    pub runs: Panel<Row>,
}

/// What can be done about a connection that goes on.
pub struct Acts {
    /// Where the form goes, and the words of its button.
    pub sync: (String, String),
    pub ending: Ending,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.crumb.address) { (model.crumb.text) } " / " (model.platform) }
                    h1 { (model.title) }
                    p { (badge(&model.state)) }
                }
                @if let Some(possible) = &model.acts {
                    form.tools method="post" action=(possible.sync.0) { button.btn.main { (possible.sync.1) } }
                }
            }
            @if let Some(done) = &model.done { div.note.good.since role="status" { (done) } }
            (facts(&model.facts))
            (missing(&model.missing_title, &model.missing))
            (panel(&model.runs, |items| rows(&model.head, items)))
            @if let Some(again) = &model.again { (form(again)) }
            @if let Some(possible) = &model.acts { (end(&possible.ending)) }
        },
    )
}
