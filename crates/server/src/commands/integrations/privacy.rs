//! `api integrations privacy`.

use anyhow::Context;
use clap::Args;
use domain::{
    PrivacyRequestId,
    shops::privacy::{LoggedRequest, PrivacyStore, RequestKind},
};
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;

use crate::output::rfc3339;

#[derive(Debug, Args)]
pub struct PrivacyArgs {
    /// Print, as JSON, what is kept of the buyer who asks in that request
    #[arg(long, value_name = "ID", conflicts_with = "answered")]
    show: Option<i64>,
    /// Note that the request was answered
    #[arg(long, value_name = "ID")]
    answered: Option<i64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(args: PrivacyArgs, store: &Store) -> anyhow::Result<()> {
    let open = PrivacyStore::open(store).await?;
    let find = |id: i64| {
        let found = open.iter().find(|request| request.id == PrivacyRequestId(id));
        found.with_context(|| format!("no request {id} is open"))
    };
    match args {
        PrivacyArgs { show: Some(id), .. } => show(store, find(id)?).await,
        PrivacyArgs { answered: Some(id), .. } => {
            let request = find(id)?;
            let noted = store.answered(request.account, request.id, OffsetDateTime::now_utc()).await?;
            anyhow::ensure!(noted, "request {id} is not one for data");
            println!("Noted.");
            Ok(())
        }
        PrivacyArgs { json, .. } => print(&open, json),
    }
}

async fn show(store: &Store, request: &LoggedRequest) -> anyhow::Result<()> {
    anyhow::ensure!(request.kind == RequestKind::Data, "request {} is not one for data", request.id);
    let customer = request.customer.as_deref().context("the customer is forgotten")?;
    let data = store.data_of(request.account, request.provider, customer).await?;
    let data = data.with_context(|| format!("nothing is kept of the customer of request {}", request.id))?;
    println!("{}", serde_json::to_string_pretty(&data)?);
    Ok(())
}

fn print(open: &[LoggedRequest], json: bool) -> anyhow::Result<()> {
    if json {
        let all: Vec<_> = open.iter().map(request_to_json).collect();
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{:>8}  {:<20}  {:<16}  {:<12}  {:>8}  CUSTOMER", "ID", "DUE", "KIND", "PROVIDER", "ACCOUNT");
    for request in open {
        println!(
            "{:>8}  {:<20}  {:<16}  {:<12}  {:>8}  {}",
            request.id,
            rfc3339(request.due_at),
            request.kind.as_str(),
            request.provider.as_str(),
            request.account,
            request.customer.as_deref().unwrap_or("-")
        );
    }
    Ok(())
}

fn request_to_json(request: &LoggedRequest) -> Value {
    json!({
        "id": request.id,
        "account": request.account,
        "integration": request.integration,
        "provider": request.provider,
        "kind": request.kind,
        "customer": request.customer,
        "received_at": rfc3339(request.received_at),
        "due_at": rfc3339(request.due_at),
    })
}
