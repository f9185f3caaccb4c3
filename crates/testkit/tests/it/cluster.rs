use std::{
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use pgcluster::{Cluster, Error, Options};
use tempfile::TempDir;
use tokio_postgres::NoTls;

/// A directory that an ordinary user's server can reach.
fn root() -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(std::fs::Permissions::from_mode(0o711)).tempdir().unwrap()
}

fn options(root: &Path) -> Options {
    Options { root: root.join("db"), durable: true, max_connections: 20, bin_dir: None }
}

fn query(url: &str, sql: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(driver);
        let messages = client.simple_query(sql).await.unwrap();
        messages
            .iter()
            .filter_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            })
            .collect()
    })
}

#[test]
fn data_outlives_a_stop_and_a_kill_of_the_server() {
    let root = root();
    let cluster = Cluster::start(&options(root.path())).unwrap();
    query(&cluster.url(), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    cluster.stop().unwrap();

    let cluster = Cluster::start(&options(root.path())).unwrap();
    query(&cluster.url(), "INSERT INTO kept VALUES (2)");
    kill(Pid::from_raw(cluster.pid().cast_signed()), Signal::SIGKILL).unwrap();
    drop(cluster);

    let cluster = Cluster::start(&options(root.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT n FROM kept ORDER BY n"), ["1", "2"]);
}

#[test]
fn a_second_start_on_the_directory_is_refused_by_name_and_can_find_the_first() {
    let root = root();
    let cluster = Cluster::start(&options(root.path())).unwrap();
    let error = Cluster::start(&options(root.path())).unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    assert_eq!(Cluster::running(&root.path().join("db")).unwrap(), Some(cluster.url()));
    cluster.stop().unwrap();
    assert_eq!(Cluster::running(&root.path().join("db")).unwrap(), None);
}

#[test]
fn nothing_below_the_directory_is_readable_by_others_but_the_access_rules() {
    use std::os::unix::fs::PermissionsExt;
    let root = root();
    let cluster = Cluster::start(&options(root.path())).unwrap();
    let directory = root.path().join("db");
    for (name, mode) in [("data", 0o700), ("socket", 0o700), ("lock", 0o600), ("postgres.log", 0o600)] {
        let meta = std::fs::metadata(directory.join(name)).unwrap();
        assert_eq!(meta.permissions().mode() & 0o777, mode, "{name}");
    }
    cluster.stop().unwrap();
}

#[test]
fn the_server_ends_with_a_killed_parent_and_the_next_start_has_its_data() {
    let root = root();
    // `with-postgres` is a parent like any other: it starts a cluster and waits for its command.
    let mut parent = Command::new(env!("CARGO_BIN_EXE_with-postgres"))
        .args(["sh", "-c", "echo $TEST_DATABASE_URL; exec sleep 600"])
        .env("TMPDIR", root.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(parent.stdout.take().unwrap()), &mut url).unwrap();
    let url = url.trim().to_owned();
    let server: i32 =
        query(&url, "SELECT pg_read_file('postmaster.pid', 0, 20)")[0].lines().next().unwrap().parse().unwrap();
    let sleeper: i32 = {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", parent.id())).unwrap();
        children.split_whitespace().map(|pid| pid.parse().unwrap()).find(|pid| *pid != server).unwrap()
    };
    kill(Pid::from_raw(parent.id().cast_signed()), Signal::SIGKILL).unwrap();
    parent.wait().unwrap();
    kill(Pid::from_raw(sleeper), Signal::SIGKILL).unwrap();
    let killed = Instant::now();
    while Path::new(&format!("/proc/{server}/cwd")).read_link().is_ok() {
        assert!(killed.elapsed() < Duration::from_secs(30), "the server outlived its parent");
        std::thread::yield_now();
    }
}
