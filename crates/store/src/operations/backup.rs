//! What a back-up is made from and compared with: a snapshot that `pg_dump` shares, and what is in it.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use anyhow::Context;
use domain::StoreError;
use tokio::task::JoinHandle;
use tokio_postgres::{
    Client,
    config::{Host, SslMode},
};

use crate::{Connect, accounts::data_keys::Used, status::health};

/// Where systems keep the certificates that they trust; libpq has to be told.
const TRUSTED: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
];

session_statement!(
    after [""] =>
    /// Tables, as they have to be written in a statement, but partitions.
    TABLES() -> (name: Text, written: Text) = "
    SELECT relname::text AS name, format('public.%I', relname) AS written FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname"
);

session_statement!(
    after [""] =>
    HAS_CITUS() -> (has_citus: Bool) = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS has_citus"
);

session_statement!(
    after [""] =>
    EXPORT() -> (snapshot: Text) = "SELECT pg_export_snapshot() AS snapshot"
);

session_statement!(
    after [""] =>
    MAJOR_VERSION() -> (major: Integer) = "SELECT current_setting('server_version_num')::int / 10000 AS major"
);

session_statement!(
    after [""] =>
    NEWEST_MIGRATION() -> (version: Text) = "SELECT max(version) AS version FROM __diesel_schema_migrations"
);

session_statement!(
    after [""] =>
    RECORDED_KEYS() -> (id: Text, check_value: Bytea) = "SELECT id, check_value FROM data_keys WHERE lost_at IS NULL"
);

/// The tables with sealed secrets that [`Used`] reads.
const SEALED: [&str; 5] =
    ["webhook_subscriptions", "integration_tokens", "oauth_states", "social_accounts", "second_factors"];

session_statement!(
    after [""] =>
    /// [`Used`] of a database of an earlier version, which lacks some of these tables: only webhooks have had secrets for longer
    /// than keys are recorded.
    USED_BY_WEBHOOKS() -> (id: Text) = "
    SELECT DISTINCT encode(substring(sealed_secret FROM 3 FOR get_byte(sealed_secret, 1)), 'escape') AS id
    FROM webhook_subscriptions
    WHERE revoked_at IS NULL AND substring(sealed_secret FROM 1 FOR 1) = '\\x01' AND octet_length(sealed_secret) > 2"
);

/// What is in a database at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The newest migration that was applied; none in a database without a schema of this service.
    pub schema_version: Option<String>,
    /// Rows by table of the schema `public`, those of partitions with the table that is partitioned.
    pub rows: BTreeMap<String, i64>,
    /// The data keys that live secrets are sealed with or that are recorded, with the recorded value of each.
    pub data_keys: BTreeMap<String, Option<Vec<u8>>>,
}

/// A transaction that sees one moment of the database, and shares it.
pub struct Snapshot {
    client: Client,
    driving: JoinHandle<()>,
}

impl Snapshot {
    /// # Errors
    /// When the database does not answer, or its tables are spread over nodes that have no moment in common.
    pub async fn open(connect: &Connect) -> anyhow::Result<Self> {
        let (client, driver) = connect.open().await.context("cannot use the database")?;
        #[expect(clippy::disallowed_methods, reason = "it ends with the snapshot")]
        let driving = tokio::spawn(async move {
            // The client's calls report the same error.
            let _ = driver.await;
        });
        let snapshot = Self { client, driving };
        let is_citus: bool = snapshot.client.query_one(HAS_CITUS, &[]).await?.get("has_citus");
        if is_citus {
            let tables: i64 = snapshot.client.query_one("SELECT count(*) FROM pg_dist_partition", &[]).await?.get(0);
            anyhow::ensure!(
                tables == 0,
                "the tables are spread over the nodes of a Citus cluster: back each node up by the means of PostgreSQL"
            );
        }
        let begin = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET TIME ZONE 'UTC';
            BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        snapshot.client.batch_execute(begin).await?;
        Ok(snapshot)
    }

    /// The name under which others can see the same moment, for as long as this is open.
    pub async fn export(&self) -> anyhow::Result<String> {
        Ok(self.client.query_one(EXPORT, &[]).await?.get("snapshot"))
    }

    /// The server's major version.
    pub async fn server_version(&self) -> anyhow::Result<u32> {
        Ok(self.client.query_one(MAJOR_VERSION, &[]).await?.get::<_, i32>("major").try_into()?)
    }

    /// Reads everything there is to count: as long as a dump, or shorter.
    pub async fn contents(&self) -> anyhow::Result<Contents> {
        let mut rows = BTreeMap::new();
        for table in self.client.query(TABLES, &[]).await? {
            let (name, written): (String, String) = (table.get("name"), table.get("written"));
            let count = self.client.query_one(&format!("SELECT count(*) FROM {written}"), &[]).await?.get(0);
            rows.insert(name, count);
        }
        let has = |table: &str| rows.contains_key(table);
        let schema_version = if has("__diesel_schema_migrations") {
            self.client.query_one(NEWEST_MIGRATION, &[]).await?.get("version")
        } else {
            None
        };
        let mut data_keys = BTreeMap::new();
        if has("webhook_subscriptions") {
            let used = if SEALED.iter().all(|table| has(table)) { Used::TEXT } else { USED_BY_WEBHOOKS };
            for key in self.client.query(used, &[]).await? {
                data_keys.insert(key.get(0), None);
            }
        }
        if has("data_keys") {
            for key in self.client.query(RECORDED_KEYS, &[]).await? {
                data_keys.insert(key.get("id"), key.get("check_value"));
            }
        }
        Ok(Contents { schema_version, rows, data_keys })
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

/// Gathers the statistics that the planner needs, which a dump does not have.
pub async fn analyze(connect: &Connect) -> anyhow::Result<()> {
    let (client, driver) = connect.open().await?;
    #[expect(clippy::disallowed_methods, reason = "it ends with this function")]
    let driving = tokio::spawn(driver);
    client.batch_execute("SET statement_timeout = 0; ANALYZE").await?;
    driving.abort();
    Ok(())
}

/// The versions of the migrations that this program has, oldest first.
///
/// # Errors
/// When what was compiled in cannot be read.
pub fn known_migrations() -> Result<Vec<String>, StoreError> {
    let mut versions: Vec<_> = health::migrations()?.into_iter().map(|migration| migration.version).collect();
    versions.sort();
    Ok(versions)
}

impl Connect {
    /// The address for programs of PostgreSQL, as variables of their environment: a password does not belong among the
    /// arguments, where every user of the machine can read it. As strict about certificates as this program.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        let config = &self.config;
        let hosts: Vec<_> = config
            .get_hosts()
            .iter()
            .map(|host| match host {
                Host::Tcp(name) => OsString::from(name),
                Host::Unix(folder) => folder.clone().into_os_string(),
            })
            .collect();
        let ports: Vec<_> = config.get_ports().iter().map(ToString::to_string).collect();
        let addresses: Vec<_> = config.get_hostaddrs().iter().map(ToString::to_string).collect();
        let mut variables = vec![
            ("PGHOST", hosts.join(",".as_ref())),
            ("PGPORT", ports.join(",").into()),
            ("PGHOSTADDR", addresses.join(",").into()),
            ("PGUSER", config.get_user().unwrap_or_default().into()),
            ("PGDATABASE", self.database().into()),
            ("PGOPTIONS", config.get_options().unwrap_or_default().into()),
            ("PGCONNECT_TIMEOUT", "10".into()),
        ];
        if let Some(password) = config.get_password() {
            use std::os::unix::ffi::OsStringExt;
            variables.push(("PGPASSWORD", OsString::from_vec(password.to_vec())));
        }
        match config.get_ssl_mode() {
            SslMode::Disable => variables.push(("PGSSLMODE", "disable".into())),
            SslMode::Require => {
                variables.push(("PGSSLMODE", "verify-full".into()));
                let named = std::env::var_os("SSL_CERT_FILE");
                let known = TRUSTED.iter().find(|file| Path::new(file).is_file()).map(OsString::from);
                variables.extend(named.or(known).map(|file| ("PGSSLROOTCERT", file)));
            }
            _ => variables.push(("PGSSLMODE", "prefer".into())),
        }
        variables.retain(|(_, value)| !value.is_empty());
        variables
    }

    /// The name of the database.
    pub fn database(&self) -> &str {
        self.config.get_dbname().or_else(|| self.config.get_user()).unwrap_or("postgres")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(url: &str) -> BTreeMap<&'static str, String> {
        let variables = Connect::parse(url).unwrap().environment();
        variables.into_iter().map(|(name, value)| (name, value.into_string().unwrap())).collect()
    }

    #[test]
    fn an_address_becomes_what_libpq_reads() {
        let local = environment("postgres://postgres@%2Frun%2Fa%20b/postgres");
        let expected = [
            ("PGHOST", "/run/a b"),
            ("PGPORT", "5432"),
            ("PGUSER", "postgres"),
            ("PGDATABASE", "postgres"),
            ("PGCONNECT_TIMEOUT", "10"),
            ("PGSSLMODE", "disable"),
        ];
        assert_eq!(local, expected.map(|(name, value)| (name, value.to_owned())).into());
        let remote = environment("postgres://shop:p%40ss@db.example.com:6543/data?sslmode=verify-full");
        for (name, value) in [
            ("PGHOST", "db.example.com"),
            ("PGPORT", "6543"),
            ("PGPASSWORD", "p@ss"),
            ("PGDATABASE", "data"),
            ("PGSSLMODE", "verify-full"),
        ] {
            assert_eq!(remote[name], value);
        }
    }

    #[test]
    fn migrations_are_known_in_the_order_of_their_versions() {
        let versions = known_migrations().unwrap();
        assert_eq!(versions.first().map(String::as_str), Some("20260101000000"));
        assert!(versions.is_sorted() && versions.contains(&"20261123000060".to_owned()));
    }
}
