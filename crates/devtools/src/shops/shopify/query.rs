//! GraphQL as the platform runs it: validated against the schema, with its cost, its scopes and its limits.

use apollo_compiler::{
    ExecutableDocument, Node, Schema,
    ast::Value as Literal,
    executable::{Field, Selection, SelectionSet},
    validation::Valid,
};
use serde_json::{Map, Value, json};

/// The part of the Admin API that there is.
pub const SCHEMA: &str = include_str!("schema.graphql");
/// Objects of one page.
pub const MAX_FIRST: u64 = 250;
/// Objects that can be paged through.
pub const MAX_DEPTH: u64 = 25_000;

/// A query that can be run.
pub struct Prepared {
    pub document: Valid<ExecutableDocument>,
    pub variables: Map<String, Value>,
}

/// One error, in the platform's form.
pub fn error(message: &str, code: &str) -> Value {
    json!({ "message": message, "extensions": { "code": code } })
}

/// The schema, read once.
///
/// # Panics
/// Never: a test reads it.
pub fn schema() -> anyhow::Result<Valid<Schema>> {
    Schema::parse_and_validate(SCHEMA, "schema.graphql").map_err(|error| anyhow::anyhow!("{}", error.errors))
}

/// Checks a text and its variables.
pub fn prepare(schema: &Valid<Schema>, text: &str, variables: Map<String, Value>) -> Result<Prepared, Vec<Value>> {
    let document = ExecutableDocument::parse_and_validate(schema, text, "query").map_err(|invalid| {
        let messages = invalid.errors.iter().map(|diagnostic| diagnostic.error.to_string());
        messages.map(|message| error(&message, "undefinedField")).collect::<Vec<_>>()
    })?;
    let Ok(operation) = document.operations.get(None) else {
        return Err(vec![error("An operation name is required", "missingOperationName")]);
    };
    for variable in &operation.variables {
        let given = variables.get(variable.name.as_str()).is_some_and(|value| !value.is_null());
        if variable.ty.is_non_null() && !given {
            let message = format!("Variable ${} of type {} was provided invalid value", variable.name, variable.ty);
            return Err(vec![error(&message, "INVALID_VARIABLE")]);
        }
    }
    if let Some(unknown) =
        variables.keys().find(|name| !operation.variables.iter().any(|known| known.name.as_str() == name.as_str()))
    {
        return Err(vec![error(&format!("Variable ${unknown} is not defined"), "INVALID_VARIABLE")]);
    }
    Ok(Prepared { document, variables })
}

impl Prepared {
    /// The selected root fields.
    pub fn root(&self) -> Option<&SelectionSet> {
        self.document.operations.get(None).ok().map(|operation| &operation.selection_set)
    }

    pub fn is_mutation(&self) -> bool {
        self.document.operations.get(None).is_ok_and(|operation| operation.is_mutation())
    }

    pub fn argument(&self, field: &Field, name: &str) -> Option<Value> {
        let argument = field.arguments.iter().find(|argument| argument.name == name)?;
        Some(self.literal(&argument.value)).filter(|value| !value.is_null())
    }

    fn literal(&self, literal: &Node<Literal>) -> Value {
        match &**literal {
            Literal::Null => Value::Null,
            Literal::Enum(name) => json!(name.as_str()),
            Literal::Variable(name) => self.variables.get(name.as_str()).cloned().unwrap_or_default(),
            Literal::String(text) => json!(text),
            Literal::Float(number) => json!(number.as_str()),
            Literal::Int(number) => number.as_str().parse::<i64>().map_or(Value::Null, |number| json!(number)),
            Literal::Boolean(is) => json!(is),
            Literal::List(values) => values.iter().map(|value| self.literal(value)).collect(),
            Literal::Object(fields) => {
                fields.iter().map(|(name, value)| (name.to_string(), self.literal(value))).collect::<Map<_, _>>().into()
            }
        }
    }

    /// The fields of a selection that an object of a type has, fragments resolved.
    pub fn fields<'a>(&'a self, schema: &Schema, set: &'a SelectionSet, of: Option<&str>) -> Vec<&'a Node<Field>> {
        let applies = |condition: &str| of.is_none_or(|of| of == condition || schema.is_subtype(condition, of));
        let mut fields = Vec::new();
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => fields.push(field),
                Selection::InlineFragment(fragment) => {
                    let condition = fragment.type_condition.as_ref();
                    if condition.is_none_or(|condition| applies(condition)) {
                        fields.extend(self.fields(schema, &fragment.selection_set, of));
                    }
                }
                Selection::FragmentSpread(spread) => {
                    if let Some(fragment) =
                        spread.fragment_def(&self.document).filter(|it| applies(it.type_condition()))
                    {
                        fields.extend(self.fields(schema, &fragment.selection_set, of));
                    }
                }
            }
        }
        fields
    }

    /// Points, by the formula that was fitted to published replies. `Err` names a page that is too large.
    pub fn cost(&self, schema: &Schema, set: &SelectionSet) -> Result<u64, String> {
        let base = if self.is_mutation() && set.ty == "Mutation" { 10 } else { 0 };
        let fields = self.fields(schema, set, None);
        fields.into_iter().try_fold(base, |sum, field| Ok(sum + self.field_cost(schema, field)?))
    }

    fn field_cost(&self, schema: &Schema, field: &Field) -> Result<u64, String> {
        let ty = field.definition.ty.inner_named_type();
        if field.selection_set.selections.is_empty() || matches!(ty.as_str(), "MoneyV2" | "MoneyBag" | "PageInfo") {
            return Ok(0);
        }
        if let Some(ids) = self.argument(field, "ids").and_then(|ids| ids.as_array().map(Vec::len)) {
            return Ok(ids as u64 * (1 + self.cost(schema, &field.selection_set)?));
        }
        if !ty.ends_with("Connection") {
            return Ok(1 + self.cost(schema, &field.selection_set)?);
        }
        let first = self.argument(field, "first").and_then(|first| first.as_u64());
        let first = first.ok_or("you must provide one of first or last")?;
        if first > MAX_FIRST {
            return Err(format!("first ({first}) exceeds the limit of {MAX_FIRST}"));
        }
        let child = self.children(schema, field);
        let child: u64 = child.iter().try_fold(0, |sum, set| Ok::<u64, String>(sum + self.cost(schema, set)?))?;
        Ok(2 + factor(first) * (1 + child))
    }

    /// What is selected of each object of a connection.
    pub fn children<'a>(&'a self, schema: &Schema, connection: &'a Field) -> Vec<&'a SelectionSet> {
        let mut sets = Vec::new();
        for field in self.fields(schema, &connection.selection_set, None) {
            match field.name.as_str() {
                "nodes" => sets.push(&field.selection_set),
                "edges" => {
                    let nodes = self.fields(schema, &field.selection_set, None).into_iter();
                    sets.extend(nodes.filter(|field| field.name == "node").map(|node| &node.selection_set));
                }
                _ => {}
            }
        }
        sets
    }

    /// The first scope that a selection needs and the app lacks, with the field.
    pub fn missing_scope(
        &self,
        schema: &Schema,
        set: &SelectionSet,
        granted: &[String],
    ) -> Option<(String, &'static str)> {
        for field in self.fields(schema, set, None) {
            let needed = match field.definition.ty.inner_named_type().as_str() {
                "Order" | "OrderConnection" => Some("read_orders"),
                "Customer" => Some("read_customers"),
                "ProductVariantConnection" | "Product" => Some("read_products"),
                "InventoryItem" | "InventoryLevelConnection" => Some("read_inventory"),
                "Location" => Some("read_locations"),
                _ => None,
            };
            let has = |scope: &str| {
                let write = scope.replacen("read_", "write_", 1);
                granted.iter().any(|granted| *granted == scope || *granted == write)
            };
            if let Some(scope) = needed.filter(|scope| !has(scope)) {
                return Some((field.name.to_string(), scope));
            }
            if let Some(missing) = self.missing_scope(schema, &field.selection_set, granted) {
                return Some(missing);
            }
        }
        None
    }

    /// What a selection shows of an object. Pages of nested connections are cut here; a field that the fake shop does not
    /// have is an error, never null.
    pub fn show(&self, schema: &Schema, set: &SelectionSet, object: &Value) -> Result<Value, String> {
        if let Some(list) = object.as_array() {
            return list.iter().map(|object| self.show(schema, set, object)).collect();
        }
        if object.is_null() {
            return Ok(Value::Null);
        }
        let of = object.get("__typename").and_then(Value::as_str).ok_or("an object without a type")?;
        let mut shown = Map::new();
        for field in self.fields(schema, set, Some(of)) {
            let value =
                object.get(field.name.as_str()).ok_or_else(|| format!("{of}.{} has no value here", field.name))?;
            let value = match field.definition.ty.inner_named_type() {
                ty if ty.ends_with("Connection") => self.page(schema, field, value)?,
                _ if field.selection_set.selections.is_empty() => value.clone(),
                _ => self.show(schema, &field.selection_set, &self.named(field, value))?,
            };
            shown.insert(field.response_key().to_string(), value);
        }
        Ok(Value::Object(shown))
    }

    /// Of a list that is filtered by names, those.
    fn named(&self, field: &Field, list: &Value) -> Value {
        let Some(names) = self.argument(field, "names") else { return list.clone() };
        let is_named =
            |item: &&Value| names.as_array().zip(item.get("name")).is_some_and(|(names, name)| names.contains(name));
        list.as_array().map_or(Value::Null, |list| list.iter().filter(is_named).cloned().collect())
    }

    /// A page of a nested connection: cursors are places.
    fn page(&self, schema: &Schema, field: &Field, all: &Value) -> Result<Value, String> {
        let all = all.as_array().ok_or("a connection that is none")?;
        let first = self.argument(field, "first").and_then(|first| usize::try_from(first.as_u64()?).ok()).unwrap_or(0);
        let after = self.argument(field, "after").and_then(|after| after.as_str().map(str::to_owned));
        let start = match after {
            Some(cursor) => cursor.parse::<usize>().map_err(|_| format!("`{cursor}` is not a valid cursor"))? + 1,
            None => 0,
        };
        let nodes: Vec<Value> = all.iter().skip(start).take(first).cloned().collect();
        let end = start + nodes.len();
        let cursor = end.checked_sub(1).filter(|_| !nodes.is_empty()).map(|end| end.to_string());
        self.connection(schema, field, &nodes, cursor, end < all.len())
    }

    /// A connection's page with its nodes or edges.
    pub fn connection(
        &self,
        schema: &Schema,
        field: &Field,
        nodes: &[Value],
        end_cursor: Option<String>,
        more: bool,
    ) -> Result<Value, String> {
        let mut shown = Map::new();
        for part in self.fields(schema, &field.selection_set, None) {
            let value = match part.name.as_str() {
                "pageInfo" => {
                    let info = json!({ "__typename": "PageInfo", "hasNextPage": more, "endCursor": end_cursor });
                    self.show(schema, &part.selection_set, &info)?
                }
                "nodes" => {
                    nodes.iter().map(|node| self.show(schema, &part.selection_set, node)).collect::<Result<_, _>>()?
                }
                other => return Err(format!("{other} of a connection has no value here")),
            };
            shown.insert(part.response_key().to_string(), value);
        }
        Ok(Value::Object(shown))
    }
}

/// How many objects a page counts as.
fn factor(first: u64) -> u64 {
    let logarithm = 2.0 * (first.max(1) as f64).ln();
    (logarithm.floor() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use connectors::shops::shopify::queries;

    #[test]
    fn a_page_counts_as_fewer_objects_the_larger_it_is() {
        let factors = [1, 2, 5, 10, 20, 50, 100, 250].map(factor);
        assert_eq!(factors, [1, 1, 3, 4, 5, 7, 9, 11]);
    }

    #[test]
    fn every_query_fits_the_schema_and_costs_what_it_is_said_to() {
        let schema = schema().unwrap();
        for query in queries::ALL {
            let count = if query.name == "ORDERS_EXIST" { queries::MANY_IDS } else { queries::IDS };
            let ids = vec!["gid://shopify/Order/1"; count];
            let first = if query.name == "ORDERS" { queries::ORDERS_PAGE } else { queries::VARIANTS_PAGE };
            let all = json!({
                "first": first, "ids": ids, "id": "gid://shopify/Order/1", "query": "id:>1", "sort": "UPDATED_AT",
                "topic": "ORDERS_CREATE", "uri": "https://example.com/hooks",
            });
            let document = ExecutableDocument::parse_and_validate(&schema, query.text, query.name);
            let document = document.unwrap_or_else(|error| panic!("{}: {}", query.name, error.errors));
            let declared = &document.operations.get(None).unwrap().variables;
            let variables = all
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, _)| declared.iter().any(|it| it.name.as_str() == name.as_str()));
            let variables = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
            if query.name == "BULK_ORDERS" {
                continue;
            }
            let prepared =
                prepare(&schema, query.text, variables).unwrap_or_else(|error| panic!("{}: {error:?}", query.name));
            let cost = prepared.cost(&schema, prepared.root().unwrap()).unwrap();
            assert!(cost <= u64::from(query.cost) && cost <= 1_000, "{} costs {cost}", query.name);
            assert!(u64::from(query.cost) <= cost * 2 + 20, "{} costs only {cost}", query.name);
        }
    }
}
