//! A real, durable Postgres, and its end by -9.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use domain::AccountId;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use pgcluster::Cluster;
use store::Connect;
use tempfile::TempDir;

/// A number from the environment.
pub fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// A cluster with the schema, whose commits are on disk.
pub async fn durable_cluster(folder: &TempDir) -> Cluster {
    // The account that the server runs as passes through.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).unwrap();
    let root = folder.path().join("cluster");
    let options = pgcluster::Options { root, durable: true, max_connections: 100, bin_dir: None };
    let cluster = tokio::task::spawn_blocking(move || Cluster::start(&options)).await.unwrap().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    store::migrate(&Connect::parse(&cluster.url()).unwrap()).await.unwrap();
    cluster
}

/// A connection, waited for while the server is being started again.
pub async fn connect(url: &str) -> tokio_postgres::Client {
    loop {
        if let Ok((client, driver)) = tokio_postgres::connect(url, tokio_postgres::NoTls).await {
            tokio::spawn(driver);
            return client;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The account of a new user, told from others by `number`.
pub async fn account(client: &tokio_postgres::Client, number: usize) -> AccountId {
    let user = format!("user_{number:024}");
    client.execute("INSERT INTO users VALUES ($1, now())", &[&user]).await.unwrap();
    let row = client
        .query_one(
            "INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at)
             VALUES ($1, 'live', 'shop', 'free', 'USD', 'UTC', now()) RETURNING id",
            &[&user],
        )
        .await
        .unwrap();
    AccountId(row.get(0))
}

/// Kills the server of a cluster, which is then started again by its keeper.
pub async fn kill_database(url: &str) {
    let client = connect(url).await;
    let folder: String = client.query_one("SHOW data_directory", &[]).await.unwrap().get(0);
    let pid = fs::read_to_string(format!("{folder}/postmaster.pid")).unwrap();
    kill(Pid::from_raw(pid.lines().next().unwrap().parse().unwrap()), Signal::SIGKILL).unwrap();
}
