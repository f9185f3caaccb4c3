//! The overview.

use maud::{Markup, html};

use super::{
    chart::{Chart, chart},
    figures::{Figure, choices},
    layout::{Choice, Periods, Shell, menu, page as whole, periods},
    panel::{Panel, Way, panel},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub window: String,
    pub period: Periods,
    pub compare: (String, Vec<Choice>),
    /// What the figures rest on that is not told.
    pub lacks: Vec<String>,
    /// What is new since the visit before; none in the first.
    pub news: Option<Since>,
    pub figures_label: String,
    pub figures: Vec<Figure>,
    pub chart: Chart,
    pub stories: Panel<Story>,
    pub stockouts: Panel<Row>,
    pub stock_head: Vec<Head>,
    pub risks: Panel<Story>,
    pub sources: Panel<Row>,
    pub source_head: Vec<Head>,
}

/// What is new since the visit before.
pub struct Since {
    pub text: String,
    /// What there is, and where.
    pub ways: Vec<Way>,
}

/// Something told: what, and how much is at stake.
pub struct Story {
    pub title: String,
    pub address: Option<String>,
    pub text: String,
    pub act: Option<String>,
    /// As it is written, as the API has it, and what it is.
    pub amount: Option<(String, String, String)>,
    pub why: Option<Way>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.window) } }
                div.tools {
                    (periods(&model.period))
                    (menu(&model.compare.0, &model.compare.1))
                }
            }
            @if let Some(news) = &model.news { (since(news)) }
            (choices(&model.figures_label, &model.figures))
            @for lack in &model.lacks { p.soft { (lack) } }
            (chart(&model.chart))
            div.cols {
                (panel(&model.stories, |stories| html! { ol.items { @for one in stories { (story(one)) } } }))
                (panel(&model.stockouts, |items| rows(&model.stock_head, items)))
            }
            div.cols {
                (panel(&model.risks, |risks| html! { ol.items { @for one in risks { (story(one)) } } }))
                (panel(&model.sources, |items| rows(&model.source_head, items)))
            }
        },
    )
}

fn since(news: &Since) -> Markup {
    html! {
        p.soft {
            (news.text)
            @for (index, way) in news.ways.iter().enumerate() {
                @if index > 0 { " ·" }
                " " a href=(way.address) { (way.text) }
            }
        }
    }
}

fn story(story: &Story) -> Markup {
    html! {
        li {
            h3 { @if let Some(address) = &story.address { a href=(address) { (story.title) } } @else { (story.title) } }
            @if !story.text.is_empty() || story.act.is_some() {
                p { (story.text) @if let Some(act) = &story.act { " " b { (act) } } }
            }
            @if let Some((amount, value, what)) = &story.amount {
                div.num { span data-value=(value) { (amount) } small { (what) } }
            }
            @if let Some(why) = &story.why { p.acts { a href=(why.address) { (why.text) } } }
        }
    }
}
