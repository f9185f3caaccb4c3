//! A table whose rows are cards where there is little room.

use maud::{Markup, html};

use super::{
    figures::{Moved, moved},
    panel::Way,
};
use crate::parts::chart::{Part, RangeBar, axis, part_bar, range_bar};

/// What stands above a column.
pub enum Head {
    Text(String),
    Number(String),
    /// The axis of the bars below.
    Axis([String; 3]),
}

impl Head {
    fn label(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Axis(_) => None,
        }
    }
}

/// A row: what it is about, then a cell for each further column.
pub struct Row {
    pub name: String,
    pub address: Option<String>,
    pub below: Option<Beside>,
    pub cells: Vec<Cell>,
}

/// Texts that stand beside each other. Each is drawn in its own direction: a name that is written from right to left would else
/// take what follows it to its other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beside(pub Vec<String>);

impl From<String> for Beside {
    fn from(text: String) -> Self {
        Self(vec![text])
    }
}

pub fn beside(texts: &Beside) -> Markup {
    html! {
        @for (index, text) in texts.0.iter().enumerate() {
            @if index > 0 { " · " }
            bdi { (text) }
        }
    }
}

pub enum Cell {
    Text(String),
    /// What is copied letter by letter.
    Mono(String),
    /// A text with what belongs to it below; what is bad is marked.
    Texts {
        text: String,
        below: Option<String>,
        is_bad: bool,
    },
    Number {
        text: String,
        /// The number as the API has it; none where it is not known.
        value: Option<String>,
    },
    Change(Option<Moved>),
    Badge(Option<Badge>),
    /// A state or a text, and below it what is known in English only.
    Told {
        state: Option<Badge>,
        text: String,
        english: Vec<String>,
    },
    Range(RangeBar),
    Part(Part),
    /// A part of a whole, in words as well.
    Share {
        text: String,
        part: Part,
    },
}

/// A state: its class, and its words with a sign before them.
pub struct Badge {
    pub class: &'static str,
    pub text: String,
}

/// The head of a page about one thing: the way back, its title, how it stands, and where else to go.
pub fn heading(back: &Way, title: &str, badges: &[Badge], about: &str, way: Option<&Way>) -> Markup {
    html! {
        div.head {
            div {
                small.crumb { a href=(back.address) { (back.text) } }
                h1 { (title) }
                p.soft { @for one in badges { (badge(one)) " " } (about) }
            }
            @if let Some(way) = way { div.tools { a.btn href=(way.address) { (way.text) } } }
        }
    }
}

/// What was just done.
pub fn done(said: Option<&String>) -> Markup {
    html! { @if let Some(text) = said { p.note.good.since role="status" { (text) } } }
}

pub fn badge(badge: &Badge) -> Markup {
    html! { span class={"badge " (badge.class)} { (badge.text) } }
}

/// The table. Its roles are repeated: Safari drops them from rows that are drawn as cards.
pub fn rows(heads: &[Head], rows: &[Row]) -> Markup {
    html! {
        table.cards role="table" {
            thead role="rowgroup" {
                tr role="row" {
                    @for head in heads {
                        @match head {
                            Head::Text(text) => th scope="col" role="columnheader" { (text) },
                            Head::Number(text) => th.num scope="col" role="columnheader" { (text) },
                            Head::Axis(words) => th scope="col" role="columnheader" { span.vh { (words.join(", ")) } (axis(words)) },
                        }
                    }
                }
            }
            tbody role="rowgroup" {
                @for row in rows {
                    tr role="row" {
                        th scope="row" role="rowheader" {
                            @if let Some(address) = &row.address { a href=(address) { (row.name) } } @else { (row.name) }
                            @if let Some(below) = &row.below { small { (beside(below)) } }
                        }
                        @for (head, one) in heads.iter().skip(1).zip(&row.cells) { (cell(head.label(), one)) }
                    }
                }
            }
        }
    }
}

fn cell(label: Option<&str>, cell: &Cell) -> Markup {
    html! {
        @match cell {
            Cell::Text(text) => td role="cell" data-label=[label] { (text) },
            Cell::Mono(text) => td.mono role="cell" data-label=[label] { (text) },
            Cell::Texts { text, below, is_bad } => td.fit role="cell" data-label=[label] {
                span {
                    @if *is_bad { b.bad { (text) } } @else { (text) }
                    @if let Some(below) = below { small { (below) } }
                }
            },
            Cell::Number { text, value } => td.num role="cell" data-label=[label] {
                span data-value=[value.as_deref()] { (text) }
            },
            Cell::Change(change) => td.num role="cell" data-label=[label] {
                @if let Some(change) = change { (moved(change)) } @else { span { "–" } }
            },
            Cell::Badge(state) => td role="cell" data-label=[label] { @if let Some(state) = state { (badge(state)) } },
            Cell::Told { state, text, english } => td role="cell" data-label=[label] {
                span {
                    @if let Some(state) = state { (badge(state)) }
                    (text)
                    @for sentence in english { small lang="en" { (sentence) } }
                }
            },
            Cell::Range(bar) => td.wide role="cell" { (range_bar(*bar)) },
            Cell::Part(part) => td role="cell" data-label=[label] { (part_bar(*part)) },
            Cell::Share { text, part } => td role="cell" data-label=[label] { (part_bar(*part)) small { (text) } },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_what_its_column_is_and_what_the_api_has() {
        let heads = [Head::Text("Product".into()), Head::Number("Stock".into())];
        let cells = vec![Cell::Number { text: "1,200".into(), value: Some("1200".into()) }];
        let row = Row { name: "<Mug>".into(), address: None, below: None, cells };
        let drawn = rows(&heads, &[row]).into_string();
        assert!(drawn.contains(r#"data-label="Stock""#) && drawn.contains(r#"data-value="1200""#), "{drawn}");
        assert!(drawn.contains("&lt;Mug&gt;"), "{drawn}");
    }

    #[test]
    fn a_name_from_right_to_left_keeps_what_follows_it_in_its_place() {
        let below = Some(Beside(vec!["ספל-12".into(), "12 left".into()]));
        let row = Row { name: "Mug".into(), address: None, below, cells: vec![] };
        let drawn = rows(&[Head::Text("Product".into())], &[row]).into_string();
        assert!(drawn.contains("<small><bdi>ספל-12</bdi> · <bdi>12 left</bdi></small>"), "{drawn}");
    }

    #[test]
    fn what_is_known_in_english_only_is_marked_so() {
        let heads = [Head::Text("Trabajo".into()), Head::Text("Estado".into())];
        let state = Some(Badge { class: "bad", text: "✕ Falló".into() });
        let cells = vec![Cell::Told { state, text: String::new(), english: vec!["the disk is <full>".into()] }];
        let row = Row { name: "Beneficio".into(), address: None, below: None, cells };
        let drawn = rows(&heads, &[row]).into_string();
        assert!(drawn.contains(r#"✕ Falló</span><small lang="en">the disk is &lt;full&gt;</small>"#), "{drawn}");
    }

    #[test]
    fn a_bar_has_a_name_and_says_its_share() {
        let heads = [Head::Text("Segment".into()), Head::Text("Part of revenue".into())];
        let cells = vec![Cell::Share { text: "75%".into(), part: Part::of(0.75) }];
        let row = Row { name: "VIP".into(), address: None, below: None, cells };
        let drawn = rows(&heads, &[row]).into_string();
        let (_, cell) = drawn.split_once("<td").unwrap();
        let (attributes, content) = cell.split_once('>').unwrap();
        assert!(attributes.contains(r#"data-label="Part of revenue""#) && !attributes.contains("class"), "{drawn}");
        assert!(content.contains("<svg class=\"bar\"") && content.contains("75%"), "{drawn}");
    }
}
