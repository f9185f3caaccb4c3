//! Finding the installed server programs.

use crate::Error;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The oldest major version that is used.
const OLDEST: u32 = 14;

/// Where packages put `<version>/bin` or `postgresql@<version>/bin`.
const VERSIONED: [(&str, &str); 4] = [
    ("/usr/lib/postgresql", "bin"),
    ("/opt/homebrew/opt", "bin"),
    ("/usr/local/opt", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "bin"),
];

/// One installation: a directory with `postgres` and `initdb` of one version.
#[derive(Debug, Clone)]
pub(crate) struct Binaries {
    pub directory: PathBuf,
    pub major: u32,
}

impl Binaries {
    pub fn postgres(&self) -> PathBuf {
        self.directory.join("postgres")
    }

    pub fn initdb(&self) -> PathBuf {
        self.directory.join("initdb")
    }

    /// The programs in `directory`, if it holds both and they are new enough.
    fn probe(directory: PathBuf) -> Option<Self> {
        if !directory.join("initdb").is_file() {
            return None;
        }
        let major = version_of(&directory.join("postgres"))?;
        (major >= OLDEST).then_some(Self { directory, major })
    }
}

/// Chooses the server to use: in `explicit` alone when that is given, else among everything installed. An existing
/// cluster (`cluster_version` a major version) needs its own version; a new one takes the newest.
pub(crate) fn find(explicit: Option<&Path>, data: &Path, cluster_version: Option<u32>) -> Result<Binaries, Error> {
    let found: Vec<Binaries> = match explicit {
        Some(directory) => {
            vec![Binaries::probe(directory.to_owned()).ok_or_else(|| Error::NotABinDir(directory.to_owned()))?]
        }
        None => candidates("postgres").into_iter().filter_map(Binaries::probe).collect(),
    };
    // Of equal versions the first found wins: the system's before the privately downloaded.
    let newest = found.iter().rev().max_by_key(|b| b.major).cloned().ok_or(Error::NoServer)?;
    match cluster_version {
        None => Ok(newest),
        Some(major) => found.into_iter().find(|b| b.major == major).ok_or_else(|| Error::OtherVersion {
            data: data.to_owned(),
            cluster_version: major,
            found: newest.major,
        }),
    }
}

/// `pg_dump` and `pg_restore` of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpPrograms {
    /// Where they are.
    pub directory: PathBuf,
    pub major: u32,
}

impl DumpPrograms {
    /// Chooses the programs for a server of a major version: in `explicit` alone when that is given, else among
    /// everything installed. Those of the server's own version, or of the next newer one.
    ///
    /// # Errors
    /// [`Error::OlderDump`] when none are new enough: an older `pg_dump` does not know everything there is to dump.
    pub fn find(explicit: Option<&Path>, server: u32) -> Result<Self, Error> {
        let directories = explicit.map_or_else(|| candidates("pg_dump"), |directory| vec![directory.to_owned()]);
        let found: Vec<Self> = directories.into_iter().filter_map(Self::probe).collect();
        let newest = found.iter().map(|programs| programs.major).max();
        // Of equal versions the first found wins.
        let fits = found.into_iter().filter(|programs| programs.major >= server);
        fits.min_by_key(|programs| programs.major).ok_or(Error::OlderDump { server, found: newest })
    }

    fn probe(directory: PathBuf) -> Option<Self> {
        if !directory.join("pg_restore").is_file() {
            return None;
        }
        let major = version_of(&directory.join("pg_dump"))?;
        Some(Self { directory, major })
    }
}

fn version_of(program: &Path) -> Option<u32> {
    let said = Command::new(program).arg("--version").output().ok()?;
    major_of(&String::from_utf8_lossy(&said.stdout))
}

/// Directories that may hold a program, most trusted first.
fn candidates(program: &str) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    for (base, below) in VERSIONED {
        for entry in fs::read_dir(base).into_iter().flatten().flatten() {
            directories.push(entry.path().join(below));
        }
    }
    let red_hat = fs::read_dir("/usr").into_iter().flatten().flatten();
    directories.extend(
        red_hat.filter(|e| e.file_name().to_string_lossy().starts_with("pgsql-")).map(|e| e.path().join("bin")),
    );
    for directory in env::split_paths(&env::var_os("PATH").unwrap_or_default()) {
        // A program in PATH is often a link out of the real directory, where the others are not beside it.
        let real = fs::canonicalize(directory.join(program)).ok();
        directories.extend(real.as_deref().and_then(Path::parent).map(Path::to_owned));
        directories.push(directory);
    }
    directories.extend(downloaded());
    directories.retain(|d| d.join(program).is_file());
    directories
}

/// Where `scripts/setup-postgres.sh` puts a server for a user who cannot install packages.
fn downloaded() -> Option<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))?;
    Some(cache.join(crate::PROJECT).join("postgres/bin"))
}

/// The major version in the answer to `postgres --version`, such as `postgres (PostgreSQL) 15.13 (Debian 15.13-1)`.
fn major_of(answer: &str) -> Option<u32> {
    let version = answer.split_whitespace().nth(2)?;
    let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn fake(base: &Path, name: &str, version: &str) -> PathBuf {
        let directory = base.join(name);
        fs::create_dir(&directory).unwrap();
        for program in ["postgres", "initdb", "pg_dump", "pg_restore"] {
            let path = directory.join(program);
            fs::write(&path, format!("#!/bin/sh\necho '{program} (PostgreSQL) {version}'\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        directory
    }

    #[test]
    fn reads_the_major_version_of_releases_packages_and_betas() {
        assert_eq!(major_of("postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n"), Some(15));
        assert_eq!(major_of("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major_of("something else"), None);
    }

    // One test for both: a file that another thread's child still holds open for writing cannot be run.
    #[test]
    fn an_explicit_directory_must_hold_a_server_that_is_new_enough_and_fits_the_cluster() {
        let base = tempfile::tempdir().unwrap();
        let good = fake(base.path(), "good", "16.2");
        let old = fake(base.path(), "old", "13.9");
        let data = Path::new("data");
        assert_eq!(find(Some(&good), data, None).unwrap().major, 16);
        assert_eq!(find(Some(&good), data, Some(16)).unwrap().directory, good);
        assert!(matches!(find(Some(&old), data, None), Err(Error::NotABinDir(_))));
        assert!(matches!(find(Some(base.path()), data, None), Err(Error::NotABinDir(_))));
        let refusal = find(Some(&good), data, Some(15)).unwrap_err().to_string();
        assert!(refusal.contains("made by PostgreSQL 15") && refusal.contains("found: 16"), "{refusal}");
        assert_eq!(DumpPrograms::find(Some(&good), 16).unwrap(), DumpPrograms { directory: good.clone(), major: 16 });
        assert_eq!(DumpPrograms::find(Some(&good), 15).unwrap().major, 16);
        let refusal = DumpPrograms::find(Some(&old), 16).unwrap_err().to_string();
        assert!(refusal.contains("version 13") && refusal.contains("postgresql-client-16"), "{refusal}");
        let refusal = DumpPrograms::find(Some(base.path()), 16).unwrap_err().to_string();
        assert!(refusal.contains("none was found"), "{refusal}");
    }
}
