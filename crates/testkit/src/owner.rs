//! Running a server as the account that a cluster runs as: the only one, but root, that may enter it.

use std::{
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context;
use tempfile::TempDir;

/// A directory that other accounts can pass through.
pub fn reachable_folder() -> anyhow::Result<TempDir> {
    Ok(tempfile::Builder::new().permissions(std::fs::Permissions::from_mode(0o711)).tempdir()?)
}

/// The account that owns a path.
#[derive(Debug, Clone, Copy)]
pub struct Owner {
    uid: u32,
    gid: u32,
}

impl Owner {
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        let meta = std::fs::metadata(path).with_context(|| path.display().to_string())?;
        Ok(Self { uid: meta.uid(), gid: meta.gid() })
    }

    /// Makes a directory of the account.
    pub fn make(self, path: &Path) -> anyhow::Result<()> {
        std::fs::create_dir(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
        nix::unistd::chown(path, Some(self.uid.into()), Some(self.gid.into()))?;
        Ok(())
    }

    /// A command without output that runs as the account.
    pub fn command(self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if nix::unistd::geteuid().as_raw() != self.uid {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }
}
