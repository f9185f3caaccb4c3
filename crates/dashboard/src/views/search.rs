//! A field that looks something up: a GET form, so that what was looked for is in the address.

use maud::{Markup, html};

pub struct Search {
    pub address: &'static str,
    pub label: String,
    pub text: String,
    pub go: String,
}

pub fn search(search: &Search) -> Markup {
    html! {
        form.filters role="search" action=(search.address) {
            div.field {
                label for="q" { (search.label) }
                input #q type="search" name="q" value=(search.text) maxlength="100" data-key="/";
            }
            button.btn { (search.go) }
        }
    }
}
