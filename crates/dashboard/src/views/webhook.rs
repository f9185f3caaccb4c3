//! One webhook subscription, and what was sent to it.

use maud::{Markup, html};

use super::{
    figures::{Fact, facts},
    form::{Filters, Form, filters, section},
    layout::{Shell, page as whole},
    panel::{Foot, Panel, Way, foot, panel},
    rows::{Badge, Head, Row, done, heading, rows},
    secret::{Once, once},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub back: Way,
    pub state: Badge,
    /// What the state means, and what follows from it.
    pub about: String,
    /// A secret that was just put in place.
    pub once: Option<Once>,
    /// What was just done.
    pub done: Option<String>,
    pub facts: Vec<Fact>,
    /// Below the facts.
    pub foot: Foot,
    pub filters: Filters,
    pub head: Vec<Head>,
    pub deliveries: Panel<Row>,
    /// What can be done about it, by who may.
    pub forms: Vec<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            (heading(&model.back, &model.title, std::slice::from_ref(&model.state), &model.about, None))
            @if let Some(secret) = &model.once { (once(secret)) }
            (done(model.done.as_ref()))
            (facts(&model.facts))
            (foot(&model.foot))
            (filters(&model.filters))
            (panel(&model.deliveries, |listed| rows(&model.head, listed)))
            @for form in &model.forms { (section(form)) }
        },
    )
}
