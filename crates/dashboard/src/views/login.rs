//! Logging in.

use maud::{Markup, html};

use super::plain::{Plain, plain};

pub struct Model {
    pub plain: Plain,
    pub needed: String,
    pub how: String,
}

pub fn page(model: &Model) -> Markup {
    plain(&model.plain, &html! { div.stack { p { (model.needed) } p { (model.how) } } })
}
