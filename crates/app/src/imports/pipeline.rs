//! From bytes to the store: a thread reads and checks, a bounded channel holds a few batches, the store takes them.

use std::{
    future::Future,
    io::{self, Cursor, Read},
};

use domain::imports::{BrokenSource, ImportError, Rows};
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;

use super::{
    Counts, DateOrder, Failure, FileOptions, Reject, Rejects, Report,
    columns::Columns,
    dates,
    fields::Fields,
    records::{RawRecord, RecordReader},
    table::{Format, Record, Refusal, Table},
};

/// Bytes of the file's beginning that tell its delimiter and the order of its dates.
const SAMPLE_BYTES: u64 = 4 << 20;
/// Records after which their rows are handed on.
const BATCH_RECORDS: u64 = 2_000;
/// Batches that wait for the store: what is read while it sends the ones before, some ten megabytes at most.
const BATCHES: usize = 16;

type Sender<T> = mpsc::Sender<Result<Vec<T>, BrokenSource>>;

/// Reads the file on a thread of its own while `import` takes its rows.
pub(super) async fn run<T: Table, S, F: Future<Output = Result<S, ImportError>>>(
    reader: impl Read + Send + 'static,
    file: FileOptions,
    table: T,
    rejects: Rejects,
    import: impl FnOnce(Rows<T::Row>) -> F,
) -> Result<Report<S>, Failure> {
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
    let read = reading.await.map_err(|error| Failure::Io(error.to_string()))??;
    Ok(Report { result: imported?, read })
}

fn read<T: Table>(
    mut reader: impl Read,
    file: &FileOptions,
    mut table: T,
    mut rejects: Rejects,
    sender: &Sender<T::Row>,
) -> Result<Counts, Failure> {
    let sample = sample(&mut reader)?;
    let start = if sample.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
    let text = sample.get(start..).unwrap_or_default();
    let delimiter = file.delimiter.unwrap_or_else(|| find_delimiter(text));
    let mut cutter = Cutter { fields: Fields::default(), delimiter, latin1: file.latin1 };

    let mut format = Format::of(file);
    if let (None, Some(date)) = (format.date_order, T::DATE) {
        format.date_order = find_date_order::<T>(text, file, &mut cutter, date)?;
    }
    let mut sample = Cursor::new(sample);
    sample.set_position(start as u64);
    let mut records = RecordReader::new(sample.chain(reader), delimiter);
    let columns = header::<T>(&mut records, file, &mut cutter)?;

    let mut counts = Counts { ignored_columns: columns.ignored.clone(), ..Counts::default() };
    let mut rows = Vec::new();
    while let Some(raw) = records.next().map_err(unreadable)? {
        counts.lines += 1;
        match cutter.row(&raw, format, &columns, &mut table, &mut rows) {
            Ok(()) => counts.accepted += 1,
            Err(Refusal::Skip(reason)) => *counts.skipped.entry(reason).or_default() += 1,
            Err(Refusal::Reject(reason)) => {
                counts.rejected += 1;
                let record = String::from_utf8_lossy(raw.bytes).into_owned();
                rejects(Reject { line: raw.line, reason, record })
                    .map_err(|error| Failure::Io(format!("the refused lines cannot be written: {error}")))?;
            }
        }
        if counts.lines.is_multiple_of(BATCH_RECORDS) && sender.blocking_send(Ok(std::mem::take(&mut rows))).is_err() {
            // The store gave up and says why.
            return Ok(counts);
        }
    }
    table.finish(&mut rows);
    let _ = sender.blocking_send(Ok(rows));
    Ok(counts)
}

fn unreadable(error: io::Error) -> Failure {
    Failure::Io(format!("the file cannot be read to its end: {error}"))
}

fn sample(reader: &mut impl Read) -> Result<Vec<u8>, Failure> {
    let mut sample = Vec::new();
    reader.take(SAMPLE_BYTES).read_to_end(&mut sample).map_err(unreadable)?;
    match sample.get(..2) {
        Some(b"\xFF\xFE" | b"\xFE\xFF") => Err(Failure::Usage("the file is UTF-16; save it as UTF-8".to_owned())),
        _ => Ok(sample),
    }
}

/// The candidate that the first line has most of.
fn find_delimiter(text: &[u8]) -> u8 {
    let line = text.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let count = |delimiter: &u8| line.iter().filter(|byte| *byte == delimiter).count();
    let mut best = b',';
    for delimiter in [b';', b'\t', b'|'] {
        if count(&delimiter) > count(&best) {
            best = delimiter;
        }
    }
    best
}

fn header<T: Table>(
    records: &mut RecordReader<impl Read>,
    file: &FileOptions,
    cutter: &mut Cutter,
) -> Result<Columns, Failure> {
    let Some(raw) = records.next().map_err(unreadable)? else {
        return Err(Failure::Usage("the file is empty; its first line must name the columns".to_owned()));
    };
    cutter.cut(&raw).map_err(|reason| Failure::Usage(format!("the first line must name the columns, but {reason}")))?;
    Columns::find(&cutter.fields.texts().collect::<Vec<_>>(), T::FIELDS, &file.map)
}

/// The order that the first date shows that can be read in one way only. Later ones that contradict it are refused.
fn find_date_order<T: Table>(
    text: &[u8],
    file: &FileOptions,
    cutter: &mut Cutter,
    date: usize,
) -> Result<Option<DateOrder>, Failure> {
    let mut records = RecordReader::new(text, cutter.delimiter);
    let columns = header::<T>(&mut records, file, cutter)?;
    let Some(Some(position)) = columns.positions.get(date).copied() else { return Ok(None) };
    let mut is_ambiguous = false;
    while let Some(raw) = records.next().map_err(unreadable)? {
        if cutter.cut(&raw).is_err() {
            continue;
        }
        let Some(text) = cutter.fields.get(position) else { continue };
        if let Some(order) = dates::evidence(&text) {
            return Ok(Some(order));
        }
        is_ambiguous |=
            dates::moment(&text, None).is_err() && dates::moment(&text, Some(DateOrder::DayMonthYear)).is_ok();
        if !is_ambiguous && dates::moment(&text, None).is_ok() {
            // The year comes first.
            return Ok(None);
        }
    }
    if is_ambiguous {
        return Err(Failure::Usage(
            "the dates can be read as day/month and as month/day; say which with --date-format dmy or mdy".to_owned(),
        ));
    }
    Ok(None)
}

/// Turns raw records into fields.
struct Cutter {
    fields: Fields,
    delimiter: u8,
    latin1: bool,
}

impl Cutter {
    fn cut(&mut self, raw: &RawRecord<'_>) -> Result<(), &'static str> {
        if let Some(fault) = raw.fault {
            return Err(fault);
        }
        if memchr::memchr(0, raw.bytes).is_some() {
            return Err("it holds the character U+0000");
        }
        match std::str::from_utf8(raw.bytes) {
            Ok(text) => self.fields.split(text, self.delimiter),
            Err(_) if self.latin1 => {
                let text: String = raw.bytes.iter().copied().map(char::from).collect();
                self.fields.split(&text, self.delimiter)
            }
            Err(_) => Err("it is not UTF-8; try --latin1"),
        }
    }

    fn row<T: Table>(
        &mut self,
        raw: &RawRecord<'_>,
        format: Format,
        columns: &Columns,
        table: &mut T,
        rows: &mut Vec<T::Row>,
    ) -> Result<(), Refusal> {
        self.cut(raw).map_err(|reason| Refusal::Reject(reason.to_owned()))?;
        if self.fields.len() != columns.count {
            return Err(Refusal::Reject(format!("it has {} columns instead of {}", self.fields.len(), columns.count)));
        }
        let record = Record { line: raw.line, format, fields: &self.fields, columns, known: T::FIELDS };
        table.read(&record, rows)
    }
}
