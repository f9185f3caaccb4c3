//! The frame of a member's page: navigation, head, and what every panel has.

use maud::{DOCTYPE, Markup, html};

use super::plain::head;
use crate::parts::icons::{Icon, icon, logo};

/// The pages that the navigation leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    Overview,
    Credits,
}

impl Here {
    pub const fn address(self) -> &'static str {
        match self {
            Self::Overview => "/",
            Self::Credits => "/credits",
        }
    }

    /// The key of its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Credits => "credits",
        }
    }
}

/// A number beside a link, and what it counts where that is not plain.
pub type Count = (String, Option<String>);

pub struct Link {
    pub address: &'static str,
    pub text: String,
    pub icon: Icon,
    pub is_here: bool,
    pub count: Option<Count>,
}

pub struct Group {
    pub title: String,
    pub links: Vec<Link>,
}

pub struct Words {
    pub skip: String,
    pub menu: String,
    pub main: String,
    pub log_out: String,
}

/// The frame of a page.
pub struct Shell {
    pub language: String,
    pub theme: Option<&'static str>,
    pub title: String,
    pub shop: String,
    pub is_test: bool,
    pub groups: Vec<Group>,
    pub credits: Link,
    /// What is looked at, and the words of the button that changes it.
    pub mode: (String, String),
    pub other_mode: &'static str,
    pub person: String,
    pub words: Words,
    pub as_of: String,
}

/// A whole page.
pub fn page(shell: &Shell, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(shell.language) data-theme=[shell.theme] data-mode=[shell.is_test.then_some("test")] {
            (head(&shell.title, Some(&shell.shop)))
            body {
                a.skip href="#main" { (shell.words.skip) }
                header.top {
                    button.btn type="button" popovertarget="nav" { (icon(Icon::Menu)) " " (shell.words.menu) }
                    a.brand href="/" { (logo()) (shell.shop) }
                    span.soft { (shell.as_of) }
                }
                (navigation(shell))
                main #main { (body) }
            }
        }
    }
}

fn navigation(shell: &Shell) -> Markup {
    html! {
        nav.nav #nav popover aria-label=(shell.words.main) {
            a.brand href="/" { (logo()) (shell.shop) }
            @for group in &shell.groups {
                div { h2 { (group.title) } ul { @for link in &group.links { li { (item(link)) } } } }
            }
            div.who {
                ul { li { (item(&shell.credits)) } }
                form method="post" action="/mode" {
                    input type="hidden" name="mode" value=(shell.other_mode);
                    button.btn.plain.full { (shell.mode.0) span.n { (shell.mode.1) } }
                }
                form method="post" action="/logout" {
                    button.btn.plain.full { (shell.person) span.n { (shell.words.log_out) } }
                }
            }
        }
    }
}

fn item(link: &Link) -> Markup {
    html! {
        a href=(link.address) aria-current=[link.is_here.then_some("page")] {
            (icon(link.icon)) (link.text)
            @if let Some((number, what)) = &link.count {
                span.n { (number) @if let Some(what) = what { span.vh { " " (what) } } }
            }
        }
    }
}

/// A link among few, of which one is chosen.
pub struct Choice {
    pub address: String,
    pub text: String,
    pub is_chosen: bool,
}

/// A choice of few.
pub fn segments(label: &str, choices: &[Choice]) -> Markup {
    html! {
        nav.seg aria-label=(label) {
            @for choice in choices {
                a href=(choice.address) aria-current=[choice.is_chosen.then_some("true")] { (choice.text) }
            }
        }
    }
}

/// A choice of many.
pub fn menu(summary: &str, choices: &[Choice]) -> Markup {
    html! {
        details.menu {
            summary { (summary) }
            ul {
                @for choice in choices {
                    li { a href=(choice.address) aria-current=[choice.is_chosen.then_some("true")] { (choice.text) } }
                }
            }
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
    pub csv: Option<String>,
    pub json: String,
    /// The command that gives the same.
    pub curl: String,
}

pub struct FootWords {
    pub table: String,
    pub as_table: String,
    pub calculated: String,
}

/// A chart's figures. The first cell of a row is its name.
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
            details { summary { (foot.words.calculated) } @for paragraph in &foot.how { p { (paragraph) } } }
            @if let Some(csv) = &foot.csv { a href=(csv) download { "CSV" } }
            a href=(foot.json) { "JSON" }
            details { summary { "curl" } pre { (foot.curl) } }
        }
    }
}

fn figures(table: &Table) -> Markup {
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
