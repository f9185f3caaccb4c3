//! Profit.

use maud::{Markup, html};

use super::{
    figures::{Fact, facts},
    layout::{Choice, Periods, Shell, menu, page as whole, periods},
    panel::{Panel, panel},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub window: String,
    pub period: Periods,
    pub compare: (String, Vec<Choice>),
    /// What the figures rest on that is not told.
    pub lacks: Vec<String>,
    pub figures: Vec<Fact>,
    pub way_head: Vec<Head>,
    pub way: Panel<Row>,
    pub days_head: Vec<Head>,
    pub days: Panel<Row>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.window) } }
                div.tools {
                    (periods(&model.period))
                    (menu(&model.compare.0, &model.compare.1))
                }
            }
            (facts(&model.figures))
            @for lack in &model.lacks { p.soft { (lack) } }
            (panel(&model.way, |items| rows(&model.way_head, items)))
            (panel(&model.days, |items| rows(&model.days_head, items)))
        },
    )
}
