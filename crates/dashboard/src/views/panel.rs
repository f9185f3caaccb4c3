//! What every panel has: a title, its content or what stands there when there is none, and a foot.

use maud::{Markup, html};

/// Words that lead somewhere.
pub struct Way {
    pub text: String,
    pub address: String,
}

/// A list with its title, what stands there when it is empty, and its foot.
pub struct Panel<T> {
    pub id: &'static str,
    pub title: String,
    pub items: Vec<T>,
    pub nothing: String,
    /// Where all of it is.
    pub all: Option<Way>,
    /// Where it goes on.
    pub next: Option<Way>,
    pub foot: Foot,
}

pub fn panel<T>(panel: &Panel<T>, items: impl Fn(&[T]) -> Markup) -> Markup {
    html! {
        section.panel aria-labelledby=(panel.id) {
            header {
                h2 id=(panel.id) { (panel.title) }
                @if let Some(all) = &panel.all { a href=(all.address) { (all.text) } }
            }
            @if !panel.items.is_empty() { (items(&panel.items)) } @else if !panel.nothing.is_empty() { p.soft { (panel.nothing) } }
            @if let Some(next) = &panel.next { p.acts.gap { a.btn href=(next.address) rel="next" data-key="ArrowRight" { (next.text) } } }
            (foot(&panel.foot))
        }
    }
}

/// What stands below every panel.
pub struct Foot {
    /// How fresh the figures are.
    pub as_of: String,
    pub table: Option<Table>,
    pub words: FootWords,
    /// How the figures are made, a paragraph each.
    pub how: Vec<String>,
    /// How the API gives the same, where it does.
    pub call: Option<Call>,
    /// What does the same on the command line, where the API has no call for it.
    pub command: Option<String>,
    /// The address of the file, for who is logged in.
    pub csv: Option<String>,
}

/// A call of the API.
pub struct Call {
    pub curl: String,
    /// Its address, for who is logged in.
    pub json: String,
}

pub struct FootWords {
    pub table: String,
    pub as_table: String,
    pub calculated: String,
    pub copy: String,
    pub copied: String,
}

/// A button that copies what stands before it, where the script can.
fn copy(words: &str, done: &str) -> Markup {
    html! { button.btn.small type="button" data-copy="" data-done=(done) aria-live="polite" hidden { (words) } }
}

/// Figures as a table. The first cell of a row is its name.
pub struct Table {
    pub head: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

pub fn foot(foot: &Foot) -> Markup {
    html! {
        footer.foot {
            span { (foot.as_of) }
            @if let Some(table) = &foot.table {
                details {
                    summary { (foot.words.table) }
                    div.scroll tabindex="0" role="region" aria-label=(foot.words.as_table) { (figures(table)) }
                }
            }
            @if !foot.how.is_empty() {
                details { summary data-key="e" { (foot.words.calculated) } @for paragraph in &foot.how { p { (paragraph) } } }
            }
            @if let Some(csv) = &foot.csv { a href=(csv) { "CSV" } }
            @if let Some(call) = &foot.call {
                a href=(call.json) { "JSON" }
                details {
                    summary { "curl" }
                    div { pre { (call.curl) } (copy(&foot.words.copy, &foot.words.copied)) }
                }
            }
            @if let Some(command) = &foot.command {
                details {
                    summary { "CLI" }
                    div { pre { (command) } (copy(&foot.words.copy, &foot.words.copied)) }
                }
            }
        }
    }
}

pub fn figures(table: &Table) -> Markup {
    html! {
        table {
            thead { tr { @for (index, name) in table.head.iter().enumerate() { th scope="col" class=[(index > 0).then_some("num")] { (name) } } } }
            tbody {
                @for row in &table.rows {
                    tr {
                        @for (index, cell) in row.iter().enumerate() {
                            @if index == 0 { th scope="row" { (cell) } } @else { td.num { (cell) } }
                        }
                    }
                }
            }
        }
    }
}
