//! Directories, queries and waiting.

use pgcluster::Options;
use std::{
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// A directory that the server's account can reach when the tests run as root; in memory where there is a place for
/// that, since a cluster's first sync to a busy disk takes seconds.
pub fn directory() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::fs::Permissions::from_mode(0o711));
    builder.tempdir_in("/dev/shm").or_else(|_| builder.tempdir()).unwrap()
}

pub fn options(root: &Path) -> Options {
    let bin_dir = std::env::var_os("PG_BIN_DIR").map(Into::into);
    Options { root: root.to_owned(), durable: true, max_connections: 20, bin_dir }
}

/// The first column of what `sql` returns.
pub fn query(url: &str, sql: &str) -> Vec<String> {
    try_query(url, sql).unwrap()
}

pub fn try_query(url: &str, sql: &str) -> Result<Vec<String>, tokio_postgres::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, driver) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(driver);
        let messages = client.simple_query(sql).await?;
        Ok(messages
            .iter()
            .filter_map(|message| match message {
                SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            })
            .collect())
    })
}

/// The process id of the server behind `url`.
pub fn server_pid(url: &str) -> i32 {
    query(url, "SELECT pg_read_file('postmaster.pid', 0, 20)")[0].lines().next().unwrap().parse().unwrap()
}

/// Asks again and again until the answer is yes; fails the test after half a minute.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(30), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a command that ends up being `private-postgres`; returns it with the address it prints.
pub fn parent(command: &mut Command) -> (Child, String) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with("postgres://"), "no address came: {url:?}");
    (child, url.trim().to_owned())
}
