//! The two shops: the one of 24 months on disk, and the demo generator's.

use std::{collections::HashMap, path::Path};

use analytics::holidays;
use anyhow::Context;
use domain::{accounts::Platform, imports::DocumentKind};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::{
    Date, OffsetDateTime,
    macros::{date, datetime},
};

use super::world::{Ad, Book, Line, Names, Order, World};
use crate::{daily::parse_date, table::Table};

/// What a unit costs, in parts of the product's median price: the file has no costs.
const UNIT_COST: f64 = 0.6;

/// Every order of the file, at its price; goods at an assumed cost.
pub fn on_disk(data: &Path) -> anyhow::Result<World> {
    let folder = data.join("online_retail");
    let meta = Table::open(&folder.join("sku_meta.csv"))?;
    let (code, price) = (meta.column("stock_code")?, meta.column("median_price")?);
    let mut prices: HashMap<String, f64> = HashMap::new();
    meta.each(|row| {
        let cell = |at: usize| row.get(at).unwrap_or_default();
        prices.insert(cell(code).to_owned(), cell(price).parse().unwrap_or_default());
        Ok(())
    })?;
    let file = std::fs::read_dir(&folder)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("online_retail_")))
        .with_context(|| format!("{}: no file of order lines", folder.display()))?;
    let table = Table::open(&file)?;
    let names = ["invoice", "stock_code", "quantity", "invoice_date", "unit_price", "customer_id", "country"];
    let at = names.iter().map(|name| table.column(name)).collect::<anyhow::Result<Vec<_>>>()?;
    let first = parse_date("2009-12-01")?;
    let mut world = empty("24_months", first);
    let mut open: HashMap<String, (Date, Order)> = HashMap::new();
    let platform = world.names.number("shop");
    table.each(|row| {
        let cell = |column: usize| at.get(column).and_then(|at| row.get(*at)).unwrap_or_default();
        let (units, price): (i64, f64) = (cell(2).parse().unwrap_or(0), cell(4).parse().unwrap_or(0.0));
        let day = parse_date(cell(3).get(..10).unwrap_or_default())?;
        if cell(0).starts_with('C') {
            if let Some(book) = world.book(day) {
                book.refunds.push(-(units as f64) * price);
            }
        } else if units > 0 && price > 0.0 {
            let is_product = cell(1).starts_with(|letter: char| letter.is_ascii_digit());
            let sku = is_product.then(|| world.names.number(cell(1)));
            let unit_cost = if is_product { UNIT_COST * prices.get(cell(1)).copied().unwrap_or(price) } else { 0.0 };
            let customer = Some(cell(5)).filter(|id| !id.is_empty()).map(|id| world.names.number(id));
            let country = world.names.number(cell(6));
            let (_, order) = open.entry(cell(0).to_owned()).or_insert_with(|| {
                (day, Order { platform, country, customer, lines: Vec::new(), fees: 0.0, shipping: 0.0 })
            });
            order.lines.push(Line { sku, units, price, unit_cost });
        }
        Ok(())
    })?;
    let mut orders: Vec<(String, (Date, Order))> = open.into_iter().collect();
    orders.sort_by(|a, b| a.0.cmp(&b.0));
    for (_, (day, order)) in orders {
        if let Some(book) = world.book(day) {
            book.orders.push(order);
        }
    }
    // The last day is cut off.
    world.days.pop();
    world.holidays = holidays::of("GB", first..=world.date(world.days.len()));
    world.note_first_orders();
    Ok(world)
}

fn empty(name: &'static str, first: Date) -> World {
    let (names, holidays) = (Names::default(), Default::default());
    World { name, first, days: Vec::new(), names, holidays, first_orders: HashMap::new() }
}

/// Two years before and almost two after the day on which the demo shop is loaded. Its articles of one category count as
/// one product: no single article sells enough for its absence to show on a day.
const OPENING: Date = date!(2026 - 05 - 02);
const UNTIL: OffsetDateTime = datetime!(2028-03-31 23:59 UTC);

pub fn generated() -> anyhow::Result<World> {
    let zone = "UTC".parse()?;
    let rows = demo::generate(OPENING, &zone, UNTIL);
    let first = rows.ads.iter().map(|row| row.day).min().context("the generator gives no days")?;
    let mut world = empty("demo", first);
    let amount = |amount: Decimal| amount.to_f64().unwrap_or_default();
    for (platform, document) in rows.documents {
        let lines: Vec<(String, i64, f64, f64)> = document
            .lines
            .iter()
            .map(|line| {
                let category = line.sku.split('-').next().unwrap_or_default().to_owned();
                (category, line.quantity, amount(line.unit_price), line.unit_cost.map_or(0.0, amount))
            })
            .collect();
        let gross: f64 = lines.iter().map(|(_, units, price, _)| *units as f64 * price).sum();
        let number = world.names.number(platform.as_str());
        let country = world.names.number(document.country.as_ref().map_or("", |country| country.as_str()));
        let customer = document.buyer.as_ref().map(|buyer| world.names.number(&buyer.external_id));
        let lines = lines
            .into_iter()
            .map(|(sku, units, price, unit_cost)| Line { sku: Some(world.names.number(&sku)), units, price, unit_cost })
            .collect();
        let Some(book) = world.book(document.at.date()) else { continue };
        match document.kind {
            DocumentKind::Refund => book.refunds.push(gross),
            DocumentKind::Order => book.orders.push(Order {
                platform: number,
                country,
                customer,
                lines,
                fees: document.fees.map_or(0.0, amount),
                shipping: document.shipping.map_or(0.0, amount),
            }),
        }
    }
    for ad in rows.ads {
        let campaign = world.names.number(&format!("{}/{}", ad.platform, ad.campaign));
        if let Some(book) = world.book(ad.day) {
            book.ads.push(Ad { campaign, spend: amount(ad.spend), clicks: ad.clicks.unwrap_or_default() });
        }
    }
    for expense in rows.expenses {
        if let Some(book) = world.book(expense.day) {
            book.expenses += amount(expense.amount);
        }
    }
    for (day, country, visitors) in rows.visitors {
        let country = world.names.number(&country);
        if let Some(Book { visitors: known, .. }) = world.book(day) {
            *known.entry(country).or_default() += visitors;
        }
    }
    anyhow::ensure!(Platform::ALL.len() > 1, "an outage takes several platforms");
    world.note_first_orders();
    Ok(world)
}
