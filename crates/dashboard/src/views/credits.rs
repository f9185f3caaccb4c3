//! Credits.

use maud::{Markup, html};

use super::{
    ask::{Said, said},
    chart::{Chart, chart},
    figures::{Fact, facts},
    form::{Filters, Form, filters, section},
    layout::{Shell, page as whole},
    panel::{Foot, Panel, Way, foot, panel},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub about: String,
    pub said: Option<Said>,
    pub balance: Balance,
    pub chart: Chart,
    pub feature_head: Vec<Head>,
    pub features: Panel<Row>,
    pub buy: Form,
    pub auto: Auto,
    pub filters: Filters,
    pub head: Vec<Head>,
    pub ledger: Panel<Row>,
}

/// How many there are.
pub struct Balance {
    pub title: String,
    pub facts: Vec<Fact>,
    pub foot: Foot,
}

/// When more are bought by themselves.
pub struct Auto {
    pub title: String,
    /// How it stands, a paragraph each.
    pub said: Vec<String>,
    /// Why it was switched off, where that is known in English only.
    pub english: Option<String>,
    /// For who may set it.
    pub form: Option<Form>,
    pub foot: Foot,
}

/// The way to the payment gateway.
pub struct Pay {
    pub shell: Shell,
    pub title: String,
    pub about: String,
    pub go: Way,
    pub back: Way,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { h1 { (model.title) } p.soft { (model.about) } } }
            @if let Some(text) = &model.said { (said(text)) }
            section.panel aria-labelledby="h-balance" {
                header { h2 #h-balance { (model.balance.title) } }
                (facts(&model.balance.facts))
                (foot(&model.balance.foot))
            }
            (chart(&model.chart))
            (panel(&model.features, |items| rows(&model.feature_head, items)))
            (buy(&model.buy))
            (auto(&model.auto))
            (filters(&model.filters))
            (panel(&model.ledger, |items| rows(&model.head, items)))
        },
    )
}

fn buy(form: &Form) -> Markup {
    html! {
        @if form.buttons.is_empty() {
            section.panel.stack aria-labelledby=(form.id) {
                header { h2 id=(form.id) { (form.title) } }
                @for paragraph in &form.about { p { (paragraph) } }
            }
        } @else { (section(form)) }
    }
}

fn auto(auto: &Auto) -> Markup {
    html! {
        section.panel aria-labelledby="h-auto-top-up" {
            header { h2 #h-auto-top-up { (auto.title) } }
            @for paragraph in &auto.said { p { (paragraph) } }
            @if let Some(why) = &auto.english { p lang="en" { (why) } }
            (foot(&auto.foot))
        }
        @if let Some(form) = &auto.form { (section(form)) }
    }
}

pub fn pay(model: &Pay) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { h1 { (model.title) } p { (model.about) } } }
            p.acts {
                a.btn.main href=(model.go.address) rel="external" { (model.go.text) }
                a.btn.plain href=(model.back.address) { (model.back.text) }
            }
        },
    )
}
