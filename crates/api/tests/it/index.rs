//! `/index` and the catalogue, held against the table and the answers.

use std::sync::Arc;

use api::State;
use app::status::StatusPages;
use domain::{incidents::MockIncidentStore, uptime::MockProbeStore};
use serde_json::{Value, json};

use crate::support::{BOTH, Service, state, without_database};

fn index(service: Service) -> Value {
    service.get("/api/v1/index", BOTH).json()
}

fn entry<'a>(index: &'a Value, path: &str) -> &'a Value {
    index["endpoints"].as_array().unwrap().iter().find(|entry| entry["path"] == path).unwrap()
}

#[test]
fn the_index_is_shown_to_everyone_and_no_key_is_looked_up() {
    let service = Service::start(without_database());
    let answer = service.get("/api/v1/index", BOTH);
    let names = ["cache-control", "access-control-allow-origin", "x-ratelimit-limit", "x-ratelimit-remaining"];
    let shown = names.map(|name| answer.header(name));
    assert_eq!((answer.status, shown), (200, [Some("public, max-age=300"), Some("*"), Some("300"), Some("299")]));
    let tag = answer.header("etag").unwrap();
    assert!(tag.starts_with('"'), "{tag} is not strong");
    assert_eq!(service.get_with("/api/v1/index", BOTH, &[("If-None-Match", tag)]).status, 304);
}

#[test]
fn every_route_is_in_the_index_by_path_with_its_methods_and_scopes() {
    let index = index(Service::start(without_database()));
    let listed: Vec<&str> =
        index["endpoints"].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap()).collect();
    let internal = [
        "/.well-known/api-catalog",
        "/docs",
        "/docs/{file:.*}",
        "/hooks/payments/{gateway}",
        "/hooks/{provider}",
        "/hooks/social/meta",
    ];
    let mut mounted = api::mounted();
    mounted.retain(|path| !internal.contains(path));
    mounted.sort_unstable();
    assert_eq!(listed, mounted);
    assert_eq!(
        *entry(&index, "/api/v1/profit"),
        json!({
            "path": "/api/v1/profit", "methods": ["GET"], "scopes": {"GET": "read"}, "public": false,
            "summary": "Profit per day.", "formats": ["json", "csv"], "max_age_seconds": null, "since": "2026-11"
        })
    );
    let webhooks = entry(&index, "/api/v1/webhooks");
    assert_eq!(webhooks["scopes"], json!({"GET": "read", "POST": "write", "DELETE": "write"}));
    assert_eq!(webhooks["methods"], json!(["GET", "POST", "DELETE"]));
    let own = entry(&index, "/api/v1/index");
    assert_eq!((&own["public"], &own["scopes"], &own["since"]), (&json!(true), &json!({}), &json!("2026-12")));
    assert!(index["events"].as_array().unwrap().contains(&json!("purchase.created")));
}

#[test]
fn answers_may_be_kept_for_as_long_as_the_index_says() {
    let (mut probes, mut incidents) = (MockProbeStore::new(), MockIncidentStore::new());
    probes.expect_first().returning(|| Ok(None));
    probes.expect_minutes().returning(|_, _| Ok(Vec::new()));
    incidents.expect_all().returning(|| Ok(Vec::new()));
    let status = Arc::new(StatusPages::new(Arc::new(probes), Arc::new(incidents)));
    let service = Service::start(State { status, ..state() });
    let index = index(service);
    for entry in index["endpoints"].as_array().unwrap().iter().filter(|entry| entry["public"] == true) {
        let path = entry["path"].as_str().unwrap();
        // There is no incident, and what is not found is not kept.
        if path.contains('{') {
            continue;
        }
        let answer = service.send("GET", path, &[], None);
        let kept = answer.header("cache-control").unwrap();
        let seconds = kept.split(", ").find_map(|part| part.strip_prefix("max-age=")?.parse::<u64>().ok());
        assert_eq!(entry["max_age_seconds"].as_u64(), seconds, "{path}: {kept}");
    }
}

#[test]
fn the_catalogue_leads_programs_to_the_description() {
    let service = Service::start(without_database());
    let answer = service.get("/.well-known/api-catalog", BOTH);
    let kind = "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"";
    assert_eq!((answer.status, answer.header("content-type")), (200, Some(kind)));
    let linkset = &answer.json()["linkset"][0];
    assert_eq!(linkset["anchor"], "/api/v1/");
    for relation in ["service-desc", "service-doc", "service-meta", "status"] {
        let target = linkset[relation][0]["href"].as_str().unwrap();
        assert_ne!(service.send("GET", target, &[], None).status, 404, "{relation}");
    }
    let head = service.send("HEAD", "/.well-known/api-catalog", &[], None);
    let link = "</.well-known/api-catalog>; rel=\"api-catalog\"";
    assert_eq!((head.status, head.header("link"), head.body.len()), (200, Some(link), 0));
}
