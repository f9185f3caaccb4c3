//! What the pages of a connected shop and of a connected profile have in common.

use maud::{Markup, html};

/// What ends a connection.
pub struct Ending {
    pub address: String,
    pub title: String,
    /// What that means, and the words of the button that does it.
    pub what: String,
    pub go: String,
}

/// What the owner should see to, a sentence each.
pub fn missing(title: &str, sentences: &[String]) -> Markup {
    html! {
        @if !sentences.is_empty() {
            section.panel aria-labelledby="h-missing" {
                header { h2 #h-missing { (title) } }
                ul.stack { @for sentence in sentences { li.note { (sentence) } } }
            }
        }
    }
}

/// Asks once more before it ends.
pub fn end(ending: &Ending) -> Markup {
    html! {
        section.panel aria-labelledby="h-disconnect" {
            header { h2 #h-disconnect { (ending.title) } }
            p { (ending.what) }
            form.acts.gap method="post" action=(ending.address) { button.btn.danger { (ending.go) } }
        }
    }
}
