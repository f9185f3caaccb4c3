//! Tables on disk: comma separated, the first line names the columns, in any order and spelled in any case.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use csv::StringRecord;
use flate2::read::GzDecoder;

/// A table that is being read.
pub struct Table {
    path: PathBuf,
    header: StringRecord,
    reader: csv::Reader<Box<dyn Read>>,
}

impl Table {
    /// Opens a file, packed if its name ends in `.gz`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let name = || path.display().to_string();
        let file = File::open(path).with_context(name)?;
        let packed = path.extension().is_some_and(|extension| extension == "gz");
        let input: Box<dyn Read> = if packed { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(input);
        let header = reader.headers().with_context(name)?.clone();
        Ok(Self { path: path.to_owned(), header, reader })
    }

    /// Names of the columns as the file has them.
    pub fn header(&self) -> &StringRecord {
        &self.header
    }

    /// Place of a column.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn column(&self, name: &str) -> anyhow::Result<usize> {
        let found = self.header.iter().position(|column| column.eq_ignore_ascii_case(name));
        found.with_context(|| {
            let columns: Vec<&str> = self.header.iter().filter(|column| !column.is_empty()).take(12).collect();
            let columns = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
            format!("{}: no column {name}; its columns are: {columns}", self.path.display())
        })
    }

    /// Passes every row to `take`. Errors name the row and the file.
    ///
    /// # Errors
    /// When the file is truncated or not a table, or `take` fails.
    pub fn each(mut self, mut take: impl FnMut(&StringRecord) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let path = self.path.display().to_string();
        let mut row = StringRecord::new();
        while self.reader.read_record(&mut row).with_context(|| path.clone())? {
            let line = row.position().map_or(0, csv::Position::line);
            take(&row).with_context(|| format!("{path}, line {line}"))?;
        }
        Ok(())
    }
}
