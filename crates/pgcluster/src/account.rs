//! The operating system's account that the server runs as.

use crate::{Error, error::IoContext};
use nix::unistd::{Gid, Uid, User};
use std::{
    fs,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

/// Accounts that root runs the server as, the preferred one first.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// Who runs the server, and whether we have to change into that account.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub name: String,
    pub uid: Uid,
    pub gid: Gid,
    /// True when we are root, which PostgreSQL refuses to run as.
    pub switch: bool,
}

impl Account {
    /// The account this process runs as.
    pub fn launcher() -> Result<User, Error> {
        let uid = Uid::effective();
        user(uid)
    }

    /// The account for a cluster whose files are, or will be, in `data`: ourselves, or when we are root the owner of
    /// what is there, else one of the unprivileged accounts.
    pub fn for_cluster(data: &Path) -> Result<Self, Error> {
        let launcher = Self::launcher()?;
        let owner = fs::metadata(data).ok().map(|m| Uid::from_raw(m.uid()));
        let chosen = match owner {
            Some(owner) if owner.is_root() || (owner != launcher.uid && !launcher.uid.is_root()) => {
                return Err(Error::OtherOwner { path: data.to_owned(), owner: owner.as_raw() });
            }
            Some(owner) => user(owner)?,
            None if launcher.uid.is_root() => unprivileged()?,
            None => launcher.clone(),
        };
        Ok(Self { switch: launcher.uid.is_root(), name: chosen.name, uid: chosen.uid, gid: chosen.gid })
    }

    /// Whether the account may pass through every existing directory on the way to `path`, and enter `path` itself.
    /// Parts that do not exist yet do not count against it.
    pub fn can_reach(&self, path: &Path) -> bool {
        path.ancestors().filter(|a| !a.as_os_str().is_empty()).all(|part| {
            let Ok(meta) = fs::metadata(part) else { return true };
            let execute = match (meta.uid(), meta.gid()) {
                (uid, _) if uid == self.uid.as_raw() => 0o100,
                (_, gid) if gid == self.gid.as_raw() => 0o010,
                _ => 0o001,
            };
            meta.mode() & execute != 0
        })
    }

    /// Gives `path` to the account; nothing to do unless we are root.
    pub fn own(&self, path: &Path) -> Result<(), Error> {
        if self.switch {
            nix::unistd::chown(path, Some(self.uid), Some(self.gid)).cannot("change the owner of", path)?;
        }
        Ok(())
    }

    /// A command that will run as the account: English messages, nothing of our environment, no terminal, and a
    /// process group of its own, so that Ctrl-C in a terminal reaches us and not the server.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .current_dir("/")
            .stdin(Stdio::null())
            .process_group(0);
        if self.switch {
            // As root, this also drops the supplementary groups.
            command.uid(self.uid.as_raw()).gid(self.gid.as_raw());
        }
        command
    }
}

fn user(uid: Uid) -> Result<User, Error> {
    User::from_uid(uid).ok().flatten().ok_or_else(|| Error::NamelessUser(uid.as_raw()))
}

fn unprivileged() -> Result<User, Error> {
    UNPRIVILEGED
        .into_iter()
        .filter_map(|name| User::from_name(name).ok().flatten())
        .find(|user| !user.uid.is_root())
        .ok_or(Error::NoAccount)
}
