//! Holds the queries of the connector to Shopify, and the part of the schema that its fake has, to whole schemas in files:
//! every query is valid, and every type and field of the part is there in the same form.

use anyhow::{Context, ensure};
use apollo_compiler::{
    ExecutableDocument, Schema,
    schema::{ExtendedType, FieldDefinition},
    validation::Valid,
};
use connectors::shops::shopify::queries;
use devtools::shops::shopify::query;

fn main() -> anyhow::Result<()> {
    let part = query::schema()?;
    let mut paths = std::env::args().skip(1).peekable();
    ensure!(paths.peek().is_some(), "usage: check-shopify-schemas SCHEMA.graphql…");
    for path in paths {
        let text = std::fs::read_to_string(&path).with_context(|| path.clone())?;
        // A schema that its publisher has: only queries are held to the rules.
        let whole = Schema::parse(&text, &path).map_err(|error| anyhow::anyhow!("{path}: {}", error.errors))?;
        let whole = Valid::assume_valid(whole);
        for query in queries::ALL {
            ExecutableDocument::parse_and_validate(&whole, query.text, query.name)
                .map_err(|error| anyhow::anyhow!("{path}: {}: {}", query.name, error.errors))?;
        }
        let faults = differences(&part, &whole);
        ensure!(faults.is_empty(), "{path}:\n  {}", faults.join("\n  "));
        println!("{path}: {} queries valid, {} types agree", queries::ALL.len(), part.types.len());
    }
    Ok(())
}

fn differences(part: &Schema, whole: &Schema) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, ours) in part.types.iter().filter(|(_, ty)| !ty.is_built_in()) {
        let Some(theirs) = whole.types.get(name) else {
            faults.push(format!("{name} is not there"));
            continue;
        };
        match (ours, theirs) {
            (ExtendedType::Object(ours), ExtendedType::Object(theirs)) => {
                let fields = ours.fields.iter();
                faults.extend(
                    fields.filter_map(|(field, it)| fault(name, field, it, theirs.fields.get(field).map(|it| &***it))),
                );
                let missing =
                    ours.implements_interfaces.iter().filter(|it| !theirs.implements_interfaces.contains(*it));
                faults.extend(missing.map(|it| format!("{name} does not implement {}", it.name)));
            }
            (ExtendedType::Interface(ours), ExtendedType::Interface(theirs)) => {
                let fields = ours.fields.iter();
                faults.extend(
                    fields.filter_map(|(field, it)| fault(name, field, it, theirs.fields.get(field).map(|it| &***it))),
                );
            }
            (ExtendedType::Enum(ours), ExtendedType::Enum(theirs)) => {
                let missing = ours.values.keys().filter(|value| !theirs.values.contains_key(*value));
                faults.extend(missing.map(|value| format!("{name}.{value} is not there")));
            }
            (ExtendedType::InputObject(ours), ExtendedType::InputObject(theirs)) => {
                let other = ours
                    .fields
                    .iter()
                    .filter(|(field, it)| theirs.fields.get(*field).is_none_or(|other| other.ty != it.ty));
                faults.extend(other.map(|(field, _)| format!("{name}.{field} is another")));
            }
            (ExtendedType::Scalar(_), ExtendedType::Scalar(_)) => {}
            _ => faults.push(format!("{name} is of another kind")),
        }
    }
    faults
}

/// A field that is not there, or another.
fn fault(ty: &str, name: &str, ours: &FieldDefinition, theirs: Option<&FieldDefinition>) -> Option<String> {
    let Some(theirs) = theirs else { return Some(format!("{ty}.{name} is not there")) };
    if ours.ty != theirs.ty {
        return Some(format!("{ty}.{name} is {} and not {}", theirs.ty, ours.ty));
    }
    let known = |argument: &str| theirs.arguments.iter().find(|it| it.name == argument);
    let other = ours.arguments.iter().find(|it| known(&it.name).is_none_or(|other| other.ty != it.ty));
    other.map(|it| format!("{ty}.{name}({}) is another", it.name))
}
