//! Infers the form of a file (delimiter, order of dates, decimal mark) from its beginning, where the caller does not state it.

use std::io::Read;

use super::{
    DateOrder, Failure, FileOptions,
    columns::Columns,
    dates,
    numbers::{self, DecimalMark},
    pipeline::{Cutter, header, unreadable},
    reason::Reason,
    records::RecordReader,
    rejects,
    table::{Format, Table},
};

/// Bytes that are looked at.
pub(super) const SAMPLE_BYTES: u64 = 4 << 20;
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The first bytes of the file, with a byte order mark if there is one.
pub(super) fn read(reader: &mut impl Read) -> Result<Vec<u8>, Failure> {
    let mut sample = Vec::new();
    reader.take(SAMPLE_BYTES).read_to_end(&mut sample).map_err(unreadable)?;
    match sample.get(..2) {
        Some(b"\xFF\xFE" | b"\xFE\xFF") => Err(Failure::File(Reason::new("file-utf-16"))),
        _ if has_bare_returns(&sample) => Err(Failure::File(Reason::new("file-bare-returns"))),
        _ => Ok(sample),
    }
}

/// The lines that are there as a whole, of a text that goes on: a part of a number may look like another one.
pub(super) fn whole_lines(text: &[u8]) -> &[u8] {
    memchr::memrchr(b'\n', text).and_then(|end| text.get(..=end)).unwrap_or(text)
}

/// Whether lines end with CR alone, as old Macs wrote them: all of the file would be its first line.
pub(super) fn has_bare_returns(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    memchr::memchr(b'\r', text).is_some() && memchr::memchr(b'\n', text).is_none()
}

/// The candidate by which the first line names the columns that the file must have, and by which the most records have as
/// many columns as the first line.
pub(super) fn find_delimiter<T: Table>(text: &[u8], file: &FileOptions) -> Result<u8, Failure> {
    let mut best = ((false, 0, 1), b',');
    for delimiter in DELIMITERS {
        let shape = shape::<T>(text, file, delimiter)?;
        if shape > best.0 && shape.2 > 1 {
            best = (shape, delimiter);
        }
    }
    Ok(best.1)
}

/// Whether the first line names what it must, how many records are cut like it, and into how many columns.
fn shape<T: Table>(text: &[u8], file: &FileOptions, delimiter: u8) -> Result<(bool, u64, usize), Failure> {
    let mut cutter = Cutter::new(delimiter, file.latin1);
    let mut records = RecordReader::new(text, delimiter);
    let Some(first) = records.next().map_err(unreadable)? else { return Ok((false, 0, 0)) };
    if cutter.cut(&first).is_err() {
        return Ok((false, 0, 0));
    }
    let columns = cutter.fields.len();
    let header = cutter.fields.texts().collect::<Vec<_>>();
    let is_named = Columns::find(&header, T::FIELDS, T::EXPORT, &file.map).is_ok();
    let mut alike = 0;
    while let Some(raw) = records.next().map_err(unreadable)? {
        alike += u64::from(cutter.cut(&raw).is_ok() && cutter.fields.len() == columns);
    }
    Ok((is_named, alike, columns))
}

/// How dates and numbers are to be read: as the caller says, else as most of the sample can only be read. Refused lines that come
/// back show nothing: the file that they are from may have shown otherwise, and what they are refused for may be uncorrected.
pub(super) fn find_format<T: Table>(text: &[u8], file: &FileOptions, cutter: &mut Cutter) -> Result<Format, Failure> {
    let mut records = RecordReader::new(text, cutter.delimiter);
    let (columns, _) = header::<T>(&mut records, file, cutter)?;
    let (mut dates, mut decimals) = (DateEvidence::default(), Vec::new());
    while let Some(raw) = records.next().map_err(unreadable)? {
        if cutter.cut(&raw).is_err() || cutter.fields.len() != columns.names.len() {
            continue;
        }
        let text = |field: usize| cutter.fields.get((*columns.positions.get(field)?)?);
        if let Some(date) = T::DATE.and_then(text) {
            dates.note(&date);
        }
        for mark in T::NUMBERS.iter().filter_map(|field| numbers::evidence(&text(*field)?)) {
            if !decimals.contains(&mark) {
                decimals.push(mark);
            }
        }
    }
    let [line, _] = rejects::COLUMNS;
    let are_refused = columns.names.iter().any(|name| name == line);
    let date_order = match file.date_order {
        Some(order) => Some(order),
        None if are_refused => dates.undecided()?,
        None => dates.order()?,
    };
    let decimal_mark = match decimals.as_slice() {
        _ if file.decimal_comma => DecimalMark::Comma,
        _ if are_refused => DecimalMark::Either,
        // Where prices have no three decimals, `12.990` will be twelve thousand.
        [] if T::AMOUNTS && file.currency.exponent() < 3 => DecimalMark::Either,
        [] => DecimalMark::PerhapsPoint,
        [DecimalMark::Point] => DecimalMark::Point,
        [DecimalMark::Comma] => DecimalMark::Comma,
        _ => DecimalMark::Either,
    };
    Ok(Format { date_order, decimal_mark })
}

/// Dates of a sample, by how they can be read.
#[derive(Debug, Default)]
struct DateEvidence {
    first: Option<DateOrder>,
    day_first: u64,
    month_first: u64,
    is_ambiguous: bool,
}

impl DateEvidence {
    fn note(&mut self, text: &str) {
        match dates::evidence(text) {
            Some(order) => {
                self.first.get_or_insert(order);
                self.day_first += u64::from(order == DateOrder::DayMonthYear);
                self.month_first += u64::from(order == DateOrder::MonthDayYear);
            }
            None => self.is_ambiguous |= dates::is_ambiguous(text),
        }
    }

    /// The order that most of the dates show which can be read in one way only, and that of the first where there are as
    /// many of both. The others are refused later on.
    fn order(&self) -> Result<Option<DateOrder>, Failure> {
        match self.day_first.cmp(&self.month_first) {
            std::cmp::Ordering::Greater => Ok(Some(DateOrder::DayMonthYear)),
            std::cmp::Ordering::Less => Ok(Some(DateOrder::MonthDayYear)),
            std::cmp::Ordering::Equal if self.first.is_none() => self.undecided(),
            std::cmp::Ordering::Equal => Ok(self.first),
        }
    }

    /// No order, where no date needs one.
    fn undecided(&self) -> Result<Option<DateOrder>, Failure> {
        if self.is_ambiguous { Err(Failure::File(Reason::new("file-undecided"))) } else { Ok(None) }
    }
}
