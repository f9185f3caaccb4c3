//! Where a cluster's files are, and who may run it.
//!
//! ```text
//! <place>/lock           held by the one process that runs the cluster; names its process id
//! <place>/hba.conf       who may connect: the account of that process, as the kernel tells, never by password
//! <place>/ident.conf
//! <place>/postgres.log   readable by that process alone
//! <place>/data/          the cluster, mode 0700
//! <place>/socket/        the Unix socket, mode 0700
//! ```

use crate::{Error, account::Account, error::IoContext};
use nix::fcntl::{Flock, FlockArg, OFlag};
use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// A socket's address holds 104 bytes on macOS (108 on Linux), one of them a final zero, and `/.s.PGSQL.5432`
/// comes behind the directory.
const LONGEST_SOCKET_DIRECTORY: usize = 103 - "/.s.PGSQL.5432".len();

/// From this size (bytes) on the log is put aside at the next start.
const LARGE_LOG: u64 = 8 << 20;

/// The directory of one cluster.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    directory: PathBuf,
}

impl Place {
    /// Chooses the directory and the account for the cluster asked for under `root`, which is created.
    ///
    /// That is `root` itself, unless we are root and the account cannot reach it (a checkout under a home directory
    /// of mode 0700): then it is a directory below `/var/lib`, named after `root`, with a link `cluster` to it in `root`.
    pub fn choose(root: &Path) -> Result<(Self, Account), Error> {
        fs::create_dir_all(root).cannot("create", root)?;
        let root = fs::canonicalize(root).cannot("resolve", root)?;
        let here = Self { directory: root.clone() };
        let account = Account::for_cluster(&here.data())?;
        if !account.switch || account.can_reach(&root) {
            return Ok((here, account));
        }
        let shared = Path::new("/var/lib").join(crate::PROJECT);
        let there = Self { directory: shared.join(key(&root)) };
        for directory in [&shared, &there.directory] {
            fs::create_dir_all(directory).cannot("create", directory)?;
            fs::set_permissions(directory, Permissions::from_mode(0o755)).cannot("open to others", directory)?;
        }
        let link = root.join("cluster");
        if fs::symlink_metadata(&link).is_err() {
            std::os::unix::fs::symlink(&there.directory, &link).cannot("link", link)?;
        }
        let account = Account::for_cluster(&there.data())?;
        Ok((there, account))
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    pub fn log(&self) -> PathBuf {
        self.directory.join("postgres.log")
    }

    pub fn hba(&self) -> PathBuf {
        self.directory.join("hba.conf")
    }

    pub fn ident(&self) -> PathBuf {
        self.directory.join("ident.conf")
    }

    /// The major version that made the cluster; `None` when there is none yet.
    pub fn cluster_version(&self) -> Option<u32> {
        let version = fs::read_to_string(self.data().join("PG_VERSION")).ok()?;
        version.trim().parse().ok()
    }

    /// Takes the cluster for this process; the kernel gives it back when the process ends, however it ends.
    pub fn lock(&self) -> Result<Flock<File>, Error> {
        let path = self.directory.join("lock");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .cannot("open", &path)?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut lock) => {
                lock.set_len(0).cannot("write", &path)?;
                write!(lock, "{}", std::process::id()).cannot("write", &path)?;
                Ok(lock)
            }
            Err((mut file, nix::errno::Errno::EWOULDBLOCK)) => {
                let mut owner = String::new();
                // Only for the message: an unreadable number is left out of it.
                let known = file.read_to_string(&mut owner).is_ok() && !owner.is_empty();
                let pid = if known { format!(" ({owner})") } else { String::new() };
                Err(Error::InUse { directory: self.directory.clone(), pid })
            }
            Err((_, errno)) => Err(errno).cannot("lock", path),
        }
    }

    /// Writes who may connect: over the socket, as `postgres`, the accounts that could read the files anyway.
    /// The kernel tells the server who connects, so no password exists that could leak.
    pub fn write_access_rules(&self, account: &Account) -> Result<(), Error> {
        let mut names = vec![Account::launcher()?.name];
        if !names.contains(&account.name) {
            names.push(account.name.clone());
        }
        let ident: String = names.iter().map(|name| rule(name) + "\n").collect();
        replace(&self.hba(), "local all postgres peer map=owners\n")?;
        replace(&self.ident(), &ident)
    }

    /// Whether the rules let this process connect. Where they cannot be read, the server decides.
    pub fn admits_launcher(&self) -> Result<bool, Error> {
        let wanted = rule(&Account::launcher()?.name);
        let Ok(rules) = fs::read_to_string(self.ident()) else { return Ok(true) };
        Ok(rules.lines().any(|line| line == wanted))
    }

    /// The socket's directory: in the place when the path is short enough, else in the directory for such things.
    pub fn socket_directory(&self, account: &Account) -> Result<PathBuf, Error> {
        let here = self.directory.join("socket");
        let directory = if here.as_os_str().len() <= LONGEST_SOCKET_DIRECTORY {
            here
        } else {
            let name = format!("{}-{}-{}", crate::PROJECT, account.uid, key(&self.directory));
            runtime_directory(account).join(name)
        };
        private_directory(&directory, account)?;
        Ok(directory)
    }

    /// Opens the log for appending.
    pub fn open_log(&self) -> Result<File, Error> {
        let path = self.log();
        if fs::metadata(&path).is_ok_and(|m| m.len() > LARGE_LOG) {
            fs::rename(&path, path.with_extension("log.1")).cannot("put aside", &path)?;
        }
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(&path)
            .cannot("open", path)
    }
}

/// Makes `path` a directory that only the account can enter, or insists that it already is one.
pub(crate) fn private_directory(path: &Path, account: &Account) -> Result<(), Error> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => account.own(path)?,
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(e).cannot("create", path),
    }
    // In a directory like /tmp another user may have put something there before us: never follow a link.
    let meta = fs::symlink_metadata(path).cannot("look at", path)?;
    if meta.is_dir() && meta.uid() == account.uid.as_raw() && meta.mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(Error::NotPrivate(path.to_owned()))
    }
}

fn runtime_directory(account: &Account) -> PathBuf {
    let personal = || std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let preferred = if account.switch { Some(PathBuf::from("/run")) } else { personal() };
    preferred.filter(|p| p.is_dir() && p.as_os_str().len() <= 40).unwrap_or_else(|| PathBuf::from("/tmp"))
}

/// What lets an account connect.
fn rule(name: &str) -> String {
    format!("owners \"{name}\" postgres")
}

/// Twelve hex digits that stand for a path.
fn key(path: &Path) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, path.as_os_str().as_encoded_bytes());
    let mut digits = hex::encode(digest.as_ref());
    digits.truncate(12);
    digits
}

/// Writes a file in one step, never through a link that someone left under its name.
fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let fresh = path.with_extension("new");
    match fs::remove_file(&fresh) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e).cannot("remove", fresh),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&fresh).cannot("create", &fresh)?;
    file.write_all(text.as_bytes()).cannot("write", &fresh)?;
    // The server's account reads it, whatever the umask says.
    file.set_permissions(Permissions::from_mode(0o644)).cannot("open to others", &fresh)?;
    fs::rename(&fresh, path).cannot("replace", path)
}
