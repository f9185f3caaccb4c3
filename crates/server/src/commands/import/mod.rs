//! `api import`.

mod args;
mod rejects;
mod source;
mod summary;

use std::process::ExitCode;

use anyhow::Context;
use domain::{
    AccountId,
    accounts::{Account, AccountStore},
    imports::Target,
};
use imports::{Audience, Counts, Failure, FileOptions, OrderOptions, Report};
use serde::Serialize;
use store::{Connect, Importer, Store};
use time::OffsetDateTime;

pub use args::ImportCommand;
use args::{FileArgs, OrderArgs};
use rejects::RejectsFile;
use source::Source;

use super::{PARTLY, USAGE};

/// Imports a file and prints the summary. Gives 0 when every line was read, 3 when some were refused, 2 when the
/// file or the options are wrong; an error is a failure after which nothing is stored, unless it says so.
pub async fn run(command: ImportCommand, connect: &Connect, store: &Store) -> anyhow::Result<ExitCode> {
    let account = AccountId(command.file().account);
    let Some(account) = store.find(account).await? else {
        return Ok(usage(&format!("there is no account {account}; `api accounts list` shows which there are")));
    };
    let importer = Importer::new(connect.clone()).with_nice_ratio(command.file().nice_ratio);
    let import = Import { importer, account };
    let result = match &command {
        ImportCommand::Orders { file, orders } => import.orders(file, orders).await,
        ImportCommand::Products { file, date } => import.products(file, *date).await,
        ImportCommand::Stock { file, date } => import.stock(file, *date).await,
        ImportCommand::AdSpend { file } => import.ad_spend(file).await,
        ImportCommand::Rates { file } => import.rates(file).await,
        ImportCommand::Expenses { file } => import.expenses(file).await,
    };
    match result {
        Ok(code) => Ok(code),
        Err(failure @ (Failure::Usage(_) | Failure::File(_))) => Ok(usage(&failure.to_string())),
        Err(Failure::Rejects(why)) if command.file().dry_run => Err(anyhow::anyhow!("nothing was imported: {why}")),
        Err(failure @ Failure::Rejects(_)) => Err(failure.into()),
        Err(failure) => Err(failure).context("nothing was imported"),
    }
}

fn usage(text: &str) -> ExitCode {
    eprintln!("api: {text}");
    ExitCode::from(USAGE)
}

/// An account and the way into its tables.
struct Import {
    importer: Importer,
    account: Account,
}

/// A file that is open, and where its refused lines go.
struct Opened {
    options: FileOptions,
    target: Target,
    source: Source,
    rejects: RejectsFile,
}

impl Import {
    fn open(&self, args: &FileArgs) -> Result<Opened, Failure> {
        let options = FileOptions {
            map: args.map.iter().cloned().collect(),
            delimiter: args.delimiter,
            date_order: args.date_format.map(Into::into),
            decimal_comma: args.decimal_comma,
            latin1: args.latin1,
            zone: args.timezone.clone().unwrap_or_else(|| self.account.timezone.clone()),
            account_zone: self.account.timezone.clone(),
            currency: self.account.currency,
            audience: Audience::Command,
        };
        let target = Target { account: self.account.id, now: OffsetDateTime::now_utc(), dry_run: args.dry_run };
        let source = Source::open(&args.path)?;
        Ok(Opened { options, target, source, rejects: RejectsFile::new(args.rejects_path(), &args.path)? })
    }

    fn today(&self, opened: &Opened) -> time::Date {
        self.account.timezone.day_of(opened.target.now)
    }

    async fn orders(&self, args: &FileArgs, orders: &OrderArgs) -> Result<ExitCode, Failure> {
        if let Some(currency) = &orders.currency
            && *currency != self.account.currency
        {
            let text = format!("the account's currency is {}; amounts are not converted", self.account.currency);
            return Err(Failure::Usage(text));
        }
        let opened = self.open(args)?;
        let options = OrderOptions {
            source: orders.source,
            cancellation_prefix: orders.cancellation_prefix.clone().filter(|prefix| !prefix.is_empty()),
            non_products: orders.non_product.clone(),
            currency: self.account.currency,
        };
        let Opened { options: file, target, source, rejects } = opened;
        let (reader, sink) = (source.reader()?, rejects.sink());
        let report = imports::import_orders(&self.importer, target, file, options, reader, sink).await;
        source.finish();
        finish(args, &rejects, &report?, summary::documents)
    }

    async fn products(&self, args: &FileArgs, date: Option<time::Date>) -> Result<ExitCode, Failure> {
        let opened = self.open(args)?;
        let date = date.unwrap_or_else(|| self.today(&opened));
        let Opened { options, target, source, rejects } = opened;
        let (reader, sink) = (source.reader()?, rejects.sink());
        let report = imports::import_products(&self.importer, target, options, date, reader, sink).await;
        source.finish();
        finish(args, &rejects, &report?, summary::rows)
    }

    async fn stock(&self, args: &FileArgs, date: Option<time::Date>) -> Result<ExitCode, Failure> {
        let opened = self.open(args)?;
        let date = date.unwrap_or_else(|| self.today(&opened));
        let Opened { options, target, source, rejects } = opened;
        let (reader, sink) = (source.reader()?, rejects.sink());
        let report = imports::import_stock(&self.importer, target, options, date, reader, sink).await;
        source.finish();
        finish(args, &rejects, &report?, summary::rows)
    }

    async fn ad_spend(&self, args: &FileArgs) -> Result<ExitCode, Failure> {
        let Opened { options, target, source, rejects } = self.open(args)?;
        let (reader, sink) = (source.reader()?, rejects.sink());
        let report = imports::import_ad_spend(&self.importer, target, options, reader, sink).await;
        source.finish();
        finish(args, &rejects, &report?, summary::rows)
    }

    async fn rates(&self, args: &FileArgs) -> Result<ExitCode, Failure> {
        let Opened { options, target, source, rejects } = self.open(args)?;
        let (reader, sink) = (source.reader()?, rejects.sink());
        let report = imports::import_rates(&self.importer, target, options, reader, sink).await;
        source.finish();
        finish(args, &rejects, &report?, summary::rows)
    }

    async fn expenses(&self, args: &FileArgs) -> Result<ExitCode, Failure> {
        let Opened { options, target, source, rejects } = self.open(args)?;
        let (reader, sink) = (source.reader()?, rejects.sink());
        let report = imports::import_expenses(&self.importer, target, options, reader, sink).await;
        source.finish();
        finish(args, &rejects, &report?, summary::rows)
    }
}

/// Prints the outcome; that, too, of a file whose refused lines cannot be written.
fn finish<S: Serialize>(
    args: &FileArgs,
    rejects: &RejectsFile,
    report: &Report<S>,
    describe: fn(&S) -> String,
) -> Result<ExitCode, Failure> {
    let written = rejects.finish();
    let path = written.as_ref().ok().and_then(Option::as_deref);
    let Report { read: Counts { rejected, .. }, .. } = report;
    if args.json {
        println!("{}", summary::json(report, args.dry_run, path));
    } else {
        print!("{}", summary::text(report, args.dry_run, path, describe));
    }
    written?;
    Ok(if *rejected > 0 { ExitCode::from(PARTLY) } else { ExitCode::SUCCESS })
}
