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
    pub copied: String,
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
                button.btn.main type="button" data-copy="once" data-done=(once.copied) aria-live="polite" hidden {
                    (once.copy)
                }
            }
            @for (words, how) in &once.uses { p { (words) } pre { (how) } }
            a.btn href=(once.saved.address) { (once.saved.text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_it_was_copied_is_said() {
        let text = |text: &str| text.to_owned();
        let saved = Way { text: text("Saved"), address: text("/keys") };
        let (title, warning, label, value) = (text("Key"), text("Once"), text("The key"), text("svc"));
        let shown =
            Once { title, warning, label, value, copy: text("Copy"), copied: text("Copied"), uses: vec![], saved };
        let drawn = once(&shown).into_string();
        assert!(drawn.contains(r#"data-copy="once" data-done="Copied" aria-live="polite" hidden>Copy<"#), "{drawn}");
    }
}
