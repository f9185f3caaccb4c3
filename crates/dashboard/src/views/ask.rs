//! Forms of one column: those of who is not logged in, and those of the settings.

use maud::{Markup, html};

use super::{
    acts::labels,
    panel::Way,
    plain::{Plain, plain},
};

/// A page with at most one form.
pub struct Model {
    pub plain: Plain,
    /// What was done, or what is wrong with what was sent.
    pub said: Option<Said>,
    pub paragraphs: Vec<String>,
    pub form: Option<Form>,
    pub ways: Vec<Way>,
}

/// A sentence above a form.
pub struct Said {
    pub is_fault: bool,
    pub text: String,
}

pub struct Form {
    /// Where it is sent; empty: to the page's own address.
    pub action: String,
    pub hidden: Vec<(&'static str, String)>,
    pub fields: Vec<Field>,
    pub go: String,
    /// Whether the button takes something away.
    pub is_danger: bool,
}

pub struct Field {
    pub name: &'static str,
    pub label: String,
    pub help: Option<String>,
    pub error: Option<String>,
    pub value: String,
    pub kind: Kind,
}

pub enum Kind {
    /// `type` and `autocomplete` of HTML.
    Line(&'static str, &'static str),
    /// Digits of a code.
    Code,
    /// A box, whether it is ticked.
    Tick(bool),
    /// Values with their words.
    Select(Vec<(String, String)>),
    /// Anything, with proposals.
    Proposed(Vec<&'static str>),
}

pub fn page(model: &Model) -> Markup {
    plain(
        &model.plain,
        &html! {
            div.stack {
                @if let Some(said) = &model.said { (self::said(said)) }
                @for paragraph in &model.paragraphs { p { (paragraph) } }
                @if let Some(one) = &model.form { (form("", one, None)) }
                @for way in &model.ways { p.soft { a href=(way.address) { (way.text) } } }
            }
        },
    )
}

pub fn said(said: &Said) -> Markup {
    html! {
        @if said.is_fault { p.note.bad role="alert" { (said.text) } } @else { p.note.good role="status" { (said.text) } }
    }
}

/// A form; the ids of its fields begin with `id`. `of` is the id of the heading of what it is about, where there are several
/// forms with the same words.
pub fn form(id: &str, form: &Form, of: Option<&str>) -> Markup {
    let button = of.map(|_| format!("{id}go"));
    html! {
        form.stack method="post" action=[(!form.action.is_empty()).then_some(&form.action)] {
            @for (name, value) in &form.hidden { input type="hidden" name=(name) value=(value); }
            @for one in &form.fields { (field(id, one)) }
            button class=(if form.is_danger { "btn danger" } else { "btn main" }) id=[&button]
                aria-labelledby=[labels(button.as_deref(), of)] { (form.go) }
        }
    }
}

fn field(form: &str, field: &Field) -> Markup {
    let id = format!("{form}{}", field.name);
    if let Kind::Tick(is_ticked) = &field.kind {
        return html! {
            label.tick { input type="checkbox" id=(id) name=(field.name) value="yes" checked[*is_ticked]; (field.label) }
        };
    }
    let described = (field.help.is_some() || field.error.is_some()).then(|| format!("{id}-help"));
    html! {
        div.field {
            label for=(id) { (field.label) }
            (input(&id, field, described.as_deref()))
            @if let Some(described) = &described {
                div id=(described) {
                    @if let Some(error) = &field.error { span.err { (error) } }
                    @if let Some(help) = &field.help { small { (help) } }
                }
            }
        }
    }
}

fn input(id: &str, field: &Field, described: Option<&str>) -> Markup {
    let invalid = field.error.is_some().then_some("true");
    match &field.kind {
        Kind::Tick(_) => html! {},
        Kind::Line(kind, autocomplete) => html! {
            input id=(id) name=(field.name) type=(kind) autocomplete=(autocomplete) value=(field.value) required
                aria-describedby=[described] aria-invalid=[invalid];
        },
        Kind::Code => html! {
            input.mono id=(id) name=(field.name) type="text" inputmode="text" autocomplete="one-time-code" spellcheck="false"
                required aria-describedby=[described] aria-invalid=[invalid];
        },
        Kind::Select(choices) => html! {
            select id=(id) name=(field.name) aria-describedby=[described] aria-invalid=[invalid] {
                @for (value, words) in choices { option value=(value) selected[*value == field.value] { (words) } }
            }
        },
        Kind::Proposed(proposals) => {
            let list = format!("{id}-list");
            html! {
                input id=(id) name=(field.name) type="text" value=(field.value) list=(list) required autocomplete="off"
                    aria-describedby=[described] aria-invalid=[invalid];
                datalist id=(list) { @for value in proposals { option value=(value) {} } }
            }
        }
    }
}
