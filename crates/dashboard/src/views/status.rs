//! How the service fares, for everybody.

use maud::{Markup, html};

use super::{
    plain::{Plain, plain_wide},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub plain: Plain,
    /// How it is now, in a sentence.
    pub said: String,
    pub is_bad: bool,
    pub as_of: String,
    pub uptime_title: String,
    pub uptime: String,
    pub head: Vec<Head>,
    pub parts: Vec<Row>,
    pub how: String,
    pub incidents_title: String,
    pub incidents: Vec<Story>,
    pub none: String,
}

/// An incident, with what was told of it: when, and what.
pub struct Story {
    pub title: String,
    pub state: String,
    pub is_over: bool,
    pub began: String,
    pub told: Vec<(String, String)>,
}

pub fn page(model: &Model) -> Markup {
    plain_wide(
        &model.plain,
        &html! {
            p class={"note " (if model.is_bad { "bad" } else { "good" })} { (model.said) }
            section.panel aria-labelledby="h-uptime" {
                header { h2 #h-uptime { (model.uptime_title) } }
                p { (model.uptime) }
                div.gap { (rows(&model.head, &model.parts)) }
                footer.foot { span { (model.as_of) } }
                p.soft { (model.how) }
            }
            section.panel aria-labelledby="h-incidents" {
                header { h2 #h-incidents { (model.incidents_title) } }
                @if model.incidents.is_empty() { p.soft { (model.none) } }
                ol.items { @for one in &model.incidents { (story(one)) } }
            }
        },
    )
}

fn story(story: &Story) -> Markup {
    html! {
        li {
            h3 { (story.title) }
            p {
                span class={"badge " (if story.is_over { "good" } else { "bad" })} { (story.state) }
                " " small { (story.began) }
            }
            @for (at, text) in &story.told { p { small { (at) } " " (text) } }
        }
    }
}
