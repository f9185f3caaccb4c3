//! From bytes to the store: a thread reads and checks, a bounded channel holds a few batches, the store takes them.

use std::{
    collections::HashMap,
    future::Future,
    io::{self, Cursor, Read},
};

use domain::imports::{BrokenSource, ImportError, Rows};
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;

use super::{
    Counts, Failure, FileOptions, Rejects, Report,
    columns::Columns,
    fields::Fields,
    groups::Groups,
    reason::Reason,
    records::{RawRecord, RecordReader, TOO_LONG},
    rejects::{self, Form, Refused},
    sample::{self, find_delimiter, find_format},
    table::{Format, Record, Refusal, Table},
};

/// Records after which their rows are handed on.
const BATCH_RECORDS: u64 = 2_000;
/// Batches that wait for the store: what is read while it sends the ones before, some ten megabytes at most.
const BATCHES: usize = 16;

type Sender<T> = mpsc::Sender<Result<Vec<T>, BrokenSource>>;

/// Reads the file on a thread of its own while `import` takes its rows. Returns where further lines of it can be refused.
pub(super) async fn run<T: Table, S, F: Future<Output = Result<S, ImportError>>>(
    reader: impl Read + Send + 'static,
    file: FileOptions,
    table: T,
    rejects: Rejects,
    import: impl FnOnce(Rows<T::Row>) -> F,
) -> Result<(Report<S>, Refused), Failure> {
    let (sender, receiver) = mpsc::channel(BATCHES);
    let reading = tokio::task::spawn_blocking(move || {
        let read = read(reader, &file, table, rejects, &sender);
        if let Err(failure) = &read {
            // The store hears of it, so that it does not take the end of the stream for the end of the file.
            let _ = sender.blocking_send(Err(BrokenSource(failure.to_string())));
        }
        read
    });
    let rows = stream::unfold(receiver, async |mut receiver| receiver.recv().await.map(|batch| (batch, receiver)));
    let imported = import(rows.boxed()).await;
    // The reader knows best why it stopped; when the store stopped first, the reader just ends.
    let (read, refused) = reading.await.map_err(|error| Failure::Io(error.to_string()))??;
    Ok((Report { result: imported?, read }, refused))
}

fn read<T: Table>(
    mut reader: impl Read,
    file: &FileOptions,
    mut table: T,
    sink: Rejects,
    sender: &Sender<T::Row>,
) -> Result<(Counts, Refused), Failure> {
    let sample = sample::read(&mut reader)?;
    let start = if sample.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let text = sample.get(start..).unwrap_or_default();
    let delimiter = match file.delimiter {
        Some(delimiter) => delimiter,
        None => find_delimiter::<T>(text, file)?,
    };
    let mut cutter = Cutter::new(delimiter, file.latin1);
    let format = find_format::<T>(text, file, &mut cutter)?;
    let crlf = memchr::memchr(b'\n', text).is_some_and(|end| text.get(..end).is_some_and(|line| line.ends_with(b"\r")));
    let mark = sample.get(..start).unwrap_or_default().to_vec();
    let mut sample = Cursor::new(sample);
    sample.set_position(start as u64);
    let mut records = RecordReader::new(sample.chain(reader), delimiter);
    let (columns, first) = header::<T>(&mut records, file, &mut cutter)?;
    let header = [mark, first].concat();
    let form = Form { header, delimiter, columns: columns.names.len(), crlf };
    let mut refused = Refused { form, sink, groups: HashMap::new(), audience: file.audience };
    let mut groups = Groups::default();

    let ignored = columns.ignored.iter().filter(|name| !rejects::COLUMNS.contains(&name.as_str()));
    let mut counts = Counts { ignored_columns: ignored.cloned().collect(), ..Counts::default() };
    let mut rows = Vec::new();
    while let Some(raw) = records.next().map_err(unreadable)? {
        counts.lines += 1;
        let cut = cutter.cut(&raw);
        let outcome = match cut {
            Ok(()) => cutter.row(&raw, format, &columns, &mut table, &mut rows),
            Err(reason) => Err(Refusal::Reject(Reason::new(reason))),
        };
        if cut.is_err() && T::GROUP.is_some() {
            cutter.cut_roughly(&raw);
        }
        let group = T::GROUP.and_then(|field| columns.positions.get(field).copied()?);
        let group = group.and_then(|position| cutter.fields.get(position));
        match outcome {
            Ok(()) => match group.and_then(|group| groups.accept(&group, raw.line, raw.bytes)) {
                None => counts.accepted += 1,
                Some(wrong) => {
                    counts.rejected += 1;
                    refused.add(raw.line, &with(wrong), Some(raw.bytes.to_vec()))?;
                }
            },
            Err(Refusal::Skip(reason)) => *counts.skipped.entry(reason).or_default() += 1,
            Err(Refusal::Reject(reason)) => {
                if let Some(group) = group {
                    for (line, record) in groups.refuse(&group, raw.line) {
                        counts.accepted -= 1;
                        counts.rejected += 1;
                        refused.add(line, &with(raw.line), Some(record))?;
                    }
                    rows.extend(T::take_back(&group));
                }
                counts.rejected += 1;
                let record = (raw.fault != Some(TOO_LONG)).then(|| raw.bytes.to_vec());
                refused.add(raw.line, &reason, record)?;
            }
        }
        if counts.lines.is_multiple_of(BATCH_RECORDS) && sender.blocking_send(Ok(std::mem::take(&mut rows))).is_err() {
            // The store gave up and says why.
            return Ok((counts, refused));
        }
    }
    table.finish(&mut rows);
    let _ = sender.blocking_send(Ok(rows));
    refused.groups = groups.refused;
    Ok((counts, refused))
}

/// Why a sound line is refused.
fn with(wrong: u64) -> Reason {
    Reason::new("refused-with").with("line", wrong)
}

pub(super) fn unreadable(error: io::Error) -> Failure {
    Failure::Io(format!("the file cannot be read to its end: {error}"))
}

/// Columns of a file at most: several times what any shop's export has.
pub(super) const MOST_COLUMNS: usize = 500;

/// The columns that the first line names, and that line as it came.
pub(super) fn header<T: Table>(
    records: &mut RecordReader<impl Read>,
    file: &FileOptions,
    cutter: &mut Cutter,
) -> Result<(Columns, Vec<u8>), Failure> {
    let Some(raw) = records.next().map_err(unreadable)? else {
        return Err(Failure::File(Reason::new("file-empty")));
    };
    cutter.cut(&raw).map_err(|why| Failure::File(Reason::because("file-no-header", why)))?;
    if cutter.fields.len() > MOST_COLUMNS {
        let reason = Reason::new("file-columns").with("found", cutter.fields.len()).with("most", MOST_COLUMNS);
        return Err(Failure::File(reason));
    }
    let columns = Columns::find(&cutter.fields.texts().collect::<Vec<_>>(), T::FIELDS, &file.map)?;
    Ok((columns, raw.bytes.to_vec()))
}

/// Turns raw records into fields.
pub(super) struct Cutter {
    pub fields: Fields,
    pub delimiter: u8,
    latin1: bool,
}

impl Cutter {
    pub fn new(delimiter: u8, latin1: bool) -> Self {
        Self { fields: Fields::default(), delimiter, latin1 }
    }

    pub fn cut(&mut self, raw: &RawRecord<'_>) -> Result<(), &'static str> {
        if let Some(fault) = raw.fault {
            return Err(fault);
        }
        if memchr::memchr(0, raw.bytes).is_some() {
            return Err("refused-zero");
        }
        match std::str::from_utf8(raw.bytes) {
            Ok(text) => self.fields.split(text, self.delimiter),
            Err(_) if self.latin1 => {
                let text: String = raw.bytes.iter().copied().map(char::from).collect();
                self.fields.split(&text, self.delimiter)
            }
            Err(_) => Err("refused-not-utf-8"),
        }
    }

    /// Cuts a record that is refused, as far as that goes: it may still say what it belongs to.
    fn cut_roughly(&mut self, raw: &RawRecord<'_>) {
        if self.fields.split(&String::from_utf8_lossy(raw.bytes), self.delimiter).is_err() {
            self.fields = Fields::default();
        }
    }

    /// The rows of the record that was cut last.
    fn row<T: Table>(
        &self,
        raw: &RawRecord<'_>,
        format: Format,
        columns: &Columns,
        table: &mut T,
        rows: &mut Vec<T::Row>,
    ) -> Result<(), Refusal> {
        if self.fields.len() != columns.names.len() {
            let reason =
                Reason::new("refused-columns").with("found", self.fields.len()).with("expected", columns.names.len());
            return Err(Refusal::Reject(reason));
        }
        let record =
            Record { line: raw.line, bytes: raw.bytes, format, fields: &self.fields, columns, known: T::FIELDS };
        table.read(&record, rows)
    }
}
