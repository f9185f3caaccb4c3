//! From bytes to the store: a thread reads and checks, a bounded channel holds a few batches, the store takes them.

use std::{
    borrow::Cow,
    collections::HashMap,
    future::Future,
    io::{self, Cursor, Read},
};

use domain::imports::{BrokenSource, ImportError, MAX_ID_CHARS, Rows};
use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;

use super::{
    Counts, Failure, FileOptions, Rejects, Report,
    columns::Columns,
    fields::Fields,
    groups::Groups,
    plain::{MAX_TEXT, TooLarge},
    reason::Reason,
    records::{RawRecord, RecordReader, TOO_LONG},
    rejects::{self, Form, Refused},
    sample::{self, find_delimiter, find_format},
    table::{Format, Record, Refusal, Table},
};

/// Records after which their rows are handed on.
const BATCH_RECORDS: u64 = 2_000;
/// Bytes of these records at most, but for the last one: rows may keep the records that they are of.
const BATCH_BYTES: usize = 8 << 20;
/// Batches that wait for the store: what is read while it sends the ones before, a few megabytes of most files.
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
    let text = if (sample.len() as u64) < sample::SAMPLE_BYTES { text } else { sample::whole_lines(text) };
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

    // Spreadsheets add columns without a name.
    let ignored = columns.ignored.iter().filter(|name| !name.is_empty() && !rejects::COLUMNS.contains(&name.as_str()));
    let mut counts = Counts { ignored_columns: ignored.cloned().collect(), ..Counts::default() };
    let (mut rows, mut batch_bytes) = (Vec::new(), 0);
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
        let group = group.and_then(|position| cutter.fields.get(position)).filter(|group| may_be_id(group));
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
                    for (line, record) in groups.refuse(&group, raw.line)? {
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
        batch_bytes += raw.bytes.len();
        if counts.lines.is_multiple_of(BATCH_RECORDS) || batch_bytes >= BATCH_BYTES {
            batch_bytes = 0;
            if sender.blocking_send(Ok(std::mem::take(&mut rows))).is_err() {
                // The store gave up and says why.
                return Ok((counts, refused));
            }
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

/// Whether records may belong together by it. Of what is longer than an identifier may be, none is taken anyway.
fn may_be_id(group: &str) -> bool {
    group.len() <= MAX_ID_CHARS || group.chars().count() <= MAX_ID_CHARS
}

pub(super) fn unreadable(error: io::Error) -> Failure {
    if TooLarge::is_in(&error) {
        return Failure::File(Reason::new("file-too-large").with("most", MAX_TEXT >> 30));
    }
    let text = format!("the file cannot be read to its end: {error}");
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Failure::Damaged(text)
        }
        _ => Failure::Io(text),
    }
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
    let columns = Columns::find(&cutter.fields.texts().collect::<Vec<_>>(), T::FIELDS, T::EXPORT, &file.map)?;
    Ok((columns, raw.bytes.to_vec()))
}

/// What Windows-1252 has from 0x80 on, where ISO 8859-1 has control characters; those that it leaves free stay what they are.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// A character of an office program. What it says is ISO 8859-1 is Windows-1252.
fn windows_1252(byte: u8) -> char {
    let special = byte.checked_sub(0x80).and_then(|at| WINDOWS_1252.get(usize::from(at)).copied());
    special.unwrap_or(char::from(byte))
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
        let text = self.text(raw.bytes).ok_or("refused-not-utf-8")?;
        self.fields.split(&text, self.delimiter)
    }

    fn text<'a>(&self, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Some(Cow::Borrowed(text)),
            Err(_) if self.latin1 => Some(bytes.iter().copied().map(windows_1252).collect()),
            Err(_) => None,
        }
    }

    /// Cuts a record that is refused, up to what is wrong: it may still say what it belongs to.
    fn cut_roughly(&mut self, raw: &RawRecord<'_>) {
        let text = self.text(raw.bytes).unwrap_or_else(|| String::from_utf8_lossy(raw.bytes));
        let is_cut = self.fields.split(&text, self.delimiter).is_ok();
        // The beginning of a field might pass for the whole.
        if is_cut && raw.fault == Some(TOO_LONG) {
            self.fields.drop_last();
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

#[cfg(test)]
mod tests {
    use domain::imports::{FileDocument, StockRow};
    use time::macros::date;

    use super::*;
    use crate::{
        collect::{TARGET, file, order_options, rejects},
        orders::OrderLines,
        others::Stock,
        records::MAX_RECORD,
    };

    #[tokio::test]
    async fn a_batch_of_long_records_ends_early() {
        let line = format!("MUG,1,{}\n", "x".repeat(900_000));
        let data = Cursor::new(format!("sku,stock,note\n{}", line.repeat(30)));
        let stock = Stock::new(&file(), date!(2026 - 04 - 01), TARGET.now);
        let sizes = |mut rows: Rows<StockRow>| async move {
            let mut sizes = Vec::new();
            while let Some(batch) = rows.next().await {
                sizes.push(batch?.iter().map(|row| row.record.len()).sum::<usize>());
            }
            Ok::<_, ImportError>(sizes)
        };
        let (report, _) = run(data, file(), stock, rejects().1, sizes).await.unwrap();
        assert!(report.result.iter().all(|bytes| *bytes < BATCH_BYTES + MAX_RECORD), "{:?}", report.result);
        assert_eq!((report.read.accepted, report.result.iter().sum::<usize>()), (30, 30 * (line.len() - 1)));
    }

    #[tokio::test]
    async fn what_is_too_long_for_the_number_of_an_order_is_not_remembered() {
        let long = "x".repeat(MAX_ID_CHARS + 1);
        let data = format!("order_id,sku,quantity,date,price\n{long},A,1,2026-01-02,2\n1,A,one,2026-01-02,2\n");
        let orders = OrderLines::new(&file(), order_options(None), TARGET.now);
        let count = |mut rows: Rows<FileDocument>| async move {
            let mut count = 0;
            while let Some(batch) = rows.next().await {
                count += batch?.len();
            }
            Ok::<_, ImportError>(count)
        };
        let (report, refused) = run(Cursor::new(data), file(), orders, rejects().1, count).await.unwrap();
        assert_eq!((report.read.rejected, report.result), (2, 1), "the order that is taken back");
        assert_eq!(refused.groups.into_keys().collect::<Vec<_>>(), ["1"]);
    }

    #[test]
    fn bytes_of_office_programs_are_characters() {
        let read: String = b"caf\xE9 \x80\x93\x94\x9F\x81~".iter().copied().map(windows_1252).collect();
        assert_eq!(read, "caf\u{e9} \u{20ac}\u{201c}\u{201d}\u{178}\u{81}~");
    }
}
