//! Files that people bring in: what their beginning shows, and their import.

use std::{
    io::{self, BufWriter, Read, Write},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use domain::{
    StoreError,
    accounts::{Account, Platform},
    imports::{Changes, ImportStore, RowSummary, Target},
    uploads::{
        FileImporter, ImportFailure, Job, Kind, MAX_BYTES, Matched, Outcome, Preview, Reading, SAMPLE_BYTES, Unreadable,
    },
};

use super::{
    Audience, Counts, Failure, FileOptions, OrderOptions, Rejects, Report,
    columns::Columns,
    import_ad_spend, import_expenses, import_orders, import_products, import_stock,
    orders::OrderLines,
    others::{AdSpend, Expenses, Products, Stock},
    pipeline::{Cutter, MOST_COLUMNS},
    plain::{Limited, MAX_TEXT, TooLarge, plain},
    reason::Reason,
    records::RecordReader,
    sample::{find_delimiter, find_format, has_bare_returns, whole_lines},
    table::Table,
};

/// Records that are shown.
const SHOWN: usize = 8;

/// Imports files into a store.
#[derive(Clone)]
pub struct Files {
    pub store: Arc<dyn ImportStore>,
}

#[async_trait]
impl FileImporter for Files {
    fn preview(&self, account: &Account, kind: Kind, reading: &Reading, sample: &[u8]) -> Result<Preview, Unreadable> {
        let text = beginning(sample)?;
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
        let file = options(account, reading);
        match kind {
            Kind::Orders => preview::<OrderLines>(text, file),
            Kind::Products => preview::<Products>(text, file),
            Kind::Stock => preview::<Stock>(text, file),
            Kind::AdSpend => preview::<AdSpend>(text, file),
            Kind::Expenses => preview::<Expenses>(text, file),
        }
    }

    async fn import(&self, target: Target, account: &Account, job: Job) -> Result<Outcome, ImportFailure> {
        self.read(target, account, job).await.map_err(|failure| failed(failure, account))
    }
}

impl Files {
    async fn read(&self, target: Target, account: &Account, job: Job) -> Result<Outcome, Failure> {
        let Job { kind, reading, reader, rejects } = job;
        let (store, file, today) = (&*self.store, options(account, &reading), account.timezone.day_of(target.now));
        let reader = Limited::new(plain(reader)?, MAX_TEXT);
        let (written, sink) = sink(rejects, MAX_BYTES);
        let outcome = match kind {
            Kind::Orders => {
                let orders = OrderOptions {
                    source: reading.source.unwrap_or(Platform::Shopify),
                    cancellation_prefix: None,
                    non_products: vec![],
                    currency: account.currency,
                };
                let Report { read, result } = import_orders(store, target, file, orders, reader, sink).await?;
                outcome(read, &[result.orders, result.refunds], result.days_touched)
            }
            Kind::Products => rows(import_products(store, target, file, today, reader, sink).await?),
            Kind::Stock => rows(import_stock(store, target, file, today, reader, sink).await?),
            Kind::AdSpend => rows(import_ad_spend(store, target, file, reader, sink).await?),
            Kind::Expenses => rows(import_expenses(store, target, file, reader, sink).await?),
        };
        let flushed = written.lock().unwrap_or_else(PoisonError::into_inner).flush();
        flushed.map_err(|error| Failure::Rejects(format!("the refused lines cannot be written: {error}")))?;
        Ok(outcome)
    }
}

/// As the account's language says it.
fn failed(failure: Failure, account: &Account) -> ImportFailure {
    let of_file = |reason: &Reason| ImportFailure::File(reason.say(Audience::Page(account.locale)));
    match failure {
        Failure::Store(error) => ImportFailure::Store(error),
        Failure::File(reason) => of_file(&reason),
        Failure::Damaged(_) => of_file(&Reason::new("file-damaged")),
        // The file is on a disk of the service here.
        Failure::Io(why) => ImportFailure::Store(StoreError::Internal(why.into())),
        Failure::Rejects(why) => ImportFailure::Rejects(why),
        Failure::Usage(_) | Failure::UnknownAccount => ImportFailure::File(failure.to_string()),
    }
}

/// As the account implies and the person said. Files of shops that are no UTF-8 come from office programs, in Windows-1252.
fn options(account: &Account, reading: &Reading) -> FileOptions {
    let Reading { map, date_order, decimal_comma, source: _ } = reading.clone();
    FileOptions { map, date_order, decimal_comma, latin1: true, ..FileOptions::of(account) }
}

/// The text that a file begins with, up to the end of a line if it goes on.
fn beginning(sample: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let mut text = Vec::new();
    let reader = plain(io::Cursor::new(sample.to_vec())).map_err(|_| Unreadable::Spreadsheet)?;
    // A compressed sample ends anywhere, which is an error at its end only.
    let read = reader.take(SAMPLE_BYTES as u64).read_to_end(&mut text);
    match text.get(..2) {
        None if read.is_err() => return Err(Unreadable::Damaged),
        None => return Err(Unreadable::Empty),
        Some(b"\xFF\xFE" | b"\xFE\xFF") => return Err(Unreadable::Utf16),
        Some(_) => {}
    }
    let is_whole = sample.len() < SAMPLE_BYTES && text.len() < SAMPLE_BYTES;
    if !is_whole {
        text.truncate(whole_lines(&text).len());
    }
    Ok(text)
}

fn preview<T: Table>(text: &[u8], file: FileOptions) -> Result<Preview, Unreadable> {
    let delimiter = find_delimiter::<T>(text, &file).map_err(|_| Unreadable::NoTable)?;
    let mut cutter = Cutter::new(delimiter, file.latin1);
    let mut records = RecordReader::new(text, delimiter);
    let mut next = |cutter: &mut Cutter| -> Result<Option<Vec<String>>, Unreadable> {
        let Some(raw) = records.next().map_err(|_| Unreadable::NoTable)? else { return Ok(None) };
        Ok(Some(if cutter.cut(&raw).is_ok() { cutter.fields.texts().collect() } else { vec![] }))
    };
    let header = next(&mut cutter)?.ok_or(Unreadable::Empty)?;
    if header.is_empty() || header.len() > MOST_COLUMNS || has_bare_returns(text) {
        return Err(Unreadable::NoTable);
    }
    let mut rows = Vec::new();
    while rows.len() < SHOWN
        && let Some(row) = next(&mut cutter)?
    {
        rows.push(row);
    }
    // A column that was chosen and is not there is none.
    let columns = Columns::matched(&header, T::FIELDS, T::EXPORT, &file.map)
        .or_else(|_| Columns::matched(&header, T::FIELDS, T::EXPORT, &std::collections::BTreeMap::new()))
        .map_err(|_| Unreadable::NoTable)?;
    let fields: Vec<_> = T::FIELDS
        .iter()
        .zip(&columns.positions)
        .map(|(field, column)| Matched { field: field.name, is_required: field.required, column: *column })
        .collect();
    let is_complete = fields.iter().all(|field| !field.is_required || field.column.is_some());
    let has_ambiguous_dates = is_complete && find_format::<T>(text, &file, &mut cutter).is_err();
    Ok(Preview { header, rows, fields, has_ambiguous_dates })
}

type Shared = Arc<Mutex<BufWriter<Box<dyn Write + Send>>>>;

/// Writes refused lines behind their header, which the first of them brings: at most so many bytes. A small file could be packed of
/// which many times as much is refused, and all of it would be kept.
fn sink(rejects: Box<dyn Write + Send>, most: u64) -> (Shared, Rejects) {
    let writer = Arc::new(Mutex::new(BufWriter::new(rejects)));
    let (shared, mut is_begun, mut left) = (Arc::clone(&writer), false, most);
    let take: Rejects = Box::new(move |form, reject| {
        let mut lines = if std::mem::replace(&mut is_begun, true) { Vec::new() } else { form.head() };
        lines.extend(form.body(&reject));
        left = left.checked_sub(lines.len() as u64).ok_or_else(|| io::Error::other(TooLarge))?;
        shared.lock().unwrap_or_else(PoisonError::into_inner).write_all(&lines)
    });
    (writer, take)
}

fn rows(report: Report<RowSummary>) -> Outcome {
    let Report { read, result: RowSummary { rows, days_touched } } = report;
    outcome(read, &[rows], days_touched)
}

fn outcome(read: Counts, changes: &[Changes], days_touched: i64) -> Outcome {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let Counts { lines, accepted, rejected, skipped, ignored_columns } = read;
    let sum = |of: fn(&Changes) -> i64| changes.iter().map(of).sum();
    Outcome {
        lines: number(lines),
        accepted: number(accepted),
        rejected: number(rejected),
        skipped: number(skipped.values().sum()),
        new: sum(|changes| changes.new),
        changed: sum(|changes| changes.changed),
        unchanged: sum(|changes| changes.unchanged),
        days_touched,
        ignored_columns,
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, io::Write as _};

    use domain::{
        AccountId, UserId,
        accounts::{Mode, Plan},
        imports::DateOrder,
        language::Language,
        texts::Locale,
    };
    use rstest::rstest;
    use time::macros::datetime;

    use super::*;
    use crate::{
        Form, Refused,
        collect::{Collect, TARGET},
    };

    fn account() -> Account {
        Account {
            id: AccountId(1),
            user_id: UserId::generate(std::iter::repeat(1)),
            mode: Mode::Live,
            name: "Shop".to_owned(),
            plan: Plan::Free,
            currency: "EUR".parse().unwrap(),
            timezone: "Europe/Madrid".parse().unwrap(),
            holiday_country: None,
            locale: Locale::ENGLISH,
            created_at: datetime!(2026-01-01 0:00 UTC),
        }
    }

    #[test]
    fn the_beginning_shows_columns_rows_and_what_is_missing() {
        let text = "\u{feff}Name;SKU;Cosas;Fecha\nA1;MUG;2;2026-11-01\nA2;CUP;1;2026-11-02\n";
        let found = files().preview(&account(), Kind::Orders, &Reading::default(), text.as_bytes()).unwrap();
        assert_eq!(found.header, ["Name", "SKU", "Cosas", "Fecha"]);
        assert_eq!(found.rows, [["A1", "MUG", "2", "2026-11-01"], ["A2", "CUP", "1", "2026-11-02"]]);
        let column = |name: &str| found.fields.iter().find(|field| field.field == name).unwrap().column;
        assert_eq!((column("sku"), column("city")), (Some(1), None));
        assert!(found.missing().any(|field| field.field == "quantity"), "{:?}", found.fields);
        let map = [("quantity".to_owned(), "Cosas".to_owned())].into();
        let told = Reading { map, ..Reading::default() };
        let found = files().preview(&account(), Kind::Orders, &told, text.as_bytes()).unwrap();
        assert!(found.missing().all(|field| field.field != "quantity"), "{:?}", found.fields);
    }

    #[rstest]
    #[case(b"", Unreadable::Empty)]
    #[case(b"\x1F\x8B\x08\x00cut off", Unreadable::Damaged)]
    #[case(b"PK\x03\x04rest", Unreadable::Spreadsheet)]
    #[case(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1rest", Unreadable::Spreadsheet)]
    #[case(b"\xFF\xFEa\0", Unreadable::Utf16)]
    #[case(b"\"never closed", Unreadable::NoTable)]
    fn what_is_no_table_is_said(#[case] sample: &[u8], #[case] why: Unreadable) {
        assert_eq!(files().preview(&account(), Kind::Stock, &Reading::default(), sample), Err(why));
    }

    #[test]
    fn dates_that_can_be_read_in_two_ways_have_to_be_told() {
        let text = b"day,platform,spend\n01/02/2026,meta,3\n";
        let ambiguous = |date_order| {
            let reading = Reading { date_order, ..Reading::default() };
            files().preview(&account(), Kind::AdSpend, &reading, text).unwrap().has_ambiguous_dates
        };
        assert!(ambiguous(None) && !ambiguous(Some(DateOrder::DayMonthYear)));
    }

    #[test]
    fn a_compressed_file_is_shown_like_a_plain_one() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"sku,stock\nMUG,4\n").unwrap();
        let packed = packed.finish().unwrap();
        let found = files().preview(&account(), Kind::Stock, &Reading::default(), &packed).unwrap();
        assert_eq!(found.rows, [["MUG", "4"]]);
    }

    #[tokio::test]
    async fn an_import_counts_and_gives_refused_lines_back_in_the_form_of_the_file() {
        let rejects = Arc::new(Mutex::new(Vec::new()));
        let job = Job {
            kind: Kind::AdSpend,
            reading: Reading::default(),
            reader: Box::new(io::Cursor::new(b"date;platform;spend\n2026-11-01;meta;3\nnever;meta;4\n".to_vec())),
            rejects: Box::new(Kept(rejects.clone())),
        };
        let outcome = files().import(TARGET, &account(), job).await.unwrap();
        assert_eq!((outcome.lines, outcome.accepted, outcome.rejected), (2, 1, 1));
        let kept = String::from_utf8(rejects.lock().unwrap().clone()).unwrap();
        let lines: Vec<_> = kept.lines().collect();
        assert_eq!(lines.len(), 2, "{kept}");
        assert_eq!(lines[0], "date;platform;spend;rejected_line;rejected_reason");
        assert!(lines[1].starts_with("never;meta;4;3;"), "{kept}");
    }

    #[tokio::test]
    async fn who_brought_a_file_reads_in_their_language_which_column_is_wrong() {
        let account = Account { locale: Locale { language: Language::Spanish, region: None }, ..account() };
        let import = |text: &'static str| {
            let rejects = Arc::new(Mutex::new(Vec::new()));
            let job = Job {
                kind: Kind::AdSpend,
                reading: Reading::default(),
                reader: Box::new(io::Cursor::new(text)),
                rejects: Box::new(Kept(rejects.clone())),
            };
            let account = account.clone();
            async move { (files().import(TARGET, &account, job).await, rejects) }
        };
        let (_, rejects) = import("Fecha,Platform,Spend\n1/2/2026,meta,3\n13/2/2026,meta,1.2.3\n").await;
        let kept = String::from_utf8(rejects.lock().unwrap().clone()).unwrap();
        assert!(kept.contains("13/2/2026,meta,1.2.3,3,Spend no es un número"), "{kept}");
        let (failed, _) = import("Fecha,\"Platform\"x,Spend\n").await;
        let said = "la primera línea debe nombrar las columnas, pero hay texto después de unas comillas de cierre";
        assert_eq!(failed.unwrap_err().to_string(), said);
        let (failed, _) = import("Fecha,Platform,Spend\n1/2/2026,meta,3\n").await;
        assert_eq!(failed.unwrap_err().to_string(), "las fechas pueden ser día/mes o mes/día; indica cuál");
    }

    #[tokio::test]
    async fn what_unpacks_without_end_is_refused() {
        let job = Job {
            kind: Kind::Stock,
            reading: Reading::default(),
            reader: Box::new(b"sku,stock\n".chain(io::repeat(b'x').take(MAX_TEXT))),
            rejects: Box::new(io::sink()),
        };
        let failure = files().import(TARGET, &account(), job).await.unwrap_err();
        let said = "unpacked, the file is larger than 2 GB; split it, with all lines of an order in one part";
        assert!(matches!(&failure, ImportFailure::File(why) if why == said), "{failure}");
    }

    #[test]
    fn a_file_of_which_more_is_refused_than_can_be_kept_fails() {
        let form = Form { header: b"sku,stock".to_vec(), delimiter: b',', columns: 2, crlf: false };
        let (_, sink) = sink(Box::new(io::sink()), 150);
        let mut refused = Refused { form, sink, groups: HashMap::new(), audience: Audience::Command };
        let mut add = || refused.add(2, &Reason::new("refused-negative"), Some(b"MUG,-1".to_vec()));
        add().unwrap();
        let failure = std::iter::repeat_with(add).take(10).find_map(Result::err);
        assert!(matches!(failure, Some(Failure::File(_))), "{failure:?}");
    }

    #[tokio::test]
    async fn refused_lines_that_cannot_be_kept_when_the_others_are_in_are_told_apart() {
        let job = Job {
            kind: Kind::Stock,
            reading: Reading::default(),
            reader: Box::new(io::Cursor::new("sku,stock\nMUG,4\nCUP,many\n")),
            rejects: Box::new(Full),
        };
        let failure = files().import(TARGET, &account(), job).await.unwrap_err();
        assert!(matches!(&failure, ImportFailure::Rejects(_)), "{failure}");
    }

    #[tokio::test]
    async fn what_is_wrong_here_is_not_put_on_the_file() {
        let job = Job {
            kind: Kind::Stock,
            reading: Reading::default(),
            reader: Box::new(io::Cursor::new(format!("sku,stock\n{}", "CUP,many\n".repeat(10_000)))),
            rejects: Box::new(Full),
        };
        let failure = files().import(TARGET, &account(), job).await.unwrap_err();
        assert!(matches!(&failure, ImportFailure::Store(StoreError::Internal(_))), "{failure}");
    }

    #[tokio::test]
    async fn who_brought_a_damaged_file_is_told_so_in_their_language() {
        let account = Account { locale: Locale { language: Language::Spanish, region: None }, ..account() };
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"sku,stock\nMUG,4\n").unwrap();
        let mut cut = packed.finish().unwrap();
        cut.truncate(cut.len() - 4);
        let job = Job {
            kind: Kind::Stock,
            reading: Reading::default(),
            reader: Box::new(io::Cursor::new(cut)),
            rejects: Box::new(io::sink()),
        };
        let failure = files().import(TARGET, &account, job).await.unwrap_err();
        let said = "el archivo está dañado o incompleto; comprímelo de nuevo o súbelo sin comprimir";
        assert!(matches!(&failure, ImportFailure::File(why) if why == said), "{failure}");
    }

    /// A disk without room.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn files() -> Files {
        Files { store: Arc::new(Collect::default()) }
    }
}
