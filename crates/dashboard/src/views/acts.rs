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

/// The buttons; `of` is the id of the heading of what they are about, by which those of one list are told apart when they are
/// read out.
pub fn acts(acts: &Acts, of: Option<&str>) -> Markup {
    html! {
        form.acts method="post" action=(acts.address) {
            @for (name, value) in &acts.hidden { input type="hidden" name=(name) value=(value); }
            @for (number, (value, words)) in acts.buttons.iter().enumerate() {
                @let id = of.map(|of| format!("{of}-{number}"));
                button.btn.small id=[&id] name=(acts.name) value=(value) aria-labelledby=[labels(id.as_deref(), of)] { (words) }
            }
        }
    }
}

/// What a button is read out as: its words, then the heading of what it is about.
pub fn labels(button: Option<&str>, of: Option<&str>) -> Option<String> {
    button.zip(of).map(|(button, of)| format!("{button} {of}"))
}

/// What was just done, and a way back.
pub struct Decided {
    pub text: String,
    pub acts: Acts,
}

pub fn decided(decided: &Decided) -> Markup {
    html! {
        div.note.good.acts.since role="status" { (decided.text) (acts(&decided.acts, None)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_of_a_list_are_read_out_with_what_they_are_about() {
        let done = Acts {
            address: "/insights/7".into(),
            hidden: vec![],
            name: "to",
            buttons: vec![("resolved", "Done".into()), ("dismissed", "Dismiss".into())],
        };
        let drawn = acts(&done, Some("h-7")).into_string();
        for id in ["h-7-0", "h-7-1"] {
            assert!(drawn.contains(&format!(r#"id="{id}""#)), "{drawn}");
            assert!(drawn.contains(&format!(r#"aria-labelledby="{id} h-7""#)), "{drawn}");
        }
        assert!(!acts(&done, None).into_string().contains("aria-labelledby"));
    }
}
