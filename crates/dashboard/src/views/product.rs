//! One product.

use maud::{Markup, html};

use super::{
    chart::{Chart, chart},
    figures::{Fact, facts},
    layout::{Shell, page as whole},
    panel::{Panel, Way, panel},
    rows::{Badge, Head, Row, badge, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub crumb: Way,
    pub sku: String,
    pub place: String,
    pub state: Badge,
    pub facts: Vec<Fact>,
    pub head: Vec<Head>,
    pub lasts: Panel<Row>,
    pub reorder: Option<Reorder>,
    pub chart: Chart,
}

/// What to order, and where that is decided.
pub struct Reorder {
    pub title: String,
    pub reason: String,
    pub way: Way,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.crumb.address) { (model.crumb.text) } " / " (model.sku) }
                    h1 { (model.title) }
                    p.soft { (model.place) }
                    p { (badge(&model.state)) }
                }
            }
            (facts(&model.facts))
            @if let Some(one) = &model.reorder {
                section.note aria-labelledby="h-order" {
                    h2 #h-order { (one.title) }
                    p { (one.reason) }
                    p.acts.gap { a.btn href=(one.way.address) { (one.way.text) } }
                }
            }
            (panel(&model.lasts, |items| rows(&model.head, items)))
            (chart(&model.chart))
        },
    )
}
