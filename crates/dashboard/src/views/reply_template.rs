//! One template of answers: what it says, its versions, and what can be done about it.

use maud::{Markup, html};

use super::{
    bot::{Standing, standing},
    figures::{Fact, facts},
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::{Panel, Way, panel},
    rows::{Badge, Head, Row, done, heading, rows},
};

pub struct Model {
    pub shell: Shell,
    pub back: Way,
    pub title: String,
    pub state: Badge,
    pub about: String,
    pub standing: Standing,
    /// What was just done.
    pub done: Option<String>,
    pub facts: Vec<Fact>,
    pub preview: Preview,
    /// What can be done about the newest version, by who may.
    pub acts: Vec<Form>,
    pub head: Vec<Head>,
    pub versions: Panel<Row>,
    /// What can be changed, by who may.
    pub forms: Vec<Form>,
}

/// The newest version with its placeholders filled.
pub struct Preview {
    pub title: String,
    pub about: String,
    pub texts: Vec<String>,
    /// That some of them need a link, and there is none.
    pub lacks: Option<Way>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            (heading(&model.back, &model.title, std::slice::from_ref(&model.state), &model.about, None))
            (standing(&model.standing))
            (done(model.done.as_ref()))
            (facts(&model.facts))
            (preview(&model.preview))
            @for form in &model.acts { (section(form)) }
            (panel(&model.versions, |listed| rows(&model.head, listed)))
            @for form in &model.forms { (section(form)) }
        },
    )
}

fn preview(preview: &Preview) -> Markup {
    html! {
        section.panel.stack aria-labelledby="h-preview" {
            header { h2 id="h-preview" { (preview.title) } }
            p.soft { (preview.about) }
            @for text in &preview.texts { blockquote { (text) } }
            @if let Some(lacks) = &preview.lacks { p { a href=(lacks.address) { (lacks.text) } } }
        }
    }
}
