//! What is shown once, in the answer to the form that made it.

use maud::{Markup, html};

use super::panel::Way;

pub struct Once {
    pub title: String,
    /// That it is not shown again.
    pub warning: String,
    /// What it is called for who does not see it.
    pub label: String,
    pub value: String,
    pub copy: String,
    /// What can be done with it, and how: words with a command or a program, each.
    pub uses: Vec<(String, String)>,
    /// Where to go on.
    pub saved: Way,
}

pub fn once(once: &Once) -> Markup {
    html! {
        section.note.good.stack.once aria-labelledby="h-once" {
            h2 id="h-once" { (once.title) }
            p { (once.warning) }
            div.secret {
                input.mono id="once" type="text" readonly aria-label=(once.label) value=(once.value);
                button.btn.main type="button" data-copy="once" hidden { (once.copy) }
            }
            @for (words, how) in &once.uses { p { (words) } pre { (how) } }
            a.btn href=(once.saved.address) { (once.saved.text) }
        }
    }
}
