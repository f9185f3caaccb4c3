//! `api backup`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use delivery::seal::KeyRing;
use pgcluster::DumpPrograms;
use store::{
    Connect,
    backup::{Contents, Snapshot},
};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::{
    backup::{DATA_KEYS, KeyNote, MANIFEST, Manifest, archive::Writer, dump},
    commands::Misconfigured,
    config::Config,
    database::Database,
    files::NewFile,
    output::rfc3339,
    secrets,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file is a tar: a manifest, the keys of the data folder, and a dump. Whoever has it can read everything: keep it like a
secret. Keys that come from BAS_DATA_KEYS are not in it. The service may go on working meanwhile.

Examples:
  api backup /var/backups/shop-$(date +%F).backup
  DATABASE_URL=postgres://… api backup shop.backup")]
pub struct BackupArgs {
    /// The file to write; it must not be there yet
    file: PathBuf,
}

/// The database to back up, which is not made for the purpose.
pub fn database(config: &Config, stop: &CancellationToken) -> anyhow::Result<Database> {
    if config.database_url().is_none() && !config.data_dir.join("postgres").is_dir() {
        let folder = config.data_dir.display();
        return Err(Misconfigured(format!(
            "there is no database in {folder}: name its folder with --data-dir, or the database with DATABASE_URL"
        ))
        .into());
    }
    Database::open(config, stop)
}

pub async fn run(args: BackupArgs, config: &Config, database: &Database) -> anyhow::Result<ExitCode> {
    let BackupArgs { file } = args;
    anyhow::ensure!(!file.exists(), "{} is there already: choose another name", file.display());
    let connect = database.session().await?;
    let keys = folder_keys(config)?;
    let mut new = NewFile::create(&file)?;
    match write(connect, keys.as_deref(), &mut new).await {
        Ok(manifest) => {
            new.keep()?;
            print(&manifest, &file.display().to_string());
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            new.discard();
            Err(error)
        }
    }
}

/// The keys of the data folder, unless it is the environment's that are used.
fn folder_keys(config: &Config) -> anyhow::Result<Option<String>> {
    if config.data_keys.is_some() { Ok(None) } else { secrets::read(&config.data_dir.join(secrets::FILE)) }
}

async fn write(connect: &Connect, keys: Option<&str>, new: &mut NewFile) -> anyhow::Result<Manifest> {
    let snapshot = Snapshot::open(connect).await?;
    let server = snapshot.server_version().await?;
    let bin_dir = std::env::var_os("PG_BIN_DIR").map(PathBuf::from);
    let programs = DumpPrograms::find(bin_dir.as_deref(), server)?;
    let shared = snapshot.export().await?;
    let now = OffsetDateTime::now_utc();
    let manifest = manifest(snapshot.contents().await?, keys, server, &programs, now)?;
    let mut archive = Writer::new(new.file(), now.unix_timestamp().try_into()?);
    let text = serde_json::to_string_pretty(&manifest)? + "\n";
    archive.add(MANIFEST, &mut text.as_bytes())?;
    if let Some(keys) = keys {
        archive.add(DATA_KEYS, &mut format!("{keys}\n").as_bytes())?;
    }
    dump(&programs, connect, &shared, &mut archive)?;
    archive.finish()?;
    Ok(manifest)
}

fn manifest(
    contents: Contents,
    keys: Option<&str>,
    server_version: u32,
    programs: &DumpPrograms,
    now: OffsetDateTime,
) -> anyhow::Result<Manifest> {
    let Contents { schema_version, rows, data_keys } = contents;
    let included = keys.map(KeyRing::parse).transpose()?.map(|keys| keys.checks()).unwrap_or_default();
    let note = |(id, check): (String, Option<Vec<u8>>)| KeyNote {
        included: included.iter().any(|key| key.id == id),
        check: check.map(hex::encode),
        id,
    };
    Ok(Manifest {
        format: crate::backup::FORMAT,
        made_at: rfc3339(now),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("BUILD_COMMIT").to_owned(),
        schema_version: schema_version.context("this is not a database of this service: it has none of its tables")?,
        server_version,
        pg_dump_version: programs.major,
        data_keys: data_keys.into_iter().map(note).collect(),
        tables: rows,
    })
}

fn print(manifest: &Manifest, file: &str) {
    println!("{file} holds {} rows in {} tables.", manifest.rows(), manifest.tables.len());
    let (inside, outside): (Vec<_>, Vec<_>) = manifest.data_keys.iter().partition(|key| key.included);
    let names = |keys: Vec<&KeyNote>| keys.iter().map(|key| key.id.as_str()).collect::<Vec<_>>().join(", ");
    if !inside.is_empty() {
        println!("It holds the data keys that secrets are sealed with ({}): keep it like a secret.", names(inside));
    }
    if !outside.is_empty() {
        println!(
            "It does not hold the data keys {}: they come from BAS_DATA_KEYS; keep them elsewhere.",
            names(outside)
        );
    }
}
