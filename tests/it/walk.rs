//! Carries out every operation of the OpenAPI document. One that is added later is carried out as well: its body comes from
//! the examples of its schema, its ids from the answers before it.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::service::{Process, api, run};

const ORDERS: &str = "order_id,sku,name,quantity,date,unit_price,customer_id,email
1001,MUG,Blue mug,2,2026-03-01 10:00:00,10.50,c1,ana@example.com
1002,CUP,Cup,1,2026-03-02 09:30:00,5.25,c2,luis@example.com
";

/// An operation of the document.
struct Operation {
    method: Method,
    path: String,
    document: Value,
}

impl Operation {
    /// What is made comes first, so that the others have something to work on; what is removed comes last, the parts
    /// before the whole.
    fn rank(&self) -> (usize, usize) {
        let methods = [Method::POST, Method::GET, Method::PUT, Method::PATCH, Method::DELETE];
        let method = methods.iter().position(|method| *method == self.method).unwrap();
        let depth = self.path.split('/').count();
        (method, if self.method == Method::DELETE { usize::MAX - depth } else { depth })
    }
}

fn operations(document: &Value) -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if ["get", "post", "put", "patch", "delete"].contains(&method.as_str()) {
                let method = method.to_ascii_uppercase().parse().unwrap();
                found.push(Operation { method, path: path.clone(), document: operation.clone() });
            }
        }
    }
    found.sort_by_key(Operation::rank);
    found
}

/// One walk over all operations, by one key.
pub struct Walk<'a> {
    process: &'a Process,
    key: &'a str,
    document: Value,
    /// Where webhooks are sent to: a port without a listener.
    receiver: String,
    /// Ids of what has been made or found, by the path of the list that it is in.
    ids: BTreeMap<String, String>,
}

impl<'a> Walk<'a> {
    pub async fn new(process: &'a Process, key: &'a str, receiver: &str) -> Self {
        let document = process.json("/api/v1/openapi.json", key).await;
        Self { process, key, document, receiver: format!("http://{receiver}/hook"), ids: BTreeMap::new() }
    }

    /// Carries out every operation but those that remove something. Gives the paths of the reads.
    pub async fn make_and_read(&mut self) -> Vec<String> {
        let operations = operations(&self.document);
        assert!(operations.len() >= 38, "the document has {} operations", operations.len());
        self.carry_out(operations.into_iter().filter(|operation| operation.method != Method::DELETE)).await
    }

    /// Carries out those that remove something.
    pub async fn remove(&mut self) {
        let operations = operations(&self.document);
        self.carry_out(operations.into_iter().filter(|operation| operation.method == Method::DELETE)).await;
    }

    /// Checks that each operation succeeds, in a way that its document names. Gives the paths of the reads.
    async fn carry_out(&mut self, operations: impl Iterator<Item = Operation>) -> Vec<String> {
        let (mut failed, mut reads) = (Vec::new(), Vec::new());
        // A shop is connected with its platform's help: the tests of `shops` do that.
        // A conversation is begun by a customer, and a profile connected by a person: those of conversations and profiles do that.
        let begins = |path: &str| {
            path.ends_with("/{provider}/authorize")
                || path.ends_with("/{provider}/complete")
                || path.contains("/conversations/{id}")
                || path.contains("/social/profiles/")
        };
        for operation in operations.filter(|operation| !begins(&operation.path)) {
            let path = self.fill(&operation).await;
            let mut request = self.process.request(operation.method.clone(), &path).bearer_auth(self.key);
            if let Some(body) = self.body(&operation) {
                request = request.json(&body);
            }
            let response = request.send().await.unwrap();
            let status = response.status();
            let answer: Value = response.json().await.unwrap_or_default();
            if let Some(id) = answer.get("id").map(text) {
                self.ids.entry(operation.path.clone()).or_insert(id);
            }
            // With a worker at work a replay may have ended before it is canceled; a template that was approved stays.
            let has_ended = ["/replay/", "/reply-templates/"].iter().any(|part| operation.path.contains(part))
                && answer["error"] == "invalid_transition";
            if has_ended {
                continue;
            }
            if !status.is_success() || operation.document["responses"].get(status.as_str()).is_none() {
                failed.push(format!("{} {}: {status} {answer}", operation.method, operation.path));
            }
            if operation.method == Method::GET {
                if operation.document["responses"]["200"]["content"].get("text/csv").is_some() {
                    self.check_file(&operation, &path).await;
                }
                reads.push(path);
            }
        }
        assert!(failed.is_empty(), "{failed:#?}");
        reads
    }

    /// Caches have to tell a list from its file, and validate a page of either.
    async fn check_file(&self, operation: &Operation, path: &str) {
        let get = |path: String| self.process.request(Method::GET, &path).bearer_auth(self.key);
        let separator = if path.contains('?') { '&' } else { '?' };
        let file = format!("{path}{separator}format=csv");
        for path in [path.to_owned(), file.clone()] {
            let answer = get(path.clone()).send().await.unwrap();
            let by = answer.headers().get_all("vary").iter().map(|value| value.to_str().unwrap());
            let by: Vec<_> = by.flat_map(|value| value.split(',')).map(str::trim).collect();
            assert!(answer.status() == 200 && by.contains(&"Accept"), "{path}: {answer:?}");
        }
        let parameters = operation.document["parameters"].as_array().unwrap();
        let page = if parameters.iter().any(|one| one["name"] == "limit") { file + "&limit=5" } else { file };
        let answer = get(page.clone()).send().await.unwrap();
        let tag = answer.headers().get("etag").unwrap_or_else(|| panic!("{page}: {answer:?}")).clone();
        assert_eq!(get(page).header("if-none-match", tag).send().await.unwrap().status(), 304);
    }

    /// The operation's path, with an id for each parameter that it must have.
    async fn fill(&mut self, operation: &Operation) -> String {
        let (mut list, mut path) = (String::new(), String::new());
        for part in operation.path.split('/').skip(1) {
            let id = if part.starts_with('{') { Some(self.id(&list, &path).await) } else { None };
            list = format!("{list}/{part}");
            path = format!("{path}/{}", id.as_deref().unwrap_or(part));
        }
        let needed = operation.document["parameters"].as_array().into_iter().flatten();
        for parameter in needed.filter(|parameter| parameter["in"] == "query" && parameter["required"] == true) {
            let example = parameter.get("example").unwrap_or(&parameter["schema"]["enum"][0]);
            let value = self.ids.get(&list).cloned().unwrap_or_else(|| text(example));
            path = format!("{path}?{}={value}", parameter["name"].as_str().unwrap());
        }
        path
    }

    /// The id of something in a list: what was made there, else what the list gives first, else one that is not there.
    async fn id(&mut self, list: &str, path: &str) -> String {
        if !self.ids.contains_key(list)
            && let Ok(listed) = self.process.get(path, self.key).await.json::<Value>().await
            && let Some(first) = ["data", "items"].iter().find_map(|rows| listed[*rows].get(0))
        {
            self.ids.insert(list.to_owned(), text(&first["id"]));
        }
        self.ids.get(list).cloned().unwrap_or_else(|| "1".to_owned())
    }

    /// A body from the examples of the schema. Instants that need not be said are not: those of examples are long past.
    fn body(&self, operation: &Operation) -> Option<Value> {
        let schema = self.resolved(operation.document.pointer("/requestBody/content/application~1json/schema")?);
        Some(self.example(schema))
    }

    fn example(&self, schema: &Value) -> Value {
        let schema = self.resolved(schema);
        if let Some(example) = schema.get("example").or_else(|| schema["examples"].get(0)) {
            return example.clone();
        }
        if let Some(items) = schema.get("items") {
            return json!([self.example(items)]);
        }
        if let Some(first) = schema["enum"].get(0) {
            return first.clone();
        }
        let mut body = Map::new();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let required = schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)));
            if name == "url" {
                body.insert(name.clone(), json!(self.receiver));
            } else if required || property["format"] != "date-time" {
                body.insert(name.clone(), self.example(property));
            }
        }
        Value::Object(body)
    }

    /// What a schema refers to, and of several the first, unless they have one example: conditions come behind what they are
    /// about.
    fn resolved<'b>(&'b self, schema: &'b Value) -> &'b Value {
        let place = schema["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
        let schema = place.map_or(schema, |place| self.document.pointer(place).unwrap());
        let first = ["allOf", "anyOf", "oneOf"].iter().find_map(|several| schema[*several].get(0));
        let first = first.filter(|_| schema.get("example").is_none());
        first.map_or(schema, |first| self.resolved(first))
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// What a read answers, without what is never the same twice.
pub async fn answer(process: &Process, path: &str, key: &str) -> Value {
    let mut answer = process.json(path, key).await;
    let volatile: &[&str] = match path.trim_start_matches("/api/v1/") {
        "status" => &["/ts", "/checks/database/latency_ms", "/meta/check_total_ms"],
        "health" => &["/uptime_seconds"],
        // What is read when, and what is seen meanwhile: all of it.
        "uptime" => &[""],
        incidents if incidents.starts_with("incidents") => &["/generated_at"],
        _ => &[],
    };
    for volatile in volatile {
        if let Some(value) = answer.pointer_mut(volatile) {
            *value = Value::Null;
        }
    }
    answer
}

/// Gives the account orders, results of jobs, an insight and a suggestion.
pub async fn fill(database: &str, folder: &tempfile::TempDir, account: i64) {
    let file = folder.path().join("orders.csv");
    std::fs::write(&file, ORDERS).unwrap();
    let id = account.to_string();
    run(api(database, folder).args([
        "import",
        "orders",
        file.to_str().unwrap(),
        "--account",
        &id,
        "--nice-ratio",
        "0",
    ]));
    run(api(database, folder).args(["jobs", "run", "all", "--account", &id, "--clock", "2026-03-03"]));
    let (sql, driver) = tokio_postgres::connect(database, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    let product = "INSERT INTO products (account_id, sku, name, created_at) VALUES ($1, 'X', 'x', now()) RETURNING id";
    let product: i64 = sql.query_one(product, &[&account]).await.unwrap().get(0);
    let item = "INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
            units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
        VALUES ($1, $2, 'X', 'x', 1, 0, 0, 0, 0, 'stable', 'low', now()) RETURNING id";
    let item: i64 = sql.query_one(item, &[&account, &product]).await.unwrap().get(0);
    let suggestion = "INSERT INTO reorder_suggestions (account_id, inventory_item_id, sku, qty_suggested, reason,
            confidence, forecast_days, status, computed_at)
        VALUES ($1, $2, 'X', 5, 'r', 0.9, 21, 'pending', now())";
    sql.execute(suggestion, &[&account, &item]).await.unwrap();
    let insight = "INSERT INTO insights (account_id, fingerprint, severity, category, title, body, suggested_action,
            impact_estimate, source, status, computed_at)
        VALUES ($1, 'f', 'low', 'ads', 't', '', '', '', 'rules', 'open', now())";
    sql.execute(insight, &[&account]).await.unwrap();
    let shop = "INSERT INTO integrations (account_id, provider, shop, connected_at)
        VALUES ($1, 'shopify', 'example.myshopify.com', now()) RETURNING id";
    let shop: i64 = sql.query_one(shop, &[&account]).await.unwrap().get(0);
    let due =
        "INSERT INTO integration_syncs (account_id, integration_id, due_at) VALUES ($1, $2, now() + interval '1 day')";
    sql.execute(due, &[&account, &shop]).await.unwrap();
    let incident = "INSERT INTO incidents (title, severity, status, components, automatic, started_at)
        VALUES ('t', 'minor', 'investigating', '{jobs}', false, now())";
    sql.execute(incident, &[]).await.unwrap();
}
