//! What ads show, and which of it sells better.

use maud::{Markup, html};

use super::{
    layout::{Choice, Shell, page as whole, segments},
    panel::{Panel, panel},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub statuses: (String, Vec<Choice>),
    pub days: (String, Vec<Choice>),
    /// What a verdict is not.
    pub caveat: String,
    pub head: Vec<Head>,
    pub found: Panel<Row>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.place) } }
                div.tools {
                    (segments(&model.statuses.0, &model.statuses.1))
                    (segments(&model.days.0, &model.days.1))
                }
            }
            p.soft { (model.caveat) }
            (panel(&model.found, |items| rows(&model.head, items)))
        },
    )
}
