//! The connected shops, and how to connect one.

use maud::{Markup, html};

use super::{
    connect::{Form, form},
    layout::{Shell, page as whole},
    panel::{Panel, panel},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub offers_title: String,
    pub offers: Vec<Offer>,
    pub head: Vec<Head>,
    pub connections: Panel<Row>,
}

/// A platform, with the form that begins, or what has to be done before.
pub struct Offer {
    pub name: String,
    pub reads: String,
    pub form: Option<Form>,
    pub missing: Option<String>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { h1 { (model.title) } p.soft { (model.place) } } }
            (panel(&model.connections, |items| rows(&model.head, items)))
            section.panel aria-labelledby="h-offers" {
                header { h2 #h-offers { (model.offers_title) } }
                ul.items { @for one in &model.offers { (offer(one)) } }
            }
        },
    )
}

fn offer(offer: &Offer) -> Markup {
    html! {
        li {
            h3 { (offer.name) }
            p { (offer.reads) }
            @if let Some(missing) = &offer.missing { p.note { (missing) } }
            @if let Some(begin) = &offer.form { (form(begin)) }
        }
    }
}
