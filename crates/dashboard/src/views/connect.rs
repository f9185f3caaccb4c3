//! Connecting a shop: the form that begins, and what comes of it.

use maud::{Markup, html};

use super::{
    layout::{Shell, page as whole},
    panel::Way,
};

/// Asks for what has to be known before; most platforms need nothing.
pub struct Form {
    pub address: String,
    /// What the form says beside what is written into it: names and values.
    pub fixed: Vec<(&'static str, String)>,
    pub shop: Option<Shop>,
    pub go: String,
}

/// The field for the shop's host name, or the number of an ad account or a profile.
pub struct Shop {
    pub id: String,
    pub name: &'static str,
    pub label: String,
    pub help: String,
    pub example: &'static str,
    pub is_needed: bool,
    /// What was written, where it was refused, and why.
    pub value: String,
    pub error: Option<String>,
}

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub crumb: Way,
    /// What happens next, a paragraph each.
    pub told: Vec<String>,
    pub refused: Option<String>,
    /// Why, where that is known in English only.
    pub english: Option<String>,
    /// The platform's own page. A link, as the policy of contents ends redirects of forms at the site's own addresses.
    pub out: Option<Way>,
    pub forms: Vec<Form>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { small.crumb { a href=(model.crumb.address) { (model.crumb.text) } } h1 { (model.title) } }
            }
            div.stack {
                @if let Some(refused) = &model.refused {
                    div.note.bad role="alert" {
                        p { (refused) }
                        @if let Some(why) = &model.english { p lang="en" { (why) } }
                    }
                }
                @for paragraph in &model.told { p { (paragraph) } }
                @if let Some(out) = &model.out {
                    p.acts { a.btn.main href=(out.address) rel="noreferrer" { (out.text) } }
                }
                @for again in &model.forms { (form(again)) }
            }
        },
    )
}

pub fn form(form: &Form) -> Markup {
    html! {
        form.filters method="post" action=(form.address) {
            @for (name, value) in &form.fixed { input type="hidden" name=(name) value=(value); }
            @if let Some(shop) = &form.shop {
                @let (help, error) = (format!("{}-help", shop.id), format!("{}-error", shop.id));
                div.field {
                    label for=(shop.id) { (shop.label) }
                    input #(shop.id) name=(shop.name) type="text" value=(shop.value) placeholder=(shop.example)
                        required[shop.is_needed]
                        maxlength="255" autocomplete="off" autocapitalize="none" spellcheck="false"
                        aria-invalid=[shop.error.as_ref().map(|_| "true")]
                        aria-describedby={ (help) @if shop.error.is_some() { " " (error) } };
                    @if let Some(said) = &shop.error { small.err id=(error) { (said) } }
                    small id=(help) { (shop.help) }
                }
            }
            button.btn.main { (form.go) }
        }
    }
}
