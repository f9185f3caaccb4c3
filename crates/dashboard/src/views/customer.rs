//! One customer.

use maud::{Markup, html};

use super::{
    figures::{Fact, facts},
    layout::{Shell, page as whole},
    panel::{Foot, Panel, Way, foot, panel},
    rows::{Beside, Head, Row, beside, rows},
    settings::{Part, part},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub crumb: Way,
    pub about: Beside,
    pub place: String,
    pub segment: String,
    pub segment_what: String,
    pub facts_title: String,
    pub facts: Vec<Fact>,
    pub foot: Foot,
    pub head: Vec<Head>,
    pub orders: Panel<Row>,
    /// What the customer may ask for.
    pub privacy: Option<Part>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.crumb.address) { (model.crumb.text) } " / " (beside(&model.about)) }
                    h1 { (model.title) }
                    p.soft { (model.place) }
                    p { span.badge { (model.segment) } " " small { (model.segment_what) } }
                }
            }
            section.panel aria-labelledby="h-worth" {
                header { h2 #h-worth { (model.facts_title) } }
                (facts(&model.facts))
                (foot(&model.foot))
            }
            (panel(&model.orders, |items| rows(&model.head, items)))
            @if let Some(privacy) = &model.privacy { (part(privacy)) }
        },
    )
}
