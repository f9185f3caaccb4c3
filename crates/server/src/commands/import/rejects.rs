//! The file of refused lines. It is created with the first of them.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use imports::{Failure, Rejects};

pub struct RejectsFile {
    path: PathBuf,
    writer: Arc<Mutex<Option<BufWriter<File>>>>,
}

impl RejectsFile {
    /// The file at `path`, for lines of the file `read`, which may be `-`.
    ///
    /// # Errors
    /// When both are the same: it would be cut off while it is read.
    pub fn new(path: PathBuf, read: &Path) -> Result<Self, Failure> {
        let read = if read.as_os_str() == "-" { Path::new("/dev/stdin") } else { read };
        if is_same_file(&path, read) {
            return Err(Failure::Usage(format!("--rejects: {} is the file that is read", path.display())));
        }
        Ok(Self { path, writer: Arc::new(Mutex::new(None)) })
    }

    /// Takes refused lines while the file is read.
    pub fn sink(&self) -> Rejects {
        let (path, writer) = (self.path.clone(), Arc::clone(&self.writer));
        Box::new(move |form, reject| {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            let writer = match &mut *writer {
                Some(writer) => writer,
                none => none.insert(create(&path, &form.head())?),
            };
            writer.write_all(&form.body(&reject))
        })
    }

    /// Where the refused lines are, if there were any. When they cannot be written, the others are in already.
    pub fn finish(&self) -> Result<Option<String>, Failure> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut writer) = writer.take() else { return Ok(None) };
        let path = self.path.display();
        writer
            .flush()
            .map_err(|error| Failure::Rejects(format!("the refused ones cannot be written to {path}: {error}")))?;
        Ok(Some(path.to_string()))
    }
}

fn create(path: &Path, head: &[u8]) -> io::Result<BufWriter<File>> {
    let file =
        File::create(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let mut writer = BufWriter::new(file);
    writer.write_all(head)?;
    Ok(writer)
}

/// Whether two paths lead to one file, by links or not.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let place =
        |path: &Path| path.metadata().ok().filter(|about| about.is_file()).map(|about| (about.dev(), about.ino()));
    place(one).is_some_and(|one| place(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_is_read_takes_no_refused_lines() {
        let folder = tempfile::tempdir().unwrap();
        let [read, link, other] = ["orders.csv", "link.csv", "other.csv"].map(|name| folder.path().join(name));
        std::fs::write(&read, "sku\n").unwrap();
        std::os::unix::fs::symlink(&read, &link).unwrap();
        for same in [&read, &link, &folder.path().join("./orders.csv")] {
            let refused = RejectsFile::new(same.clone(), &read).err().unwrap();
            assert!(matches!(refused, Failure::Usage(_)), "{refused}");
        }
        assert!(RejectsFile::new(other, &read).is_ok());
        assert!(RejectsFile::new("/dev/null".into(), Path::new("/dev/null")).is_ok());
    }
}
