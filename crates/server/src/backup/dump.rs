//! Running `pg_dump` and `pg_restore`.

use std::{
    io::{self, Read},
    process::{Child, Command, Stdio},
    thread,
};

use anyhow::Context;
use pgcluster::DumpPrograms;
use store::Connect;

use super::{
    DATABASE,
    archive::{Archive, Writer},
};

/// A program that reaches the database, and hears of nothing else in our environment.
fn program(programs: &DumpPrograms, name: &str, connect: &Connect) -> Command {
    let mut command = Command::new(programs.directory.join(name));
    command
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("LC_ALL", "C")
        .envs(connect.environment())
        .stderr(Stdio::piped());
    command
}

/// Dumps what a snapshot shows into the back-up.
///
/// # Errors
/// When `pg_dump` fails, with what it said.
pub fn dump(
    programs: &DumpPrograms,
    connect: &Connect,
    snapshot: &str,
    archive: &mut Writer<'_>,
) -> anyhow::Result<()> {
    let mut command = program(programs, "pg_dump", connect);
    command
        .args(["--format=custom", "--schema=public", "--no-owner", "--no-privileges", "--no-password"])
        .arg(format!("--snapshot={snapshot}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().context("cannot run pg_dump")?;
    let mut output = child.stdout.take().context("pg_dump has no output")?;
    let written = archive.add(DATABASE, &mut output);
    // It must not wait for a reader who has given up.
    drop(output);
    let ended = end(child, "pg_dump");
    // Of a file that cannot be written pg_dump knows only that nobody reads on.
    written.context("the back-up cannot be written")?;
    ended
}

/// Loads the dump of a back-up: all of it or, whatever happens, nothing.
///
/// # Errors
/// When `pg_restore` fails, with what it said.
pub fn restore(programs: &DumpPrograms, connect: &Connect, archive: &mut Archive) -> anyhow::Result<()> {
    let mut part = archive.part(DATABASE)?.context("the back-up has no database")?;
    let name = connect.database().replace('\\', "\\\\").replace('\'', "\\'");
    let mut command = program(programs, "pg_restore", connect);
    command
        .args(["--single-transaction", "--exit-on-error", "--schema=public", "--no-owner", "--no-privileges"])
        .arg("--no-password")
        .arg(format!("--dbname=dbname='{name}'"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut child = command.spawn().context("cannot run pg_restore")?;
    let mut input = child.stdin.take().context("pg_restore has no input")?;
    let sent = io::copy(&mut part, &mut input);
    drop(input);
    // What it says of itself comes before the pipe that it closed.
    end(child, "pg_restore")?;
    sent.map(|_| ()).context("the back-up cannot be read")
}

fn end(mut child: Child, name: &str) -> anyhow::Result<()> {
    let said = child.stderr.take();
    let said = thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut said) = said {
            // What is not text is left out of the message.
            let _ = said.read_to_string(&mut text);
        }
        text
    });
    let status = child.wait().with_context(|| name.to_owned())?;
    let said = said.join().unwrap_or_default();
    anyhow::ensure!(status.success(), "{name} failed ({status}): {}", said.trim());
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{fs::File, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_full_disk_is_told_as_that_and_not_as_what_pg_dump_makes_of_it() {
        let folder = tempfile::tempdir().unwrap();
        symlink("/bin/false", folder.path().join("pg_dump")).unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let programs = DumpPrograms { directory: folder.path().to_owned(), major: 15 };
        let connect = Connect::parse("postgres://nobody@127.0.0.1:1/none").unwrap();
        let mut full = File::options().read(true).write(true).open("/dev/full").unwrap();
        let mut archive = Writer::new(&mut full, 0);
        let error = dump(&programs, &connect, "snapshot", &mut archive).unwrap_err();
        assert!(format!("{error:#}").contains("No space left on device"), "{error:#}");
    }
}
