//! Days that were not as expected.

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
    pub days: (String, Vec<Choice>),
    pub severities: (String, Vec<Choice>),
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
                    (segments(&model.severities.0, &model.severities.1))
                    (segments(&model.days.0, &model.days.1))
                }
            }
            (panel(&model.found, |items| rows(&model.head, items)))
        },
    )
}
