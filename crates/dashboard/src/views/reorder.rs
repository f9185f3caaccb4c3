//! What to buy again.

use maud::{Markup, html};

use super::{
    acts::{Acts, Decided, acts, decided},
    layout::{Choice, Shell, page as whole, segments},
    panel::{Panel, Table, figures, panel},
    rows::{Badge, Head, Row, badge, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub statuses: (String, Vec<Choice>),
    pub decided: Option<Decided>,
    /// What the numbers behind a suggestion are called.
    pub basis: String,
    pub day_head: Vec<Head>,
    /// What all that is to be ordered comes to, by the day.
    pub days: Option<Panel<Row>>,
    pub items: Panel<Item>,
}

pub struct Item {
    pub title: String,
    pub reason: String,
    pub warning: Option<Badge>,
    pub about: String,
    /// As it is written, as the API has it, and what it counts.
    pub quantity: (String, String, String),
    pub basis: Option<Table>,
    pub acts: Option<Acts>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.place) } }
                div.tools { (segments(&model.statuses.0, &model.statuses.1)) }
            }
            @if let Some(change) = &model.decided { (decided(change)) }
            @if let Some(days) = &model.days { (panel(days, |items| rows(&model.day_head, items))) }
            (panel(&model.items, |items| html! { ol.items { @for (number, one) in items.iter().enumerate() { (item(number, &model.basis, one)) } } }))
        },
    )
}

fn item(number: usize, basis: &str, item: &Item) -> Markup {
    let title = format!("h-item-{number}");
    let (quantity, value, units) = &item.quantity;
    html! {
        li {
            h3 id=(title) { (item.title) @if let Some(warning) = &item.warning { " " (badge(warning)) } }
            p { (item.reason) }
            p { small { (item.about) } }
            div.num { span data-value=(value) { (quantity) } small { (units) } }
            @if let Some(table) = &item.basis { details { summary { (basis) } (figures(table)) } }
            @if let Some(buttons) = &item.acts { (acts(buttons, Some(&title))) }
        }
    }
}
