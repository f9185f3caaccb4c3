//! One conversation: what was said, what the bot decided about it, and what a person can do.

use actix_web::{HttpRequest, HttpResponse, http::StatusCode, web::Data};
use domain::{
    ConversationId, TemplateId,
    page::{Page, PageRequest},
    people::Act,
    social::{
        Mode,
        conversations::{Conversation, Message, Reply},
        templates::{MAX_TEMPLATES, Template, TemplateFilter},
    },
};

use super::{
    bot::{self, Tab, category, is_in_use, language, reply_state},
    conversation_acts::forms,
    conversations::{badges, name, text},
    html_with, panel, query,
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        conversation::{self as view, Decision, Message as Said, Model},
        figures::Fact,
        layout::Here,
        panel::{Panel, Way},
    },
};

/// Messages of a page.
const LIMIT: i64 = 50;
const DONE: [&str; 8] =
    ["approved", "skipped", "held", "written", "taken-over", "given-back", "conversation-changed", "judged"];

/// What a form sent that was refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refused {
    /// The field at fault, and what is wrong with it.
    pub fault: Option<(&'static str, String)>,
    pub message: String,
    pub template: Option<TemplateId>,
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    draw(&request, &viewer, &state, Refused::default()).await
}

/// The page, which says what is wrong with what was sent.
pub async fn draw(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    refused: Refused,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(viewer), request.headers(), (state.clock)());
    let (id, account) = (ConversationId(query::id(request)?), viewer.account());
    let done = bot::done(&writer, request, &DONE)?;
    let cursor = query::cursor(request)?;
    let page = PageRequest { limit: LIMIT, cursor };
    let (found, messages) = state.conversations.find(account, id, page).await?.ok_or(PageError::NotFound)?;
    let all = PageRequest { limit: MAX_TEMPLATES, cursor: None };
    let templates = state.reply_templates.page(account, TemplateFilter::default(), all).await?.items;
    let setup = state.social_settings.setup(account).await?;
    let title = name(&writer, &found);
    let status = if refused.fault.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let (answers, forms) =
        if viewer.may(Act::Change) { forms(&writer, &found, &templates, refused) } else { (vec![], vec![]) };
    let model = Model {
        shell: shell(viewer, state, &writer, Here::Conversations, title.clone()).await?,
        back: Way { text: writer.say("conversations"), address: Tab::Conversations.address().to_owned() },
        title,
        badges: badges(&writer, &found),
        about: about(&writer, &found),
        customer: found
            .customer
            .map(|customer| Way { text: writer.say("customer"), address: format!("/customers/{customer}") }),
        standing: bot::standing(viewer, &writer, &setup),
        done,
        facts: facts(&writer, &found),
        decision: found.reply.as_ref().map(|reply| decision(&writer, &found, reply, &templates)),
        answers,
        messages: said(&writer, state, (id, cursor), &messages),
        forms,
    };
    Ok(html_with(status, view::page(&model)))
}

fn about(writer: &Writer, found: &Conversation) -> String {
    let channel = writer.say(&format!("channel-{}", found.channel));
    let tongue = found.language.map(|tongue| language(writer, tongue));
    let snoozed =
        found.snoozed_until.map(|until| writer.message("conversation-until").text("at", writer.moment(until)).say());
    [Some(channel), tongue, snoozed].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn facts(writer: &Writer, found: &Conversation) -> Vec<Fact> {
    let fact = |name: &str, text: String, value: Option<String>| Fact {
        name: writer.say(name),
        text,
        value,
        change: None,
        below: None,
    };
    let since = found.waiting_since.map_or_else(|| "–".to_owned(), |at| writer.moment(at));
    let confidence = found.reply.as_ref().map(|reply| {
        let value = domain::money::round(reply.confidence, 4).normalize().to_string();
        fact("reply-confidence", writer.number(reply.confidence, 2), Some(value))
    });
    let always = [
        fact("conversation-waiting-since", since, None),
        fact(
            "conversation-messages",
            writer.number(found.messages_count.into(), 0),
            Some(found.messages_count.to_string()),
        ),
    ];
    always.into_iter().chain(confidence).collect()
}

fn decision(writer: &Writer, found: &Conversation, reply: &Reply, templates: &[Template]) -> Decision {
    let template = reply.template.zip(reply.template_version).map(|(id, version)| {
        let named = templates.iter().find(|template| template.id == id);
        let name = named.map_or_else(|| id.to_string(), |template| template.content.name().to_owned());
        let text = writer.message("reply-by-template").text("name", name).text("version", version.to_string());
        Way { text: text.say(), address: format!("{}/{id}", Tab::Templates.address()) }
    });
    let judged = reply.judged_correct.map(|correct| writer.say(if correct { "judged-right" } else { "judged-wrong" }));
    Decision {
        title: writer.say("reply-title"),
        state: reply_state(writer, reply.state),
        reason: reply.reason.map(|reason| writer.say(&format!("held-why-{reason}"))),
        text: reply.message.clone(),
        template,
        how: [vote(writer, found, reply), model_vote(writer, reply), Some(decided(writer, reply)), judged]
            .into_iter()
            .flatten()
            .collect(),
    }
}

/// What the word lists say, and what told them.
fn vote(writer: &Writer, found: &Conversation, reply: &Reply) -> Option<String> {
    let about = category(writer, found.category?);
    let message = if reply.hits.is_empty() {
        writer.message("reply-vote-bare").text("category", about)
    } else {
        let hits: Vec<_> =
            reply.hits.iter().map(|hit| writer.message("reply-hit").text("hit", hit.clone()).say()).collect();
        writer.message("reply-vote").text("category", about).text("hits", hits.join(", "))
    };
    Some(message.say())
}

/// What a language model says, where one was asked.
fn model_vote(writer: &Writer, reply: &Reply) -> Option<String> {
    reply.model_vote.map(|verdict| writer.say(&format!("reply-model-{verdict}")))
}

fn decided(writer: &Writer, reply: &Reply) -> String {
    let by = match reply.actor.as_str() {
        "bot" => writer.say("handling-bot"),
        actor => actor.strip_prefix("person ").unwrap_or(actor).to_owned(),
    };
    let decided = if reply.mode == Mode::Off {
        writer.message("reply-decided-off")
    } else {
        writer.message("reply-decided").text("mode", writer.say(&format!("bot-mode-{}", reply.mode)))
    };
    decided.text("by", by).text("at", writer.moment(reply.decided_at)).say()
}

/// What was said, the newest first.
fn said(
    writer: &Writer,
    state: &State,
    (id, cursor): (ConversationId, Option<i64>),
    found: &Page<Message>,
) -> Panel<Said> {
    let message = |message: &Message| Said {
        author: writer.say(&format!("author-{}", message.author)),
        text: text(writer, message.body.as_ref()),
        about: [Some(writer.moment(message.sent_at)), message.is_hidden.then(|| writer.say("message-hidden"))]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" · "),
    };
    let api = query::call(&format!("/api/v1/conversations/{id}"), LIMIT, cursor);
    Panel {
        id: "h-messages",
        title: writer.say("messages-title"),
        items: found.items.iter().map(message).collect(),
        nothing: writer.say("messages-none"),
        all: None,
        next: panel::next(writer, found.next_cursor.map(|cursor| format!("/conversations/{id}?cursor={cursor}"))),
        foot: panel::current(
            writer,
            vec![writer.say("how-conversation"), writer.say("how-reply")],
            &api,
            &state.settings.api_url,
        ),
    }
}

/// Templates of which a version is in use, those of the category first.
pub fn in_use<'a>(templates: &'a [Template], found: &Conversation) -> Vec<&'a Template> {
    let mut usable: Vec<&Template> = templates.iter().filter(|template| is_in_use(template)).collect();
    usable.sort_by_key(|template| {
        let content = &template.content;
        (Some(content.category()) != found.category, Some(content.language()) != found.language)
    });
    usable
}

#[cfg(test)]
mod tests {
    use domain::social::ReplyState;

    use super::{super::conversations::tests::conversation, *};
    use crate::text::tests::writer;

    #[test]
    fn a_decision_says_what_held_it_and_what_told_it() {
        let (writer, found) = (writer("en"), conversation(ReplyState::Held, Some("¡Hola!")));
        let made = decision(&writer, &found, found.reply.as_ref().unwrap(), &[]);
        assert_eq!(made.reason.as_deref(), Some("The commenter asked to be left alone."));
        assert_eq!(made.how[0], "The word lists say price question, by “cuanto”.");
        assert!(made.how[1].contains("the bot") && made.how[1].contains("With approval"), "{}", made.how[1]);
        assert_eq!(made.template.unwrap().address, "/conversations/templates/7");
        let values: Vec<_> = facts(&writer, &found).into_iter().filter_map(|fact| fact.value).collect();
        assert_eq!(values, ["2", "0.97"], "as the API has them");
    }
}
