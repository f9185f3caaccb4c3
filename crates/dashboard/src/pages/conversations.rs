//! Conversations under the shop's posts, and the queue of answers that wait for a person.

use std::iter;

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    page::PageRequest,
    people::Act,
    social::{
        Category, Channel, Handling, ReplyState, Status,
        conversations::{Conversation, ConversationFilter, Listing, Summary},
    },
};
use url::Url;

use super::{
    bot::{self, Tab, category, pick, reply_state},
    conversation_acts::seen,
    html, panel, query,
    shell::shell,
    window,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        acts::Acts,
        conversations::{self as view, Item, Model},
        figures::{Fact, Figure},
        form::{Field, Filters},
        layout::Here,
        panel::Panel,
        rows::Badge,
    },
};

/// Conversations of a page.
const LIMIT: i64 = 25;
/// What can be done from the list.
const DONE: [&str; 3] = ["approved", "skipped", "taken-over"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Query {
    filter: ConversationFilter,
    cursor: Option<i64>,
}

impl Query {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let filter = ConversationFilter {
            channel: query::one(request, "channel")?,
            status: query::one(request, "status")?,
            handling: query::one(request, "handling")?,
            category: query::one(request, "category")?,
            vip: query::one(request, "vip")?,
            waiting: query::one(request, "waiting")?,
            reply_state: query::one(request, "reply_state")?,
            updated_since: None,
        };
        Ok(Self { filter, cursor: query::cursor(request)? })
    }

    fn pairs(self) -> [Option<String>; 8] {
        let ConversationFilter { channel, status, handling, category, vip, waiting, reply_state, .. } = self.filter;
        [
            channel.map(|channel| format!("channel={channel}")),
            status.map(|status| format!("status={status}")),
            handling.map(|handling| format!("handling={handling}")),
            category.map(|category| format!("category={category}")),
            vip.map(|vip| format!("vip={vip}")),
            waiting.map(|waiting| format!("waiting={waiting}")),
            reply_state.map(|state| format!("reply_state={state}")),
            self.cursor.map(|cursor| format!("cursor={cursor}")),
        ]
    }

    fn address(self) -> String {
        query::address(Tab::Conversations.address(), self.pairs())
    }

    /// The call that gives the same.
    fn api(self) -> String {
        let [channel, status, handling, category, vip, waiting, state, cursor] = self.pairs();
        let limit = Some(format!("limit={LIMIT}"));
        query::address(
            "/api/v1/conversations",
            [channel, status, handling, category, vip, waiting, state, limit, cursor],
        )
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (query, account) = (Query::of(&request)?, viewer.account());
    let done = bot::done(&writer, &request, &DONE)?;
    let setup = state.social_settings.setup(account).await?;
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let found = state.conversations.page(account, query.filter, false, page).await?;
    let source = Source { writer: &writer, query, may_change: viewer.may(Act::Change), api: &state.settings.api_url };
    let title = writer.say("conversations");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Conversations, title.clone()).await?,
        title,
        place: window::place(&writer),
        tabs: bot::tabs(&writer, Tab::Conversations),
        standing: bot::standing(&viewer, &writer, &setup),
        done,
        counts: source.counts(found.summary),
        filters: source.filters(),
        found: source.panel(&found),
    };
    Ok(html(view::page(&model)))
}

struct Source<'a> {
    writer: &'a Writer,
    query: Query,
    may_change: bool,
    api: &'a Url,
}

impl Source<'_> {
    /// How many there are, each with the way to them.
    fn counts(&self, summary: Summary) -> (String, Vec<Figure>) {
        let open = ConversationFilter { status: Some(Status::Open), ..ConversationFilter::default() };
        let waiting = ConversationFilter { waiting: Some(true), ..open };
        let held = ConversationFilter { reply_state: Some(ReplyState::Held), ..ConversationFilter::default() };
        let figure = |name: &str, count: i64, filter: ConversationFilter| Figure {
            address: Query { filter, cursor: None }.address(),
            is_chosen: self.query.filter == filter,
            fact: Fact {
                name: self.writer.say(name),
                text: self.writer.number(count.into(), 0),
                value: Some(count.to_string()),
                change: None,
                below: None,
            },
        };
        let figures = vec![
            figure("conversations-open", summary.open, open),
            figure("conversations-waiting", summary.waiting, waiting),
            figure("conversations-held", summary.held, held),
        ];
        (self.writer.say("show"), figures)
    }

    fn filters(&self) -> Filters {
        let filter = self.query.filter;
        Filters {
            id: "h-filter",
            action: Tab::Conversations.address().to_owned(),
            fields: vec![
                self.field("status", "status", Status::ALL, filter.status),
                self.field("channel", "channel", Channel::ALL, filter.channel),
                self.field("category", "comment", Category::ALL, filter.category),
                self.field("handling", "handling", Handling::ALL, filter.handling),
                self.field("reply_state", "reply", ReplyState::ALL, filter.reply_state),
                self.yes_or_no("waiting", filter.waiting),
                self.yes_or_no("vip", filter.vip),
            ],
            go: self.writer.say("filter"),
            clear: self.writer.say("filter-clear"),
        }
    }

    fn field<T>(&self, name: &'static str, words: &str, all: &[T], chosen: Option<T>) -> Field
    where
        T: Copy + PartialEq + std::fmt::Display,
    {
        let value = |one: &T| (*one, one.to_string(), self.writer.say(&format!("{words}-{one}")));
        let label = self.writer.say(&format!("conversation-{words}"));
        pick(name, label, Some(self.writer.say("any")), all.iter().map(value), chosen)
    }

    fn yes_or_no(&self, name: &'static str, chosen: Option<bool>) -> Field {
        let value = |one: bool| (one, one.to_string(), self.writer.say(if one { "answer-yes" } else { "answer-no" }));
        let label = self.writer.say(&format!("conversation-{name}"));
        pick(name, label, Some(self.writer.say("any")), [true, false].map(value), chosen)
    }

    fn panel(&self, found: &Listing) -> Panel<Item> {
        let writer = self.writer;
        let next = found.page.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..self.query }.address());
        let is_queue = self.query.filter.reply_state == Some(ReplyState::Held);
        Panel {
            id: "h-conversations",
            title: writer.say(if is_queue { "conversations-queue" } else { "conversations-title" }),
            items: found.page.items.iter().map(|conversation| self.item(conversation)).collect(),
            nothing: writer.say(if is_queue { "conversations-queue-none" } else { "conversations-none" }),
            all: None,
            next: panel::next(writer, next),
            foot: panel::current(
                writer,
                vec![writer.say("how-conversations"), writer.say("how-bot")],
                &self.query.api(),
                self.api,
            ),
        }
    }

    fn item(&self, found: &Conversation) -> Item {
        let writer = self.writer;
        let held = found.reply.as_ref().filter(|reply| reply.state == ReplyState::Held);
        let answer = held.and_then(|reply| reply.message.clone()).map(|text| (writer.say("reply-proposed"), text));
        let last = &found.last_message;
        let said = writer
            .message("conversation-said")
            .text("author", writer.say(&format!("author-{}", last.author)))
            .text("at", writer.moment(last.sent_at));
        Item {
            address: format!("/conversations/{}", found.id),
            name: name(writer, found),
            text: text(writer, last.body.as_ref()),
            badges: badges(writer, found),
            about: said.text("channel", writer.say(&format!("channel-{}", found.channel))).say(),
            acts: held.filter(|_| self.may_change).map(|_| self.acts(found, answer.is_some())),
            answer,
            messages: (
                writer.number(found.messages_count.into(), 0),
                found.messages_count.to_string(),
                writer.message("message-count").count("count", found.messages_count).say(),
            ),
        }
    }

    /// What can be done about an answer without opening its conversation.
    fn acts(&self, found: &Conversation, can_approve: bool) -> Acts {
        let approve = can_approve.then_some(("approve", "reply-approve"));
        let buttons = approve.into_iter().chain([("skip", "reply-skip"), ("take_over", "take-over")]);
        Acts {
            address: format!("/conversations/{}/answer", found.id),
            hidden: iter::once(("from", "list".to_owned())).chain(seen(found)).collect(),
            name: "act",
            buttons: buttons.map(|(act, words)| (act, self.writer.say(words))).collect(),
        }
    }
}

/// Who began the conversation.
pub fn name(writer: &Writer, found: &Conversation) -> String {
    found.username.clone().unwrap_or_else(|| writer.say("conversation-nameless"))
}

/// What a message says.
pub fn text(writer: &Writer, body: Option<&String>) -> String {
    body.cloned().unwrap_or_else(|| writer.say("message-gone"))
}

/// How a conversation stands, the most pressing first.
pub fn badges(writer: &Writer, found: &Conversation) -> Vec<Badge> {
    let plain = |text: String| Badge { class: "", text };
    let reply = found.reply.as_ref();
    let marks = [
        reply.map(|reply| reply_state(writer, reply.state)),
        reply.and_then(|reply| reply.reason).map(|reason| plain(writer.say(&format!("held-{reason}")))),
        found.category.map(|about| plain(category(writer, about))),
        found.is_vip.then(|| Badge { class: "good", text: writer.say("conversation-vip") }),
        found.opted_out.then(|| Badge { class: "bad", text: writer.say("conversation-opted-out") }),
        (found.handling == Handling::Human).then(|| plain(writer.say("handling-human"))),
        (found.status != Status::Open).then(|| plain(writer.say(&format!("status-{}", found.status)))),
    ];
    marks.into_iter().flatten().collect()
}

#[cfg(test)]
pub mod tests {
    use domain::{
        ConversationId, TemplateId,
        page::Page,
        social::{
            Author, Direction, Mode, Reason, Tongue,
            conversations::{LastMessage, Reply},
        },
    };
    use rust_decimal::dec;
    use time::{OffsetDateTime, macros::datetime};

    use super::*;
    use crate::text::tests::writer;

    const NOW: OffsetDateTime = datetime!(2026-11-22 22:00 UTC);

    pub fn conversation(state: ReplyState, message: Option<&str>) -> Conversation {
        Conversation {
            id: ConversationId(5),
            channel: Channel::Instagram,
            external_id: "1".into(),
            post: None,
            username: None,
            customer: None,
            is_vip: false,
            opted_out: true,
            status: Status::Open,
            snoozed_until: None,
            handling: Handling::Bot,
            category: Some(Category::PriceQuestion),
            language: Some(Tongue::Spanish),
            last_message: LastMessage { direction: Direction::In, author: Author::Customer, body: None, sent_at: NOW },
            messages_count: 2,
            waiting_since: Some(NOW),
            reply: Some(Reply {
                state,
                reason: (state == ReplyState::Held).then_some(Reason::OptedOut),
                template: Some(TemplateId(7)),
                template_version: Some(2),
                message: message.map(Into::into),
                reply_id: None,
                confidence: dec!(0.9700),
                hits: vec!["cuanto".into()],
                model_vote: None,
                mode: Mode::Approve,
                actor: "bot".into(),
                decided_at: NOW,
                judged_correct: None,
            }),
            created_at: NOW,
            position: 9,
        }
    }

    fn items(may_change: bool, found: Conversation) -> Panel<Item> {
        let (writer, api) = (writer("en"), Url::parse("http://localhost").unwrap());
        let source = Source { writer: &writer, query: Query::default(), may_change, api: &api };
        source.panel(&Listing {
            page: Page { items: vec![found], next_cursor: Some(9) },
            messages: vec![],
            summary: Summary::default(),
        })
    }

    fn offered(may_change: bool, found: Conversation) -> Option<Vec<&'static str>> {
        let acts = items(may_change, found).items.remove(0).acts;
        acts.map(|acts| acts.buttons.into_iter().map(|(act, _)| act).collect())
    }

    #[test]
    fn what_is_held_is_decided_on_from_the_list_by_who_may() {
        let held = || conversation(ReplyState::Held, Some("¡Hola!"));
        assert_eq!(offered(true, held()), Some(vec!["approve", "skip", "take_over"]));
        assert_eq!(offered(false, held()), None);
        assert_eq!(offered(true, conversation(ReplyState::Held, None)), Some(vec!["skip", "take_over"]));
        assert_eq!(offered(true, conversation(ReplyState::Sent, Some("¡Hola!"))), None);
    }

    #[test]
    fn a_text_that_is_gone_is_said_and_who_opted_out_is_marked() {
        let panel = items(true, conversation(ReplyState::Held, None));
        let item = &panel.items[0];
        assert_eq!(item.text, "This text was deleted, or is older than texts are kept.");
        assert!(item.badges.iter().any(|badge| badge.text == "asked to be left alone"));
        assert_eq!(panel.next.as_ref().map(|next| next.address.as_str()), Some("/conversations?cursor=9"));
    }

    #[test]
    fn the_call_has_what_the_address_has() {
        let address = "/conversations?channel=facebook&status=closed&waiting=false&reply_state=held&cursor=4";
        let request = actix_web::test::TestRequest::with_uri(address).to_http_request();
        let query = Query::of(&request).ok().unwrap();
        assert_eq!(query.address(), address);
        assert_eq!(
            query.api(),
            "/api/v1/conversations?channel=facebook&status=closed&waiting=false&reply_state=held&limit=25&cursor=4"
        );
        let wrong = actix_web::test::TestRequest::with_uri("/conversations?status=gone").to_http_request();
        assert!(matches!(Query::of(&wrong), Err(PageError::Invalid("status"))));
    }
}
