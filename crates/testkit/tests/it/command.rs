//! `with-postgres`: the cluster is there for the command, and gone after it.

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Output, Stdio},
};

fn with_postgres(command: &[&str]) -> Command {
    let mut with_postgres = Command::new(env!("CARGO_BIN_EXE_with-postgres"));
    with_postgres.args(command);
    with_postgres
}

fn shell(script: &str) -> Output {
    with_postgres(&["sh", "-c", script]).output().unwrap()
}

/// The directory of the socket in a cluster's address.
fn socket(url: &str) -> std::path::PathBuf {
    let host = url.trim().strip_prefix("postgres://postgres@").unwrap().strip_suffix("/postgres").unwrap();
    host.replace("%2F", "/").into()
}

#[test]
fn the_exit_code_is_the_commands_and_nothing_is_left() {
    let said = shell("echo $TEST_DATABASE_URL; exit 7");
    assert_eq!(said.status.code(), Some(7), "{}", String::from_utf8_lossy(&said.stderr));
    let socket = socket(&String::from_utf8(said.stdout).unwrap());
    assert!(socket.ends_with("socket"), "{}", socket.display());
    let directory = socket.ancestors().nth(2).unwrap();
    assert!(!directory.exists(), "{} is still there", directory.display());
}

#[test]
fn a_command_that_is_killed_counts_as_failed() {
    assert_eq!(shell("kill -KILL $$").status.code(), Some(137));
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let said = with_postgres(&["no-such-program"]).output().unwrap();
    assert!(!said.status.success());
    assert!(String::from_utf8(said.stderr).unwrap().contains("cannot run no-such-program"));
}

#[test]
fn an_interrupt_reaches_the_command_and_the_cluster_goes_after_it() {
    // By the time the address is printed the shell is ready for the signal.
    let script = "sleep 600 & sleeper=$!; trap 'kill $sleeper; exit 9' TERM; echo $TEST_DATABASE_URL; wait";
    let mut running = with_postgres(&["sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut url).unwrap();
    kill(Pid::from_raw(running.id().cast_signed()), Signal::SIGTERM).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(9));
    assert!(!socket(&url).exists());
}
