//! The OpenAPI document and the page that shows it, held against the service.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use api::{Settings, State};
use domain::{
    DeliveryId,
    ai::FEATURE,
    events::EventKind,
    payments::PriceList,
    webhooks::signature::{Envelope, Secret},
};
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::support::{BOTH, EXPIRED, READ, REVOKED, Service, WRITE, bearer, state};

fn document() -> Value {
    serde_json::from_str(&api::openapi().to_pretty_json().unwrap()).unwrap()
}

/// Method, path and operation of each.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        item.as_object()
            .unwrap()
            .iter()
            .map(move |(method, operation)| (method.to_uppercase(), filled(path), operation.clone()))
    });
    all.collect()
}

/// A path with a number for each of its variable parts.
fn filled(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect::<Vec<_>>().join("/")
}

fn service() -> Service {
    let settings = Settings { rate_limit_per_minute: 100_000, ..Settings::default() };
    Service::start(State { settings, ..state() })
}

#[test]
fn the_committed_document_is_the_one_that_is_served() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let committed: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(committed == document(), "docs/openapi.json is out of date: run `make openapi`");
    let answer = service().send("GET", "/api/v1/openapi.json", &[], None);
    assert!(answer.json() == for_sale_at(&[], committed.clone()));
    assert_eq!(answer.header("cache-control"), Some("public, max-age=300"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
}

/// The document of a service that sells packs of these sizes.
fn for_sale_at(sizes: &[i64], mut document: Value) -> Value {
    let unset = json!({"type": "object", "properties": {"top_up_amount": {"type": "null"}}});
    let pack = |size: &i64| {
        json!({"type": "object", "properties": {
            "top_up_amount": {"type": "integer", "enum": [size]},
            "monthly_cap": {"type": ["integer", "null"], "minimum": size},
        }})
    };
    let any: Vec<Value> = [unset].into_iter().chain(sizes.iter().map(pack)).collect();
    let conditions = document["components"]["schemas"]["AutoTopupSettings"]["allOf"].as_array_mut().unwrap();
    conditions.push(json!({"anyOf": any}));
    document
}

#[test]
fn the_served_document_names_the_amounts_that_are_for_sale() {
    let prices = PriceList::parse("big:5000:80:USD,small:500:9:USD,pequeno:500:45:BRL", "").unwrap();
    let service = Service::start(State { prices: prices.into(), ..state() });
    let served = service.send("GET", "/api/v1/openapi.json", &[], None).json();
    assert!(served == for_sale_at(&[500, 5_000], document()));
}

#[test]
fn every_endpoint_of_the_specification_is_described() {
    let described: Vec<(String, String)> =
        operations(&document()).into_iter().map(|(method, path, _)| (method, path)).collect();
    let specified = [
        ("GET", "status"),
        ("GET", "me"),
        ("GET", "credits"),
        ("GET", "customers"),
        ("GET", "integrations"),
        ("GET", "webhooks"),
        ("POST", "webhooks"),
        ("DELETE", "webhooks"),
        ("GET", "insights"),
        ("POST", "track"),
        ("GET", "anomalies"),
        ("GET", "profit"),
        ("GET", "inventory"),
        ("GET", "reorder"),
        ("GET", "risks"),
    ];
    for (method, path) in specified {
        assert!(described.contains(&(method.into(), format!("/api/v1/{path}"))), "{method} {path}");
    }
}

#[test]
fn what_is_described_is_mounted_and_nothing_else() {
    let (document, service) = (document(), service());
    for (path, item) in document["paths"].as_object().unwrap() {
        let described = item.as_object().unwrap();
        let order =
            ["get", "post", "put", "patch", "delete"].into_iter().filter(|method| described.contains_key(*method));
        let methods = order.map(|method| if method == "get" { "GET, HEAD".into() } else { method.to_uppercase() });
        let allow = methods.chain(["OPTIONS".to_owned()]).collect::<Vec<_>>().join(", ");
        assert_eq!(service.send("OPTIONS", &filled(path), &[], None).header("allow"), Some(allow.as_str()), "{path}");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let answer = service.send(method, &filled(path), &[("Authorization", &bearer(BOTH))], Some(b"[]"));
            let described = described.contains_key(&method.to_lowercase());
            assert_eq!(answer.status != 405, described, "{method} {path}");
            assert!(answer.header("allow").is_none_or(|shown| shown == allow), "{method} {path}");
        }
    }
    let mounted = api::mounted();
    let undescribed: Vec<&str> = mounted.iter().copied().filter(|path| document["paths"].get(path).is_none()).collect();
    assert_eq!(
        undescribed,
        [
            "/.well-known/api-catalog",
            "/docs",
            "/hooks/social/meta",
            "/docs/{file:.*}",
            "/hooks/payments/{gateway}",
            "/hooks/{provider}"
        ]
    );
    assert_eq!(mounted.len(), document["paths"].as_object().unwrap().len() + undescribed.len());
}

#[test]
fn every_operation_is_told_in_full() {
    for (method, path, operation) in operations(&document()) {
        let name = format!("{method} {path}");
        for field in ["summary", "description", "operationId"] {
            assert!(operation[field].as_str().is_some_and(|text| !text.is_empty()), "{name}: {field}");
        }
        assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{name}: tag");
        let responses = &operation["responses"];
        let success = responses.get("200").unwrap_or(&responses["202"]);
        let example = &success["content"]["application/json"]["example"];
        assert!(example.is_object() || path.ends_with("openapi.json"), "{name}: example");
        if operation["security"][0].get("api_key").is_some() {
            for status in ["400", "401", "403", "429", "500", "503"] {
                assert!(
                    operation["responses"][status]["content"]["application/json"]["examples"].is_object(),
                    "{name}: {status}"
                );
            }
        }
    }
}

#[test]
fn a_list_has_a_file_where_the_document_says_so() {
    let service = service();
    let mut files = 0;
    for (method, path, operation) in operations(&document()).into_iter().filter(|(method, ..)| method == "GET") {
        let file = &operation["responses"]["200"]["content"]["text/csv"]["schema"];
        let parameters = operation["parameters"].as_array().unwrap();
        let format = parameters.iter().find(|parameter| parameter["name"] == "format");
        let answer = service.get(&format!("{path}?format=x"), BOTH);
        let is_read = answer.status == 400 && answer.json()["param"] == "format";
        assert_eq!((format.is_some(), is_read), (file.is_object(), file.is_object()), "{method} {path}");
        if let Some(format) = format {
            assert_eq!(format["in"], "query", "{path}");
            assert_eq!(format["schema"]["enum"], json!(["json", "csv"]), "{path}");
            assert!(file["description"].as_str().unwrap().starts_with("The columns are `"), "{path}");
            files += 1;
        }
    }
    assert!(files >= 3, "{files}");
}

#[test]
fn nothing_that_is_clamped_is_declared_to_have_a_maximum() {
    for (method, path, operation) in operations(&document()) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            assert!(parameter["schema"].get("maximum").is_none(), "{method} {path}: {}", parameter["name"]);
        }
    }
}

#[test]
fn a_parameter_is_of_the_path_where_the_path_has_its_name() {
    let document = document();
    for (path, item) in document["paths"].as_object().unwrap() {
        let operations = item.as_object().unwrap().values();
        for parameter in operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten()) {
            let name = parameter["name"].as_str().unwrap();
            assert_eq!(path.contains(&format!("{{{name}}}")), parameter["in"] == "path", "{path}: {name}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere() {
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    if name == "$ref" {
                        found.push(value.as_str().unwrap().to_owned());
                    }
                    references(value, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let (document, mut found) = (document(), Vec::new());
    references(&document, &mut found);
    assert!(!found.is_empty());
    for reference in found {
        assert!(document.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
}

#[test]
fn every_keyed_operation_refuses_callers_without_the_right() {
    let (document, service) = (document(), service());
    for (method, path, operation) in operations(&document) {
        let Some(scopes) = operation["security"][0].get("api_key") else { continue };
        let scope = scopes[0].as_str().unwrap();
        let with = |n: u8| service.send(&method, &path, &[("Authorization", &bearer(n))], None);
        let lacking = with(if scope == "read" { WRITE } else { READ });
        assert_eq!(lacking.error(), (403, format!("scope_required:{scope}")), "{method} {path}");
        assert_eq!(with(REVOKED).error(), (401, "key_revoked".into()), "{method} {path}");
        assert_eq!(with(EXPIRED).error(), (401, "key_expired".into()), "{method} {path}");
        let without = service.send(&method, &path, &[], None);
        assert_eq!(without.error(), (401, "missing_authorization".into()), "{method} {path}");
    }
}

#[test]
fn parameters_are_known_where_they_are_described_and_nowhere_else() {
    let (document, service) = (document(), service());
    let all = ["limit", "cursor", "source", "format", "state", "status", "severity", "category", "days"];
    for (method, path, operation) in operations(&document) {
        if method != "GET" || operation["security"][0].get("api_key").is_none() {
            continue;
        }
        let needed = |parameter: &&Value| parameter["in"] == "query" && parameter["required"] == true;
        let needed = operation["parameters"].as_array().into_iter().flatten().filter(needed);
        let needed: String = needed
            .filter_map(|parameter| {
                Some(format!("{}={}&", parameter["name"].as_str()?, parameter["schema"]["enum"][0].as_str()?))
            })
            .collect();
        for name in all {
            let described = operation["parameters"].as_array().into_iter().flatten().any(|known| known["name"] == name);
            // A parameter given twice is refused if it is known, and unknown ones are refused under strict handling.
            let target = format!("{path}?{needed}{name}=1&{name}=1");
            let answer = service.get_with(&target, BOTH, &[("Prefer", "handling=strict")]);
            assert_eq!(
                (answer.error(), answer.json()["param"].as_str()),
                ((400, "invalid_parameter".into()), Some(name))
            );
            let twice = answer.json()["message"].as_str().unwrap().contains("more than once");
            assert_eq!(twice, described, "{method} {path}?{name}");
        }
    }
}

#[test]
fn request_headers_are_described_where_they_are_heeded() {
    let (document, service) = (document(), service());
    for (_, path, operation) in operations(&document).into_iter().filter(|(method, ..)| method == "GET") {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let told = |name: &str| parameters.clone().any(|known| known["name"] == name);
        let answer = service.get_with(&format!("{path}?_=1"), BOTH, &[("Prefer", "handling=strict")]);
        let heeded = answer.status == 400;
        let cached = operation["responses"].get("304").is_some();
        assert_eq!((told("Prefer"), told("If-None-Match"), cached), (heeded, heeded, heeded), "{path}");
    }
}

#[test]
fn described_values_are_the_accepted_ones() {
    let (document, service) = (document(), service());
    for (method, path, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            // A part of the path that has no such value leads nowhere: 404.
            let Some(values) = parameter["schema"].get("enum").filter(|_| parameter["in"] == "query") else { continue };
            let name = parameter["name"].as_str().unwrap();
            let answer = service.send(
                &method,
                &format!("{path}?{name}=nonsense"),
                &[("Authorization", &bearer(BOTH))],
                Some(b"{}"),
            );
            assert_eq!(&answer.json()["allowed"], values, "{method} {path}?{name}");
        }
    }
}

#[test]
fn examples_name_a_feature_that_is_charged() {
    fn examples<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
        found.extend(value.pointer("/feature/example"));
        match value {
            Value::Object(fields) => fields.values().for_each(|field| examples(field, found)),
            Value::Array(items) => items.iter().for_each(|item| examples(item, found)),
            _ => {}
        }
    }
    let (document, mut found) = (document(), Vec::new());
    examples(&document, &mut found);
    assert!(!found.is_empty() && found.iter().all(|example| **example == FEATURE), "{found:?}");
}

#[test]
fn there_is_a_webhook_for_every_event() {
    let document = document();
    let webhooks = document["webhooks"].as_object().unwrap();
    assert_eq!(webhooks.len(), 19);
    for name in EventKind::NAMES {
        let content = &webhooks[*name]["post"]["requestBody"]["content"]["application/json"];
        let kind: EventKind = name.parse().unwrap();
        assert_eq!(content["schema"]["properties"]["data"], kind.data_schema(), "{name}");
        assert_eq!(content["schema"]["properties"]["event"]["enum"], serde_json::json!([name]));
        assert_eq!(content["example"]["event"], *name);
    }
}

#[test]
fn a_webhook_is_described_with_the_headers_that_are_sent() {
    let secret = Secret::generate([7; 32]);
    let sent = |previous| {
        let envelope = Envelope {
            delivery_id: DeliveryId(Uuid::nil()),
            event_id: "1",
            attempt: 1,
            now: OffsetDateTime::UNIX_EPOCH,
            secret: &secret,
            previous,
            body: b"{}",
        };
        let headers = envelope.headers().into_iter().map(|(name, _)| name);
        headers.filter(|name| *name != "content-type").collect::<BTreeSet<_>>()
    };
    let (always, after_a_rotation) = (sent(None), sent(Some(&secret)));
    let expected: BTreeMap<&str, bool> =
        after_a_rotation.into_iter().map(|name| (name, always.contains(name))).collect();
    let document = document();
    for (event, item) in document["webhooks"].as_object().unwrap() {
        let parameters = item["post"]["parameters"].as_array().unwrap().iter();
        let described: BTreeMap<&str, bool> = parameters
            .map(|header| (header["name"].as_str().unwrap(), header["required"].as_bool().unwrap()))
            .collect();
        assert_eq!(described, expected, "{event}");
    }
}

#[test]
fn the_page_works_without_the_internet() {
    let service = service();
    let redirect = service.send("GET", "/docs", &[], None);
    assert_eq!((redirect.status, redirect.header("location")), (308, Some("/docs/")));
    let page = service.send("GET", "/docs/", &[], None);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'; script-src 'self';"));
    let html = page.text();
    assert!(!html.contains("//cdn") && !html.contains("https://"), "{html}");
    let links =
        html.split(['"']).filter(|text| text.ends_with(".js") || text.ends_with(".css") || text.ends_with(".png"));
    let links: Vec<&str> = links.collect();
    assert!(links.len() >= 4);
    for link in links {
        let file = service.send("GET", &format!("/docs/{}", link.trim_start_matches("./")), &[], None);
        assert_eq!((file.status, file.body.is_empty()), (200, false), "{link}");
    }
    assert!(service.send("GET", "/docs/swagger-initializer.js", &[], None).text().contains("/api/v1/openapi.json"));
    assert_eq!(service.send("GET", "/docs/..%2f..%2fetc%2fpasswd", &[], None).status, 404);
    assert_eq!(service.send("GET", "/docs/nothing.js", &[], None).error(), (404, "not_found".into()));
}
