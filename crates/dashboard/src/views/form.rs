//! Forms that work without a script.

use maud::{Markup, html};

/// A form with its title, as a panel.
pub struct Form {
    /// Of the title; the names of the fields begin with it.
    pub id: &'static str,
    pub title: String,
    /// What it does, a paragraph each.
    pub about: Vec<String>,
    /// Whether it only leads somewhere.
    pub is_get: bool,
    pub action: String,
    pub hidden: Vec<(&'static str, String)>,
    pub fields: Vec<Field>,
    pub buttons: Vec<Button>,
}

/// A button that sends the form.
pub struct Button {
    pub class: &'static str,
    pub text: String,
    /// A field that it fills.
    pub sends: Option<(&'static str, &'static str)>,
}

impl Button {
    /// The one of a form that does what the form is for.
    pub const fn main(text: String) -> Self {
        Self { class: "btn main", text, sends: None }
    }

    /// One that takes something away.
    pub const fn danger(text: String) -> Self {
        Self { class: "btn danger", text, sends: None }
    }
}

pub struct Field {
    pub name: &'static str,
    pub label: String,
    pub help: Option<String>,
    /// What is wrong with what was sent.
    pub error: Option<String>,
    pub input: Input,
}

pub enum Input {
    /// A line of text; `kind` is one of HTML's.
    Line {
        kind: &'static str,
        value: String,
        max: Option<usize>,
        is_required: bool,
    },
    /// Several lines of text.
    Area {
        value: String,
        max: Option<usize>,
    },
    Select(Vec<Pick>),
    /// One of few, all of them shown.
    Radios(Vec<Pick>),
    /// Any of them, each with the name of its own field.
    Ticks(Vec<(&'static str, Pick)>),
}

/// What can be chosen.
pub struct Pick {
    pub value: String,
    pub text: String,
    pub is_chosen: bool,
}

pub fn section(form: &Form) -> Markup {
    html! {
        section.panel.stack aria-labelledby=(form.id) {
            header { h2 id=(form.id) { (form.title) } }
            @for paragraph in &form.about { p { (paragraph) } }
            (fields(form))
        }
    }
}

fn fields(form: &Form) -> Markup {
    html! {
        form.form method=(if form.is_get { "get" } else { "post" }) action=(form.action) {
            @for (name, value) in &form.hidden { input type="hidden" name=(name) value=(value); }
            @for one in &form.fields { (field(form.id, one)) }
            div.acts {
                @for button in &form.buttons {
                    button class=(button.class) name=[button.sends.map(|(name, _)| name)] value=[button.sends.map(|(_, value)| value)] {
                        (button.text)
                    }
                }
            }
        }
    }
}

/// A form that narrows what the page shows: its fields go into the address.
pub struct Filters {
    pub id: &'static str,
    pub action: String,
    pub fields: Vec<Field>,
    pub go: String,
    /// Words of the link to the page as it is without them.
    pub clear: String,
}

pub fn filters(form: &Filters) -> Markup {
    html! {
        form.filters method="get" action=(form.action) {
            @for one in &form.fields { (field(form.id, one)) }
            span.acts {
                button.btn { (form.go) }
                a.btn.plain href=(form.action) { (form.clear) }
            }
        }
    }
}

fn field(form: &str, field: &Field) -> Markup {
    let id = format!("{form}-{}", field.name);
    let described = (field.help.is_some() || field.error.is_some()).then(|| format!("{id}-help"));
    let notes = html! {
        @if let Some(described) = &described {
            span id=(described) {
                @if let Some(error) = &field.error { span.err { (error) } }
                @if let Some(help) = &field.help { small { (help) } }
            }
        }
    };
    let invalid = field.error.is_some().then_some("true");
    match &field.input {
        Input::Radios(picks) => {
            let picks = html! { @for pick in picks { (tick("radio", field.name, pick)) } };
            group(field, &picks, described.as_deref(), &notes)
        }
        Input::Ticks(picks) => {
            let picks = html! { @for (name, pick) in picks { (tick("checkbox", name, pick)) } };
            group(field, &picks, described.as_deref(), &notes)
        }
        Input::Select(picks) => labelled(
            &id,
            field,
            &notes,
            &html! {
                select id=(id) name=(field.name) aria-describedby=[&described] aria-invalid=[invalid] {
                    @for pick in picks { option value=(pick.value) selected[pick.is_chosen] { (pick.text) } }
                }
            },
        ),
        Input::Area { value, max } => labelled(
            &id,
            field,
            &notes,
            &html! {
                textarea id=(id) name=(field.name) rows="3" maxlength=[max] aria-describedby=[&described]
                    aria-invalid=[invalid] { (value) }
            },
        ),
        Input::Line { kind, value, max, is_required } => labelled(
            &id,
            field,
            &notes,
            &html! {
                input id=(id) name=(field.name) type=(kind) value=(value) maxlength=[max] required[*is_required]
                    autocomplete="off" aria-describedby=[&described] aria-invalid=[invalid];
            },
        ),
    }
}

fn labelled(id: &str, field: &Field, notes: &Markup, input: &Markup) -> Markup {
    html! { div.field { label for=(id) { (field.label) } (input) (notes) } }
}

fn group(field: &Field, picks: &Markup, described: Option<&str>, notes: &Markup) -> Markup {
    html! {
        fieldset.field aria-describedby=[described] {
            legend { b { (field.label) } }
            (picks)
            (notes)
        }
    }
}

fn tick(kind: &str, name: &str, pick: &Pick) -> Markup {
    html! {
        label.tick {
            input type=(kind) name=(name) value=(pick.value) checked[pick.is_chosen];
            (pick.text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_field_belongs_to_it() {
        let field = Field {
            name: "url",
            label: "Address".into(),
            help: None,
            error: Some("<no>".into()),
            input: Input::Line { kind: "url", value: "\"x".into(), max: None, is_required: true },
        };
        let drawn = super::field("h-new", &field).into_string();
        assert!(drawn.contains(r#"<label for="h-new-url">"#) && drawn.contains(r#"aria-describedby="h-new-url-help""#));
        assert!(drawn.contains(r#"aria-invalid="true""#) && drawn.contains("&lt;no&gt;"), "{drawn}");
        assert!(drawn.contains(r#"value="&quot;x""#), "{drawn}");
    }
}
