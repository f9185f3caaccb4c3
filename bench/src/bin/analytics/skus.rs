//! Reads `online_retail/sku_daily_units.csv.gz` (one row per item, one column per day) and `sku_meta.csv`.

use std::collections::HashMap;
use std::path::Path;

use analytics::demand::{Category, CategorySales, DemandModel, Sales, StoreRhythm};
use anyhow::Context;
use csv::StringRecord;
use time::macros::format_description;
use time::{Date, Duration};

use crate::{categories, table::Table};

/// Items a protocol scores: those with the highest revenue before it starts.
const ITEMS: usize = 500;

/// Daily units of all items over the same days.
pub struct Skus {
    pub days: Vec<Date>,
    pub items: Vec<Sku>,
}

pub struct Sku {
    /// Missing days as zero, to score against.
    pub units: Vec<f64>,
    known: Vec<Option<f64>>,
    pub price: f64,
    pub first_sale: Date,
    /// See [`categories`].
    pub category: Option<&'static str>,
}

/// Reads a date; a time of day after it is ignored.
fn date(text: &str) -> anyhow::Result<Date> {
    Date::parse(text.get(..10).unwrap_or(text), format_description!("[year]-[month]-[day]"))
        .with_context(|| format!("not a date: {text}"))
}

/// Reads a number; an empty field is missing.
fn optional(text: &str) -> anyhow::Result<Option<f64>> {
    if text.is_empty() {
        return Ok(None);
    }
    let number: f64 = text.parse().with_context(|| format!("not a number: {text}"))?;
    anyhow::ensure!(number.is_finite(), "not a number: {text}");
    Ok(Some(number))
}

impl Skus {
    pub fn load(data: &Path) -> anyhow::Result<Self> {
        let folder = data.join("online_retail");
        let meta = read_meta(&folder.join("sku_meta.csv"))?;
        let path = folder.join("sku_daily_units.csv.gz");
        let table = Table::open(&path)?;
        // The file has a column for each day, and one more.
        let code = table.header().iter().position(|column| date(column).is_err()).unwrap_or_default();
        let of_days = |row: &StringRecord| -> Vec<String> {
            row.iter().enumerate().filter(|(at, _)| *at != code).map(|(_, cell)| cell.to_owned()).collect()
        };
        let days = of_days(table.header()).iter().map(|day| date(day)).collect::<anyhow::Result<Vec<_>>>();
        let days = days.with_context(|| path.display().to_string())?;
        anyhow::ensure!(
            days.windows(2).all(|pair| matches!(pair, [day, next] if day.next_day() == Some(*next))),
            "{}: the columns are not one day after the other",
            path.display()
        );
        let mut items = Vec::new();
        table.each(|row| {
            let Some(&Meta { median_price, first_sale, category }) = row.get(code).and_then(|code| meta.get(code))
            else {
                return Ok(());
            };
            let known = of_days(row).iter().map(|cell| optional(cell)).collect::<anyhow::Result<Vec<_>>>()?;
            let units = known.iter().map(|day| day.unwrap_or_default()).collect();
            items.push(Sku { units, known, price: median_price, first_sale, category });
            Ok(())
        })?;
        anyhow::ensure!(!items.is_empty(), "{}: no item that sku_meta.csv knows", path.display());
        Ok(Self { days, items })
    }

    /// As [`Self::best_sellers`], and an error when there are none.
    pub fn some_best_sellers(&self, until: usize) -> anyhow::Result<Vec<&Sku>> {
        let found = self.best_sellers(until, |_| true);
        anyhow::ensure!(
            !found.is_empty(),
            "no item sold on 20 of the 180 days before day {until} of {}: nothing to measure",
            self.days.len()
        );
        Ok(found)
    }

    /// Days before `date`, if it is one of the columns.
    pub fn until(&self, date: Date) -> Option<usize> {
        self.days.iter().position(|&day| day == date)
    }

    /// What is known of the store before day `until`.
    pub fn rhythm(&self, until: usize) -> StoreRhythm {
        let totals: Vec<Option<f64>> =
            (0..until).map(|day| Some(self.items.iter().filter_map(|item| item.units.get(day)).sum())).collect();
        let last_day = until.checked_sub(1).and_then(|day| self.days.get(day)).copied().unwrap_or(Date::MIN);
        StoreRhythm::fit(&totals, last_day)
    }

    /// Up to 500 items with at least 20 selling days in the 180 before `until`, by their revenue in these.
    pub fn best_sellers(&self, until: usize, eligible: impl Fn(&Sku) -> bool) -> Vec<&Sku> {
        let mut ranked: Vec<(f64, &Sku)> = self
            .items
            .iter()
            .filter(|item| item.last(until, 180).iter().filter(|&&u| u > 0.0).count() >= 20 && eligible(item))
            .map(|item| (item.last(until, 180).iter().sum::<f64>() * item.price, item))
            .filter(|(revenue, _)| *revenue > 0.0)
            .collect();
        ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        ranked.into_iter().take(ITEMS).map(|(_, item)| item).collect()
    }

    /// Items first sold 7 to 55 days before day `until`.
    pub fn young(&self, until: usize) -> Vec<&Sku> {
        let Some(&today) = self.days.get(until) else {
            return Vec::new();
        };
        let young = Duration::days(7)..Duration::days(56);
        self.items.iter().filter(|item| young.contains(&(today - item.first_sale))).collect()
    }

    /// What each category showed before day `until`, and what the whole store did.
    pub fn categories(&self, until: usize) -> (HashMap<&'static str, Category>, Category) {
        let (mut store, mut by_name) = (CategorySales::default(), HashMap::<_, CategorySales>::new());
        for item in &self.items {
            let sales = item.sales(0, until);
            store.add(sales);
            if let Some(category) = item.category {
                by_name.entry(category).or_default().add(sales);
            }
        }
        let store = store.shop();
        (by_name.into_iter().map(|(category, sold)| (category, sold.category().or(&store))).collect(), store)
    }
}

impl Sku {
    /// The `count` days before day `until`, fewer at the start of the data.
    pub fn last(&self, until: usize, count: usize) -> &[f64] {
        self.units.get(until.saturating_sub(count)..until).unwrap_or_default()
    }

    /// The `count` days from day `from`, fewer at the end of the data.
    pub fn next(&self, from: usize, count: usize) -> &[f64] {
        self.units.get(from..(from + count).min(self.units.len())).unwrap_or_default()
    }

    fn sales(&self, from: usize, until: usize) -> Sales<'_> {
        let (before, units) = self.known.get(..until).unwrap_or_default().split_at(from.min(until));
        Sales { units, sold_before: before.iter().flatten().any(|units| *units > 0.0) }
    }

    /// What the service knows of an item on day `until` of the days from `from` on.
    pub fn model_since<'a>(
        &self,
        from: usize,
        until: usize,
        rhythm: &'a StoreRhythm,
    ) -> anyhow::Result<DemandModel<'a>> {
        Ok(DemandModel::fit(self.sales(from, until), None, rhythm)?)
    }

    pub fn model<'a>(
        &self,
        until: usize,
        rhythm: &'a StoreRhythm,
        category: Option<&Category>,
    ) -> anyhow::Result<DemandModel<'a>> {
        Ok(DemandModel::fit(self.sales(0, until), category, rhythm)?)
    }
}

#[derive(Clone, Copy)]
struct Meta {
    median_price: f64,
    first_sale: Date,
    category: Option<&'static str>,
}

/// By code; a column is found by its name.
fn read_meta(path: &Path) -> anyhow::Result<HashMap<String, Meta>> {
    let table = Table::open(path)?;
    let (code, price, first) = (table.column("stock_code")?, table.column("median_price")?, table.column("first")?);
    let name = table.column("desc")?;
    let mut meta = HashMap::new();
    table.each(|row| {
        let field = |at: usize| row.get(at).unwrap_or_default();
        // Without a price an item has no revenue to be selected by.
        let median_price = optional(field(price))?.unwrap_or_default();
        let (first_sale, category) = (date(field(first))?, categories::of_name(field(name)));
        meta.insert(field(code).to_owned(), Meta { median_price, first_sale, category });
        Ok(())
    })?;
    Ok(meta)
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
