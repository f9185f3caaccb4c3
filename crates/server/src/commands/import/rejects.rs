//! The file of refused lines. It is created with the first of them.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use imports::{Failure, Rejects};

pub struct RejectsFile {
    path: PathBuf,
    writer: Arc<Mutex<Option<BufWriter<File>>>>,
}

impl RejectsFile {
    pub fn new(path: PathBuf) -> Self {
        Self { path, writer: Arc::new(Mutex::new(None)) }
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

    /// Where the refused lines are, if there were any.
    pub fn finish(&self) -> Result<Option<String>, Failure> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut writer) = writer.take() else { return Ok(None) };
        writer.flush().map_err(unwritable)?;
        Ok(Some(self.path.display().to_string()))
    }
}

fn create(path: &Path, head: &[u8]) -> io::Result<BufWriter<File>> {
    let file =
        File::create(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let mut writer = BufWriter::new(file);
    writer.write_all(head)?;
    Ok(writer)
}

fn unwritable(error: io::Error) -> Failure {
    Failure::Io(format!("the lines went in, but the refused ones cannot be written: {error}"))
}
