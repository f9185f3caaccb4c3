//! Every operation of the OpenAPI document refuses a client that may not use it.

use reqwest::Method;
use serde_json::Value;

use crate::service::{Service, run};

/// The operations of the document: method, path with an example for each parameter in it, scope needed.
fn operations(document: &Value) -> Vec<(Method, String, Option<&'static str>)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let Ok(method) = method.to_ascii_uppercase().parse::<Method>() else { continue };
            if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
                continue;
            }
            let public = operation["security"].as_array().is_some_and(|schemes| {
                schemes.is_empty()
                    || schemes.iter().any(|scheme| scheme.as_object().is_some_and(serde_json::Map::is_empty))
            }) || operation.get("security").is_none();
            let scope = if public {
                None
            } else if method == Method::GET {
                Some("read")
            } else {
                Some("write")
            };
            let path = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect::<Vec<_>>();
            found.push((method, path.join("/"), scope));
        }
    }
    found
}

async fn refusal(service: &Service, method: &Method, path: &str, key: Option<&str>) -> (u16, String) {
    let mut request = service.process.request(method.clone(), path);
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    for header in ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
        assert!(response.headers().contains_key(header), "{method} {path} has no {header}");
    }
    let body: Value = response.json().await.unwrap_or_default();
    (status, body["error"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn every_operation_refuses_no_key_wrong_scope_revoked_and_expired() {
    let service = Service::start().await;
    let document: Value =
        service.process.request(Method::GET, "/api/v1/openapi.json").send().await.unwrap().json().await.unwrap();
    let (read, write) = (service.key(service.account, "read"), service.key(service.account, "write"));
    let account = service.account.to_string();
    let revoked = run(&mut service.api(&["keys", "create", "--account", &account, "--json"]));
    let revoked: Value = serde_json::from_str(&revoked).unwrap();
    run(&mut service.api(&["keys", "revoke", &revoked["id"].to_string(), "--account", &account]));
    let expired = service.key(service.account, "read,write");
    let sql = service.db.client().await.unwrap();
    let newest: i64 = sql.query_one("SELECT max(id) FROM api_keys", &[]).await.unwrap().get(0);
    let ended = "UPDATE api_keys SET expires_at = '2020-01-02' WHERE account_id = $1 AND id = $2";
    assert_eq!(sql.execute(ended, &[&service.account, &newest]).await.unwrap(), 1);

    let operations = operations(&document);
    let guarded = operations.iter().filter(|(_, _, scope)| scope.is_some()).count();
    assert!(guarded >= 13, "the document has {guarded} operations that need a key");
    for (method, path, scope) in operations {
        let Some(scope) = scope else {
            assert_ne!(refusal(&service, &method, &path, None).await.0, 401, "{method} {path}");
            continue;
        };
        let refused = async |key: Option<&str>| refusal(&service, &method, &path, key).await;
        let expect = |status: u16, code: &str| (status, code.to_owned());
        let context = format!("{method} {path}");
        assert_eq!(refused(None).await, expect(401, "missing_authorization"), "{context}");
        assert_eq!(refused(Some("nonsense")).await, expect(401, "invalid_token_format"), "{context}");
        assert_eq!(refused(Some("svc_live_0123456789")).await, expect(401, "key_not_found"), "{context}");
        assert_eq!(refused(revoked["key"].as_str()).await, expect(401, "key_revoked"), "{context}");
        assert_eq!(refused(Some(&expired)).await, expect(401, "key_expired"), "{context}");
        let wrong = if scope == "read" { &write } else { &read };
        assert_eq!(refused(Some(wrong)).await, expect(403, &format!("scope_required:{scope}")), "{context}");
    }
}

#[tokio::test]
async fn the_sixty_first_request_of_a_minute_is_refused_and_another_key_is_not_concerned() {
    let service = Service::start_with(&[]).await;
    let (key, other) = (service.key(service.account, "read"), service.key(service.account, "read"));
    for n in 1..=60 {
        let response = service.process.get("/api/v1/me", &key).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["x-ratelimit-remaining"], (60 - n).to_string().as_str());
    }
    let refused = service.process.get("/api/v1/me", &key).await;
    assert_eq!(refused.status(), 429);
    let reset: u64 = refused.headers()["x-ratelimit-reset"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&reset));
    assert_eq!(refused.headers()["retry-after"], refused.headers()["x-ratelimit-reset"]);
    assert_eq!(service.process.get("/api/v1/me", &other).await.status(), 200);
}

#[tokio::test]
async fn a_key_revoked_by_another_process_is_refused_though_it_is_remembered() {
    let service = Service::start().await;
    let account = service.account.to_string();
    let made: Value =
        serde_json::from_str(&run(&mut service.api(&["keys", "create", "--account", &account, "--json"]))).unwrap();
    let key = made["key"].as_str().unwrap();
    for _ in 0..20 {
        assert_eq!(service.process.get("/api/v1/me", key).await.status(), 200);
    }
    run(&mut service.api(&["keys", "revoke", &made["id"].to_string(), "--account", &account]));
    let revoked = std::time::Instant::now();
    while service.process.get("/api/v1/me", key).await.status() != 401 {
        // Promised is a second; without the notification it would be a minute.
        assert!(revoked.elapsed() < std::time::Duration::from_secs(20), "still accepted");
    }
}
