//! The file of refused lines. It comes to be with the first of them.

use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use app::imports::{Failure, Reject, Rejects};
use domain::imports::StockRow;

pub struct RejectsFile {
    path: PathBuf,
    writer: Arc<Mutex<Option<csv::Writer<File>>>>,
}

impl RejectsFile {
    pub fn new(path: PathBuf) -> Self {
        Self { path, writer: Arc::new(Mutex::new(None)) }
    }

    /// Takes refused lines while the file is read.
    pub fn sink(&self) -> Rejects {
        let (path, writer) = (self.path.clone(), Arc::clone(&self.writer));
        Box::new(move |reject| {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            let writer = match &mut *writer {
                Some(writer) => writer,
                none => none.insert(create(&path)?),
            };
            let Reject { line, reason, record } = reject;
            Ok(writer.write_record([line.to_string(), reason, record])?)
        })
    }

    /// Adds the stock rows that no product was found for; their text is put together again.
    pub fn add_unknown(&self, rows: &[StockRow]) -> Result<(), Failure> {
        let mut sink = self.sink();
        for StockRow { line, sku, stock, day } in rows {
            let reject = Reject {
                line: *line,
                reason: "no product has this sku".to_owned(),
                record: format!("{sku},{stock},{day}"),
            };
            sink(reject).map_err(unwritable)?;
        }
        Ok(())
    }

    /// Where the refused lines are, if there were any.
    pub fn finish(&self) -> Result<Option<String>, Failure> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut writer) = writer.take() else { return Ok(None) };
        writer.flush().map_err(unwritable)?;
        Ok(Some(self.path.display().to_string()))
    }
}

fn create(path: &PathBuf) -> io::Result<csv::Writer<File>> {
    let file =
        File::create(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(["line_number", "reason", "record"])?;
    Ok(writer)
}

fn unwritable(error: io::Error) -> Failure {
    Failure::Io(format!("the lines went in, but the refused ones cannot be written: {error}"))
}
