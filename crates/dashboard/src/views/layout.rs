//! The frame of a member's page: navigation and head.

use maud::{DOCTYPE, Markup, html};

use super::{panel::Way, plain::head};
use crate::parts::icons::{Icon, icon, logo};

/// The pages that the navigation leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Here {
    Overview,
    Insights,
    Profit,
    Anomalies,
    Stock,
    Reorder,
    Ads,
    Creatives,
    Conversations,
    Customers,
    Settings,
    Data,
    Integrations,
    Alerts,
    Webhooks,
    Keys,
    Credits,
}

impl Here {
    /// The keys that go there, of the pages that are gone to most.
    pub const fn keys(self) -> Option<&'static str> {
        match self {
            Self::Overview => Some("g o"),
            Self::Insights => Some("g n"),
            Self::Profit => Some("g p"),
            Self::Anomalies => Some("g a"),
            Self::Stock => Some("g i"),
            Self::Reorder => Some("g r"),
            Self::Customers => Some("g c"),
            Self::Webhooks => Some("g w"),
            Self::Keys => Some("g k"),
            Self::Ads
            | Self::Creatives
            | Self::Conversations
            | Self::Settings
            | Self::Data
            | Self::Integrations
            | Self::Alerts
            | Self::Credits => None,
        }
    }

    pub const fn address(self) -> &'static str {
        match self {
            Self::Overview => "/",
            Self::Insights => "/insights",
            Self::Profit => "/profit",
            Self::Anomalies => "/anomalies",
            Self::Stock => "/inventory",
            Self::Reorder => "/reorder",
            Self::Ads => "/ads",
            Self::Creatives => "/creatives",
            Self::Conversations => "/conversations",
            Self::Customers => "/customers",
            Self::Settings => "/settings",
            Self::Data => "/data",
            Self::Integrations => "/integrations",
            Self::Alerts => "/alerts",
            Self::Webhooks => "/webhooks",
            Self::Keys => "/keys",
            Self::Credits => "/credits",
        }
    }

    /// The key of its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Insights => "insights",
            Self::Profit => "profit",
            Self::Anomalies => "anomalies",
            Self::Stock => "stock",
            Self::Reorder => "reorder",
            Self::Ads => "ads",
            Self::Creatives => "creatives",
            Self::Conversations => "conversations",
            Self::Customers => "customers",
            Self::Settings => "settings",
            Self::Data => "data",
            Self::Integrations => "integrations",
            Self::Alerts => "alerts",
            Self::Webhooks => "webhooks",
            Self::Keys => "keys",
            Self::Credits => "credits",
        }
    }
}

pub struct Link {
    pub address: &'static str,
    pub keys: Option<&'static str>,
    pub text: String,
    pub icon: Icon,
    pub is_here: bool,
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
    pub keys: Keys,
}

/// The words about keys: of the button, and of the list that it opens.
pub struct Keys {
    pub button: String,
    pub title: String,
    pub list: String,
    pub on: String,
    pub chart: String,
    pub close: String,
}

/// The frame of a page.
pub struct Shell {
    pub language: String,
    pub theme: Option<&'static str>,
    pub title: String,
    /// The account that the page is of: forms say that it is meant.
    pub account: String,
    pub shop: String,
    pub is_test: bool,
    pub groups: Vec<Group>,
    pub settings: Link,
    /// That the account ends soon, and where that is undone.
    pub ending: Option<Way>,
    /// The page of the credits, and how many there are.
    pub credits: (Link, String),
    /// What is looked at, and the words of the button that changes it.
    pub mode: (String, String),
    pub other_mode: &'static str,
    pub person: String,
    pub words: Words,
}

/// A whole page.
pub fn page(shell: &Shell, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html
            lang=(shell.language)
            data-account=(shell.account)
            data-theme=[shell.theme]
            data-mode=[shell.is_test.then_some("test")]
        {
            (head(&shell.title, Some(&shell.shop)))
            body {
                a.skip href="#main" { (shell.words.skip) }
                header.top {
                    button.btn type="button" popovertarget="nav" { (icon(Icon::Menu)) " " (shell.words.menu) }
                    a.brand href="/" { (logo()) (shell.shop) }
                }
                (navigation(shell))
                main #main {
                    @if let Some(way) = &shell.ending { p.note.bad { a href=(way.address) { (way.text) } } }
                    (body)
                }
                (keys(&shell.words.keys))
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
                ul {
                    li { (counted(&shell.credits.0, &shell.credits.1)) }
                    li { (item(&shell.settings)) }
                }
                button.btn.plain.full type="button" popovertarget="keys" data-key="?" data-help title=(shell.words.keys.list) {
                    (shell.words.keys.button) span.n aria-hidden="true" { "?" }
                }
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

/// What the keys of the page do: the script fills it from the page.
fn keys(words: &Keys) -> Markup {
    html! {
        div.keys #keys popover role="dialog" aria-labelledby="h-shortcuts" {
            h2 #h-shortcuts { (words.title) }
            dl {}
            p.soft { (words.chart) }
            label.tick { input type="checkbox" checked; (words.on) }
            button.btn type="button" popovertarget="keys" { (words.close) }
        }
    }
}

fn item(link: &Link) -> Markup {
    with(link, &html! {})
}

/// A link with a number at its end.
fn counted(link: &Link, count: &str) -> Markup {
    with(link, &html! { span.n { (count) } })
}

fn with(link: &Link, end: &Markup) -> Markup {
    html! {
        a href=(link.address) data-key=[link.keys] aria-current=[link.is_here.then_some("page")] {
            (icon(link.icon)) (link.text) (end)
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
    keyed(label, choices, &[])
}

/// The choice of a period, and the ways to the windows beside the one that is shown.
pub struct Periods {
    pub label: String,
    /// A day, a week, a month, a quarter and a year.
    pub choices: Vec<Choice>,
    /// What the ways are called together.
    pub shift: String,
    /// The address, and which days they are.
    pub earlier: (String, String),
    pub later: Option<(String, String)>,
    /// Why there is no later one.
    pub newest: String,
}

pub fn periods(periods: &Periods) -> Markup {
    let (earlier, days) = &periods.earlier;
    html! {
        nav.seg aria-label=(periods.shift) {
            a href=(earlier) rel="prev" data-key="ArrowLeft" title=(days) aria-label=(days) { "←" }
            @match &periods.later {
                Some((later, days)) => a href=(later) rel="next" data-key="ArrowRight" title=(days) aria-label=(days) { "→" },
                // It keeps its key, which would else turn the page of a list below.
                None => a role="link" aria-disabled="true" data-key="ArrowRight" title=(periods.newest) aria-label=(periods.newest) { "→" },
            }
        }
        (keyed(&periods.label, &periods.choices, &["d", "w", "m", "q", "y"]))
    }
}

fn keyed(label: &str, choices: &[Choice], keys: &[&str]) -> Markup {
    html! {
        nav.seg aria-label=(label) {
            @for (index, choice) in choices.iter().enumerate() {
                a href=(choice.address) data-key=[keys.get(index)] aria-current=[choice.is_chosen.then_some("true")] { (choice.text) }
            }
        }
    }
}

/// A choice of many.
pub fn menu(summary: &str, choices: &[Choice]) -> Markup {
    html! {
        details.menu {
            summary data-key="x" { (summary) }
            ul {
                @for choice in choices {
                    li { a href=(choice.address) aria-current=[choice.is_chosen.then_some("true")] { (choice.text) } }
                }
            }
        }
    }
}
