//! The choices of a field.

use maud::{Markup, html};

pub struct Pick {
    pub value: String,
    pub text: String,
    pub is_chosen: bool,
}

pub fn options(picks: &[Pick]) -> Markup {
    html! { @for pick in picks { option value=(pick.value) selected[pick.is_chosen] { (pick.text) } } }
}
