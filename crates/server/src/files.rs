//! Files that are written atomically, and that only their owner can read.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use anyhow::Context;

/// A file that is being written under another name, and appears under its own when it is [kept](Self::keep).
pub struct NewFile {
    file: File,
    unfinished: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file at `path`, mode 0600; its folder is made if need be. What an earlier, broken attempt left is
    /// overwritten.
    ///
    /// # Errors
    /// When it cannot be written there.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder_of(path)).with_context(|| folder_of(path).display().to_string())?;
        let mut name = path.file_name().context("this is no name of a file")?.to_owned();
        name.push(".new");
        let unfinished = path.with_file_name(name);
        // Its mode is given when it is made: one that lies there already may be open to others.
        match std::fs::remove_file(&unfinished) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| unfinished.display().to_string());
            }
            _ => {}
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(&unfinished);
        let file = file.with_context(|| unfinished.display().to_string())?;
        Ok(Self { file, unfinished, path: path.to_owned() })
    }

    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the file in its place, over one that may be there. It is on disk when this returns, and at no moment is
    /// anything under its name but the old file or the whole new one.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn keep(self) -> anyhow::Result<()> {
        let Self { file, unfinished, path } = self;
        let done = file.sync_all().and_then(|()| std::fs::rename(&unfinished, &path));
        done.and_then(|()| File::open(folder_of(&path))?.sync_all()).with_context(|| path.display().to_string())
    }

    /// Gives it up.
    pub fn discard(self) {
        // Nothing depends on it: the next attempt removes it.
        let _ = std::fs::remove_file(self.unfinished);
    }
}

/// Writes a whole file, mode 0600, durably.
///
/// # Errors
/// When it cannot be written.
pub fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut new = NewFile::create(path)?;
    new.file().write_all(text.as_bytes()).with_context(|| path.display().to_string())?;
    new.keep()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
