//! Start, stop, start again.

use crate::support::{directory, eventually, options, query, server_pid, try_query};
use pgcluster::{Cluster, Error};
use std::{fs, os::unix::fs::PermissionsExt};

#[test]
fn data_outlives_a_stop() {
    let directory = directory();
    let root = directory.path().join("made/on/the/way");
    let cluster = Cluster::start(&options(&root)).unwrap();
    query(&cluster.url(), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (1)");
    let first = server_pid(&cluster.url());
    cluster.stop().unwrap();

    let cluster = Cluster::start(&options(&root)).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT n FROM kept"), ["1"]);
    assert_ne!(server_pid(&cluster.url()), first);
}

#[test]
fn it_outlives_the_thread_that_started_it() {
    let directory = directory();
    let root = directory.path().to_owned();
    let cluster = std::thread::spawn(move || Cluster::start(&options(&root)).unwrap()).join().unwrap();
    // A stopping server would refuse new sessions from then on.
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
    assert_eq!(query(&cluster.url(), "SELECT pg_postmaster_start_time() <= now()"), ["t"]);
}

#[test]
fn a_second_start_is_refused_by_name_and_can_find_the_first() {
    let directory = directory();
    let root = directory.path();
    assert_eq!(Cluster::running(root).unwrap(), None);
    let cluster = Cluster::start(&options(root)).unwrap();

    let refusal = Cluster::start(&options(root)).unwrap_err();
    assert!(matches!(refusal, Error::InUse { .. }), "{refusal}");
    let sentence = refusal.to_string();
    assert!(sentence.contains(&format!("({})", std::process::id())), "{sentence}");
    assert!(sentence.contains("choose another data directory"), "{sentence}");

    assert_eq!(Cluster::running(root).unwrap(), Some(cluster.url()));
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
    cluster.stop().unwrap();
    assert_eq!(Cluster::running(root).unwrap(), None);
}

#[test]
fn who_finds_a_cluster_that_is_being_started_can_connect_to_it() {
    let directory = directory();
    let root = directory.path().to_owned();
    let starting = std::thread::spawn(move || Cluster::start(&options(&root)).unwrap());
    eventually("the start has begun", || {
        fs::read_to_string(directory.path().join("lock")).is_ok_and(|pid| !pid.is_empty())
    });
    let url = Cluster::running(directory.path()).unwrap().unwrap();
    assert_eq!(query(&url, "SELECT 1"), ["1"]);
    assert_eq!(url, starting.join().unwrap().url());
}

#[test]
fn a_start_that_is_given_up_leaves_nothing_running_and_is_made_again() {
    let directory = directory();
    let given_up = Cluster::start_unless(&options(directory.path()), || true).unwrap_err();
    assert!(matches!(given_up, Error::GivenUp), "{given_up}");
    assert_eq!(Cluster::running(directory.path()).unwrap(), None);
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
}

#[test]
fn what_the_system_refuses_is_said_once() {
    let directory = directory();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let refusal = Cluster::start(&options(&file.join("below"))).unwrap_err();
    assert!(refusal.to_string().contains("Not a directory"), "{refusal}");
    assert!(std::error::Error::source(&refusal).is_none());
}

#[test]
fn nothing_in_it_is_open_to_others_but_the_access_rules() {
    let directory = directory();
    let _cluster = Cluster::start(&options(directory.path())).unwrap();
    for (name, mode) in
        [("data", 0o700), ("socket", 0o700), ("lock", 0o600), ("postgres.log", 0o600), ("hba.conf", 0o644)]
    {
        let meta = fs::metadata(directory.path().join(name)).unwrap();
        assert_eq!(meta.permissions().mode() & 0o777, mode, "{name}");
    }
    let rules = fs::read_to_string(directory.path().join("hba.conf")).unwrap();
    assert_eq!(rules.lines().collect::<Vec<_>>(), ["local all postgres peer map=owners"]);
}

#[test]
fn it_does_not_listen_on_the_network_and_lets_nobody_in_under_another_name() {
    let directory = directory();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SHOW listen_addresses"), [""]);
    query(&cluster.url(), "CREATE ROLE visitor LOGIN");
    let visitor = cluster.url().replacen("postgres@", "visitor@", 1);
    let refusal = try_query(&visitor, "SELECT 1").unwrap_err();
    assert_eq!(refusal.code().unwrap().code(), "28000", "invalid_authorization_specification");
}

#[test]
fn its_log_does_not_repeat_what_was_sent() {
    let directory = directory();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    query(&cluster.url(), "CREATE TABLE people (email text UNIQUE); INSERT INTO people VALUES ('ada@example.org')");
    let refusal = try_query(&cluster.url(), "INSERT INTO people VALUES ('ada@example.org')").unwrap_err();
    assert_eq!(refusal.code().unwrap().code(), "23505", "unique_violation");
    cluster.stop().unwrap();
    let log = fs::read_to_string(directory.path().join("postgres.log")).unwrap();
    assert!(log.contains("people_email_key"), "the error is logged: {log}");
    assert!(!log.contains("ada@"), "and the value is not: {log}");
}

#[test]
fn a_path_too_long_for_a_socket_is_no_obstacle() {
    let directory = directory();
    let root = directory.path().join("a-name-of-forty-characters-0123456789abc/".repeat(4));
    let cluster = Cluster::start(&options(&root)).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
    let socket = cluster.socket_directory().to_owned();
    assert!(!socket.starts_with(&root), "{}", socket.display());
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o700);
    cluster.stop().unwrap();
    fs::remove_dir_all(socket).unwrap();
}

#[test]
fn a_first_start_that_was_cut_short_is_begun_again() {
    let directory = directory();
    let half = directory.path().join("data.new");
    fs::create_dir(&half).unwrap();
    fs::write(half.join("PG_VERSION"), "15\n").unwrap();
    let cluster = Cluster::start(&options(directory.path())).unwrap();
    assert_eq!(query(&cluster.url(), "SELECT 1"), ["1"]);
    assert!(!half.exists());
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let directory = directory();
    Cluster::start(&options(directory.path())).unwrap().stop().unwrap();
    let settings = directory.path().join("data/postgresql.conf");
    let mut text = fs::read_to_string(&settings).unwrap();
    text.push_str("no_such_setting = 1\n");
    fs::write(&settings, text).unwrap();
    let refusal = Cluster::start(&options(directory.path())).unwrap_err().to_string();
    assert!(refusal.contains("no_such_setting"), "{refusal}");
}
