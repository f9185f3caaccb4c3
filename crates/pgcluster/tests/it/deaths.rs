//! `kill -9` of the server, of the process that started it, and of both.

use crate::support::{directory, eventually, options, parent, query, server_pid, try_query};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use pgcluster::Cluster;
use std::{fs, path::Path, process::Command};

fn slay(pid: i32) {
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
}

fn private_postgres(root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_private-postgres"));
    command.arg(root);
    command
}

#[test]
fn a_killed_server_is_started_again_on_the_same_address() {
    let directory = directory();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    let url = cluster.url();
    query(&url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    let first = server_pid(&url);
    slay(first);
    eventually("the server is back", || try_query(&url, "SELECT 1").is_ok());
    assert_eq!(query(&url, "SELECT n FROM kept"), ["1"]);
    assert_ne!(server_pid(&url), first);
    cluster.stop().unwrap();
}

#[test]
fn a_cluster_can_be_stopped_while_its_server_is_dead() {
    let directory = directory();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    query(&cluster.url(), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    slay(server_pid(&cluster.url()));
    cluster.stop().unwrap();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT n FROM kept"), ["1"]);
}

#[cfg(target_os = "linux")]
#[test]
fn the_server_ends_with_its_killed_parent() {
    let directory = directory();
    let (mut child, url) = parent(&mut private_postgres(directory.path()));
    query(&url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    let server = server_pid(&url);
    child.kill().unwrap();
    child.wait().unwrap();
    // A zombie that is not waited for still has its number, but no command line.
    eventually("the server is gone", || fs::read(format!("/proc/{server}/cmdline")).unwrap_or_default().is_empty());

    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT n FROM kept"), ["1"]);
}

#[test]
fn a_start_right_after_the_parents_death_waits_for_its_server_to_end() {
    let directory = directory();
    let (mut child, url) = parent(&mut private_postgres(directory.path()));
    query(&url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    child.kill().unwrap();
    child.wait().unwrap();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT n FROM kept"), ["1"]);
}

#[test]
fn parent_and_server_killed_together_lose_nothing() {
    let directory = directory();
    let (mut child, url) = parent(&mut private_postgres(directory.path()));
    query(&url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    let server = server_pid(&url);
    // The parent first, or it would start the server again.
    child.kill().unwrap();
    slay(server);
    child.wait().unwrap();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT n FROM kept"), ["1"]);
}

#[test]
fn a_pid_file_that_names_some_other_program_does_not_keep_it_from_starting() {
    let directory = directory();
    let (mut child, url) = parent(&mut private_postgres(directory.path()));
    let server = server_pid(&url);
    child.kill().unwrap();
    slay(server);
    child.wait().unwrap();
    let file = directory.path().join("data/postmaster.pid");
    // As after a restart of a container, where the same small numbers are given out again.
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let rest = text.split_once('\n').unwrap().1;
    fs::write(&file, format!("{}\n{rest}", other.id())).unwrap();

    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
    assert_eq!(other.try_wait().unwrap(), None, "the other program was left alone");
    other.kill().unwrap();
    other.wait().unwrap();
}
