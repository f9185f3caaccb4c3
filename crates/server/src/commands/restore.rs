//! `api restore`.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context;
use delivery::seal::KeyRing;
use pgcluster::DumpPrograms;
use secrecy::ExposeSecret;
use store::{
    Connect,
    backup::{Snapshot, known_migrations},
};
use tokio_util::sync::CancellationToken;

use crate::{
    backup::{DATA_KEYS, FORMAT, MANIFEST, Manifest, archive::Archive, restore},
    commands::{Misconfigured, PARTLY},
    config::Config,
    database::Database,
    files, secrets,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
It goes into an empty database only: that of a fresh data folder, or the one that DATABASE_URL names. What it will do is said
first. Stopped at any moment, it is run again.

Examples:
  api restore shop.backup --data-dir /var/lib/fresh
  DATABASE_URL=postgres://… api restore shop.backup --yes")]
pub struct RestoreArgs {
    /// The file that `api backup` wrote
    file: PathBuf,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// The steps of a restore.
struct Plan {
    manifest: Manifest,
    programs: DumpPrograms,
    /// The keys to write into the data folder.
    keys_to_write: Option<String>,
    /// The keys that there will be.
    keys: Option<KeyRing>,
    /// How far an earlier run came.
    progress: Progress,
}

/// How far a restore came that was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    /// The rows are there.
    Loaded,
    /// They were counted, and migrations may have changed them since.
    Counted,
}

/// The database to restore into; no other process may use it. Nothing is created for a missing file.
pub fn database(args: &RestoreArgs, config: &Config, stop: &CancellationToken) -> anyhow::Result<Database> {
    anyhow::ensure!(args.file.is_file(), "there is no file {}", args.file.display());
    Database::own(config, stop)
}

pub async fn run(args: RestoreArgs, config: &Config, database: &Database) -> anyhow::Result<ExitCode> {
    let mut archive = Archive::open(&args.file)?;
    let connect = database.session().await?;
    let target = match config.database_url() {
        Some(_) => format!("the database `{}` of DATABASE_URL", connect.database()),
        None => format!("the embedded database of {}", config.data_dir.display()),
    };
    let plan = plan(&mut archive, config, connect, &target).await?;
    say(&plan, config, &target);
    if !args.yes && !confirmed()? {
        return Ok(ExitCode::FAILURE);
    }
    // First of all: with rows and without their keys, a start would make a new key.
    if let Some(text) = &plan.keys_to_write {
        files::write_private(&config.data_dir.join(secrets::FILE), &format!("{text}\n"))?;
    }
    if plan.progress == Progress::Nothing {
        restore(&plan.programs, connect, &mut archive)?;
    }
    if plan.progress != Progress::Counted {
        verify_rows(&plan.manifest, connect).await?;
        // From here on nothing else tells that the rows are those of the back-up.
        connect.note_loaded_from(Some(&plan.manifest.name())).await?;
    }
    let migrated = store::migrate(connect).await?;
    store::backup::analyze(connect).await?;
    connect.note_loaded_from(None).await?;
    println!(
        "Restored {} rows in {} tables, as many as were backed up.",
        plan.manifest.rows(),
        plan.manifest.tables.len()
    );
    if !migrated.is_empty() {
        println!("Migrated: {}", migrated.join(", "));
    }
    finish(&plan, database).await
}

/// Whether secrets can be opened again is known when everything is in its place.
async fn finish(plan: &Plan, database: &Database) -> anyhow::Result<ExitCode> {
    let (missing, _) = plan.manifest.compare_keys(plan.keys.as_ref());
    if !missing.is_empty() {
        eprintln!("Set BAS_DATA_KEYS before you start the service: {} is missing.", missing.join(", "));
        return Ok(ExitCode::from(PARTLY));
    }
    if let Some(keys) = &plan.keys {
        secrets::verify_once(database, keys).await?;
        println!("The data keys are those that its secrets are sealed with.");
    }
    Ok(ExitCode::SUCCESS)
}

async fn plan(archive: &mut Archive, config: &Config, connect: &Connect, target: &str) -> anyhow::Result<Plan> {
    let manifest = manifest(archive)?;
    let (keys_to_write, keys) = keys(archive, config, &manifest)?;
    let snapshot = Snapshot::open(connect).await?;
    let server = snapshot.server_version().await?;
    anyhow::ensure!(
        server >= manifest.server_version,
        "the back-up is of PostgreSQL {}, and {target} is on version {server}: restore into the same or a newer one",
        manifest.server_version
    );
    let contents = snapshot.contents().await?;
    let progress = if connect.loaded_from().await? == Some(manifest.name()) {
        Progress::Counted
    } else if manifest.is_of(&contents) {
        Progress::Loaded
    } else {
        Progress::Nothing
    };
    if let Some(table) = contents.rows.keys().next()
        && progress == Progress::Nothing
    {
        anyhow::bail!(
            "{target} is not empty: it has {} tables, such as `{table}`. A back-up is restored into a fresh data folder \
             (--data-dir) or a new database (DATABASE_URL)",
            contents.rows.len()
        );
    }
    let bin_dir = std::env::var_os("PG_BIN_DIR").map(PathBuf::from);
    let programs = DumpPrograms::find(bin_dir.as_deref(), server.max(manifest.pg_dump_version))?;
    Ok(Plan { manifest, programs, keys_to_write, keys, progress })
}

fn manifest(archive: &mut Archive) -> anyhow::Result<Manifest> {
    let text = archive.text(MANIFEST)?.context("the back-up has no manifest")?;
    // Only the form is looked at first: that of a later version may read differently.
    let format = serde_json::from_str::<serde_json::Value>(&text)?.get("format").cloned();
    anyhow::ensure!(
        format == Some(FORMAT.into()),
        "the back-up is of another form than this version reads: restore it with the version that made it"
    );
    let manifest: Manifest = serde_json::from_str(&text).context(MANIFEST)?;
    anyhow::ensure!(
        known_migrations()?.contains(&manifest.schema_version),
        "the back-up was made by a newer version ({}, schema {}): restore it with that one, or a later one",
        manifest.version,
        manifest.schema_version
    );
    Ok(manifest)
}

/// The keys to write, and those that there will be. Refuses to lose any.
fn keys(
    archive: &mut Archive,
    config: &Config,
    manifest: &Manifest,
) -> anyhow::Result<(Option<String>, Option<KeyRing>)> {
    let file = config.data_dir.join(secrets::FILE);
    let inside = archive.text(DATA_KEYS)?.map(|text| text.trim().to_owned());
    let there = secrets::read(&file)?;
    let (to_write, text) = match (&config.data_keys, inside, there) {
        (Some(configured), _, _) => (None, Some(configured.expose_secret().to_owned())),
        (None, Some(inside), Some(there)) if inside != there => {
            return Err(Misconfigured(format!(
                "{} holds other keys than the back-up: restore into a fresh data folder (--data-dir)",
                file.display()
            ))
            .into());
        }
        (None, Some(inside), None) => (Some(inside.clone()), Some(inside)),
        (None, _, there) => (None, there),
    };
    let ring = text.map(|text| KeyRing::parse(&text)).transpose().map_err(|error| Misconfigured(error.to_string()))?;
    let (_, others) = manifest.compare_keys(ring.as_ref());
    if let Some(id) = others.first() {
        return Err(Misconfigured(format!(
            "the data key `{id}` is another one than the secrets of the back-up are sealed with: put the right one into \
             BAS_DATA_KEYS, or unset it to use the keys of the back-up"
        ))
        .into());
    }
    Ok((to_write, ring))
}

fn say(plan: &Plan, config: &Config, target: &str) {
    let Manifest { made_at, version, schema_version, .. } = &plan.manifest;
    println!("A back-up of {made_at}, made by version {version} (schema {schema_version}).");
    if plan.progress != Progress::Nothing {
        println!("Its {} rows are in {target} already; they are brought up to date.", plan.manifest.rows());
    } else {
        println!("Its {} rows in {} tables go into {target}.", plan.manifest.rows(), plan.manifest.tables.len());
    }
    if plan.keys_to_write.is_some() {
        println!("Its data keys go into {}.", config.data_dir.join(secrets::FILE).display());
    }
    let (missing, _) = plan.manifest.compare_keys(plan.keys.as_ref());
    if !missing.is_empty() {
        println!("It needs the data keys {}, which it does not hold: set BAS_DATA_KEYS.", missing.join(", "));
    }
}

/// Asks, on a terminal.
fn confirmed() -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(Misconfigured("nothing was done: `--yes` does it without asking".to_owned()).into());
    }
    print!("Go on? [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

async fn verify_rows(manifest: &Manifest, connect: &Connect) -> anyhow::Result<()> {
    let contents = Snapshot::open(connect).await?.contents().await?;
    let different = manifest.differences(&contents);
    let shown: Vec<_> =
        different.iter().map(|(table, then, now)| format!("{table} has {now} rows instead of {then}")).collect();
    anyhow::ensure!(
        different.is_empty(),
        "what was restored is not what was backed up: {}. Empty the database and try again",
        shown.join(", ")
    );
    Ok(())
}
