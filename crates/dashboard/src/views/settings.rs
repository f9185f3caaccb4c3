//! The pages of the settings: a navigation of their own, and panels of texts, rows and forms.

use maud::{Markup, html};

use super::{
    ask::{self, Form, Said, said},
    form::{Filters, filters},
    layout::{Choice, Shell, page as whole, segments},
    panel::Way,
    rows::{Beside, beside},
};
use crate::parts::qr::{Code, qr};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    /// What the choice of pages is called, and the pages.
    pub tabs: (String, Vec<Choice>),
    pub said: Option<Said>,
    pub parts: Vec<Part>,
}

/// A panel.
pub struct Part {
    /// Of its title; ids of its fields begin with it.
    pub id: &'static str,
    pub title: String,
    pub paragraphs: Vec<String>,
    pub shown: Option<Shown>,
    /// What narrows the rows.
    pub filters: Option<Filters>,
    pub rows: Vec<Row>,
    pub forms: Vec<Form>,
    pub ways: Vec<Way>,
}

impl Part {
    pub const fn new(id: &'static str, title: String, paragraphs: Vec<String>) -> Self {
        Self {
            id,
            title,
            paragraphs,
            shown: None,
            filters: None,
            rows: Vec::new(),
            forms: Vec::new(),
            ways: Vec::new(),
        }
    }
}

/// What is shown once.
pub enum Shown {
    /// A secret as a picture, with what it is called, and as a text.
    Secret {
        code: Code,
        label: String,
        text: String,
    },
    Codes(Vec<String>),
}

/// Something of a list, with what can be done about it.
pub struct Row {
    pub name: String,
    pub about: Beside,
    pub forms: Vec<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } }
                div.tools { (segments(&model.tabs.0, &model.tabs.1)) }
            }
            @if let Some(text) = &model.said { (said(text)) }
            @for one in &model.parts { (part(one)) }
        },
    )
}

pub fn part(part: &Part) -> Markup {
    html! {
        section.panel.stack aria-labelledby=(part.id) {
            header { h2 id=(part.id) { (part.title) } }
            @for paragraph in &part.paragraphs { p { (paragraph) } }
            @if let Some(one) = &part.shown { (shown(one)) }
            @if let Some(form) = &part.filters { (filters(form)) }
            @if !part.rows.is_empty() {
                ol.items { @for (index, one) in part.rows.iter().enumerate() { li { (row(&format!("{}-{index}-", part.id), one)) } } }
            }
            @for (index, form) in part.forms.iter().enumerate() { (ask::form(&format!("{}-{index}-", part.id), form, None)) }
            @for way in &part.ways { p { a href=(way.address) { (way.text) } } }
        }
    }
}

fn row(id: &str, row: &Row) -> Markup {
    let title = format!("{id}title");
    html! {
        h3 id=[(!row.forms.is_empty()).then_some(&title)] { (row.name) }
        p { (beside(&row.about)) }
        @if !row.forms.is_empty() {
            div.acts { @for (index, form) in row.forms.iter().enumerate() { (ask::form(&format!("{id}{index}-"), form, Some(&title))) } }
        }
    }
}

fn shown(shown: &Shown) -> Markup {
    match shown {
        Shown::Secret { code, label, text } => html! {
            (qr(code, label))
            p { code { (text) } }
        },
        Shown::Codes(codes) => html! { pre { @for code in codes { (code) "\n" } } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buttons_of_a_row_are_read_out_with_its_name() {
        let remove =
            || Form { action: "/x".into(), hidden: vec![], fields: vec![], go: "Remove".into(), is_danger: true };
        let row = |name: &str| Row { name: name.into(), about: "Editor".to_owned().into(), forms: vec![remove()] };
        let members = Part { rows: vec![row("Ana"), row("Eva")], ..Part::new("h-members", "Members".into(), vec![]) };
        let drawn = part(&members).into_string();
        for number in 0..2 {
            let (button, title) = (format!("h-members-{number}-0-go"), format!("h-members-{number}-title"));
            assert!(drawn.contains(&format!(r#"<h3 id="{title}">"#)), "{drawn}");
            assert!(drawn.contains(&format!(r#"id="{button}" aria-labelledby="{button} {title}""#)), "{drawn}");
        }
    }
}
