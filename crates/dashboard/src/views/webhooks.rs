//! Webhook subscriptions.

use maud::{Markup, html};

use super::{
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::{Panel, panel},
    rows::{Head, Row, done, rows},
    secret::{Once, once},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub about: String,
    /// The secret of a subscription that was just made.
    pub once: Option<Once>,
    /// What was just done.
    pub done: Option<String>,
    pub head: Vec<Head>,
    pub subscriptions: Panel<Row>,
    /// For who may make one.
    pub form: Option<Form>,
    /// For who has no form that lists them.
    pub events: Option<Events>,
    pub receivers: Receivers,
}

/// What can be subscribed to.
pub struct Events {
    pub title: String,
    pub about: String,
    /// Names with what they mean.
    pub listed: Vec<(&'static str, String)>,
}

/// How a receiver checks what it gets.
pub struct Receivers {
    pub title: String,
    pub about: String,
    /// Languages with their programs.
    pub programs: Vec<(&'static str, &'static str)>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { h1 { (model.title) } p.soft { (model.about) } } }
            @if let Some(secret) = &model.once { (once(secret)) }
            (done(model.done.as_ref()))
            (panel(&model.subscriptions, |listed| rows(&model.head, listed)))
            @if let Some(form) = &model.form { (section(form)) }
            @if let Some(listed) = &model.events { (events(listed)) }
            section.panel.stack aria-labelledby="h-receivers" {
                header { h2 id="h-receivers" { (model.receivers.title) } }
                p { (model.receivers.about) }
                @for (language, program) in &model.receivers.programs {
                    details { summary { (language) } pre { (program) } }
                }
            }
        },
    )
}

fn events(events: &Events) -> Markup {
    html! {
        section.panel.stack aria-labelledby="h-events" {
            header { h2 id="h-events" { (events.title) } }
            p { (events.about) }
            table.cards role="table" {
                tbody role="rowgroup" {
                    @for (name, meaning) in &events.listed {
                        tr role="row" {
                            th.mono scope="row" role="rowheader" { (name) }
                            td.wide role="cell" { (meaning) }
                        }
                    }
                }
            }
        }
    }
}
