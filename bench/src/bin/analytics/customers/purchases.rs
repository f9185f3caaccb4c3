//! Reads purchases: order lines of a shop, the music shop's purchase list, tables of summaries.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use flate2::read::GzDecoder;
use serde::Deserialize;
use time::{Date, macros::format_description};

/// All orders of one customer on one day.
pub struct Purchase {
    pub customer: String,
    pub day: Date,
    pub orders: u32,
    pub value: f64,
}

/// A shop's purchases, sorted by customer and day.
pub struct Shop {
    pub name: String,
    pub purchases: Vec<Purchase>,
    /// How far ahead the published evaluation on such data looks.
    pub published_days: i64,
}

/// One line of a table of summaries, times in weeks.
#[derive(Deserialize)]
pub struct SummaryRow {
    pub x: u32,
    pub t_x: f64,
    #[serde(rename = "T")]
    pub age: f64,
    #[serde(rename = "zbar")]
    pub mean_spend: f64,
}

#[derive(Deserialize)]
struct OrderLine<'a> {
    invoice: &'a str,
    quantity: f64,
    invoice_date: &'a str,
    unit_price: f64,
    customer_id: &'a str,
}

/// Tables named `*summary*.csv`.
pub fn summaries(folder: &Path) -> anyhow::Result<Vec<(String, Vec<SummaryRow>)>> {
    let read = |path: PathBuf| {
        let rows = csv::Reader::from_path(&path).map_err(anyhow::Error::from);
        let rows = rows.and_then(|mut reader| Ok(reader.deserialize().collect::<Result<_, _>>()?));
        anyhow::Ok((name(&path), rows.with_context(|| path.display().to_string())?))
    };
    files(folder, |n| n.contains("summary") && n.ends_with(".csv"))?.into_iter().map(read).collect()
}

/// Shops with files of order lines, `online_retail_*.csv.gz`. A customer's order counts when it is not a cancellation
/// (invoice `C…`) and has lines of positive quantity and price. The last day, cut off in these files, is left out.
pub fn shops(folder: &Path) -> anyhow::Result<Vec<Shop>> {
    let read = |path: PathBuf| {
        let mut purchases = order_lines(GzDecoder::new(File::open(&path)?)).with_context(|| name(&path))?;
        let end = purchases.iter().map(|p| p.day).max();
        purchases.retain(|p| Some(p.day) != end);
        anyhow::Ok(Shop { name: name(&path), purchases, published_days: 26 * 7 })
    };
    files(folder, |n| n.starts_with("online_retail") && n.ends_with(".csv.gz"))?.into_iter().map(read).collect()
}

/// The music shop's list of purchases (`CDNOW_sample.txt`: customer, its number, date, units, value), where there.
pub fn cdnow(folder: &Path) -> anyhow::Result<Vec<Shop>> {
    let read = |path: PathBuf| {
        let mut days = Days::default();
        for line in BufReader::new(File::open(&path)?).lines() {
            let line = line?;
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let [customer, _, day, _, value] = fields.as_slice() {
                let day = Date::parse(day, format_description!("[year][month][day]"))?;
                days.add((*customer).to_owned(), day, 1, value.parse()?);
            }
        }
        anyhow::Ok(Shop { name: name(&path), purchases: days.into_purchases(), published_days: 39 * 7 })
    };
    files(folder, |n| n == "CDNOW_sample.txt")?.into_iter().map(read).collect()
}

fn order_lines(input: impl Read) -> anyhow::Result<Vec<Purchase>> {
    let mut reader = csv::Reader::from_reader(input);
    let headers = reader.byte_headers()?.clone();
    let mut record = csv::ByteRecord::new();
    let mut orders: BTreeMap<(String, Date, String), f64> = BTreeMap::new();
    while reader.read_byte_record(&mut record)? {
        let line: OrderLine<'_> = record.deserialize(Some(&headers))?;
        let cancelled = line.invoice.starts_with('C');
        if cancelled || line.customer_id.is_empty() || line.quantity <= 0.0 || line.unit_price <= 0.0 {
            continue;
        }
        let customer = line.customer_id.trim_end_matches(".0").to_owned();
        let day = line.invoice_date.get(..10).context("a date is too short")?;
        let day = Date::parse(day, format_description!("[year]-[month]-[day]"))?;
        *orders.entry((customer, day, line.invoice.to_owned())).or_default() += line.quantity * line.unit_price;
    }
    let mut days = Days::default();
    for ((customer, day, _), value) in orders {
        days.add(customer, day, 1, value);
    }
    Ok(days.into_purchases())
}

#[derive(Default)]
struct Days(BTreeMap<(String, Date), (u32, f64)>);

impl Days {
    fn add(&mut self, customer: String, day: Date, orders: u32, value: f64) {
        let (count, sum) = self.0.entry((customer, day)).or_default();
        *count += orders;
        *sum += value;
    }

    fn into_purchases(self) -> Vec<Purchase> {
        let purchase = |((customer, day), (orders, value))| Purchase { customer, day, orders, value };
        self.0.into_iter().map(purchase).collect()
    }
}

/// Files of a folder by name, sorted; none where there is no folder.
fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> anyhow::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().and_then(OsStr::to_str).is_some_and(&wanted) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
