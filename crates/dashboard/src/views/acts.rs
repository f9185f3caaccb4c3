//! What can be done about an item of a list: buttons of a form, that work without a script.

use maud::{Markup, html};

/// A form with a button for each decision.
pub struct Acts {
    pub address: String,
    pub hidden: Vec<(&'static str, String)>,
    /// The field that the buttons fill.
    pub name: &'static str,
    /// The value that a button sends, and its words.
    pub buttons: Vec<(&'static str, String)>,
}

pub fn acts(acts: &Acts) -> Markup {
    html! {
        form.acts method="post" action=(acts.address) {
            @for (name, value) in &acts.hidden { input type="hidden" name=(name) value=(value); }
            @for (value, words) in &acts.buttons { button.btn.small name=(acts.name) value=(value) { (words) } }
        }
    }
}

/// What was just done, and a way back.
pub struct Decided {
    pub text: String,
    pub acts: Acts,
}

pub fn decided(decided: &Decided) -> Markup {
    html! {
        div.note.good.acts.since role="status" { (decided.text) (acts(&decided.acts)) }
    }
}
