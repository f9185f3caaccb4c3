//! One alert rule.

use maud::{Markup, html};

use super::{
    alerts::{Trial, trial},
    figures::{Fact, facts},
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::{Foot, Way, foot},
    rows::{Badge, badge},
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
    pub trial: Trial,
    /// What can be done about it, by who may.
    pub forms: Vec<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.back.address) { (model.back.text) } }
                    h1 { (model.title) }
                    p.soft { (badge(&model.state)) " " (model.condition) }
                }
            }
            @if let Some(done) = &model.done { p.note.good.since role="status" { (done) } }
            (facts(&model.facts))
            (foot(&model.foot))
            (trial(&model.trial))
            @for form in &model.forms { (section(form)) }
        },
    )
}
