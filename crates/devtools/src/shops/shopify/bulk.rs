//! Bulk operations: what may be asked for, and the files that come of it.

use std::{collections::HashMap, time::Instant};

use apollo_compiler::executable::Field;
use connectors::shops::shopify::queries::bulk_orders;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::{
    ShopifyStub, State,
    query::{Prepared, prepare},
    shop::Order,
    view,
};
use crate::shops::random::Random;

/// Operations that run at once.
const AT_ONCE: usize = 5;
/// Bytes of a query.
const MAX_QUERY: usize = 65_535;

pub struct Bulk {
    pub id: String,
    pub number: usize,
    started: Instant,
    pub lines: Vec<String>,
    roots: usize,
    /// Added to the number of objects that it says it has.
    lie: u64,
    error: Option<&'static str>,
    pub is_cancelled: bool,
    pub is_cut: bool,
}

/// What an order is in a file, as it was made before it was asked for.
pub struct Made {
    updated: OffsetDateTime,
    lines: Vec<String>,
}

/// A refusal in the form of `userErrors`.
fn refused(message: &str) -> Value {
    user_error(message, "INVALID")
}

fn user_error(message: &str, code: &str) -> Value {
    json!({ "__typename": "BulkOperationUserError", "field": ["query"], "message": message, "code": code })
}

impl ShopifyStub {
    /// Begins an operation.
    pub(super) fn run_bulk(&self, state: &mut State, text: &str) -> Result<Value, String> {
        let takes = self.0.config.bulk_takes;
        let running: Vec<&str> =
            state.bulks.iter().filter(|bulk| bulk.is_running(takes)).map(|bulk| bulk.id.as_str()).collect();
        if running.len() >= AT_ONCE {
            let message =
                format!("A bulk query operation for this app and shop is already in progress: {}.", running.join(", "));
            return Ok(payload(Value::Null, Some(user_error(&message, "OPERATION_IN_PROGRESS"))));
        }
        let prepared = match self.checked(text) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(payload(Value::Null, Some(error))),
        };
        let root = prepared.root().map(|set| prepared.missing_scope(&self.0.schema, set, &state.scopes));
        let denied = root.flatten().map(|_| "ACCESS_DENIED");
        let (mut lines, mut roots) = (Vec::new(), 0);
        let selected = prepared.root().filter(|_| denied.is_none());
        for field in selected.map(|set| prepared.fields(&self.0.schema, set, None)).unwrap_or_default() {
            let filter = prepared.argument(field, "query").and_then(|query| query.as_str().map(str::to_owned));
            let made = self.0.lines_made.get().filter(|_| text == bulk_orders(filter.as_deref().unwrap_or_default()));
            for order in self.bulk_roots(state, field, filter.as_deref())? {
                roots += 1;
                match made.and_then(|made| made.get(&order.id)).filter(|made| made.updated == order.updated) {
                    Some(made) => lines.extend_from_slice(&made.lines),
                    None => self.write_order(state, &prepared, field, order, &mut lines)?,
                }
            }
        }
        shuffle(&mut lines);
        let faults = &self.0.common.faults;
        let failed = faults.take("bulk_failed").map(|_| "INTERNAL_SERVER_ERROR");
        let number = state.bulks.len();
        let bulk = Bulk {
            id: view::gid("BulkOperation", number as u64 + 1),
            number,
            started: Instant::now(),
            lie: faults.take("object_count").unwrap_or(0),
            error: denied.or(failed).or_else(|| faults.take("bulk_timeout").map(|_| "TIMEOUT")),
            is_cut: faults.take("truncate").is_some(),
            is_cancelled: false,
            lines,
            roots,
        };
        let shown = bulk.show(&self.0.config.shop, takes, "");
        state.bulks.push(bulk);
        Ok(payload(shown, None))
    }

    /// The rules for a query, with the texts that were recorded.
    fn checked(&self, text: &str) -> Result<Prepared, Value> {
        if text.len() > MAX_QUERY {
            return Err(refused("Bulk queries cannot be longer than 65535 bytes."));
        }
        let prepared = prepare(&self.0.schema, text, Map::new()).map_err(|errors| {
            let message = errors.first().and_then(|error| error.get("message")).and_then(Value::as_str);
            refused(&format!("Invalid bulk query: {}", message.unwrap_or_default()))
        })?;
        let roots = prepared.root().map(|set| prepared.fields(&self.0.schema, set, None)).unwrap_or_default();
        if roots.iter().any(|field| matches!(field.name.as_str(), "node" | "nodes")) {
            return Err(refused("Bulk queries cannot contain a top level `node` field."));
        }
        let mut count = 0;
        for field in roots {
            self.rules(&prepared, field, 0, false, &mut count)?;
        }
        match count {
            0 => Err(refused("Bulk queries must contain at least one connection.")),
            1..=5 => Ok(prepared),
            _ => Err(refused("Bulk queries cannot contain more than 5 connections.")),
        }
    }

    fn rules(&self, prepared: &Prepared, field: &Field, depth: u8, in_list: bool, count: &mut u8) -> Result<(), Value> {
        let schema = &self.0.schema;
        let is_connection = field.definition.ty.inner_named_type().ends_with("Connection");
        let depth = depth + u8::from(is_connection);
        let mut sets = vec![&field.selection_set];
        if is_connection {
            *count += 1;
            if in_list {
                return Err(refused(
                    "Queries that contain a connection field within a list field are not currently supported.",
                ));
            }
            if depth > 3 {
                return Err(refused("Bulk queries cannot contain connections with a nesting depth greater than 2."));
            }
            let parts = prepared.fields(schema, &field.selection_set, None);
            if parts.iter().any(|part| part.name != "edges") {
                return Err(refused("Bulk queries must select records by `edges` > `node`."));
            }
            sets = prepared.children(schema, field);
        }
        let in_list = in_list || (field.definition.ty.is_list() && !is_connection);
        for set in sets {
            let fields = prepared.fields(schema, set, None);
            let nested =
                |field: &&apollo_compiler::Node<Field>| field.definition.ty.inner_named_type().ends_with("Connection");
            let has_id = fields.iter().any(|field| field.name == "id" && field.alias.is_none());
            if is_connection && fields.iter().any(nested) && !has_id {
                return Err(refused(
                    "The parent 'node' field for a nested connection must select the 'id' field without an alias.",
                ));
            }
            for field in fields {
                self.rules(prepared, field, depth, in_list, count)?;
            }
        }
        Ok(())
    }

    /// Makes the lines of all orders for the query that the service sends, so that its operations take no time here.
    pub(super) fn make_lines(&self) -> anyhow::Result<()> {
        let prepared = prepare(&self.0.schema, &bulk_orders(""), Map::new())
            .map_err(|errors| anyhow::anyhow!("the query of bulk operations: {errors:?}"))?;
        let state = self.lock();
        let mut all = HashMap::with_capacity(state.shop.orders.len());
        for field in prepared.root().map(|set| prepared.fields(&self.0.schema, set, None)).unwrap_or_default() {
            for order in &state.shop.orders {
                let mut lines = Vec::new();
                self.write_order(&state, &prepared, field, order, &mut lines).map_err(anyhow::Error::msg)?;
                all.insert(order.id, Made { updated: order.updated, lines });
            }
        }
        drop(state);
        self.0.lines_made.set(all).map_err(|_| anyhow::anyhow!("they are made already"))
    }

    fn bulk_roots<'a>(
        &self,
        state: &'a State,
        field: &Field,
        filter: Option<&str>,
    ) -> Result<impl Iterator<Item = &'a Order> + use<'a>, String> {
        if field.name != "orders" {
            return Err(format!("{} has no value in a bulk operation here", field.name));
        }
        let (orders, warnings) = self.matching(state, filter)?;
        if !warnings.is_empty() {
            return Err("a bulk operation with a filter that is not understood".to_owned());
        }
        Ok(orders.into_iter().map(|(order, _)| order))
    }

    fn write_order(
        &self,
        state: &State,
        prepared: &Prepared,
        field: &Field,
        order: &Order,
        lines: &mut Vec<String>,
    ) -> Result<(), String> {
        let order = view::order(&state.shop, order, self.0.config.shows_buyers);
        self.write(prepared, field, &[order], None, lines)
    }

    /// A line per object; children name their parent.
    fn write(
        &self,
        prepared: &Prepared,
        connection: &Field,
        nodes: &[Value],
        parent: Option<&str>,
        lines: &mut Vec<String>,
    ) -> Result<(), String> {
        let schema = &self.0.schema;
        let sets = prepared.children(schema, connection);
        for node in nodes {
            let of = node.get("__typename").and_then(Value::as_str).ok_or("an object without a type")?;
            let id = node.get("id").and_then(Value::as_str);
            let mut shown = Map::new();
            let mut nested = Vec::new();
            for field in sets.iter().flat_map(|set| prepared.fields(schema, set, Some(of))) {
                let value =
                    node.get(field.name.as_str()).ok_or_else(|| format!("{of}.{} has no value here", field.name))?;
                let is_leaf = field.selection_set.selections.is_empty();
                if field.definition.ty.inner_named_type().ends_with("Connection") {
                    nested.push((field, value));
                } else {
                    let value =
                        if is_leaf { value.clone() } else { prepared.show(schema, &field.selection_set, value)? };
                    shown.insert(field.response_key().to_string(), value);
                }
            }
            if let Some(parent) = parent {
                shown.insert("__parentId".to_owned(), json!(parent));
            }
            // In JSON a slash stands in strings alone; the platform escapes it.
            lines.push(Value::Object(shown).to_string().replace('/', "\\/"));
            for (field, value) in nested {
                let nodes = value.as_array().ok_or("a connection that is none")?;
                self.write(prepared, field, nodes, id, lines)?;
            }
        }
        Ok(())
    }

    /// What an operation is at.
    pub(super) fn bulk(&self, state: &State, id: &str, base: &str) -> Value {
        let bulk = state.bulks.iter().find(|bulk| bulk.id == id);
        bulk.map_or(Value::Null, |bulk| bulk.show(&self.0.config.shop, self.0.config.bulk_takes, base))
    }
}

/// The answer of the mutation.
fn payload(operation: Value, error: Option<Value>) -> Value {
    let errors: Vec<Value> = error.into_iter().collect();
    json!({ "__typename": "BulkOperationRunQueryPayload", "bulkOperation": operation, "userErrors": errors })
}

/// Into an order that is no order, the same every time.
fn shuffle(lines: &mut [String]) {
    let mut random = Random::new(lines.len() as u64);
    for end in (1..lines.len()).rev() {
        lines.swap(end, usize::try_from(random.below(end as i64 + 1)).unwrap_or(0));
    }
}

impl Bulk {
    fn is_running(&self, takes: std::time::Duration) -> bool {
        !self.is_cancelled && self.started.elapsed() < takes
    }

    fn show(&self, shop: &str, takes: std::time::Duration, base: &str) -> Value {
        let is_over = !self.is_running(takes);
        let file = (is_over && !self.lines.is_empty()).then(|| format!("{base}/{shop}/_files/{}.jsonl", self.number));
        let status = match (is_over, self.is_cancelled, self.error) {
            (_, true, _) => "CANCELED",
            (false, ..) => "RUNNING",
            (true, _, Some(_)) => "FAILED",
            (true, _, None) => "COMPLETED",
        };
        json!({
            "__typename": "BulkOperation",
            "id": self.id,
            "status": status,
            "errorCode": self.error.filter(|_| is_over),
            "objectCount": (self.lines.len() as u64 + self.lie).to_string(),
            "rootObjectCount": self.roots.to_string(),
            "fileSize": file.as_ref().map(|_| self.lines.iter().map(|line| line.len() + 1).sum::<usize>().to_string()),
            "url": file.clone().filter(|_| status == "COMPLETED"),
            "partialDataUrl": file.filter(|_| status == "FAILED"),
        })
    }

    /// The file, as it is sent.
    pub fn file(&self) -> String {
        let mut file = self.lines.join("\n");
        if self.is_cut {
            file.truncate(file.len() / 2);
        } else {
            file.push('\n');
        }
        file
    }
}
