//! The summary of an import.

use std::fmt::Write;

use domain::imports::{Changes, DocumentSummary, RowSummary};
use imports::Report;
use serde::Serialize;
use serde_json::json;

pub fn json<S: Serialize>(report: &Report<S>, dry_run: bool, rejects: Option<&str>) -> String {
    let Report { read, result } = report;
    format!("{:#}", json!({ "dry_run": dry_run, "read": read, "rejects_file": rejects, "result": result }))
}

pub fn text<S>(report: &Report<S>, dry_run: bool, rejects: Option<&str>, describe: fn(&S) -> String) -> String {
    let Report { read, result } = report;
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = writeln!(text, "Lines: {} read, {} accepted, {} refused", read.lines, read.accepted, read.rejected);
    for (reason, lines) in &read.skipped {
        let _ = writeln!(text, "  skipped {lines}: {reason}");
    }
    if !read.ignored_columns.is_empty() {
        let _ = writeln!(text, "  columns that were not read: {}", read.ignored_columns.join(", "));
    }
    text += &describe(result);
    if let Some(path) = rejects {
        let _ = writeln!(text, "Refused lines, with reasons: {path}");
    }
    if dry_run {
        text += "A dry run: nothing was stored.\n";
    }
    text
}

pub fn documents(summary: &DocumentSummary) -> String {
    let DocumentSummary {
        orders,
        refunds,
        refunds_known_twice,
        lines_written,
        new_customers,
        new_products,
        days_touched,
        gross,
        refunded,
        units,
    } = summary;
    let known_twice = match refunds_known_twice {
        0 => String::new(),
        count => format!("; known by their orders as well, and counted there: {count}"),
    };
    format!(
        "Orders: {}\nRefunds: {}{known_twice}\nLines written: {lines_written}; new customers: {new_customers}; new products: \
         {new_products}; days to compute again: {days_touched}\nIn the file: gross {}, refunds {}, net {}, {units} units\n",
        changes(orders),
        changes(refunds),
        gross.normalize(),
        refunded.normalize(),
        (gross - refunded).normalize(),
    )
}

pub fn rows(summary: &RowSummary) -> String {
    let RowSummary { rows, days_touched } = summary;
    format!("Rows: {}\nDays to compute again: {days_touched}\n", changes(rows))
}

fn changes(changes: &Changes) -> String {
    let Changes { new, changed, unchanged } = changes;
    format!("{new} new, {changed} changed, {unchanged} unchanged")
}
