//! Installs the app: the owner agrees, and the app exchanges the code. A new token kills the one before.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{self, Bytes, Data, Path, Query, ServiceConfig},
};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Value, json};
use time::Duration;
use url::Url;

use super::{Code, Tiendanube, gate};

const CODE_LIFETIME: Duration = Duration::minutes(5);

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/apps/authorize/token", web::post().to(token))
        .route("/apps/{app}/authorize", web::get().to(ask))
        .route("/apps/{app}/authorize", web::post().to(agree));
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    state: String,
}

/// The page on which the owner agrees.
async fn ask(app: Path<String>, stub: Data<Tiendanube>) -> HttpResponse {
    if *app != stub.config().client_id {
        return HttpResponse::NotFound().finish();
    }
    let page = "<!doctype html><title>Instalar</title><form method=post><button>Aceptar e instalar</button></form>";
    HttpResponse::Ok().content_type("text/html; charset=utf-8").body(page)
}

async fn agree(app: Path<String>, asked: Query<Asked>, stub: Data<Tiendanube>) -> HttpResponse {
    if *app != stub.config().client_id {
        return HttpResponse::NotFound().finish();
    }
    let until = stub.now() + CODE_LIFETIME;
    let mut inner = stub.inner();
    let code = format!("code{:08}", inner.next());
    inner.codes.insert(code.clone(), Code { until, is_used: false });
    let Ok(mut target) = inner.redirect_uri.parse::<Url>() else {
        return HttpResponse::InternalServerError().body("the app has no address to return to");
    };
    target.query_pairs_mut().append_pair("code", &code).append_pair("state", &asked.state);
    HttpResponse::Found().insert_header((header::LOCATION, target.as_str())).finish()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    client_id: String,
    client_secret: String,
    grant_type: String,
    code: String,
}

fn refuse(error: &str, description: &str) -> HttpResponse {
    HttpResponse::BadRequest().json(json!({ "error": error, "error_description": description }))
}

async fn token(request: HttpRequest, body: Bytes, stub: Data<Tiendanube>) -> HttpResponse {
    if !gate::is_json(&request) {
        return HttpResponse::UnsupportedMediaType().finish();
    }
    if !request.query_string().is_empty() {
        return refuse("invalid_request", "Parameters belong in the body");
    }
    let Ok(asked) = serde_json::from_slice::<Exchange>(&body) else {
        return refuse("invalid_request", "A parameter is missing or unknown");
    };
    let config = stub.config();
    if asked.client_id != config.client_id || asked.client_secret != config.client_secret.expose_secret() {
        return HttpResponse::Unauthorized().json(json!({ "error": "invalid_client" }));
    }
    if asked.grant_type != "authorization_code" {
        return refuse("unsupported_grant_type", "It must be authorization_code");
    }
    let now = stub.now();
    let mut inner = stub.inner();
    match inner.codes.get_mut(&asked.code) {
        Some(code) if !code.is_used && now < code.until => code.is_used = true,
        _ => return refuse("invalid_grant", "The authorization code is not valid or has expired"),
    }
    let token = format!("token{:08}{:016x}", inner.next(), inner.store.id);
    inner.token = Some(token.clone());
    // Now a number, now a text.
    let store =
        if inner.issued.is_multiple_of(4) { json!(inner.store.id) } else { Value::String(inner.store.id.to_string()) };
    HttpResponse::Ok().json(json!({
        "access_token": token,
        "token_type": "bearer",
        "scope": config.scopes.join(","),
        "user_id": store,
    }))
}
