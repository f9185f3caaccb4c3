//! The link that opens a shop.

use maud::{Markup, html};

use super::plain::{Plain, plain};

pub struct Model {
    pub plain: Plain,
    pub what: String,
    /// Words of the button; none where the link no longer works.
    pub go: Option<String>,
}

pub fn page(model: &Model) -> Markup {
    plain(
        &model.plain,
        &html! {
            div.stack {
                p { (model.what) }
                @if let Some(go) = &model.go {
                    form method="post" { button.btn.main.full { (go) } }
                }
            }
        },
    )
}
