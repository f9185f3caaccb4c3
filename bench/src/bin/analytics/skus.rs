//! Reads `online_retail/sku_daily_units.csv.gz` (one row per item, one column per day) and `sku_meta.csv`.

use std::collections::HashMap;
use std::path::Path;

use analytics::demand::{DemandModel, Item, StoreRhythm};
use anyhow::Context;
use csv::StringRecord;
use time::macros::format_description;
use time::{Date, Duration};

use crate::table::Table;

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
            let Some(&(price, first_sale)) = row.get(code).and_then(|code| meta.get(code)) else {
                return Ok(());
            };
            let known = of_days(row).iter().map(|cell| optional(cell)).collect::<anyhow::Result<Vec<_>>>()?;
            let units = known.iter().map(|day| day.unwrap_or_default()).collect();
            items.push(Sku { units, known, price, first_sale });
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

    /// Mean daily units of the items that sold in the 56 days before day `until`.
    pub fn mean_level(&self, until: usize) -> f64 {
        let levels: Vec<f64> = self.items.iter().map(|item| mean(item.last(until, 56))).filter(|&l| l > 0.0).collect();
        mean(&levels)
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

    /// What the service knows of an item on day `until` of the days from `from` on.
    pub fn model_since<'a>(
        &self,
        from: usize,
        until: usize,
        rhythm: &'a StoreRhythm,
    ) -> anyhow::Result<DemandModel<'a>> {
        let units = self.known.get(from..until).unwrap_or_default();
        Ok(DemandModel::fit(Item { units, category_level: None }, rhythm)?)
    }

    pub fn model<'a>(
        &self,
        until: usize,
        rhythm: &'a StoreRhythm,
        category_level: Option<f64>,
    ) -> anyhow::Result<DemandModel<'a>> {
        let units = self.known.get(..until).unwrap_or_default();
        Ok(DemandModel::fit(Item { units, category_level }, rhythm)?)
    }
}

/// Median price and first sale by code; a column is found by its name.
fn read_meta(path: &Path) -> anyhow::Result<HashMap<String, (f64, Date)>> {
    let table = Table::open(path)?;
    let (code, price, first) = (table.column("stock_code")?, table.column("median_price")?, table.column("first")?);
    let mut meta = HashMap::new();
    table.each(|row| {
        let field = |at: usize| row.get(at).unwrap_or_default();
        // Without a price an item has no revenue to be selected by.
        let price = optional(field(price))?.unwrap_or_default();
        meta.insert(field(code).to_owned(), (price, date(field(first))?));
        Ok(())
    })?;
    Ok(meta)
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
