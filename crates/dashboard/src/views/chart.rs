//! A chart as a panel.

use maud::{Markup, html};

use super::panel::{Foot, foot};
use crate::parts::chart::{self, ghost};

/// A chart, with its title above and its figures as a table below.
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
        acts: Vec<(String, &'static str)>,
    },
}

pub fn chart(chart: &Chart) -> Markup {
    html! {
        section.panel aria-labelledby="h-chart" {
            header { h2 #h-chart { (chart.title) } }
            (drawn(&chart.drawn))
            (foot(&chart.foot))
        }
    }
}

fn drawn(drawn: &Drawn) -> Markup {
    html! {
        @match drawn {
            Drawn::Line(line) => (chart::line(line)),
            Drawn::Empty { title, what, acts } => {
                (ghost())
                div.stack.gap {
                    h3 { (title) }
                    p { (what) }
                    @if !acts.is_empty() {
                        p.acts {
                            @for (number, (words, address)) in acts.iter().enumerate() {
                                a class=(if number == 0 { "btn main" } else { "btn" }) href=(address) { (words) }
                            }
                        }
                    }
                }
            },
        }
    }
}
