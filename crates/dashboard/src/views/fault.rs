//! The page of an error.

use maud::{Markup, html};

use super::plain::{Plain, plain};

pub struct Model {
    pub plain: Plain,
    pub what: String,
    pub back: String,
    /// Words of a link to the same page, where trying again may help.
    pub again: Option<String>,
}

pub fn page(model: &Model) -> Markup {
    plain(
        &model.plain,
        &html! {
            div.stack {
                p.note.bad role="alert" { (model.what) }
                p.acts {
                    @if let Some(again) = &model.again { a.btn.main href="" { (again) } }
                    a.btn href="/" { (model.back) }
                }
            }
        },
    )
}
