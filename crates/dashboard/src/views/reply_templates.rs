//! The answers that people write and approve.

use maud::{Markup, html};

use super::{
    bot::{Standing, head, standing},
    form::{Filters, Form, filters, section},
    layout::{Choice, Shell, page as whole},
    panel::{Panel, panel},
    rows::{Head, Row, done, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub tabs: (String, Vec<Choice>),
    pub standing: Standing,
    /// What was just done.
    pub done: Option<String>,
    pub filters: Filters,
    pub head: Vec<Head>,
    pub found: Panel<Row>,
    /// For who may make one.
    pub making: Option<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            (head(&model.title, &model.place, &model.tabs))
            (standing(&model.standing))
            (done(model.done.as_ref()))
            (filters(&model.filters))
            (panel(&model.found, |listed| rows(&model.head, listed)))
            @if let Some(form) = &model.making { (section(form)) }
        },
    )
}
