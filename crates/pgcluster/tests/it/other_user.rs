//! As root: the server still runs as another user, wherever the directory is; and an ordinary user needs no root.

use crate::support::{directory, options, parent, query};
use nix::unistd::{Uid, User, chown};
use pgcluster::{Cluster, Error};
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::Path,
    process::Command,
};

fn root() -> bool {
    let root = Uid::effective().is_root();
    if !root {
        eprintln!("skipped: only root can become other users");
    }
    root
}

fn nobody() -> User {
    User::from_name("nobody").unwrap().unwrap()
}

#[test]
fn the_server_of_root_runs_as_an_ordinary_user() {
    if !root() {
        return;
    }
    let directory = directory();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
    assert_ne!(fs::metadata(directory.path().join("data")).unwrap().uid(), 0);
}

#[test]
fn a_directory_the_server_cannot_reach_gets_its_cluster_elsewhere() {
    if !root() {
        return;
    }
    let closed = directory();
    fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let root = closed.path().join("data");
    let cluster = Cluster::start(&options(&root)).unwrap();
    query(&cluster.url(), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    let elsewhere = fs::read_link(root.join("cluster")).unwrap();
    assert!(elsewhere.starts_with("/var/lib"), "{}", elsewhere.display());
    assert!(cluster.socket_directory().starts_with(&elsewhere));
    assert!(matches!(Cluster::start(&options(&root)), Err(Error::InUse { .. })));
    cluster.stop().unwrap();

    let cluster = Cluster::start(&options(&root)).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT n FROM kept"), ["1"]);
    cluster.stop().unwrap();
    fs::remove_dir_all(elsewhere).unwrap();
}

/// `private-postgres` as `nobody`, from a place where that user can run it.
fn as_nobody(base: &Path, root: &Path) -> Command {
    let program = base.join("private-postgres");
    if !program.exists() {
        // By a process of its own: a copy that another test's child still holds open for writing cannot be run.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_private-postgres")).arg(&program).status().unwrap();
        assert!(copied.success());
    }
    let user = nobody();
    let mut command = Command::new("setpriv");
    command
        .args([format!("--reuid={}", user.uid), format!("--regid={}", user.gid), "--clear-groups".to_owned()])
        .arg(program)
        .arg(root);
    command
}

#[test]
fn an_ordinary_user_runs_a_cluster_that_root_can_take_over_but_no_third_user() {
    if !root() {
        return;
    }
    let base = directory();
    let root = base.path().join("theirs");
    fs::create_dir(&root).unwrap();
    chown(&root, Some(nobody().uid), Some(nobody().gid)).unwrap();

    let (mut child, url) = parent(&mut as_nobody(base.path(), &root));
    assert_eq!(fs::metadata(root.join("data")).unwrap().uid(), nobody().uid.as_raw());
    // Root can open every file, so the kernel lets it connect; the server refuses it.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stranger = runtime.block_on(tokio_postgres::connect(&url, tokio_postgres::NoTls));
    assert_eq!(stranger.err().unwrap().code().unwrap().code(), "28000", "invalid_authorization_specification");
    let told = Cluster::running(&root).unwrap_err();
    assert!(matches!(&told, Error::NotAdmitted { account, .. } if account == "nobody"), "{told}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());

    let cluster = Cluster::start(&options(&root)).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
    assert_eq!(fs::metadata(root.join("data")).unwrap().uid(), nobody().uid.as_raw());
}

#[test]
fn an_ordinary_user_is_told_that_a_cluster_is_somebody_elses() {
    if !root() {
        return;
    }
    let base = directory();
    let root = base.path().join("theirs");
    Cluster::start(&options(&root)).unwrap().stop().unwrap();
    let other = User::from_name("daemon").unwrap().unwrap();
    chown(&root.join("data"), Some(other.uid), Some(other.gid)).unwrap();
    let said = as_nobody(base.path(), &root).output().unwrap();
    assert!(!said.status.success());
    let sentence = String::from_utf8(said.stderr).unwrap();
    assert!(sentence.contains(&format!("belongs to user id {}", other.uid)), "{sentence}");
}
