//! `api incidents`.

use anyhow::Context;
use clap::{Args, Subcommand};
use domain::{
    IncidentId,
    incidents::{Change, Incident, IncidentStore, NewIncident, Severity, Status, Update},
    uptime::Component,
};
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;

use crate::output::{rfc3339, rfc3339_or_dash};

#[derive(Debug, Subcommand)]
pub enum IncidentsCommand {
    /// Opens an incident, for everyone to read
    #[command(
        after_help = "Example:\n  api incidents create --title 'Delayed imports' --severity minor --component jobs --body 'We are looking into it.'"
    )]
    Create {
        #[arg(long)]
        title: String,
        /// minor, major or critical
        #[arg(long)]
        severity: Severity,
        /// api, database, jobs, webhooks or social; several times for several
        #[arg(long = "component", required = true)]
        components: Vec<Component>,
        /// investigating, identified, monitoring or resolved
        #[arg(long, default_value = "investigating")]
        status: Status,
        #[command(flatten)]
        told: Told,
    },
    /// Tells more of an incident; the probes leave it alone from then on
    #[command(
        after_help = "Example:\n  api incidents update 7 --status identified --body 'A disk is full. We are making room.'"
    )]
    Update {
        #[arg(value_name = "ID")]
        id: i64,
        /// identified, monitoring or resolved; investigating within a day of its end
        #[arg(long)]
        status: Option<Status>,
        /// minor, major or critical
        #[arg(long)]
        severity: Option<Severity>,
        #[command(flatten)]
        told: Told,
    },
    /// Ends an incident
    Resolve {
        #[arg(value_name = "ID")]
        id: i64,
        #[command(flatten)]
        told: Told,
    },
    /// Shows the incidents, newest first
    List {
        /// How many
        #[arg(long, default_value_t = 25)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What is told.
#[derive(Debug, Args)]
pub struct Told {
    /// Plain text, for everyone
    #[arg(long)]
    body: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub async fn run(command: IncidentsCommand, store: &Store) -> anyhow::Result<()> {
    let now = OffsetDateTime::now_utc();
    match command {
        IncidentsCommand::Create { title, severity, components, status, told: Told { body, json } } => {
            let incident = NewIncident { title, severity, components, status, body }.checked()?;
            print(&[store.open(incident, now).await?], json)
        }
        IncidentsCommand::Update { id, status, severity, told } => {
            change(store, id, (status, severity), told, now).await
        }
        IncidentsCommand::Resolve { id, told } => change(store, id, (Some(Status::Resolved), None), told, now).await,
        IncidentsCommand::List { limit, json } => {
            let all = store.all().await?;
            print(all.get(..limit).unwrap_or(&all), json)
        }
    }
}

async fn change(
    store: &Store,
    id: i64,
    (status, severity): (Option<Status>, Option<Severity>),
    Told { body, json }: Told,
    now: OffsetDateTime,
) -> anyhow::Result<()> {
    let change = Change { status, severity, body }.checked()?;
    let changed = IncidentStore::change(store, IncidentId(id), change, now).await;
    print(&[changed.with_context(|| format!("incident {id}"))?], json)
}

/// An incident as JSON, for the command line and the admin listener.
pub fn to_json(incident: &Incident) -> Value {
    let Incident {
        id,
        title,
        severity,
        status,
        components,
        automatic,
        started_at,
        identified_at,
        monitoring_at,
        resolved_at,
        updates,
    } = incident;
    let update = |Update { id, status, body, created_at }: &Update| json!({ "id": id, "status": status, "body": body, "created_at": rfc3339(*created_at) });
    json!({
        "id": id,
        "title": title,
        "severity": severity,
        "status": status,
        "components": components,
        "automatic": automatic,
        "started_at": rfc3339(*started_at),
        "identified_at": identified_at.map(rfc3339),
        "monitoring_at": monitoring_at.map(rfc3339),
        "resolved_at": resolved_at.map(rfc3339),
        "updates": updates.iter().map(update).collect::<Vec<_>>(),
    })
}

fn print(incidents: &[Incident], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(&incidents.iter().map(to_json).collect::<Vec<_>>())?);
        return Ok(());
    }
    println!("{:>8}  {:<8}  {:<13}  {:<20}  {:<20}  TITLE", "ID", "SEVERITY", "STATUS", "STARTED", "RESOLVED");
    for incident in incidents {
        println!(
            "{:>8}  {:<8}  {:<13}  {:<20}  {:<20}  {}",
            incident.id,
            incident.severity.as_str(),
            incident.status.as_str(),
            rfc3339(incident.started_at),
            rfc3339_or_dash(incident.resolved_at),
            incident.title
        );
    }
    Ok(())
}
