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
    pub profile_head: Vec<Head>,
    pub profiles: Panel<Row>,
    pub profile_offers_title: String,
    pub profile_offers: Vec<Offer>,
}

/// A platform or a channel, with the form that begins, or what has to be done before.
pub struct Offer {
    pub name: String,
    pub reads: String,
    pub form: Option<Form>,
    pub missing: Option<Missing>,
}

/// Why a connection cannot be begun.
pub struct Missing {
    pub text: String,
    /// What the operator of the service has to do about it, and for whom that is.
    pub operator: Option<(String, String)>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { h1 { (model.title) } p.soft { (model.place) } } }
            (panel(&model.connections, |items| rows(&model.head, items)))
            (offers("h-offers", &model.offers_title, &model.offers))
            (panel(&model.profiles, |items| rows(&model.profile_head, items)))
            (offers("h-profile-offers", &model.profile_offers_title, &model.profile_offers))
        },
    )
}

fn offers(id: &str, title: &str, offers: &[Offer]) -> Markup {
    html! {
        section.panel aria-labelledby=(id) {
            header { h2 id=(id) { (title) } }
            ul.items { @for one in offers { (offer(one)) } }
        }
    }
}

fn offer(offer: &Offer) -> Markup {
    html! {
        li {
            h3 { (offer.name) }
            p { (offer.reads) }
            @if let Some(Missing { text, operator }) = &offer.missing {
                p.note { (text) }
                @if let Some((whom, what)) = operator { details { summary { (whom) } p { (what) } } }
            }
            @if let Some(begin) = &offer.form { (form(begin)) }
        }
    }
}
