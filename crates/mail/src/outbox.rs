//! [`Mailer`] and [`Outbox`] on a folder: a file for each mail.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use domain::mail::{Letter, Mailer, Outbox, PutAside, SendError};
use time::OffsetDateTime;
use tokio::task::spawn_blocking;
use uuid::Uuid;

/// Mails that are kept.
const KEPT: usize = 100;
const EXTENSION: &str = "json";

/// A folder of mails. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// The files, the newest first: their names are in the order of time.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        files.retain(|file| file.extension() == Some(OsStr::new(EXTENSION)));
        files.sort_unstable_by(|a, b| b.cmp(a));
        Ok(files)
    }

    fn put_aside(&self, mail: &PutAside) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        let name = Uuid::now_v7().simple().to_string();
        let written = self.0.join(format!("{name}.new"));
        fs::write(&written, serde_json::to_vec_pretty(mail)?)?;
        // Whole or not at all, to who lists them at that moment.
        fs::rename(written, self.0.join(format!("{name}.{EXTENSION}")))?;
        self.files()?.iter().skip(KEPT).try_for_each(fs::remove_file)
    }
}

#[async_trait]
impl Mailer for Folder {
    async fn send(&self, letter: &Letter, now: OffsetDateTime) -> Result<(), SendError> {
        let Letter { to, subject, text } = letter.clone();
        let (folder, mail) = (self.clone(), PutAside { at: now, to: to.as_str().to_owned(), subject, text });
        let written = spawn_blocking(move || folder.put_aside(&mail)).await;
        written.map_err(io::Error::other).flatten().map_err(|error| SendError::Later(error.to_string()))
    }
}

impl Outbox for Folder {
    fn list(&self) -> io::Result<Vec<PutAside>> {
        let read = |file: &PathBuf| Ok(serde_json::from_slice(&fs::read(file)?)?);
        self.files()?.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[tokio::test]
    async fn what_is_put_aside_is_listed_newest_first_and_the_oldest_go() {
        let folder = tempfile::tempdir().unwrap();
        let outbox = Folder::new(&folder.path().join("outbox"));
        assert_eq!(outbox.list().unwrap(), []);
        let at = datetime!(2026-03-02 03:00 UTC);
        for number in 0..KEPT + 2 {
            let to = "ana@example.com".parse().unwrap();
            let letter = Letter { to, subject: format!("Mail {number}"), text: "Hello\n".to_owned() };
            outbox.send(&letter, at).await.unwrap();
        }
        let listed = outbox.list().unwrap();
        assert_eq!((listed.len(), &*listed[0].subject), (KEPT, "Mail 101"));
        assert_eq!((listed[KEPT - 1].subject.as_str(), listed[0].at), ("Mail 2", at));
    }
}
