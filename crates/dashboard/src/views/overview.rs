//! The overview.

use maud::{Markup, html};

use super::layout::{Choice, Foot, Shell, foot, menu, page as whole, segments};
use crate::parts::chart::{self, RangeBar, axis, ghost, range_bar};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub window: String,
    pub period: (String, Vec<Choice>),
    pub compare: (String, Vec<Choice>),
    pub figures_label: String,
    pub figures: Vec<Figure>,
    pub chart: Chart,
    pub stories: Panel<Story>,
    pub stockouts: Panel<StockOut>,
    pub stock_head: [String; 2],
    pub stock_axis: [String; 3],
    pub risks: Panel<Story>,
    pub sources: Panel<Source>,
    pub source_head: [String; 3],
}

/// A figure that can be chosen.
pub struct Figure {
    pub address: String,
    pub name: String,
    pub text: String,
    /// The number as the API has it; none where it is not known.
    pub value: Option<String>,
    pub change: Option<Moved>,
    pub before: Option<String>,
    pub is_chosen: bool,
}

/// How a figure moved: the direction, and whether that is good, are two things.
pub struct Moved {
    pub class: &'static str,
    pub text: String,
    pub word: String,
}

pub struct Chart {
    pub title: String,
    pub drawn: Drawn,
    pub foot: Foot,
}

pub enum Drawn {
    Line(Box<chart::Line>),
    /// No figures: what that means, what can be done, and where.
    Empty {
        title: String,
        what: String,
        act: Option<(String, &'static str)>,
    },
}

/// A list with its title, what stands there when it is empty, and its foot.
pub struct Panel<T> {
    pub id: &'static str,
    pub title: String,
    pub items: Vec<T>,
    pub nothing: String,
    pub foot: Foot,
}

/// Something told: what, and how much is at stake.
pub struct Story {
    pub title: String,
    pub text: String,
    pub act: Option<String>,
    pub amount: Option<(String, String)>,
}

pub struct StockOut {
    pub name: String,
    pub left: String,
    pub bar: RangeBar,
    pub on: String,
    pub between: Option<String>,
    pub is_out: bool,
}

pub struct Source {
    pub name: String,
    /// The state of a connection: its class, its sign, its words.
    pub state: Option<(&'static str, &'static str, String)>,
    pub newest: String,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.window) } }
                div.tools {
                    (segments(&model.period.0, &model.period.1))
                    (menu(&model.compare.0, &model.compare.1))
                }
            }
            ul.figs aria-label=(model.figures_label) { @for one in &model.figures { li { (figure(one)) } } }
            section.panel aria-labelledby="h-chart" {
                header { h2 #h-chart { (model.chart.title) } }
                (drawn(&model.chart.drawn))
                (foot(&model.chart.foot))
            }
            div.cols {
                (panel(&model.stories, |stories| html! { ol.items { @for one in stories { (story(one)) } } }))
                (panel(&model.stockouts, |items| stock(model, items)))
            }
            div.cols {
                (panel(&model.risks, |risks| html! { ol.items { @for one in risks { (story(one)) } } }))
                (panel(&model.sources, |items| sources(model, items)))
            }
        },
    )
}

fn figure(figure: &Figure) -> Markup {
    html! {
        a href=(figure.address) aria-current=[figure.is_chosen.then_some("true")] {
            span.k { (figure.name) }
            span.v data-value=[figure.value.as_deref()] { (figure.text) }
            @if let Some(change) = &figure.change {
                span class=(change.class) { (change.text) span.vh { " " (change.word) } }
            }
            @if let Some(before) = &figure.before { " " small { (before) } }
        }
    }
}

fn drawn(drawn: &Drawn) -> Markup {
    html! {
        @match drawn {
            Drawn::Line(line) => (chart::line(line)),
            Drawn::Empty { title, what, act } => {
                (ghost())
                div.stack.gap {
                    h3 { (title) }
                    p { (what) }
                    @if let Some((words, address)) = act { p.acts { a.btn.main href=(address) { (words) } } }
                }
            },
        }
    }
}

fn panel<T>(panel: &Panel<T>, items: impl Fn(&[T]) -> Markup) -> Markup {
    html! {
        section.panel aria-labelledby=(panel.id) {
            header { h2 id=(panel.id) { (panel.title) } }
            @if panel.items.is_empty() { p.soft { (panel.nothing) } } @else { (items(&panel.items)) }
            (foot(&panel.foot))
        }
    }
}

fn story(story: &Story) -> Markup {
    html! {
        li {
            h3 { (story.title) }
            p { (story.text) @if let Some(act) = &story.act { " " b { (act) } } }
            @if let Some((amount, what)) = &story.amount { div.num { (amount) small { (what) } } }
        }
    }
}

fn stock(model: &Model, items: &[StockOut]) -> Markup {
    html! {
        table.cards role="table" {
            thead role="rowgroup" {
                tr role="row" {
                    th scope="col" { (model.stock_head[0]) }
                    th scope="col" { (axis(&model.stock_axis)) }
                    th scope="col" { (model.stock_head[1]) }
                }
            }
            tbody role="rowgroup" {
                @for item in items {
                    tr role="row" {
                        th scope="row" { (item.name) small { (item.left) } }
                        td.wide { (range_bar(item.bar)) }
                        td.fit data-label=(model.stock_head[1]) {
                            span {
                                @if item.is_out { b.bad { (item.on) } } @else { (item.on) }
                                @if let Some(between) = &item.between { small { (between) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn sources(model: &Model, items: &[Source]) -> Markup {
    let [name, state, newest] = &model.source_head;
    html! {
        table.cards role="table" {
            thead role="rowgroup" {
                tr role="row" { th scope="col" { (name) } th scope="col" { (state) } th.num scope="col" { (newest) } }
            }
            tbody role="rowgroup" {
                @for source in items {
                    tr role="row" {
                        th scope="row" { (source.name) }
                        td data-label=(state) {
                            @if let Some((class, sign, words)) = &source.state { span class={"badge " (class)} { (sign) " " (words) } }
                        }
                        td.num data-label=(newest) { (source.newest) }
                    }
                }
            }
        }
    }
}
