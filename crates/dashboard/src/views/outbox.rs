//! Mails that were put aside.

use maud::{Markup, html};

use super::plain::{Plain, plain};

pub struct Model {
    pub plain: Plain,
    pub what: String,
    pub nothing: String,
    pub items: Vec<Item>,
}

pub struct Item {
    pub subject: String,
    pub to: String,
    pub lines: Vec<Line>,
}

pub enum Line {
    Text(String),
    /// The address of a page of ours.
    Link(String),
}

pub fn page(model: &Model) -> Markup {
    plain(
        &model.plain,
        &html! {
            div.stack {
                p.soft { (model.what) }
                @if model.items.is_empty() { p { (model.nothing) } }
                @for mail in &model.items {
                    section.stack {
                        h2 { (mail.subject) }
                        p.soft { (mail.to) }
                        pre { @for one in &mail.lines { (line(one)) "\n" } }
                    }
                }
            }
        },
    )
}

fn line(line: &Line) -> Markup {
    match line {
        Line::Text(text) => html! { (text) },
        Line::Link(address) => html! { a href=(address) { (address) } },
    }
}
