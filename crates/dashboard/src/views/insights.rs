//! What to know and to do.

use maud::{Markup, html};

use super::{
    acts::{Acts, Decided, acts, decided},
    form::{Form, section},
    layout::{Choice, Shell, page as whole, segments},
    panel::{Panel, Way, panel},
    rows::{Badge, badge},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub statuses: (String, Vec<Choice>),
    pub decided: Option<Decided>,
    pub asked: Option<Asked>,
    pub told: Panel<Item>,
    /// Has them made at once, for who may.
    pub now: Option<Form>,
}

/// What became of having them made.
pub struct Asked {
    /// How it looks.
    pub class: &'static str,
    pub text: String,
    pub way: Option<Way>,
}

pub struct Item {
    /// The part of the page that it is.
    pub anchor: String,
    pub title: String,
    pub text: String,
    pub action: Option<String>,
    pub severity: Badge,
    pub about: String,
    /// As it is written, as the API has it, and what it is.
    pub amount: Option<(String, String, String)>,
    pub why: Option<Way>,
    pub acts: Option<Acts>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.place) } }
                div.tools { (segments(&model.statuses.0, &model.statuses.1)) }
            }
            @if let Some(change) = &model.decided { (decided(change)) }
            @if let Some(asked) = &model.asked {
                p class={"note since " (asked.class)} role="status" {
                    (asked.text)
                    @if let Some(way) = &asked.way { " " a href=(way.address) { (way.text) } }
                }
            }
            (panel(&model.told, |items| html! { ol.items { @for one in items { (item(one)) } } }))
            @if let Some(form) = &model.now { (section(form)) }
        },
    )
}

fn item(item: &Item) -> Markup {
    let title = format!("{}-title", item.anchor);
    html! {
        li id=(item.anchor) {
            h3 id=(title) { (item.title) }
            p { (item.text) @if let Some(action) = &item.action { " " b { (action) } } }
            p { (badge(&item.severity)) " " small { (item.about) } }
            @if let Some((amount, value, what)) = &item.amount {
                div.num { span data-value=(value) { (amount) } small { (what) } }
            }
            @if item.why.is_some() || item.acts.is_some() {
                div.acts {
                    @if let Some(why) = &item.why { a.btn.small href=(why.address) { (why.text) } }
                    @if let Some(buttons) = &item.acts { (acts(buttons, Some(&title))) }
                }
            }
        }
    }
}
