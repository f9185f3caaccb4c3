//! One delivery: what was sent, and every attempt with its answer.

use maud::{Markup, html};

use super::{
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::{Panel, Way, panel},
    rows::{Badge, badge, done},
};
use crate::parts::chart::{Phases, phase_bar};

pub struct Model {
    pub shell: Shell,
    /// The subscriptions, and this one.
    pub back: [Way; 2],
    pub title: String,
    pub state: Badge,
    pub about: String,
    /// What was just done.
    pub done: Option<String>,
    pub attempts: Panel<Attempt>,
    pub words: Words,
    pub sent: Option<Sent>,
    /// For who may send it again.
    pub resend: Option<Form>,
}

pub struct Words {
    pub attempt: String,
    pub response: String,
    pub time: String,
    pub total: String,
    pub answer: String,
}

pub struct Attempt {
    pub number: String,
    pub at: String,
    pub response: String,
    pub is_bad: bool,
    pub phases: Phases,
    /// The same in words.
    pub said: String,
    pub total: String,
    /// As the API has it, milliseconds.
    pub total_value: String,
    /// The failure in words, or where a redirect pointed.
    pub note: Option<String>,
    /// What the API tells of the failure, which is in English.
    pub detail: Option<String>,
    /// The beginning of the answer, if there was any text.
    pub answer: Option<String>,
}

/// The bytes that are sent, and what goes with them.
pub struct Sent {
    pub title: String,
    pub size: String,
    pub body: String,
    pub headers_title: String,
    pub headers: String,
    pub headers_note: String,
}

pub fn page(model: &Model) -> Markup {
    let [all, one] = &model.back;
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(all.address) { (all.text) } " / " a href=(one.address) { (one.text) } }
                    h1 { (model.title) }
                    p.soft { (badge(&model.state)) " " (model.about) }
                }
            }
            (done(model.done.as_ref()))
            (panel(&model.attempts, |made| attempts(&model.words, made)))
            @if let Some(sent) = &model.sent { (what_was_sent(sent)) }
            @if let Some(form) = &model.resend { (section(form)) }
        },
    )
}

fn attempts(words: &Words, made: &[Attempt]) -> Markup {
    html! {
        table.cards role="table" {
            thead role="rowgroup" {
                tr role="row" {
                    th scope="col" role="columnheader" { (words.attempt) }
                    th scope="col" role="columnheader" { (words.response) }
                    th scope="col" role="columnheader" { (words.time) }
                    th.num scope="col" role="columnheader" { (words.total) }
                }
            }
            tbody role="rowgroup" {
                @for one in made {
                    tr role="row" {
                        th scope="row" role="rowheader" { (one.number) small { (one.at) } }
                        td role="cell" data-label=(words.response) {
                            span {
                                b class=[one.is_bad.then_some("bad")] { (one.response) }
                                @if let Some(note) = &one.note { small { (note) } }
                                @if let Some(detail) = &one.detail { small lang="en" { (detail) } }
                                @if let Some(answer) = &one.answer { details { summary { (words.answer) } pre { (answer) } } }
                            }
                        }
                        td.wide role="cell" { (phase_bar(&one.phases)) small { (one.said) } }
                        td.num role="cell" data-label=(words.total) { span data-value=(one.total_value) { (one.total) } }
                    }
                }
            }
        }
    }
}

fn what_was_sent(sent: &Sent) -> Markup {
    html! {
        section.panel.stack aria-labelledby="h-sent" {
            header { h2 id="h-sent" { (sent.title) } small { (sent.size) } }
            pre { (sent.body) }
            details { summary { (sent.headers_title) } p { (sent.headers_note) } pre { (sent.headers) } }
        }
    }
}
