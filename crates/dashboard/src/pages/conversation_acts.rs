//! What a person does about a conversation: answers it, judges the bot, hands it over, closes it.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form},
};
use domain::{
    ConversationId, TemplateId,
    audit::Action,
    instants,
    social::{
        Category, Channel, Handling, Mode, Reason, ReplyState, Status,
        conversations::{
            Act, ActError, By, ChangeError, Conversation, ConversationChange, Judgement, MAX_MESSAGE_CHARS, message,
        },
        templates::Template,
    },
};
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;

use super::{
    bot::{category, language, note, pick},
    conversation::{Refused, draw, in_use},
    query, see, writer,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::form::{self, Button, Field, Input},
};

/// What is done about an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Deed {
    Approve,
    /// Sends another template than the one that the bot chose.
    Choose,
    Skip,
    Hold,
    Write,
    TakeOver,
    GiveBack,
}

/// What the forms about an answer send.
#[derive(Deserialize)]
pub struct Answer {
    act: Deed,
    template: Option<i64>,
    #[serde(default)]
    message: String,
    /// When the decision was made that the page shows, in microseconds since 1970.
    decided: Option<i64>,
    /// `list`, to go back to it.
    #[serde(default)]
    from: String,
}

pub async fn answer(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Answer>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (id, sent) = (ConversationId(query::id(&request)?), fields.into_inner());
    let template = sent.template.map(TemplateId);
    let is_list = sent.from == "list";
    let (act, action, done) = match sent.act {
        Deed::TakeOver => return handle(&viewer, &state, id, Handling::Human, is_list).await,
        Deed::GiveBack => return handle(&viewer, &state, id, Handling::Bot, is_list).await,
        Deed::Approve => (Act::Approve(None), Action::ReplyApproved, "approved"),
        Deed::Choose => {
            let chosen = template.ok_or(PageError::Invalid("template"))?;
            (Act::Approve(Some(chosen)), Action::ReplyApproved, "approved")
        }
        Deed::Skip => (Act::Skip, Action::ReplySkipped, "skipped"),
        Deed::Hold => (Act::Hold, Action::ReplyHeld, "held"),
        // Browsers send line feeds as CR LF (HTML, 4.10.22.7).
        Deed::Write => match message(&sent.message.replace("\r\n", "\n")) {
            Ok(words) => (Act::Send(words), Action::ReplyWritten, "written"),
            Err(_) => return refused(&request, &viewer, &state, "message", "message-bad", sent).await,
        },
    };
    let mut entry = note(&viewer, action, format!("#{id}"));
    entry.after = template.filter(|_| sent.act == Deed::Choose).map(|template| json!({ "template_id": template.0 }));
    let instant = |micros| OffsetDateTime::from_unix_timestamp_nanos(i128::from(micros) * 1_000);
    let decided_at = sent.decided.map(instant).transpose().map_err(|_| PageError::Invalid("decided"))?;
    let by = By::person(&viewer.session().person.name, Some(entry), decided_at);
    match state.conversations.act(viewer.account(), id, act, by, None, (state.clock)()).await {
        Ok(_) => Ok(back(id, done, is_list)),
        Err(ActError::NotFound) => Err(PageError::NotFound),
        Err(ActError::Transition | ActError::OtherCategory) => Err(PageError::Conflict),
        Err(ActError::UnknownTemplate) => refused(&request, &viewer, &state, "template", "template-unused", sent).await,
        Err(ActError::UnusableTemplate) => {
            refused(&request, &viewer, &state, "template", "template-unusable", sent).await
        }
        Err(ActError::NoLink) => refused(&request, &viewer, &state, "template", "template-needs-link", sent).await,
        Err(ActError::NoName) => refused(&request, &viewer, &state, "template", "template-needs-name", sent).await,
        Err(ActError::TooLong(_)) => refused(&request, &viewer, &state, "message", "message-bad", sent).await,
        Err(ActError::Contact) => refused(&request, &viewer, &state, "message", "message-leads-away", sent).await,
        Err(ActError::Idempotency(error)) => Err(error.into()),
    }
}

/// The page again, with what is wrong.
async fn refused(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    field: &'static str,
    words: &str,
    sent: Answer,
) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(viewer), request.headers(), (state.clock)());
    let fault = fault_of(&writer, words);
    let template = sent.template.map(TemplateId);
    draw(request, viewer, state, Refused { fault: Some((field, fault)), message: sent.message, template }).await
}

/// What is wrong, with what is allowed.
fn fault_of(writer: &Writer, words: &str) -> String {
    let there = Channel::Mercadolibre.max_reply_chars();
    writer.message(words).count("most", MAX_MESSAGE_CHARS as i64).count("there", there as i64).say()
}

/// Hands a conversation to a person or back to the bot.
async fn handle(
    viewer: &Viewer,
    state: &State,
    id: ConversationId,
    handling: Handling,
    is_list: bool,
) -> Result<HttpResponse, PageError> {
    let change = ConversationChange { handling: Some(handling), ..ConversationChange::default() };
    apply(viewer, state, id, change).await?;
    Ok(back(id, if handling == Handling::Human { "taken-over" } else { "given-back" }, is_list))
}

fn back(id: ConversationId, done: &str, is_list: bool) -> HttpResponse {
    if is_list {
        see(&format!("/conversations?reply_state=held&done={done}"))
    } else {
        see(&format!("/conversations/{id}?done={done}"))
    }
}

async fn apply(
    viewer: &Viewer,
    state: &State,
    id: ConversationId,
    change: ConversationChange,
) -> Result<(), PageError> {
    let mut entry = note(viewer, Action::ConversationChanged, format!("#{id}"));
    entry.after = Some(match (change.status, change.handling) {
        (Some(status), _) => json!({ "status": status.as_str() }),
        (None, handling) => json!({ "handling": handling.map(Handling::as_str) }),
    });
    state.conversations.change(viewer.account(), id, change, Some(entry), (state.clock)()).await.map_err(fault)?;
    Ok(())
}

fn fault(error: ChangeError) -> PageError {
    match error {
        ChangeError::NotFound => PageError::NotFound,
        ChangeError::UnknownCustomer => PageError::Invalid("customer"),
        ChangeError::NoEnd | ChangeError::Invalid("snoozed_until", _) => PageError::Invalid("until"),
        ChangeError::Invalid(field, _) => PageError::Invalid(field),
        ChangeError::Transition => PageError::Conflict,
        ChangeError::Store(error) => error.into(),
    }
}

/// What the form of a conversation's status sends.
#[derive(Deserialize)]
pub struct Wanted {
    status: Status,
    /// The day on which a snooze ends.
    #[serde(default)]
    until: String,
}

pub async fn change(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Wanted>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(&viewer), request.headers(), (state.clock)());
    let (id, Wanted { status, until }) = (ConversationId(query::id(&request)?), fields.into_inner());
    let day = if status == Status::Snoozed {
        Some(instants::parse_day(&until).map_err(|_| PageError::Invalid("until"))?)
    } else {
        None
    };
    let snoozed_until = day.map(|day| writer.zone.start_of(day));
    let change = ConversationChange { status: Some(status), snoozed_until, ..ConversationChange::default() };
    apply(&viewer, &state, id, change).await?;
    Ok(back(id, "conversation-changed", false))
}

/// What the form of a judgement sends.
#[derive(Deserialize)]
pub struct Judged {
    correct: bool,
    /// Empty where it is not said.
    #[serde(default)]
    category: String,
}

pub async fn judge(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Judged>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let (id, Judged { correct, category }) = (ConversationId(query::id(&request)?), fields.into_inner());
    let category =
        if category.is_empty() { None } else { Some(category.parse().map_err(|_| PageError::Invalid("category"))?) };
    let mut entry = note(&viewer, Action::ReplyJudged, format!("#{id}"));
    entry.after = Some(json!({ "correct": correct }));
    let judgement = Judgement { correct, category };
    match state.conversations.judge(viewer.account(), id, judgement, Some(entry), None, (state.clock)()).await {
        Ok(_) => Ok(back(id, "judged", false)),
        Err(ActError::NotFound) => Err(PageError::NotFound),
        Err(ActError::OtherCategory) => {
            let writer = writer(Some(&viewer), request.headers(), (state.clock)());
            let fault = Some(("category", writer.say("judge-contradicted")));
            draw(&request, &viewer, &state, Refused { fault, ..Refused::default() }).await
        }
        Err(ActError::Idempotency(error)) => Err(error.into()),
        Err(_) => Err(PageError::Conflict),
    }
}

/// What an act sends, so that it acts on the decision that was looked at.
pub fn seen(found: &Conversation) -> Option<(&'static str, String)> {
    found.reply.as_ref().map(|reply| ("decided", (reply.decided_at.unix_timestamp_nanos() / 1_000).to_string()))
}

/// What can be done about the answer, and what else can be changed.
pub fn forms(
    writer: &Writer,
    found: &Conversation,
    templates: &[Template],
    refused: Refused,
) -> (Vec<form::Form>, Vec<form::Form>) {
    let source = Forms { writer, found };
    let Refused { fault, message, template } = refused;
    let of = |field: &str| fault.as_ref().filter(|(named, _)| *named == field).map(|(_, text)| text.clone());
    let answers = [
        source.decide(),
        source.choose(&in_use(templates, found), template, of("template")),
        source.judge(of("category")),
        source.write(message, of("message")),
    ];
    let others = [Some(source.hand_over()), Some(source.status()), source.snooze()];
    (answers.into_iter().flatten().collect(), others.into_iter().flatten().collect())
}

struct Forms<'a> {
    writer: &'a Writer,
    found: &'a Conversation,
}

impl Forms<'_> {
    fn form(&self, id: &'static str, words: &str, path: &str, fields: Vec<Field>, buttons: Vec<Button>) -> form::Form {
        form::Form {
            id,
            title: self.writer.say(words),
            about: vec![self.writer.say(&format!("{words}-about"))],
            is_get: false,
            action: format!("/conversations/{}{path}", self.found.id),
            hidden: vec![],
            fields,
            buttons,
        }
    }

    /// About the decision that is shown.
    fn decision(&self, id: &'static str, words: &str, fields: Vec<Field>, buttons: Vec<Button>) -> form::Form {
        form::Form {
            hidden: seen(self.found).into_iter().collect(),
            ..self.form(id, words, "/answer", fields, buttons)
        }
    }

    fn button(&self, class: &'static str, words: &str, sends: (&'static str, &'static str)) -> Button {
        Button { class, text: self.writer.say(words), sends: Some(sends) }
    }

    fn state(&self) -> Option<ReplyState> {
        self.found.reply.as_ref().map(|reply| reply.state)
    }

    /// What is held is sent or left out; what waits for its time can wait for a person instead.
    fn decide(&self) -> Option<form::Form> {
        let reply = self.found.reply.as_ref()?;
        let is_held = reply.state == ReplyState::Held;
        let waits = reply.state == ReplyState::Reserved || is_held && reply.reason == Some(Reason::QuietHours);
        let buttons = [
            (is_held && reply.message.is_some(), "btn main", "reply-approve", "approve"),
            (waits, "btn", "reply-hold", "hold"),
            (is_held, "btn", "reply-skip", "skip"),
        ];
        let buttons: Vec<_> = buttons
            .into_iter()
            .filter(|(is_there, ..)| *is_there)
            .map(|(_, class, words, act)| self.button(class, words, ("act", act)))
            .collect();
        (!buttons.is_empty()).then(|| self.decision("h-decide", "reply-decide", vec![], buttons))
    }

    fn choose(&self, usable: &[&Template], chosen: Option<TemplateId>, error: Option<String>) -> Option<form::Form> {
        // With an error the form is there though the last template in use has just gone.
        if self.state() != Some(ReplyState::Held) || (usable.is_empty() && error.is_none()) {
            return None;
        }
        let value = |template: &&Template| {
            let content = &template.content;
            let (about, tongue) =
                (category(self.writer, content.category()), language(self.writer, content.language()));
            (template.id, template.id.to_string(), format!("{} · {about} · {tongue}", content.name()))
        };
        let field = pick("template", self.writer.say("reply-template"), None, usable.iter().map(value), chosen);
        let buttons = vec![self.button("btn", "reply-choose-go", ("act", "choose"))];
        Some(self.decision("h-choose", "reply-choose", vec![Field { error, ..field }], buttons))
    }

    /// Own words are possible while no answer was or may have been sent.
    fn write(&self, value: String, error: Option<String>) -> Option<form::Form> {
        let is_open = self.state().is_none_or(|state| {
            matches!(state, ReplyState::Held | ReplyState::Failed | ReplyState::Skipped | ReplyState::DryRun)
        });
        let field = Field {
            name: "message",
            label: self.writer.say("reply-message"),
            help: None,
            error,
            input: Input::Area { value, max: Some(self.found.channel.max_reply_chars()) },
        };
        let buttons = || vec![self.button("btn", "reply-write-go", ("act", "write"))];
        is_open.then(|| self.form("h-write", "reply-write", "/answer", vec![field], buttons()))
    }

    /// The bot's decisions are judged, also after they were carried out.
    fn judge(&self, error: Option<String>) -> Option<form::Form> {
        self.found.reply.as_ref().filter(|reply| reply.mode != Mode::Off)?;
        let value = |one: &Category| (*one, one.to_string(), category(self.writer, *one));
        let (label, unsaid) = (self.writer.say("judge-category"), self.writer.say("judge-unsaid"));
        let field = pick("category", label, Some(unsaid), Category::ALL.iter().map(value), None);
        let buttons = vec![
            self.button("btn", "judge-right", ("correct", "true")),
            self.button("btn", "judge-wrong", ("correct", "false")),
        ];
        Some(self.form("h-judge", "judge", "/judgement", vec![Field { error, ..field }], buttons))
    }

    fn hand_over(&self) -> form::Form {
        let (words, act) = match self.found.handling {
            Handling::Bot => ("take-over", "take_over"),
            Handling::Human => ("give-back", "give_back"),
        };
        self.form("h-handling", words, "/answer", vec![], vec![self.button("btn", words, ("act", act))])
    }

    fn status(&self) -> form::Form {
        let buttons = [(Status::Closed, "conversation-close", "closed"), (Status::Open, "conversation-open", "open")];
        let buttons = buttons.into_iter().filter(|(to, ..)| *to != self.found.status);
        let buttons = buttons.map(|(_, words, to)| self.button("btn", words, ("status", to))).collect();
        self.form("h-status", "conversation-status-change", "", vec![], buttons)
    }

    /// A closed conversation is opened first. A form of its own, where Enter in the field does what the field is for.
    fn snooze(&self) -> Option<form::Form> {
        let until = Field {
            name: "until",
            label: self.writer.say("conversation-snooze-until"),
            help: None,
            error: None,
            input: Input::Line { kind: "date", value: String::new(), max: None, is_required: true },
        };
        let buttons = vec![self.button("btn", "conversation-snooze", ("status", "snoozed"))];
        let form = self.form("h-snooze", "conversation-put-off", "", vec![until], buttons);
        (self.found.status != Status::Closed).then_some(form)
    }
}

#[cfg(test)]
mod tests {
    use domain::social::{
        Tongue,
        templates::{Content, TemplateState},
    };
    use rstest::rstest;
    use time::macros::datetime;

    use super::{super::conversations::tests::conversation, *};
    use crate::text::tests::writer;

    fn template(id: i64, approved_version: Option<i64>, language: Tongue) -> Template {
        let at = datetime!(2026-11-22 22:00 UTC);
        Template {
            id: TemplateId(id),
            content: Content::stored("Prices".into(), Category::PriceQuestion, language, vec!["¡Hola!".into()]),
            state: if approved_version.is_some() { TemplateState::Approved } else { TemplateState::Draft },
            version: 1,
            approved_version,
            approved_by: None,
            approved_at: None,
            used_count: 0,
            created_at: at,
            updated_at: at,
        }
    }

    fn sent(forms: &[form::Form]) -> Vec<&'static str> {
        forms.iter().flat_map(|form| &form.buttons).filter_map(|button| button.sends).map(|(_, value)| value).collect()
    }

    #[rstest]
    #[case(ReplyState::Held, Some("¡Hola!"), &["approve", "skip", "choose", "true", "false", "write"])]
    #[case(ReplyState::Held, None, &["skip", "choose", "true", "false", "write"])]
    #[case(ReplyState::DryRun, Some("¡Hola!"), &["true", "false", "write"])]
    #[case(ReplyState::Reserved, Some("¡Hola!"), &["hold", "true", "false"])]
    #[case(ReplyState::Sent, Some("¡Hola!"), &["true", "false"])]
    fn what_can_be_done_follows_the_state(
        #[case] state: ReplyState,
        #[case] message: Option<&str>,
        #[case] expected: &[&str],
    ) {
        let templates = [template(7, Some(1), Tongue::Spanish)];
        let (answers, others) = forms(&writer("en"), &conversation(state, message), &templates, Refused::default());
        assert_eq!(sent(&answers), expected);
        assert_eq!(sent(&others), ["take_over", "closed", "snoozed"]);
    }

    #[test]
    fn templates_in_use_are_offered_those_of_the_language_first() {
        let templates = [
            template(1, None, Tongue::Spanish),
            template(2, Some(1), Tongue::English),
            template(3, Some(1), Tongue::Spanish),
        ];
        let found = conversation(ReplyState::Held, None);
        let offered: Vec<_> = in_use(&templates, &found).into_iter().map(|template| template.id.0).collect();
        assert_eq!(offered, [3, 2]);
    }
}
