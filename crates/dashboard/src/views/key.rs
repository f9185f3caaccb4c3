//! What can be done about one API key.

use maud::{Markup, html};

use super::{
    figures::{Fact, facts},
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::Way,
    secret::{Once, once},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub back: Way,
    pub facts: Vec<Fact>,
    /// The key that took its place.
    pub once: Option<Once>,
    pub forms: Vec<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { small.crumb { a href=(model.back.address) { (model.back.text) } } h1 { (model.title) } } }
            @if let Some(key) = &model.once { (once(key)) }
            (facts(&model.facts))
            @for form in &model.forms { (section(form)) }
        },
    )
}
