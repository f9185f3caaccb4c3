//! Stock.

use maud::{Markup, html};

use super::{
    figures::{Figure, choices},
    layout::{Shell, page as whole},
    panel::{Panel, panel},
    rows::{Head, Row, rows},
    search::{Search, search},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub search: Search,
    pub states_label: String,
    pub states: Vec<Figure>,
    pub head: Vec<Head>,
    pub items: Panel<Row>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.place) } }
                div.tools { (search(&model.search)) }
            }
            (choices(&model.states_label, &model.states))
            (panel(&model.items, |items| rows(&model.head, items)))
        },
    )
}
