//! Conversations under the shop's posts.

use maud::{Markup, html};

use super::{
    acts::{Acts, acts},
    bot::{Standing, head, standing},
    figures::{Figure, choices},
    form::{Filters, filters},
    layout::{Choice, Shell, page as whole},
    panel::{Panel, panel},
    rows::{Badge, badge, done},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub tabs: (String, Vec<Choice>),
    pub standing: Standing,
    /// What was just done.
    pub done: Option<String>,
    pub counts: (String, Vec<Figure>),
    pub filters: Filters,
    pub found: Panel<Item>,
}

/// A conversation of the list.
pub struct Item {
    pub address: String,
    pub name: String,
    /// The newest message, or that its text is gone.
    pub text: String,
    pub badges: Vec<Badge>,
    pub about: String,
    /// What the bot would send, with what that is called.
    pub answer: Option<(String, String)>,
    /// As it is written, as the API has it, and what it is.
    pub messages: (String, String, String),
    pub acts: Option<Acts>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            (head(&model.title, &model.place, &model.tabs))
            (standing(&model.standing))
            (done(model.done.as_ref()))
            (choices(&model.counts.0, &model.counts.1))
            (filters(&model.filters))
            (panel(&model.found, |items| html! { ol.items { @for (number, one) in items.iter().enumerate() { (item(number, one)) } } }))
        },
    )
}

fn item(number: usize, item: &Item) -> Markup {
    let title = format!("h-item-{number}");
    let (count, value, what) = &item.messages;
    html! {
        li {
            h3 { a href=(item.address) id=(title) { (item.name) } }
            p.said { (item.text) }
            @if let Some((label, text)) = &item.answer { p.said { b { (label) } " " (text) } }
            p { @for one in &item.badges { (badge(one)) " " } small { (item.about) } }
            div.num { span data-value=(value) { (count) } small { (what) } }
            @if let Some(buttons) = &item.acts { div.acts { (acts(buttons, Some(&title))) } }
        }
    }
}
