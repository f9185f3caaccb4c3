//! API keys.

use maud::{Markup, html};

use super::{
    form::{Form, section},
    layout::{Choice, Shell, page as whole, segments},
    panel::{Panel, panel},
    rows::{Head, Row, done, rows},
    secret::{Once, once},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub about: String,
    pub states: (String, Vec<Choice>),
    /// A key that was just made.
    pub once: Option<Once>,
    /// What was just done.
    pub done: Option<String>,
    pub head: Vec<Head>,
    pub keys: Panel<Row>,
    /// For who may make one.
    pub form: Option<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.about) } }
                div.tools { (segments(&model.states.0, &model.states.1)) }
            }
            @if let Some(key) = &model.once { (once(key)) }
            (done(model.done.as_ref()))
            (panel(&model.keys, |keys| rows(&model.head, keys)))
            @if let Some(form) = &model.form { (section(form)) }
        },
    )
}
