//! The API's HTTP, and what only this fake has under `/_stub`.

use std::net::TcpListener;

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::Server,
    http::{Method, StatusCode},
    web::{self, Bytes, Data, Json},
};
use domain::social::Channel;
use serde::Deserialize;
use serde_json::{Value, json};
use time::Duration;

use super::{
    Inner, Social,
    comments::{Comment, Deed, MAX_CHARS, NewComment},
    world::Page,
};
use crate::{
    graph::{Answer, Query, oauth::Choice},
    shops::{Stub, bearer, broken, cut, finish, routes},
};

/// Entries of a page at most: of comments on Instagram, and of anything else.
const MAX_COMMENTS: usize = 50;
const MAX_LIMIT: usize = 100;
/// Share of the budget in percent from which calls are refused.
const SPENT: usize = 100;
/// Permissions that calls need.
const LIST: &str = "pages_show_list";
const SUBSCRIBE: &str = "pages_manage_metadata";
const READ_PAGE: &str = "pages_read_engagement";
const READ_PEOPLE: &str = "pages_read_user_content";
const ANSWER: &str = "pages_manage_engagement";
const INSTAGRAM: &str = "instagram_basic";
const INSTAGRAM_COMMENTS: &str = "instagram_manage_comments";
/// All of them.
pub const SCOPES: &[&str] = &[LIST, SUBSCRIBE, READ_PAGE, READ_PEOPLE, ANSWER, INSTAGRAM, INSTAGRAM_COMMENTS];
/// What the app can be told of a page.
const FIELDS: [&str; 4] = ["feed", "mention", "messages", "ratings"];

pub fn server(stub: Social, listener: TcpListener) -> std::io::Result<Server> {
    let stub = Data::new(stub);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(stub.clone())
            .configure(routes::<Social>)
            .route("/_stub/comment", web::post().to(comment))
            .route("/_stub/act", web::post().to(act))
            .route("/_stub/ledger", web::get().to(ledger))
            .route("/_stub/notify", web::post().to(notify))
            .default_service(web::to(answer))
    });
    Ok(server.workers(1).listen(listener)?.disable_signals().shutdown_timeout(1).run())
}

async fn comment(new: Json<NewComment>, stub: Data<Social>) -> HttpResponse {
    match stub.comment(new.into_inner()) {
        Some(id) => HttpResponse::Ok().json(json!({ "id": id })),
        None => HttpResponse::NotFound().json(json!({ "error": "there is no such profile, post or comment" })),
    }
}

async fn act(what: Json<Deed>, stub: Data<Social>) -> HttpResponse {
    if stub.happens(what.into_inner()) {
        HttpResponse::Ok().json(json!({ "ok": true }))
    } else {
        HttpResponse::NotFound().json(json!({ "error": "there is no such comment" }))
    }
}

async fn ledger(stub: Data<Social>) -> HttpResponse {
    HttpResponse::Ok().json(stub.inner().world.ledger())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Notify {
    url: String,
}

async fn notify(Json(Notify { url }): Json<Notify>, stub: Data<Social>) -> HttpResponse {
    stub.0.hooks.send_to(url);
    HttpResponse::NoContent().finish()
}

/// What a call comes to.
enum Called {
    Answer(Answer),
    Redirect(String),
    /// The connection breaks off.
    Cut,
    /// Nothing is ever answered.
    Hang,
}

/// Every call, with the faults that are due.
async fn answer(request: HttpRequest, body: Bytes, stub: Data<Social>) -> HttpResponse {
    let common = stub.common();
    let called = match broken(&common.faults).await {
        Some(status) => {
            let said = "An unexpected error has occurred. Please retry your request later.";
            Called::Answer(Answer::refused(status.as_u16(), 2, 0, said))
        }
        None => stub.called(&request, &body).unwrap_or_else(Called::Answer),
    };
    let response = match called {
        Called::Answer(answer) => {
            let mut response = HttpResponse::build(StatusCode::from_u16(answer.status).unwrap_or_default());
            if let Some(header) = answer.header {
                response.insert_header(header);
            }
            response.json(answer.body)
        }
        Called::Redirect(target) => HttpResponse::Found().insert_header(("location", target)).finish(),
        Called::Cut => cut(),
        Called::Hang => {
            stub.0.hung.notify_one();
            futures_util::future::pending().await
        }
    };
    finish(common, &request, None, &["drop_reply"], response)
}

fn unknown() -> Answer {
    let said = "Unsupported request. Object does not exist, cannot be loaded due to missing permissions";
    Answer::refused(400, 100, 33, said)
}

impl Social {
    fn called(&self, request: &HttpRequest, body: &[u8]) -> Result<Called, Answer> {
        let (config, now) = (&self.0.config, self.now());
        let path: Vec<_> = request.path().split('/').skip(1).collect();
        let [version, path @ ..] = path.as_slice() else { return Err(unknown()) };
        if *version != connectors::social::meta::VERSION {
            return Err(Answer::refused(400, 2_635, 0, "(#2635) You are calling a deprecated version of the API."));
        }
        let query = Query::of(request.query_string().as_bytes())?;
        match path {
            ["dialog", "oauth"] => {
                let faults = &self.common().faults;
                let choice = Choice { declines: faults.take("decline").is_some(), withheld: faults.take("withhold") };
                self.inner().grants.authorize(&config.app(), &query, &choice, now).map(Called::Redirect)
            }
            // With secrets in the body alone: addresses stand in logs.
            ["oauth", "access_token"] if request.method() == Method::POST && request.query_string().is_empty() => {
                self.inner().grants.token(&config.app(), &Query::of(body)?, now).map(Called::Answer)
            }
            path => {
                let token = bearer(request);
                let page = self.inner().grants.admit(&config.app(), token, &query, now)?;
                let call = Call { method: request.method(), path, query: &query, body };
                match page {
                    None => self.of_person(&call, token.unwrap_or_default()).map(Called::Answer),
                    Some(page) => self.of_page(&call, &page),
                }
            }
        }
    }

    /// What the person's own token is good for.
    fn of_person(&self, call: &Call<'_>, token: &str) -> Result<Answer, Answer> {
        let mut inner = self.inner();
        let Inner { world, grants } = &mut *inner;
        match (call.method, call.path) {
            (&Method::GET, ["me", "permissions"]) => Ok(grants.scopes()),
            (&Method::DELETE, ["me", "permissions", permission]) => Ok(grants.give_back(permission)),
            (&Method::GET, ["me", "accounts"]) => {
                call.query.only(&["fields", "limit", "after", "appsecret_proof"])?;
                grants.allow(LIST)?;
                let fields = call.query.need("fields")?;
                let sees_instagram = grants.allow(INSTAGRAM).is_ok();
                let mut shown = Vec::new();
                for page in &world.pages {
                    shown.push(page_shown(page, fields, sees_instagram, || grants.page_token(token, &page.id))?);
                }
                call.query.page(&shown, MAX_LIMIT)
            }
            _ => {
                let said = "(#190) This method must be called with a Page Access Token";
                Err(Answer::refused(400, 190, 2_069_032, said))
            }
        }
    }

    /// What a page's token is good for: the page, its account on Instagram, and what stands under their posts.
    fn of_page(&self, call: &Call<'_>, page: &str) -> Result<Called, Answer> {
        let channel = self.channel_of(call, page)?;
        let (profile, header) = self.counted(channel, page)?;
        let answered = match (call.method, call.path) {
            (method, [id, "subscribed_apps"]) if *id == page => self.subscriptions(method, call, page),
            (&Method::GET, [id, "posts" | "media"]) if *id == profile => self.posts(call, channel, page),
            (&Method::GET, [id, "comments" | "replies"]) => self.comments(call, channel, id),
            (&Method::GET, [id]) => {
                call.query.only(&["fields", "appsecret_proof"])?;
                let inner = self.inner();
                inner.may_read(channel)?;
                let (comment, _) = inner.world.find(id).ok_or_else(unknown)?;
                Ok(Answer::ok(comment.shown(call.query.need("fields")?)?))
            }
            (&Method::POST, [id, "comments" | "replies"]) => return self.reply(call, channel, id),
            (&Method::POST, [id]) => self.change(call, channel, id),
            (&Method::DELETE, [id]) => {
                self.inner().may_answer(channel)?;
                self.happened(Deed::Delete { id: (*id).to_owned() })
            }
            _ => Err(unknown()),
        }?;
        Ok(Called::Answer(Answer { header: Some(header), ..answered }))
    }

    /// The channel of what is asked about, which has to be the page's.
    fn channel_of(&self, call: &Call<'_>, page: &str) -> Result<Channel, Answer> {
        let inner = self.inner();
        let own = inner.world.page(page).ok_or_else(unknown)?;
        let id = call.path.first().copied().unwrap_or_default();
        let of_page = |(channel, of): (Channel, &Page)| (of.id == own.id).then_some(channel);
        if id == own.id {
            return Ok(Channel::Facebook);
        }
        if id == own.instagram {
            return Ok(Channel::Instagram);
        }
        let of_comment = inner.world.find(id).map(|(comment, of)| (comment.channel, of));
        of_comment.or_else(|| inner.world.post(id)).and_then(of_page).ok_or_else(unknown)
    }

    /// Counts the call for its profile, whose number it gives, with the header that says what is left.
    fn counted(&self, channel: Channel, page: &str) -> Result<(String, (&'static str, String)), Answer> {
        let faults = &self.common().faults;
        let mut inner = self.inner();
        let profile = inner.world.page(page).ok_or_else(unknown)?.profile(channel).to_owned();
        let made = inner.world.count(&profile, self.now());
        let throttled = faults.take("throttle");
        let said = faults.take("usage").map(|percent| usize::try_from(percent).unwrap_or(usize::MAX));
        let percent = said.unwrap_or(made * SPENT / self.0.config.calls_per_hour.max(1));
        let is_spent = throttled.is_some() || made > self.0.config.calls_per_hour;
        let (kind, code) = if channel == Channel::Facebook { ("pages", 80_001) } else { ("instagram", 80_002) };
        let minutes = throttled.unwrap_or(u64::from(is_spent) * 60);
        let usage = json!({ &profile: [{
            "type": kind, "call_count": if is_spent { SPENT } else { percent }, "total_cputime": 1, "total_time": 1,
            "estimated_time_to_regain_access": minutes,
        }] });
        let header = ("x-business-use-case-usage", usage.to_string());
        if is_spent {
            let said = format!("(#{code}) There have been too many calls to this account. Wait a bit and try again.");
            return Err(Answer { header: Some(header), ..Answer::refused(400, code, 2_446_079, &said) });
        }
        Ok((profile, header))
    }

    fn subscriptions(&self, method: &Method, call: &Call<'_>, page: &str) -> Result<Answer, Answer> {
        let mut inner = self.inner();
        inner.grants.allow(SUBSCRIBE)?;
        let app = self.0.config.app_id.clone();
        let found = inner.world.pages.iter_mut().find(|known| known.id == page).ok_or_else(unknown)?;
        match *method {
            Method::GET => {
                let entry = json!({ "id": app, "name": "App", "subscribed_fields": found.subscribed });
                let entries = if found.subscribed.is_empty() { vec![] } else { vec![entry] };
                Ok(Answer::ok(json!({ "data": entries })))
            }
            Method::POST => {
                let form = call.form()?;
                form.only(&["subscribed_fields"])?;
                let fields: Vec<_> = form.need("subscribed_fields")?.split(',').map(str::to_owned).collect();
                if fields.iter().any(|field| !FIELDS.contains(&field.as_str())) {
                    return Err(Answer::invalid("Param subscribed_fields must be one of the fields of a page"));
                }
                found.subscribed = fields.into_iter().collect();
                Ok(Answer::ok(json!({ "success": true })))
            }
            Method::DELETE => {
                found.subscribed.clear();
                Ok(Answer::ok(json!({ "success": true })))
            }
            _ => Err(unknown()),
        }
    }

    fn posts(&self, call: &Call<'_>, channel: Channel, page: &str) -> Result<Answer, Answer> {
        call.query.only(&["fields", "limit", "after", "appsecret_proof"])?;
        let inner = self.inner();
        inner.grants.allow(if channel == Channel::Facebook { READ_PAGE } else { INSTAGRAM })?;
        let is_edge = call.path.get(1) == Some(&if channel == Channel::Facebook { "posts" } else { "media" });
        if !is_edge || call.query.need("fields")? != "id" {
            return Err(Answer::invalid("Tried accessing nonexisting field"));
        }
        let page = inner.world.page(page).ok_or_else(unknown)?;
        let posts: Vec<_> = page.posts(channel).into_iter().map(|id| json!({ "id": id })).collect();
        call.query.page(&posts, MAX_LIMIT)
    }

    /// Comments under a post or a comment, the newest first; on Instagram those alone that begin a thread.
    fn comments(&self, call: &Call<'_>, channel: Channel, id: &str) -> Result<Answer, Answer> {
        let is_facebook = channel == Channel::Facebook;
        let known = ["fields", "limit", "after", "appsecret_proof", "filter", "order"];
        call.query.only(known.get(..if is_facebook { 6 } else { 4 }).unwrap_or_default())?;
        let inner = self.inner();
        inner.may_read(channel)?;
        let is_post = inner.world.post(id).is_some();
        if is_post && self.common().faults.take("post_refused").is_some() {
            return Err(Answer::invalid("Unsupported get request"));
        }
        if call.path.get(1) != Some(&if is_facebook || is_post { "comments" } else { "replies" }) {
            return Err(Answer::invalid("Tried accessing nonexisting field"));
        }
        let is_stream = match call.query.get("filter") {
            None | Some("toplevel") => false,
            Some("stream") => true,
            Some(_) => return Err(Answer::invalid("Param filter must be one of {stream, toplevel}")),
        };
        let is_below = |comment: &&Comment| match (&comment.parent, is_post) {
            (None, true) => comment.post == id,
            (Some(_), true) => is_stream && comment.post == id,
            (parent, false) => parent.as_deref() == Some(id),
        };
        let now = self.now();
        let mut below: Vec<_> =
            inner.world.comments.iter().filter(is_below).filter(|comment| comment.visible_at <= now).collect();
        below.sort_by_key(|comment| comment.created);
        if !is_facebook || call.query.get("order") == Some("reverse_chronological") {
            below.reverse();
        }
        let fields = call.query.need("fields")?;
        let shown = below.into_iter().map(|comment| comment.shown(fields)).collect::<Result<Vec<Value>, _>>()?;
        call.query.page(&shown, if is_facebook { MAX_LIMIT } else { MAX_COMMENTS })
    }

    /// Answers a comment, with the faults that are due.
    fn reply(&self, call: &Call<'_>, channel: Channel, id: &str) -> Result<Called, Answer> {
        let faults = &self.common().faults;
        // As Meta does: it is refused for this, and written nevertheless.
        let is_written_anyhow = call.query.get("fields").is_some() || faults.take("write_then_400").is_some();
        let form = call.form()?;
        form.only(&["message"])?;
        let message = form.need("message")?;
        if faults.take("token_dead").is_some() {
            self.inner().grants.revoke();
            return Err(Answer::refused(400, 190, 460, "Error validating access token: the password was changed"));
        }
        if faults.take("blocked").is_some() {
            return Err(Answer::refused(400, 368, 0, "The action attempted has been deemed abusive"));
        }
        let refused = || Answer::invalid("Invalid parameter");
        if faults.take("refuse_400").is_some() || message.trim().is_empty() || message.chars().count() > MAX_CHARS {
            return Err(refused());
        }
        if faults.take("lost_before").is_some() {
            return Ok(Called::Cut);
        }
        if faults.take("hang_before").is_some() {
            return Ok(Called::Hang);
        }
        let lag = faults.take("lag").map(|seconds| Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX)));
        let written = self.inner().written_below(channel, id, message, lag.unwrap_or_default(), self.now())?;
        let (answer, event) = written;
        self.tell(event);
        if is_written_anyhow {
            return Err(refused());
        }
        if lag.is_some() || faults.take("lost_after").is_some() {
            return Ok(Called::Cut);
        }
        if faults.take("hang_after").is_some() {
            return Ok(Called::Hang);
        }
        Ok(Called::Answer(Answer::ok(json!({ "id": answer }))))
    }

    /// Hides a comment, or shows it again; on Facebook a message in the place of that edits it.
    fn change(&self, call: &Call<'_>, channel: Channel, id: &str) -> Result<Answer, Answer> {
        self.inner().may_answer(channel)?;
        let form = call.form()?;
        let is_facebook = channel == Channel::Facebook;
        if let (true, Some(text)) = (is_facebook, form.get("message")) {
            return self.happened(Deed::Edit { id: id.to_owned(), text: text.to_owned() });
        }
        let name = if is_facebook { "is_hidden" } else { "hide" };
        form.only(&[name])?;
        let id = id.to_owned();
        match form.need(name)? {
            "true" => self.happened(Deed::Hide { id }),
            "false" => self.happened(Deed::Show { id }),
            _ => Err(Answer::invalid(&format!("Param {name} must be a boolean"))),
        }
    }

    fn happened(&self, deed: Deed) -> Result<Answer, Answer> {
        if self.happens(deed) { Ok(Answer::ok(json!({ "success": true }))) } else { Err(unknown()) }
    }
}

impl Inner {
    fn may_read(&self, channel: Channel) -> Result<(), Answer> {
        match channel {
            Channel::Facebook => self.grants.allow(READ_PAGE).and_then(|()| self.grants.allow(READ_PEOPLE)),
            _ => self.grants.allow(INSTAGRAM).and_then(|()| self.grants.allow(INSTAGRAM_COMMENTS)),
        }
    }

    fn may_answer(&self, channel: Channel) -> Result<(), Answer> {
        self.grants.allow(if channel == Channel::Facebook { ANSWER } else { INSTAGRAM_COMMENTS })
    }

    /// Writes an answer. Comments that are hidden on Instagram cannot be answered.
    fn written_below(
        &mut self,
        channel: Channel,
        id: &str,
        message: &str,
        lag: Duration,
        now: time::OffsetDateTime,
    ) -> Result<(String, Option<Value>), Answer> {
        self.may_answer(channel)?;
        let (comment, _) = self.world.find(id).ok_or_else(unknown)?;
        if comment.is_hidden && channel != Channel::Facebook {
            return Err(Answer::invalid("A hidden comment cannot be answered"));
        }
        self.world.answer(id, message, true, lag, now).ok_or_else(unknown)
    }
}

/// A call that is admitted.
struct Call<'a> {
    method: &'a Method,
    path: &'a [&'a str],
    query: &'a Query,
    body: &'a [u8],
}

impl Call<'_> {
    /// What a write says, which is in its body alone.
    fn form(&self) -> Result<Query, Answer> {
        self.query.only(&["fields", "appsecret_proof"])?;
        Query::of(self.body)
    }
}

fn page_shown(
    page: &Page,
    fields: &str,
    sees_instagram: bool,
    token: impl FnOnce() -> String,
) -> Result<Value, Answer> {
    let mut shown = json!({ "id": page.id });
    let mut token = Some(token);
    for field in fields.split(',').filter(|field| *field != "id") {
        let (name, value) = match field {
            "name" => (field, json!(page.name)),
            "tasks" => (field, json!(page.tasks)),
            "access_token" => (field, json!(token.take().map(|token| token()))),
            "instagram_business_account{id" | "username}" => continue,
            _ => return Err(Answer::invalid(&format!("Tried accessing nonexisting field ({field})"))),
        };
        if let Some(shown) = shown.as_object_mut() {
            shown.insert(name.to_owned(), value);
        }
    }
    // The one field with fields of its own, which a split at commas cuts in two.
    if let Some(shown) = shown.as_object_mut().filter(|_| fields.contains("instagram_business_account{id,username}"))
        && sees_instagram
    {
        let account = json!({ "id": page.instagram, "username": page.username });
        shown.insert("instagram_business_account".to_owned(), account);
    }
    Ok(shown)
}
