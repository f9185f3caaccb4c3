//! Which column holds what: the form, and what it says.

use std::collections::BTreeMap;

use domain::{
    accounts::Platform,
    imports::DateOrder,
    uploads::{Kind, Matched, Preview, Reading, Upload},
};

use crate::{
    error::PageError,
    pages::integrations::name,
    text::Writer,
    views::{
        panel::Table,
        pick::Pick,
        upload::{Choose, Column},
    },
};

/// What the fields of a column's choice begin with.
const MAP: &str = "map-";

/// What the form says.
pub fn reading(fields: &BTreeMap<String, String>) -> Result<Reading, PageError> {
    let one = |name: &str| fields.get(name).filter(|text| !text.is_empty());
    let map = fields.iter().filter_map(|(name, column)| Some((name.strip_prefix(MAP)?.to_owned(), column.clone())));
    let date_order = one("dates").map(|text| text.parse().map_err(|_| PageError::Invalid("dates"))).transpose()?;
    let source =
        one("source").map(|text| Platform::shop(text).map_err(|_| PageError::Invalid("source"))).transpose()?;
    Ok(Reading { map: map.collect(), date_order, decimal_comma: one("comma").is_some(), source })
}

pub fn choose(writer: &Writer, upload: &Upload, found: &Preview) -> Choose {
    let column_of = |at: usize| found.fields.iter().find(|field| field.column == Some(at));
    let head = found.header.iter().enumerate().map(|(at, name)| match column_of(at) {
        Some(field) => format!("{name} → {}", field_name(writer, field)),
        None => name.clone(),
    });
    let dates = found.fields.iter().any(|field| field.field == "date" || field.field == "cost_date");
    Choose {
        title: writer.say("choose-title"),
        what: writer.say("choose-what"),
        beginning: writer.say("choose-beginning"),
        rows: Table { head: head.collect(), rows: found.rows.clone() },
        address: format!("/data/{}", upload.id),
        columns: found.fields.iter().map(|field| column(writer, field, &found.header)).collect(),
        dates: dates.then(|| orders_of_dates(writer, upload, found.has_ambiguous_dates)),
        source: (upload.kind == Kind::Orders).then(|| sources(writer, upload)),
        comma: (writer.say("choose-comma"), upload.reading.decimal_comma),
        go: writer.say("choose-go"),
    }
}

fn field_name(writer: &Writer, field: &Matched) -> String {
    writer.say(&format!("field-{}", field.field))
}

fn column(writer: &Writer, field: &Matched, header: &[String]) -> Column {
    let chosen = field.column.and_then(|at| header.get(at));
    let none = Pick { value: String::new(), text: writer.say("choose-none"), is_chosen: chosen.is_none() };
    let each = header.iter().filter(|name| !name.is_empty()).map(|name| Pick {
        value: name.clone(),
        text: name.clone(),
        is_chosen: Some(name) == chosen,
    });
    Column {
        name: format!("{MAP}{}", field.field),
        label: field_name(writer, field),
        picks: std::iter::once(none).chain(each).collect(),
        error: (field.is_required && chosen.is_none()).then(|| writer.say("choose-required")),
    }
}

fn orders_of_dates(writer: &Writer, upload: &Upload, is_needed: bool) -> Column {
    let pick = |order: Option<DateOrder>| Pick {
        value: order.map(|order| order.to_string()).unwrap_or_default(),
        text: writer.say(&order.map_or_else(|| "dates-found".to_owned(), |order| format!("dates-{order}"))),
        is_chosen: order == upload.reading.date_order,
    };
    Column {
        name: "dates".to_owned(),
        label: writer.say("dates"),
        picks: std::iter::once(None).chain(DateOrder::ALL.iter().copied().map(Some)).map(pick).collect(),
        error: is_needed.then(|| writer.say("dates-needed")),
    }
}

fn sources(writer: &Writer, upload: &Upload) -> Column {
    let chosen = upload.reading.source.unwrap_or(Platform::Shopify);
    let pick = |platform: &Platform| Pick {
        value: platform.to_string(),
        text: name(writer, *platform),
        is_chosen: *platform == chosen,
    };
    Column {
        name: "source".to_owned(),
        label: writer.say("customer-source"),
        picks: Platform::SHOPS.iter().map(pick).collect(),
        error: None,
    }
}

#[cfg(test)]
mod tests {
    use domain::uploads::State;

    use super::*;
    use crate::{pages::data::tests::upload, text::tests::writer};

    fn matched(field: &'static str, is_required: bool, column: Option<usize>) -> Matched {
        Matched { field, is_required, column }
    }

    #[test]
    fn a_form_says_how_a_file_is_to_be_read() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = [
            field("map-sku", "Código"),
            field("map-name", ""),
            field("dates", "dmy"),
            field("source", "tiendanube"),
            field("comma", "on"),
        ];
        let read = reading(&fields.into()).unwrap();
        // An empty column leaves the field out, also where a name would have told one.
        assert_eq!(read.map.into_iter().collect::<Vec<_>>(), [field("name", ""), field("sku", "Código")]);
        assert_eq!((read.date_order, read.source), (Some(DateOrder::DayMonthYear), Some(Platform::Tiendanube)));
        assert!(read.decimal_comma);
        let wrong = reading(&[field("dates", "nonsense")].into()).unwrap_err();
        assert_eq!(wrong.cause(), Some("dates"));
    }

    #[test]
    fn what_must_have_a_column_and_has_none_is_said_at_its_field() {
        let found = Preview {
            header: vec!["Código".into(), "Cantidad".into()],
            rows: vec![vec!["MUG".into(), "4".into()]],
            fields: vec![matched("sku", true, Some(0)), matched("stock", true, None), matched("date", false, None)],
            has_ambiguous_dates: false,
        };
        let form = choose(&writer("es"), &Upload { kind: Kind::Stock, ..upload(State::Ready) }, &found);
        assert_eq!(form.rows.head, ["Código → SKU", "Cantidad"]);
        let errors: Vec<_> = form.columns.iter().map(|column| column.error.is_some()).collect();
        assert_eq!(errors, [false, true, false]);
        assert!(form.columns[0].picks[1].is_chosen && form.columns[1].picks[0].is_chosen);
        assert!(form.source.is_none() && form.dates.is_some());
    }
}
