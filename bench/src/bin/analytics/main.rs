//! Measures the statistical quality of the analytics on a folder of real data and prints one JSON object per figure.
//!
//! The folder holds `daily_series/*.csv`, `online_retail/` and `cdnow/` in the formats that `docs/methods.md` describes;
//! the data itself is not part of this repository.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

mod anomalies;
mod categories;
mod causes;
mod creatives;
mod customers;
mod daily;
mod demand;
mod reorder;
mod replies;
mod risks;
mod season;
mod skus;
mod stock;
mod stories;
mod table;
mod take_offs;

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    protocol: Protocol,
    /// Folder with the data sets.
    #[arg(long, global = true, default_value = "data")]
    data: PathBuf,
}

#[derive(Subcommand)]
enum Protocol {
    /// Detector: AUC, recall at fixed false-alarm rates, labelled events.
    Anomalies {
        /// Country whose public holidays a series knows, as `nyc_taxi=US`; separated by commas.
        #[arg(long, value_delimiter = ',')]
        holidays: Vec<anomalies::Country>,
    },
    /// Cause inference: top-1 accuracy on injected driver changes.
    Causes,
    /// Demand per SKU and day: WRMSSE, RMSSE, WAPE over 28 days.
    Demand,
    /// Days of stock: median error and status accuracy.
    Stock,
    /// Order-up-to level: cover for a fill rate, scaled pinball loss, coverage.
    Reorder,
    /// Reorder around the peaks of items and in their first year: what is left after 120 days, and lost sales.
    Season,
    /// Risks: outcomes within their ranges, pinball loss beside last month's, calibration of stock-outs.
    Risks,
    /// Stories: one per planted incident, right lever, money within its range, quiet days.
    Stories,
    /// Products that took off: how many are told, whether it lasts, and planted ones. `--data` has the shop of 24 months.
    TakeOffs,
    /// Automatic answers: wrong ones, answered complaints, coverage of clear questions. `--data` may name one file.
    Replies,
    /// Creatives: false winners of eight rules, what winners turn out to be worth; simulated without the folder `creatives`.
    Creatives,
    /// Customer models: parameters, log-likelihood, churn AUC, Brier, calibration.
    Customers,
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    match cli.protocol {
        Protocol::Anomalies { holidays } => anomalies::run(&cli.data, &holidays),
        Protocol::Causes => causes::run(&cli.data),
        Protocol::Demand => demand::run(&cli.data),
        Protocol::Stock => stock::run(&cli.data),
        Protocol::Reorder => reorder::run(&cli.data),
        Protocol::Season => season::run(&cli.data),
        Protocol::Risks => risks::run(&cli.data),
        Protocol::Stories => stories::run(&cli.data),
        Protocol::TakeOffs => take_offs::run(&cli.data),
        Protocol::Replies => replies::run(&cli.data),
        Protocol::Creatives => creatives::run(&cli.data),
        Protocol::Customers => customers::run(&cli.data),
    }
}
