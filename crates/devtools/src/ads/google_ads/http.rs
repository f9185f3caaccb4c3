//! The API's HTTP, and what only this fake has under `/_stub`.

use std::net::TcpListener;

use actix_web::{
    App, HttpRequest, HttpResponse, HttpServer,
    dev::Server,
    http::{Method, StatusCode, header::CONTENT_TYPE},
    web::{self, Bytes, Data, Json},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    GoogleAds, Inner, Refused,
    gaql::Asked,
    oauth::Fields,
    world::{Happening, MANAGER, World},
};
use crate::shops::{Stub, bearer, broken, finish, routes};

pub fn server(stub: GoogleAds, listener: TcpListener) -> std::io::Result<Server> {
    let stub = Data::new(stub);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(stub.clone())
            .configure(routes::<GoogleAds>)
            .route("/_stub/ledger", web::get().to(ledger))
            .route("/_stub/act", web::post().to(act))
            .default_service(web::to(answer))
    });
    Ok(server.workers(1).listen(listener)?.disable_signals().shutdown_timeout(1).run())
}

async fn ledger(stub: Data<GoogleAds>) -> HttpResponse {
    HttpResponse::Ok().json(stub.inner().world.ledger())
}

async fn act(what: Json<Happening>, stub: Data<GoogleAds>) -> HttpResponse {
    if stub.inner().world.happens(what.into_inner()) {
        HttpResponse::Ok().json(json!({ "ok": true }))
    } else {
        HttpResponse::NotFound().json(json!({ "error": "there is no such ad, campaign or day" }))
    }
}

enum Called {
    Answer(Value),
    Redirect(String),
}

/// Every call, with the faults that are due.
async fn answer(request: HttpRequest, body: Bytes, stub: Data<GoogleAds>) -> HttpResponse {
    let common = stub.common();
    let called = match broken(&common.faults).await {
        Some(status) => {
            let said = "The service is currently unavailable.";
            Err(Refused::plain(status.as_u16(), "UNAVAILABLE", said, json!([])))
        }
        None => stub.called(&request, &body),
    };
    let response = match called {
        Ok(Called::Answer(body)) => HttpResponse::Ok().json(body),
        Ok(Called::Redirect(target)) => HttpResponse::Found().insert_header(("location", target)).finish(),
        Err(Refused { status, body }) => {
            HttpResponse::build(StatusCode::from_u16(status).unwrap_or_default()).json(body)
        }
    };
    finish(common, &request, None, &["drop_reply"], response)
}

/// The body of a search.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Search {
    query: String,
    page_token: Option<String>,
}

impl GoogleAds {
    fn called(&self, request: &HttpRequest, body: &[u8]) -> Result<Called, Refused> {
        let (config, now) = (&self.0.config, self.now());
        let path: Vec<_> = request.path().split('/').skip(1).collect();
        let has_form = || {
            let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
            // With secrets in the body alone: addresses stand in logs.
            kind == Some("application/x-www-form-urlencoded") && request.query_string().is_empty()
        };
        match (request.method(), path.as_slice()) {
            (&Method::GET, ["o", "oauth2", "v2", "auth"]) => {
                let declines = self.common().faults.take("decline").is_some();
                let query = Fields::of(request.query_string().as_bytes())?;
                self.inner().grants.authorize(config, &query, declines, now).map(Called::Redirect)
            }
            (&Method::POST, ["token"]) if has_form() => {
                self.inner().grants.token(config, &Fields::of(body)?, now).map(Called::Answer)
            }
            (&Method::POST, ["revoke"]) if has_form() => {
                self.inner().grants.give_back(&Fields::of(body)?).map(Called::Answer)
            }
            (method, [version, path @ ..]) if *version == connectors::ads::google_ads::VERSION => {
                let inner = self.inner();
                inner.grants.admit(bearer(request), now)?;
                self.is_asked_too_often()?;
                let found = match (method, path) {
                    (&Method::GET, ["customers:listAccessibleCustomers"]) => Ok(accessible(&inner.world)),
                    (&Method::POST, ["customers", account, "googleAds:search"]) => {
                        let manager = request.headers().get("login-customer-id").map(|value| value.as_bytes());
                        self.search(&inner, account, manager, body)
                    }
                    _ => Err(unknown()),
                };
                found.map(Called::Answer)
            }
            _ => Err(unknown()),
        }
    }

    fn is_asked_too_often(&self) -> Result<(), Refused> {
        let Some(seconds) = self.common().faults.take("throttle") else { return Ok(()) };
        let details = json!({ "quotaErrorDetails": {
            "rateScope": "ACCOUNT", "rateName": "Requests per minute", "retryDelay": format!("{}s", seconds.max(1)),
        } });
        let said = "Too many requests. Retry later.";
        Err(Refused::detailed(429, ("quotaError", "RESOURCE_EXHAUSTED"), said, details))
    }

    fn search(&self, inner: &Inner, account: &str, manager: Option<&[u8]>, body: &[u8]) -> Result<Value, Refused> {
        let world = &inner.world;
        let account = self.reached(world, account, manager)?;
        let search = search_of(body)?;
        let asked = Asked::of(&search.query, &world.zone, self.now())?;
        if account == MANAGER && asked.days.is_some() {
            let said = "Metrics cannot be requested for a manager account.";
            return Err(Refused::query("REQUESTED_METRICS_FOR_MANAGER", said));
        }
        let rows = world.rows(account, &asked);
        // The place in the list, and what it was asked by: a token is good for its query alone.
        let mark = format!("{account}:{:x}:", seal(&search.query));
        let from = match search.page_token.as_deref().map(|token| token.strip_prefix(&mark).map(str::parse::<usize>)) {
            None => 0,
            Some(Some(Ok(from))) if from < rows.len() => from,
            Some(_) => {
                let said = "The page token is not one of this query.";
                return Err(Refused::failure(400, ("requestError", "INVALID_PAGE_TOKEN"), said));
            }
        };
        let end = (from + world.page_rows).min(rows.len());
        let shown: Vec<_> = rows.iter().skip(from).take(world.page_rows).collect();
        let mut page = json!({ "fieldMask": asked.fields.join(",") });
        if let Some(page) = page.as_object_mut() {
            // What is empty is left out.
            page.extend((!shown.is_empty()).then(|| ("results".to_owned(), json!(shown))));
            page.extend((end < rows.len()).then(|| ("nextPageToken".to_owned(), format!("{mark}{end}").into())));
        }
        Ok(page)
    }

    /// The account, if the person reaches it in this way.
    fn reached(&self, world: &World, account: &str, manager: Option<&[u8]>) -> Result<u64, Refused> {
        let denied = || {
            let said = "The caller does not have permission.";
            Refused::failure(403, ("authorizationError", "USER_PERMISSION_DENIED"), said)
        };
        let number: u64 = account.parse().map_err(|_| unknown())?;
        if account.len() != 10 {
            return Err(unknown());
        }
        let by_manager = manager.map(|manager| manager == MANAGER.to_string().as_bytes());
        let is_there = match (world.is_managed, by_manager) {
            (_, Some(false)) => false,
            (true, None) => number == MANAGER,
            (true, Some(true)) => number == MANAGER || world.accounts.contains(&number),
            (false, Some(true)) => false,
            (false, None) => world.accounts.contains(&number),
        };
        if !is_there {
            return Err(denied());
        }
        if self.common().faults.take("suspend").is_some() {
            let said = "The customer account can't be accessed because it is not yet enabled or has been deactivated.";
            return Err(Refused::failure(403, ("authorizationError", "CUSTOMER_NOT_ENABLED"), said));
        }
        Ok(number)
    }
}

fn unknown() -> Refused {
    Refused::plain(404, "NOT_FOUND", "Requested entity was not found.", json!([]))
}

fn accessible(world: &World) -> Value {
    let directly = if world.is_managed { vec![MANAGER] } else { world.accounts.clone() };
    let names: Vec<_> = directly.iter().map(|number| format!("customers/{number}")).collect();
    json!({ "resourceNames": names })
}

fn search_of(body: &[u8]) -> Result<Search, Refused> {
    let given: Value = serde_json::from_slice(body).unwrap_or_default();
    if given.get("pageSize").is_some() || given.get("page_size").is_some() {
        let said =
            "Setting the page size is not supported. Search Responses will have fixed page size of '10000' rows.";
        return Err(Refused::failure(400, ("requestError", "PAGE_SIZE_NOT_SUPPORTED"), said));
    }
    let wrong = |_| Refused::plain(400, "INVALID_ARGUMENT", "Invalid JSON payload received.", json!([]));
    serde_json::from_value(given).map_err(wrong)
}

/// A number that is a text's (FNV-1a).
fn seal(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |seal, byte| (seal ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
