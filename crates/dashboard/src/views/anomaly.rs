//! One anomaly.

use maud::{Markup, html};

use super::{
    chart::{Chart, chart},
    figures::{Fact, facts},
    layout::{Shell, page as whole},
    panel::{Panel, Way, panel},
    rows::{Head, Row, rows},
};
use crate::parts::chart::{Part, part_bar};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub crumb: Way,
    pub day: String,
    /// For who may change something.
    pub acts: Vec<Way>,
    pub figures: Vec<Fact>,
    /// Why, a paragraph each.
    pub cause: Vec<String>,
    /// None where the days of the metric are not kept.
    pub chart: Option<Chart>,
    pub drivers: Panel<Node>,
    pub beside_head: Vec<Head>,
    pub beside: Panel<Row>,
    /// What moved with it, in a sentence.
    pub along: Option<String>,
}

/// A part of the deviation, with its own parts.
pub struct Node {
    pub name: String,
    pub note: Option<String>,
    pub bar: Part,
    pub share: String,
    /// The share as the API has it.
    pub value: String,
    /// What was observed instead of what was expected.
    pub seen: String,
    pub parts: Vec<Node>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.crumb.address) { (model.crumb.text) } " / " (model.day) }
                    h1 { (model.title) }
                }
                @if !model.acts.is_empty() { p.acts { @for act in &model.acts { a.btn href=(act.address) { (act.text) } } } }
            }
            @for paragraph in &model.cause { p.lead { (paragraph) } }
            div.gap { (facts(&model.figures)) }
            @if let Some(around) = &model.chart { (chart(around)) }
            (panel(&model.drivers, |nodes| html! { ul.tree { @for one in nodes { (node(one)) } } }))
            (panel(&model.beside, |items| rows(&model.beside_head, items)))
            @if let Some(along) = &model.along { p.soft { (along) } }
        },
    )
}

fn node(part: &Node) -> Markup {
    html! {
        li {
            div.row {
                span { (part.name) @if let Some(note) = &part.note { " " small { (note) } } }
                (part_bar(part.bar))
                b.num data-value=(part.value) { (part.share) }
                span.num.soft { (part.seen) }
            }
            @if !part.parts.is_empty() { ul { @for one in &part.parts { (node(one)) } } }
        }
    }
}
