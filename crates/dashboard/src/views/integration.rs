//! One connected shop.

use maud::{Markup, html};

use super::{
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
    pub head: Vec<Head>,
    pub runs: Panel<Row>,
}

/// What can be done about a connection that goes on.
pub struct Acts {
    /// Where the form goes, and the words of its button; the same below.
    pub sync: (String, String),
    pub disconnect: (String, String),
    /// What that means, and the words of the button that does it.
    pub disconnect_what: String,
    pub disconnect_go: String,
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
            @if !model.missing.is_empty() {
                section.panel aria-labelledby="h-missing" {
                    header { h2 #h-missing { (model.missing_title) } }
                    ul.stack { @for sentence in &model.missing { li.note { (sentence) } } }
                }
            }
            (panel(&model.runs, |items| rows(&model.head, items)))
            @if let Some(possible) = &model.acts { (disconnect(possible)) }
        },
    )
}

/// Asks once more before it ends.
fn disconnect(acts: &Acts) -> Markup {
    html! {
        section.panel aria-labelledby="h-disconnect" {
            header { h2 #h-disconnect { (acts.disconnect.1) } }
            p { (acts.disconnect_what) }
            form.acts.gap method="post" action=(acts.disconnect.0) { button.btn.danger { (acts.disconnect_go) } }
        }
    }
}
