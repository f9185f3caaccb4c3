//! What the bot may do: its mode, what that has to be earned by, and its limits.

use maud::{Markup, html};

use super::{
    bot::{Standing, head, standing},
    figures::{Fact, facts},
    form::{Form, section},
    layout::{Choice, Shell, page as whole},
    panel::{Foot, foot},
    rows::done,
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub tabs: (String, Vec<Choice>),
    pub standing: Standing,
    /// What was just done.
    pub done: Option<String>,
    pub gate: Gate,
    /// The settings in words, for who may not change them.
    pub settings: Option<(String, Vec<(String, String)>)>,
    /// The settings as a form, for who may.
    pub form: Option<Form>,
}

/// Whether the mode that sends by itself was earned.
pub struct Gate {
    pub title: String,
    pub sentence: String,
    pub facts: Vec<Fact>,
    pub foot: Foot,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            (head(&model.title, &model.place, &model.tabs))
            (standing(&model.standing))
            (done(model.done.as_ref()))
            section.panel aria-labelledby="h-gate" {
                header { h2 id="h-gate" { (model.gate.title) } }
                p { (model.gate.sentence) }
                (facts(&model.gate.facts))
                (foot(&model.gate.foot))
            }
            @if let Some((title, listed)) = &model.settings {
                section.panel aria-labelledby="h-settings" {
                    header { h2 id="h-settings" { (title) } }
                    ul { @for (name, value) in listed { li { b { (name) } ": " (value) } } }
                }
            }
            @if let Some(form) = &model.form { (section(form)) }
        },
    )
}
