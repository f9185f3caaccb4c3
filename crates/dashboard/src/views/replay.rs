//! How many deliveries a replay would send, before it does.

use maud::{Markup, html};

use super::{
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::Way,
};

pub struct Model {
    pub shell: Shell,
    pub back: Way,
    pub title: String,
    pub form: Form,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { small.crumb { a href=(model.back.address) { (model.back.text) } } h1 { (model.title) } } }
            (section(&model.form))
        },
    )
}
