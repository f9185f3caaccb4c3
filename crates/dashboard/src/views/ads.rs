//! What was spent on advertising.

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
    pub levels: (String, Vec<Choice>),
    pub days: (String, Vec<Choice>),
    /// What the figures lack.
    pub lacks: Vec<String>,
    pub totals_head: Vec<Head>,
    pub totals: Panel<Row>,
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
                    (segments(&model.levels.0, &model.levels.1))
                    (segments(&model.days.0, &model.days.1))
                }
            }
            @for lack in &model.lacks { p { (lack) } }
            (panel(&model.totals, |items| rows(&model.totals_head, items)))
            (panel(&model.found, |items| rows(&model.head, items)))
        },
    )
}
