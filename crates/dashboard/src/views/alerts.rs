//! Alert rules, and trying one out before it is made.

use maud::{Markup, html};

use super::{
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::{Panel, Way, panel},
    rows::{Head, Row, done, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub about: String,
    /// What was just done.
    pub done: Option<String>,
    /// A rule that is tried out.
    pub trial: Option<Trial>,
    pub head: Vec<Head>,
    pub rules: Panel<Row>,
    /// For who may make a rule.
    pub making: Option<Making>,
}

/// How a rule would have done.
pub struct Trial {
    pub title: String,
    pub sentence: String,
    /// The days on which it would have fired, with what it would have seen.
    pub crossings: Vec<(String, String)>,
    /// Makes it.
    pub form: Option<Form>,
}

pub struct Making {
    pub ready_title: String,
    pub ready: Vec<Way>,
    pub form: Form,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { h1 { (model.title) } p.soft { (model.about) } } }
            (done(model.done.as_ref()))
            @if let Some(one) = &model.trial { (trial(one)) }
            (panel(&model.rules, |listed| rows(&model.head, listed)))
            @if let Some(making) = &model.making {
                section.panel.stack aria-labelledby="h-ready" {
                    header { h2 id="h-ready" { (making.ready_title) } }
                    p.acts { @for way in &making.ready { a.btn href=(way.address) { (way.text) } } }
                }
                (section(&making.form))
            }
        },
    )
}

pub fn trial(trial: &Trial) -> Markup {
    html! {
        section.note.stack.once aria-labelledby="h-trial" {
            h2 id="h-trial" { (trial.title) }
            p { (trial.sentence) }
            @if !trial.crossings.is_empty() {
                ul { @for (day, seen) in &trial.crossings { li { (day) ": " b { (seen) } } } }
            }
            @if let Some(form) = &trial.form { (section(form)) }
        }
    }
}
