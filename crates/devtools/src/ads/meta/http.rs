//! The API's HTTP, and what only this fake has under `/_stub`.

use std::{
    net::TcpListener,
    time::{Duration, Instant},
};

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::Server,
    http::{Method, StatusCode},
    web::{self, Bytes, Data, Json},
};
use serde_json::{Value, json};

use super::{
    Inner, Meta, Report,
    insights::{AT_ONCE, Asked},
    world::{Happening, World},
};
use crate::{
    graph::{Answer, Query, oauth::Choice},
    shops::{Stub, bearer, broken, finish, routes},
};

/// How long a report takes.
const REPORT_TAKES: Duration = Duration::from_millis(200);
/// Rows of a page at most.
const MAX_LIMIT: usize = 500;
const AD_FIELDS: &str = "id,effective_status,creative{id,title,body,image_hash,video_id,object_story_spec}";

pub fn server(stub: Meta, listener: TcpListener) -> std::io::Result<Server> {
    let stub = Data::new(stub);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(stub.clone())
            .configure(routes::<Meta>)
            .route("/_stub/ledger", web::get().to(ledger))
            .route("/_stub/act", web::post().to(act))
            .default_service(web::to(answer))
    });
    Ok(server.workers(1).listen(listener)?.disable_signals().shutdown_timeout(1).run())
}

async fn ledger(stub: Data<Meta>) -> HttpResponse {
    HttpResponse::Ok().json(stub.inner().world.ledger())
}

async fn act(what: Json<Happening>, stub: Data<Meta>) -> HttpResponse {
    if stub.inner().world.happens(what.into_inner()) {
        HttpResponse::Ok().json(json!({ "ok": true }))
    } else {
        HttpResponse::NotFound().json(json!({ "error": "there is no such ad, campaign or day" }))
    }
}

/// Every call, with the faults that are due.
async fn answer(request: HttpRequest, body: Bytes, stub: Data<Meta>) -> HttpResponse {
    let common = stub.common();
    let (answer, location) = if let Some(status) = broken(&common.faults).await {
        let said = "An unexpected error has occurred. Please retry your request later.";
        (Answer::refused(status.as_u16(), 2, 0, said), None)
    } else {
        match stub.called(&request, &body) {
            Ok(Called::Answer(answer)) | Err(answer) => (answer, None),
            Ok(Called::Redirect(target)) => (Answer { status: 302, ..Answer::ok(Value::Null) }, Some(target)),
        }
    };
    let mut response = HttpResponse::build(StatusCode::from_u16(answer.status).unwrap_or_default());
    if let Some(header) = answer.header {
        response.insert_header(header);
    }
    let response = match location {
        Some(location) => response.insert_header(("location", location)).finish(),
        None => response.json(answer.body),
    };
    finish(common, &request, None, &["drop_reply"], response)
}

enum Called {
    Answer(Answer),
    Redirect(String),
}

impl Meta {
    fn called(&self, request: &HttpRequest, body: &[u8]) -> Result<Called, Answer> {
        let (config, now) = (&self.0.config, self.now());
        let path: Vec<_> = request.path().split('/').skip(1).collect();
        let [version, path @ ..] = path.as_slice() else { return Err(unknown()) };
        if *version != connectors::ads::meta::VERSION {
            return Err(Answer::refused(400, 2_635, 0, "(#2635) You are calling a deprecated version of the Ads API."));
        }
        let query = Query::of(request.query_string().as_bytes())?;
        match path {
            ["dialog", "oauth"] => {
                let choice = Choice { declines: self.common().faults.take("decline").is_some(), withheld: None };
                self.inner().grants.authorize(&config.app(), &query, &choice, now).map(Called::Redirect)
            }
            // With secrets in the body alone: addresses stand in logs.
            ["oauth", "access_token"] if request.method() == Method::POST && request.query_string().is_empty() => {
                self.inner().grants.token(&config.app(), &Query::of(body)?, now).map(Called::Answer)
            }
            path => {
                let token = bearer(request);
                self.inner().grants.admit(&config.app(), token, &query, now)?;
                self.granted(request.method(), path, &query).map(Called::Answer)
            }
        }
    }

    fn granted(&self, method: &Method, path: &[&str], query: &Query) -> Result<Answer, Answer> {
        let mut inner = self.inner();
        match (method, path) {
            (&Method::GET, ["me", "permissions"]) => return Ok(inner.grants.scopes()),
            (&Method::DELETE, ["me", "permissions", permission]) => return Ok(inner.grants.give_back(permission)),
            _ => {}
        }
        inner.grants.allow("ads_read")?;
        self.is_asked_too_often()?;
        match (method, path) {
            (&Method::GET, ["me", "adaccounts"]) => {
                query.only(&["fields", "limit", "after", "appsecret_proof"])?;
                let entry = |id: &u64| json!({ "account_id": id.to_string(), "name": format!("Shop {id}"), "id": format!("act_{id}") });
                let all: Vec<_> = inner.world.accounts.iter().map(entry).collect();
                query.page(&all, MAX_LIMIT)
            }
            (&Method::GET, [account]) if account.starts_with("act_") => account_of(&inner.world, account, query),
            (method, [account, "insights"]) if account.starts_with("act_") => {
                self.insights(&mut inner, account, query, method == Method::POST)
            }
            (&Method::GET, [account, "ads"]) if is_own(&inner.world, account) => ads(&inner.world, query),
            (&Method::GET, [report]) => {
                query.only(&["fields", "appsecret_proof"])?;
                let report = inner.reports.get(*report).ok_or_else(unknown)?;
                let status = match Instant::now() >= report.ready_at {
                    false => "Job Running",
                    true if report.is_failed => "Job Failed",
                    true => "Job Completed",
                };
                Ok(Answer::ok(json!({ "async_status": status, "async_percent_completion": 100 })))
            }
            (&Method::GET, [report, "insights"]) => {
                query.only(&["limit", "after", "appsecret_proof"])?;
                let is_ready = |report: &&Report| Instant::now() >= report.ready_at && !report.is_failed;
                let report = inner.reports.get(*report).filter(is_ready).ok_or_else(unknown)?;
                query.page(&report.rows, MAX_LIMIT)
            }
            _ => Err(unknown()),
        }
    }

    fn is_asked_too_often(&self) -> Result<(), Answer> {
        let Some(seconds) = self.common().faults.take("throttle") else { return Ok(()) };
        let usage = json!({ "acc_id_util_pct": 100.0, "reset_time_duration": seconds.max(1), "ads_api_access_tier": "standard" });
        let said = "(#80000) There have been too many calls from this ad-account.";
        let header = Some(("x-ad-account-usage", usage.to_string()));
        Err(Answer { header, ..Answer::refused(400, 80_000, 2_446_079, said) })
    }

    /// Figures at once, or as a report that is made in the background.
    fn insights(&self, inner: &mut Inner, account: &str, query: &Query, is_report: bool) -> Result<Answer, Answer> {
        let asked = Asked::of(query, &inner.world, self.now())?;
        let rows = if is_own(&inner.world, account) { asked.rows(&inner.world) } else { Vec::new() };
        let faults = &self.common().faults;
        let too_much =
            faults.ahead().get("too_much").map(|ahead| i64::try_from(ahead.value.max(1)).unwrap_or(i64::MAX));
        if too_much.is_some_and(|days| asked.days() > days) && faults.take("too_much").is_some() {
            return Err(reduce());
        }
        if !is_report {
            return if rows.len() > AT_ONCE { Err(reduce()) } else { query.page(&rows, MAX_LIMIT) };
        }
        let id = format!("6{:012}", inner.reports.len() + 1);
        let is_failed = faults.take("report_fails").is_some();
        inner.reports.insert(id.clone(), Report { rows, ready_at: Instant::now() + REPORT_TAKES, is_failed });
        Ok(Answer::ok(json!({ "report_run_id": id })))
    }
}

fn unknown() -> Answer {
    let said = "Unsupported request. Object does not exist, cannot be loaded due to missing permissions";
    Answer::refused(400, 100, 33, said)
}

fn reduce() -> Answer {
    Answer::refused(400, 100, 1_487_534, "Please reduce the amount of data you're asking for, then retry your request")
}

fn is_own(world: &World, account: &str) -> bool {
    account == format!("act_{}", world.account())
}

fn account_of(world: &World, account: &str, query: &Query) -> Result<Answer, Answer> {
    query.only(&["fields", "appsecret_proof"])?;
    let number = account.trim_start_matches("act_");
    if !world.accounts.iter().any(|known| known.to_string() == number) {
        return Err(unknown());
    }
    if query.need("fields")? != "account_id,currency,timezone_name,created_time" {
        return Err(Answer::invalid("Tried accessing nonexisting field"));
    }
    Ok(Answer::ok(json!({
        "account_id": number, "id": account, "currency": world.currency.as_str(), "timezone_name": world.zone.name(),
        "created_time": world.created_time(),
    })))
}

/// Ads by their numbers; those that were archived or deleted only where their states are asked for.
fn ads(world: &World, query: &Query) -> Result<Answer, Answer> {
    query.only(&["fields", "filtering", "limit", "after", "appsecret_proof"])?;
    if query.need("fields")? != AD_FIELDS {
        return Err(Answer::invalid("Tried accessing nonexisting field"));
    }
    let filters = query.filters(&["ad.id", "ad.effective_status"])?;
    let (ids, states) = (filters.get("ad.id"), filters.get("ad.effective_status"));
    let shown = world.ads.values().filter(|ad| {
        ids.is_none_or(|ids| ids.contains(&ad.id.to_string()))
            && states.map_or(!["ARCHIVED", "DELETED"].contains(&ad.state), |states| {
                states.iter().any(|state| state == ad.state)
            })
    });
    let all: Vec<_> = shown.map(|ad| world.ad(ad)).collect();
    query.page(&all, MAX_LIMIT)
}
