//! The arguments of `api import`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use domain::{accounts::Platform, instants, money::Currency, zone::Zone};
use imports::DateOrder;
use store::Importer;
use time::Date;

const EXIT_CODES: &str = "\
Exit codes: 0 every line was read, 1 failed and nothing was stored, or the lines went in and the refused ones could not be
written, as the message says, 2 wrong usage or a file of another kind, 3 some lines were refused and the others went in.";

#[derive(Debug, Subcommand)]
#[command(after_help = EXIT_CODES)]
pub enum ImportCommand {
    /// Imports order lines: orders, refunds, customers and products come out of them
    #[command(after_help = ORDERS_HELP)]
    Orders {
        #[command(flatten)]
        file: FileArgs,
        #[command(flatten)]
        orders: OrderArgs,
    },
    /// Imports the catalogue: names, prices, costs, stock, lead times
    #[command(after_help = PRODUCTS_HELP)]
    Products {
        #[command(flatten)]
        file: FileArgs,
        /// Day from which the costs hold where a row does not say (default: today)
        #[arg(long, value_parser = parse_date)]
        date: Option<Date>,
    },
    /// Imports stock levels of known products
    #[command(after_help = STOCK_HELP)]
    Stock {
        #[command(flatten)]
        file: FileArgs,
        /// Day of the levels where a row does not say (default: today)
        #[arg(long, value_parser = parse_date)]
        date: Option<Date>,
    },
    /// Imports ad spend per day, down to ads and what came of them
    #[command(after_help = AD_SPEND_HELP)]
    AdSpend {
        #[command(flatten)]
        file: FileArgs,
    },
    /// Imports rates of exchange, for ad spend in other currencies
    #[command(after_help = RATES_HELP)]
    Rates {
        #[command(flatten)]
        file: FileArgs,
    },
    /// Imports extra expenses per day
    #[command(after_help = EXPENSES_HELP)]
    Expenses {
        #[command(flatten)]
        file: FileArgs,
    },
}

impl ImportCommand {
    pub fn file(&self) -> &FileArgs {
        match self {
            Self::Orders { file, .. }
            | Self::Products { file, .. }
            | Self::Stock { file, .. }
            | Self::AdSpend { file }
            | Self::Rates { file }
            | Self::Expenses { file } => file,
        }
    }
}

const ORDERS_HELP: &str = "\
Fields: order_id, sku, quantity, date, price (required); name, customer_id, email, customer_name, city, country, fees,
shipping, currency, unit_cost, category.

Examples:
  api import orders orders.csv --account 1
  api import orders orders_export.csv.gz --account 1 --source shopify
  api import orders retail.csv --account 1 --cancellation-prefix C --non-product POST,D,M,DOT --timezone Europe/London
  zcat orders.csv.gz | api import orders - --account 1 --dry-run --json

The same file again changes nothing. An order that is there with other lines is replaced. Shopify's own export is known
by its columns, and its totals, refunds and states of payment count.
Exit codes: 0 every line was read, 1 failed and nothing was stored, or the lines went in and the refused ones could not be
written, as the message says, 2 wrong usage or a file of another kind, 3 some lines were refused and the others went in.";

const PRODUCTS_HELP: &str = "\
Fields: sku (required); name, category, price, cost, cost_date, stock, on_order, lead_time_days, pack_size,
min_order_qty. An empty cell leaves what is there.

Example:
  api import products catalogue.csv --account 1 --date 2026-01-01";

const STOCK_HELP: &str = "\
Fields: sku, stock (required); date, location. Lines of unknown SKUs are refused; locations of a SKU and day are added up.

Example:
  api import stock levels.csv --account 1";

const AD_SPEND_HELP: &str = "\
Fields: date, platform, spend (required); campaign, ad_set, ad, impressions, clicks, purchases, revenue, creative,
format (video, image, carousel, text), headline, body, status (active, paused, archived), video_views_3s, currency,
attribution. Lines of one day, platform, campaign, ad set and ad are summed; those of a day, platform and campaign
replace what was there. Days of a platform that is connected are refused.

Example:
  api import ad-spend meta.csv --account 1 --map spend='Amount spent'";

const RATES_HELP: &str = "\
Fields: date, currency, rate (required): how much of the account's currency one unit is worth. A day without a rate has
that of the newest of the 7 days before. Spend without a rate is in no sum.

Example:
  api import rates ecb.csv --account 1";

const EXPENSES_HELP: &str = "\
Fields: date, category, amount (required); description. Equal lines are separate expenses; those of one day, category
and description replace what was there.

Example:
  api import expenses rent.csv --account 1";

#[derive(Debug, Args)]
pub struct FileArgs {
    /// CSV file, plain or gzip; - reads standard input
    #[arg(value_name = "FILE")]
    pub path: PathBuf,
    /// Number of the account
    #[arg(long)]
    pub account: i64,
    /// Which column holds which field, where the names in the header do not tell
    #[arg(long, value_name = "FIELD=COLUMN,…", value_delimiter = ',', value_parser = parse_pair)]
    pub map: Vec<(String, String)>,
    /// Character between columns, `tab` for a tab (default: found in the first line)
    #[arg(long, value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,
    /// Order of day, month and year (default: found in the first rows)
    #[arg(long, value_enum)]
    pub date_format: Option<DateFormat>,
    /// Read 1.234,5 as one thousand two hundred thirty-four and a half
    #[arg(long)]
    pub decimal_comma: bool,
    /// Read bytes that are no UTF-8 as Windows-1252 (ISO 8859-1 included) instead of refusing their line
    #[arg(long)]
    pub latin1: bool,
    /// Time zone of dates that name none (default: the account's)
    #[arg(long)]
    pub timezone: Option<Zone>,
    /// Where refused lines go (default: FILE.rejects.csv; written only when there are any)
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Pause after each statement, this number of times as long as it took, so that other tenants hardly notice; the import
    /// takes so much longer. 0 where nobody else is served: a first fill, maintenance
    #[arg(long, value_name = "RATIO", default_value_t = Importer::NICE_RATIO)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub nice_ratio: u32,
    /// Read, check and count everything, and store nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl FileArgs {
    pub fn rejects_path(&self) -> PathBuf {
        if let Some(path) = &self.rejects {
            return path.clone();
        }
        if self.path.as_os_str() == "-" {
            return PathBuf::from("stdin.rejects.csv");
        }
        let mut name = self.path.clone().into_os_string();
        name.push(".rejects.csv");
        name.into()
    }
}

#[derive(Debug, Args)]
pub struct OrderArgs {
    /// What the numbers of cancellations begin with; without it, lines of negative quantity are refunds
    #[arg(long, value_name = "PREFIX")]
    pub cancellation_prefix: Option<String>,
    /// SKUs that are no product: they count in the revenue and the units of the shop alone
    #[arg(long, value_name = "SKU,…", value_delimiter = ',')]
    pub non_product: Vec<String>,
    /// Currency of the file, to be refused when it is not the account's
    #[arg(long)]
    pub currency: Option<Currency>,
    /// Platform: shopify, tiendanube or mercadolibre
    #[arg(long, default_value = "shopify", value_parser = Platform::shop)]
    pub source: Platform,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum DateFormat {
    /// 31/12/2026
    Dmy,
    /// 12/31/2026
    Mdy,
    /// 2026-12-31 and nothing else
    Ymd,
}

impl From<DateFormat> for DateOrder {
    fn from(format: DateFormat) -> Self {
        match format {
            DateFormat::Dmy => Self::DayMonthYear,
            DateFormat::Mdy => Self::MonthDayYear,
            DateFormat::Ymd => Self::YearMonthDay,
        }
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, column)) if !field.is_empty() && !column.is_empty() => {
            Ok((field.trim().to_owned(), column.trim().to_owned()))
        }
        _ => Err("write FIELD=COLUMN, such as order_id=invoice".to_owned()),
    }
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'"' | b'\n' | b'\r') => {
            Ok(*byte)
        }
        _ => Err("write one character, or `tab`".to_owned()),
    }
}

fn parse_date(text: &str) -> Result<Date, String> {
    instants::parse_day(text).map_err(|_| "write a day as 2026-12-31, from 1970 to 2999".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Parsed {
        #[command(subcommand)]
        command: ImportCommand,
    }

    #[test]
    fn an_import_pauses_unless_it_is_told_that_nobody_else_is_served() {
        let ratio = |more: &[&str]| {
            let arguments = ["import", "stock", "x.csv", "--account", "1"].iter().chain(more);
            Parsed::try_parse_from(arguments).map(|parsed| parsed.command.file().nice_ratio)
        };
        assert_eq!(ratio(&[]).unwrap(), 29);
        assert_eq!(ratio(&["--nice-ratio", "0"]).unwrap(), 0);
        let refused = ratio(&["--nice-ratio", "101"]).unwrap_err().to_string();
        assert!(refused.contains("0..=100"), "{refused}");
    }
}
