//! Figures in a row: of which one can be chosen, or by themselves.

use maud::{Markup, html};

/// A figure that can be chosen.
pub struct Figure {
    pub address: String,
    pub is_chosen: bool,
    pub fact: Fact,
}

/// A figure with its name.
pub struct Fact {
    pub name: String,
    pub text: String,
    /// The number as the API has it; none where it is not known.
    pub value: Option<String>,
    pub change: Option<Moved>,
    /// What it is seen beside.
    pub below: Option<String>,
}

/// How a figure moved: the direction, and whether that is good, are two things.
pub struct Moved {
    pub class: &'static str,
    pub text: String,
    pub word: String,
}

/// A number is not broken within its digits where there is little room: a long one is smaller.
fn class(text: &str) -> &'static str {
    const LONG: usize = 10;
    // The sign is as wide as two digits.
    let width = text.chars().count() + text.matches('%').count();
    if width >= LONG && !text.contains(' ') { "v long" } else { "v" }
}

/// Figures of which one is chosen.
pub fn choices(label: &str, figures: &[Figure]) -> Markup {
    html! {
        ul.figs aria-label=(label) {
            @for Figure { address, is_chosen, fact } in figures {
                li {
                    a href=(address) aria-current=[is_chosen.then_some("true")] {
                        span.k { (fact.name) }
                        span class=(class(&fact.text)) data-value=[fact.value.as_deref()] { (fact.text) }
                        @if let Some(change) = &fact.change { (moved(change)) }
                        @if let Some(below) = &fact.below { " " small { (below) } }
                    }
                }
            }
        }
    }
}

/// Figures by themselves.
pub fn facts(facts: &[Fact]) -> Markup {
    html! {
        dl.figs {
            @for fact in facts {
                div {
                    dt { (fact.name) }
                    dd class=(class(&fact.text)) data-value=[fact.value.as_deref()] { (fact.text) }
                    @if fact.change.is_some() || fact.below.is_some() {
                        dd {
                            @if let Some(change) = &fact.change { (moved(change)) }
                            @if let Some(below) = &fact.below { " " small { (below) } }
                        }
                    }
                }
            }
        }
    }
}

pub fn moved(change: &Moved) -> Markup {
    html! { span class=(change.class) { (change.text) span.vh { " " (change.word) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_amount_is_smaller_and_words_are_not() {
        let drawn = |text: &str| {
            let fact =
                Fact { name: "Revenue".into(), text: text.into(), value: Some("1".into()), change: None, below: None };
            facts(&[fact]).into_string()
        };
        assert!(drawn("9.250.000").contains("<dd class=\"v\" data-value=\"1\">9.250.000</dd>"));
        assert!(drawn("\u{2212}9.250.000").contains("class=\"v long\""));
        assert!(drawn("\u{2212}4,462.9%").contains("class=\"v long\"") && !drawn("\u{2212}10.1%").contains("long"));
        assert!(drawn("22 Nov, 19:30").contains("class=\"v\""));
    }
}
