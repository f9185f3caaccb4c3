//! One day of profit.

use maud::{Markup, html};

use super::{
    layout::{Shell, page as whole},
    notes::{Notes, notes},
    panel::{Panel, Way, panel},
    rows::{Badge, Head, Row, badge, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub crumb: Way,
    pub day: String,
    pub place: String,
    pub earlier: Option<Way>,
    pub later: Option<Way>,
    /// What the two are.
    pub neighbours: String,
    pub notes: Notes,
    pub unusual_head: Vec<Head>,
    /// What was not as expected.
    pub unusual: Panel<Row>,
    pub figures: Panel<Item>,
}

/// A figure with how it came about.
pub struct Item {
    pub name: String,
    pub estimated: Option<Badge>,
    pub formula: String,
    /// Each with its name, as it is written, and as the API has it.
    pub inputs: Vec<(String, String, String)>,
    pub amount: String,
    pub value: Option<String>,
    /// Whether it is what all of them lead to.
    pub is_result: bool,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.crumb.address) { (model.crumb.text) } " / " (model.day) }
                    h1 { (model.title) }
                    p.soft { (model.place) }
                }
                nav.tools aria-label=(model.neighbours) {
                    @if let Some(earlier) = &model.earlier { a.btn href=(earlier.address) rel="prev" data-key="ArrowLeft" { "← " (earlier.text) } }
                    @if let Some(later) = &model.later { a.btn href=(later.address) rel="next" data-key="ArrowRight" { (later.text) " →" } }
                }
            }
            (notes(&model.notes))
            (panel(&model.unusual, |items| rows(&model.unusual_head, items)))
            (panel(&model.figures, |items| html! { ol.items { @for one in items { (item(one)) } } }))
        },
    )
}

fn item(item: &Item) -> Markup {
    html! {
        li {
            h3 { (item.name) @if let Some(state) = &item.estimated { " " (badge(state)) } }
            p { (item.formula) }
            div.num { @if item.is_result { b data-value=[item.value.as_deref()] { (item.amount) } } @else { span data-value=[item.value.as_deref()] { (item.amount) } } }
            @if !item.inputs.is_empty() {
                p {
                    @for (index, (name, written, value)) in item.inputs.iter().enumerate() {
                        @if index > 0 { " · " }
                        (name) " = " b data-value=(value) { (written) }
                    }
                }
            }
        }
    }
}
