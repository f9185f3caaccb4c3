//! The API keys of an account, and a new one.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form},
};
use app::second_factor::told;
use domain::{
    accounts::Mode,
    audit::Action,
    keys::{ApiKey, DEFAULT_LIFETIME, KeyRecord, MAX_NAME_CHARS, MOST_WORKING, MakeError, NewKey, Scope},
    mail::Notice,
    page::Page,
    people::Act,
    text,
};
use serde::Deserialize;
use serde_json::json;
use time::Duration;
use url::Url;

use super::{
    confirm, html, html_with, panel, query,
    sent::{Sent, number, sent},
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        form::{self, Button, Field, Input, Pick},
        keys::{self as view, Model},
        layout::{Choice, Here},
        panel::{Panel, Way},
        rows::{Badge, Cell, Head, Row},
        secret::Once,
    },
};

/// Keys of a page.
const LIMIT: i64 = 50;
/// How long a new key may last, days.
const LIFETIMES: [i64; 3] = [30, DEFAULT_LIFETIME.whole_days(), 365];
/// A key that ends within this is marked.
const SOON: Duration = Duration::days(14);

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Query {
    /// Whether it is the keys that work no longer.
    ended: bool,
    cursor: Option<i64>,
    done: Option<Done>,
}

/// What was done before, which the page says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Revoked,
    /// A form that made a key was sent again.
    SentBefore,
}

/// Where a form that made a key leads when it is sent again.
pub const SENT_BEFORE: &str = "/keys?sent=true";

impl Query {
    const WORKING: Self = Self { ended: false, cursor: None, done: None };

    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let ended = query::one(request, "ended")?.unwrap_or(false);
        let revoked = query::one(request, "revoked")?.unwrap_or(false).then_some(Done::Revoked);
        let sent = query::one(request, "sent")?.unwrap_or(false).then_some(Done::SentBefore);
        Ok(Self { ended, cursor: query::cursor(request)?, done: revoked.or(sent) })
    }

    fn address(self) -> String {
        let ended = self.ended.then(|| "ended=true".to_owned());
        query::address(Here::Keys.address(), [ended, self.cursor.map(|cursor| format!("cursor={cursor}"))])
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request)?;
    Ok(html(view::page(&model(&viewer, &state, &writer, query, Asked::default()).await?)))
}

/// What the form of a new key sends.
#[derive(Deserialize)]
pub struct Fields {
    name: String,
    ends: Ends,
    read: Option<String>,
    write: Option<String>,
    form: Option<String>,
}

impl Fields {
    fn scopes(&self) -> Vec<Scope> {
        let asked = [self.read.as_ref().map(|_| Scope::Read), self.write.as_ref().map(|_| Scope::Write)];
        asked.into_iter().flatten().collect()
    }

    /// The fields that cannot be used.
    fn faults(&self) -> Asked {
        let name = self.name.trim();
        Asked {
            is_name_bad: name.is_empty() || text::check(name, MAX_NAME_CHARS).is_err(),
            has_no_scope: self.scopes().is_empty(),
            ..Asked::default()
        }
    }
}

/// When a key ends, as the forms send it: after so many days, or `never`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Ends(Option<i64>);

impl TryFrom<String> for Ends {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.parse() {
            Ok(days) if LIFETIMES.contains(&days) => Ok(Self(Some(days))),
            _ if text == "never" => Ok(Self(None)),
            _ => Err("one of the choices"),
        }
    }
}

impl Ends {
    pub const fn after(lifetime: Duration) -> Self {
        Self(Some(lifetime.whole_days()))
    }

    pub fn at(self, writer: &Writer) -> Option<time::OffsetDateTime> {
        self.0.map(|days| writer.now + Duration::days(days))
    }
}

/// What came of the form.
#[derive(Default)]
struct Asked {
    is_name_bad: bool,
    has_no_scope: bool,
    /// Whether there are as many keys as may be.
    is_full: bool,
    once: Option<Once>,
    fields: Option<Fields>,
}

pub async fn create(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Fields>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    viewer.confirmed(writer.now, "/keys")?;
    let fields = fields.into_inner();
    let faults = fields.faults();
    if faults.is_name_bad || faults.has_no_scope {
        return refused(&viewer, &state, &writer, Asked { fields: Some(fields), ..faults }).await;
    }
    let wish = format!("key {:?} {:?} {:?}", fields.name, fields.ends, fields.scopes());
    let sending = match sent(&state, &viewer, writer.now, fields.form.as_deref(), &wish, SENT_BEFORE).await? {
        Sent::Now(sending) => sending,
        Sent::Before(response) => return Ok(response),
    };
    let key = new_key(&viewer, &state)?;
    let mut note = viewer.note(Action::KeyMade);
    (note.target, note.after) = (Some(fields.name.trim().to_owned()), Some(json!({ "scopes": fields.scopes() })));
    let made = NewKey {
        hash: key.hash(),
        account_id: viewer.account(),
        name: fields.name.trim().to_owned(),
        prefix: key.display_prefix().to_owned(),
        scopes: fields.scopes(),
        created_at: writer.now,
        expires_at: fields.ends.at(&writer),
        note: Some(note),
        notice: told(viewer.session(), Notice::KeyMade),
    };
    let record = match state.keys.create(made, Some(MOST_WORKING)).await {
        Ok(record) => record,
        Err(failure) => {
            sending.refused().await?;
            return match failure {
                MakeError::LimitReached => {
                    let asked = Asked { is_full: true, fields: Some(fields), ..Asked::default() };
                    refused(&viewer, &state, &writer, asked).await
                }
                MakeError::Store(error) => Err(error.into()),
            };
        }
    };
    sending.done(SENT_BEFORE).await;
    let once = Some(once(&writer, &key, &record, &state.settings.api_url));
    let asked = Asked { once, ..Asked::default() };
    Ok(html(view::page(&model(&viewer, &state, &writer, Query::WORKING, asked).await?)))
}

/// The page with what the form lacks.
async fn refused(viewer: &Viewer, state: &State, writer: &Writer, asked: Asked) -> Result<HttpResponse, PageError> {
    let page = view::page(&model(viewer, state, writer, Query::WORKING, asked).await?);
    Ok(html_with(StatusCode::BAD_REQUEST, page))
}

/// A new key for the account that is looked at. It is read back: one of too few random bytes is none.
pub fn new_key(viewer: &Viewer, state: &State) -> Result<ApiKey, PageError> {
    let key = (state.key)(viewer.session().account.mode);
    key.expose().parse().map_err(|_| PageError::Internal("the system gave no random bytes".to_owned()))
}

/// A key that is shown this once, with a call that it allows.
pub fn once(writer: &Writer, key: &ApiKey, record: &KeyRecord, api: &Url) -> Once {
    let key = key.expose();
    let url = api.as_str().trim_end_matches('/');
    let header = format!("curl -H \"Authorization: Bearer {key}\"");
    let call = if record.allows(Scope::Read) {
        format!("{header} '{url}/api/v1/profit?days=7'")
    } else {
        let body = "-H 'Content-Type: application/json' -d '{\"event\":\"page_view\"}'";
        format!("{header} {body} '{url}/api/v1/track?dry_run=1'")
    };
    Once {
        title: writer.message("key-once").text("name", &record.name).say(),
        warning: writer.say("key-once-warning"),
        label: writer.say("key-once-label"),
        value: key.to_owned(),
        copy: writer.say("copy"),
        copied: writer.say("copied"),
        uses: vec![(writer.say("key-once-try"), call)],
        saved: Way { text: writer.say("key-once-saved"), address: Query::WORKING.address() },
    }
}

async fn model(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    query: Query,
    asked: Asked,
) -> Result<Model, PageError> {
    let keys = state.keys.list(viewer.account()).await?;
    let title = writer.say("keys");
    let may_change = viewer.may(Act::Administer);
    let about = writer.say(if viewer.session().account.mode == Mode::Live { "keys-about" } else { "keys-about-test" });
    let numbered = || form::Form { hidden: vec![number(state)], ..form(writer, &asked) };
    let form = may_change.then(|| confirm::first(writer, viewer, Here::Keys.address(), numbered()));
    Ok(Model {
        shell: shell(viewer, state, writer, Here::Keys, title.clone()).await?,
        title,
        about,
        states: (writer.say("show"), [false, true].map(|ended| choice(writer, ended, query.ended)).into()),
        once: asked.once,
        done: query.done.map(|done| {
            writer.say(match done {
                Done::Revoked => "key-revoked",
                Done::SentBefore => "key-sent-before",
            })
        }),
        head: head(writer),
        keys: listed(writer, query, keys, may_change),
        form,
    })
}

fn choice(writer: &Writer, ended: bool, chosen: bool) -> Choice {
    Choice {
        address: Query { ended, ..Query::WORKING }.address(),
        text: writer.say(if ended { "keys-ended" } else { "keys-working" }),
        is_chosen: ended == chosen,
    }
}

fn head(writer: &Writer) -> Vec<Head> {
    ["key-name", "key-prefix", "key-access", "key-made", "key-made-by", "key-last-used", "key-ends"]
        .map(|id| Head::Text(writer.say(id)))
        .into()
}

fn listed(writer: &Writer, query: Query, keys: Vec<KeyRecord>, may_change: bool) -> Panel<Row> {
    let mut shown: Vec<_> = keys.into_iter().filter(|key| key.check(writer.now).is_err() == query.ended).collect();
    let count = shown.len();
    shown.retain(|key| query.cursor.is_none_or(|cursor| key.id.0 < cursor));
    let page = Page::cut(shown, LIMIT, |key: &KeyRecord| key.id.0);
    let next = page.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..query }.address());
    let (title, nothing) =
        if query.ended { ("keys-ended-title", "keys-ended-none") } else { ("keys-working-title", "keys-working-none") };
    Panel {
        id: "h-keys",
        title: writer.message(title).count("count", count as i64).say(),
        items: page.items.iter().map(|key| row(writer, key, may_change)).collect(),
        nothing: writer.say(nothing),
        all: None,
        next: panel::next(writer, next),
        foot: panel::notes(
            writer,
            writer.say("keys-exact"),
            writer.say("keys-rotating"),
            vec![writer.say("keys-rotating-how")],
        ),
    }
}

fn row(writer: &Writer, key: &KeyRecord, may_change: bool) -> Row {
    let works = key.check(writer.now).is_ok();
    Row {
        name: name(writer, key),
        address: (works && may_change).then(|| format!("/keys/{}", key.id)),
        below: None,
        cells: vec![
            Cell::Mono(format!("{}…", key.prefix)),
            Cell::Text(access(writer, key)),
            Cell::Text(writer.day_of_year(writer.zone.day_of(key.created_at))),
            Cell::Text(made_by(writer, key)),
            Cell::Text(key.last_used_at.map_or_else(|| writer.say("never"), |at| writer.moment(at))),
            end(writer, key),
        ],
    }
}

/// A key without a name is called by its beginning.
pub fn name(writer: &Writer, key: &KeyRecord) -> String {
    if key.name.is_empty() { writer.message("key-unnamed").text("prefix", &key.prefix).say() } else { key.name.clone() }
}

/// Who made a key.
pub fn made_by(writer: &Writer, key: &KeyRecord) -> String {
    key.made_by.clone().unwrap_or_else(|| writer.say("actor-operator"))
}

/// What a key allows, in words.
pub fn access(writer: &Writer, key: &KeyRecord) -> String {
    let id = match (key.allows(Scope::Read), key.allows(Scope::Write)) {
        (true, true) => "access-both",
        (false, true) => "access-write",
        _ => "access-read",
    };
    writer.say(id)
}

fn end(writer: &Writer, key: &KeyRecord) -> Cell {
    let date = |at| writer.day_of_year(writer.zone.day_of(at));
    match (key.revoked_at, key.expires_at) {
        (Some(at), _) => {
            let text = writer.message("key-revoked-on").text("day", date(at)).say();
            Cell::Badge(Some(Badge { class: "bad", text }))
        }
        (None, None) => Cell::Text(writer.say("never")),
        (None, Some(at)) if at <= writer.now => {
            let text = writer.message("key-ended-on").text("day", date(at)).say();
            Cell::Badge(Some(Badge { class: "", text }))
        }
        (None, Some(at)) => {
            let soon = at - writer.now <= SOON;
            let below = soon.then(|| writer.moment(at));
            Cell::Texts { text: date(at), below, is_bad: soon }
        }
    }
}

fn form(writer: &Writer, asked: &Asked) -> form::Form {
    let sent = asked.fields.as_ref();
    let scopes = sent.map_or_else(|| vec![Scope::Read], Fields::scopes);
    let tick = |scope: Scope| Pick {
        value: "on".to_owned(),
        text: writer.say(&format!("scope-{scope}")),
        is_chosen: scopes.contains(&scope),
    };
    let name = Input::Line {
        kind: "text",
        value: sent.map(|fields| fields.name.clone()).unwrap_or_default(),
        max: Some(MAX_NAME_CHARS),
        is_required: true,
    };
    let field = |name, input| Field { name, label: writer.say(&format!("key-{name}")), help: None, error: None, input };
    let ends = sent.map_or(Ends::after(DEFAULT_LIFETIME), |fields| fields.ends);
    let error = |is_bad: bool, id: &str| is_bad.then(|| writer.say(id));
    let ticks = Input::Ticks(Scope::ALL.iter().map(|scope| (scope.as_str(), tick(*scope))).collect());
    form::Form {
        id: "h-new",
        title: writer.say("key-new"),
        about: vec![],
        is_get: false,
        action: Here::Keys.address().to_owned(),
        hidden: vec![],
        fields: vec![
            Field {
                help: Some(writer.say("key-name-help")),
                error: error(asked.is_name_bad, "key-name-bad").or_else(|| error(asked.is_full, "key-limit")),
                ..field("name", name)
            },
            field("ends", lifetimes(writer, ends)),
            Field { error: error(asked.has_no_scope, "key-access-none"), ..field("access", ticks) },
        ],
        buttons: vec![Button::main(writer.say("key-create"))],
    }
}

/// How long a key may last.
pub fn lifetimes(writer: &Writer, chosen: Ends) -> Input {
    let pick = |days: Option<i64>| {
        let end = Ends(days).at(writer).map(|at| writer.day_of_year(writer.zone.day_of(at)));
        Pick {
            value: days.map_or_else(|| "never".to_owned(), |days| days.to_string()),
            text: match days.zip(end) {
                Some((days, end)) => writer.message("key-ends-in").count("days", days).text("day", end).say(),
                None => writer.say("never"),
            },
            is_chosen: chosen == Ends(days),
        }
    };
    Input::Select(LIFETIMES.map(Some).into_iter().chain([None]).map(pick).collect())
}

#[cfg(test)]
mod tests {
    use domain::{
        AccountId, KeyId, UserId,
        accounts::{Plan, Profile},
        texts::Locale,
    };
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    fn record(expires_at: Option<time::OffsetDateTime>, revoked_at: Option<time::OffsetDateTime>) -> KeyRecord {
        let created_at = datetime!(2026-01-11 12:00 UTC);
        let key = ApiKey::generate(Mode::Live, std::iter::repeat(7));
        KeyRecord {
            id: KeyId(3),
            hash: key.hash(),
            account_id: AccountId(1),
            user_id: UserId::generate(std::iter::repeat(7)),
            mode: Mode::Live,
            profile: Profile {
                plan: Plan::Free,
                currency: "USD".parse().unwrap(),
                timezone: "UTC".parse().unwrap(),
                locale: Locale::ENGLISH,
                created_at,
            },
            name: "ERP".to_owned(),
            prefix: key.display_prefix().to_owned(),
            scopes: vec![Scope::Write],
            created_at,
            expires_at,
            revoked_at,
            last_used_at: Some(datetime!(2026-11-22 22:30 UTC)),
            made_by: Some("Ana".to_owned()),
        }
    }

    fn texts(key: &KeyRecord) -> Vec<String> {
        let text = |cell: &Cell| match cell {
            Cell::Text(text) | Cell::Mono(text) => text.clone(),
            Cell::Texts { text, below, is_bad } => format!("{text} {} {is_bad}", below.as_deref().unwrap_or("-")),
            Cell::Badge(Some(badge)) => badge.text.clone(),
            _ => panic!(),
        };
        row(&writer("en"), key, true).cells.iter().map(text).collect()
    }

    #[test]
    fn a_key_is_shown_by_its_beginning_and_by_what_it_is_for() {
        let shown = texts(&record(Some(datetime!(2027-02-20 3:00 UTC)), None));
        assert_eq!(shown, ["svc_live_777…", "Write", "11 Jan 2026", "Ana", "19:30", "20 Feb 2027 - false"]);
    }

    #[test]
    fn what_ends_soon_is_marked_and_what_has_ended_leads_nowhere() {
        assert_eq!(texts(&record(Some(datetime!(2026-12-01 3:00 UTC)), None))[5], "1 Dec 2026 1 Dec, 00:00 true");
        let ended = record(Some(datetime!(2026-12-01 3:00 UTC)), Some(datetime!(2026-11-20 3:00 UTC)));
        assert_eq!(texts(&ended)[5], "Revoked on 20 Nov 2026");
        assert_eq!(row(&writer("en"), &ended, true).address, None);
    }

    #[test]
    fn who_may_not_change_keys_is_led_to_none() {
        let row = |may| row(&writer("en"), &record(None, None), may).address;
        assert_eq!((row(true).as_deref(), row(false)), (Some("/keys/3"), None));
    }
}
