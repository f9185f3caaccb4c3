//! What to know and to do.

use maud::{Markup, html};

use super::{
    acts::{Acts, Decided, acts, decided},
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
    pub told: Panel<Item>,
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
            (panel(&model.told, |items| html! { ol.items { @for one in items { (item(one)) } } }))
        },
    )
}

fn item(item: &Item) -> Markup {
    html! {
        li id=(item.anchor) {
            h3 { (item.title) }
            p { (item.text) @if let Some(action) = &item.action { " " b { (action) } } }
            p { (badge(&item.severity)) " " small { (item.about) } }
            @if let Some((amount, value, what)) = &item.amount {
                div.num { span data-value=(value) { (amount) } small { (what) } }
            }
            @if item.why.is_some() || item.acts.is_some() {
                div.acts {
                    @if let Some(why) = &item.why { a.btn.small href=(why.address) { (why.text) } }
                    @if let Some(buttons) = &item.acts { (acts(buttons)) }
                }
            }
        }
    }
}
