//! One alert rule.

use maud::{Markup, html};

use super::{
    alerts::{Trial, trial},
    figures::{Fact, facts},
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::{Foot, Panel, Way, foot, panel},
    rows::{Badge, Head, Row, done, heading, rows},
};

pub struct Model {
    pub shell: Shell,
    pub back: Way,
    pub title: String,
    pub state: Badge,
    pub condition: String,
    /// What was just done.
    pub done: Option<String>,
    pub facts: Vec<Fact>,
    pub foot: Foot,
    pub firing_head: Vec<Head>,
    pub firings: Panel<Row>,
    pub trial: Trial,
    /// What can be done about it, by who may.
    pub forms: Vec<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            (heading(&model.back, &model.title, std::slice::from_ref(&model.state), &model.condition, None))
            (done(model.done.as_ref()))
            (facts(&model.facts))
            (foot(&model.foot))
            (panel(&model.firings, |items| rows(&model.firing_head, items)))
            (trial(&model.trial))
            @for form in &model.forms { (section(form)) }
        },
    )
}
