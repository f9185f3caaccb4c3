//! One conversation: what was said, what the bot decided, and what a person can do.

use maud::{Markup, html};

use super::{
    bot::{Standing, standing},
    figures::{Fact, facts},
    form::{Form, section},
    layout::{Shell, page as whole},
    panel::{Panel, Way, panel},
    rows::{Badge, badge, done, heading},
};

pub struct Model {
    pub shell: Shell,
    pub back: Way,
    pub title: String,
    pub badges: Vec<Badge>,
    pub about: String,
    pub customer: Option<Way>,
    pub standing: Standing,
    /// What was just done.
    pub done: Option<String>,
    pub facts: Vec<Fact>,
    pub decision: Option<Decision>,
    /// What can be done about the answer, by who may.
    pub answers: Vec<Form>,
    pub messages: Panel<Message>,
    /// What else can be changed, by who may.
    pub forms: Vec<Form>,
}

/// What was decided about the newest comment that was decided about.
pub struct Decision {
    pub title: String,
    pub state: Badge,
    /// What holds it, if anything does.
    pub reason: Option<String>,
    /// What was or would be sent.
    pub text: Option<String>,
    pub template: Option<Way>,
    /// How it came about, a paragraph each.
    pub how: Vec<String>,
}

pub struct Message {
    pub author: String,
    pub text: String,
    pub about: String,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            (heading(&model.back, &model.title, &model.badges, &model.about, model.customer.as_ref()))
            (standing(&model.standing))
            (done(model.done.as_ref()))
            (facts(&model.facts))
            @if let Some(made) = &model.decision { (decision(made)) }
            @for form in &model.answers { (section(form)) }
            (panel(&model.messages, |items| html! { ol.items { @for one in items { (message(one)) } } }))
            @for form in &model.forms { (section(form)) }
        },
    )
}

fn decision(decision: &Decision) -> Markup {
    html! {
        section.panel.stack aria-labelledby="h-decision" {
            header { h2 id="h-decision" { (decision.title) } }
            p { (badge(&decision.state)) @if let Some(reason) = &decision.reason { " " (reason) } }
            @if let Some(text) = &decision.text { blockquote { (text) } }
            @if let Some(template) = &decision.template { p { a href=(template.address) { (template.text) } } }
            @for paragraph in &decision.how { p.soft { (paragraph) } }
        }
    }
}

fn message(message: &Message) -> Markup {
    html! {
        li {
            h3 { (message.author) }
            p.said { (message.text) }
            p { small { (message.about) } }
        }
    }
}
