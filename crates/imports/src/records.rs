//! Cuts a stream of bytes into CSV records (RFC 4180, any delimiter) with bounded memory.
//!
//! A quote that is never closed would swallow the rest of the file, and a line without end the memory. Such a record
//! is given up: its first line is reported and reading goes on with the next one.

use std::io::{self, Read};

/// Bytes of the longest record.
pub(super) const MAX_RECORD: usize = 1 << 20;
/// Lines that a record with quoted line breaks may span. Also bounds how often a byte is looked at again.
const MAX_LINES: usize = 100;
/// Bytes that are kept of a line that is too long.
const KEPT: usize = 1_000;
/// The fault of a line of which only the beginning is kept.
pub(super) const TOO_LONG: &str = "refused-too-long";
const READ_BYTES: usize = 1 << 18;

/// A record, or the first line of one that is none.
pub(super) struct RawRecord<'a> {
    /// Number of its first line, from 1.
    pub line: u64,
    /// Without the line break.
    pub bytes: &'a [u8],
    pub fault: Option<&'static str>,
}

pub(super) struct RecordReader<R> {
    reader: R,
    delimiter: u8,
    buffer: Vec<u8>,
    /// The bytes not yet returned are `buffer[start..]`.
    start: usize,
    at_end: bool,
    line: u64,
    /// The rest of the current line belongs to one that was given up.
    skipping: bool,
}

/// Where a record ends.
enum End {
    /// Its length, the bytes to the next record, and its line breaks.
    At { length: usize, next: usize, breaks: u64 },
    /// Not in sight; `open` inside quotes. `is_final` where reading on would not help.
    Beyond { open: bool, is_final: bool },
}

impl<R: Read> RecordReader<R> {
    pub fn new(reader: R, delimiter: u8) -> Self {
        Self { reader, delimiter, buffer: Vec::new(), start: 0, at_end: false, line: 1, skipping: false }
    }

    /// The next record; lines that say nothing are passed over.
    pub fn next(&mut self) -> io::Result<Option<RawRecord<'_>>> {
        loop {
            if self.skipping && !self.skip_line()? {
                return Ok(None);
            }
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            if rest.is_empty() {
                if !self.fill()? {
                    return Ok(None);
                }
                continue;
            }
            match find_end(rest, self.delimiter) {
                End::At { length, next, breaks } => {
                    if let Some(found) = self.take(length, next, breaks, None) {
                        return Ok(Some(self.record(found)));
                    }
                }
                End::Beyond { open, is_final } => {
                    if !is_final && rest.len() <= MAX_RECORD && self.fill()? {
                        continue;
                    }
                    if let Some(found) = self.give_up(open) {
                        return Ok(Some(self.record(found)));
                    }
                }
            }
        }
    }

    /// Takes the last record of the file, or reports the first line of one that does not end in time.
    fn give_up(&mut self, open: bool) -> Option<Found> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        let length = rest.len();
        match memchr::memchr(b'\n', rest) {
            Some(at) if open => self.take(at, at + 1, 1, Some("refused-open-quote")),
            _ if length > MAX_RECORD => {
                self.skipping = true;
                let found = Found { line: self.line, start: self.start, length: KEPT, fault: Some(TOO_LONG) };
                self.start += length;
                Some(found)
            }
            _ => self.take(length, length, 0, open.then_some("refused-open-quote")),
        }
    }

    /// Moves past a record. `None` when it says nothing: spreadsheets fill empty rows up with delimiters, and name the
    /// delimiter in front of the header.
    fn take(&mut self, length: usize, next: usize, breaks: u64, fault: Option<&'static str>) -> Option<Found> {
        let found = Found { line: self.line, start: self.start, length, fault };
        self.start += next;
        self.line += breaks;
        let bytes = self.bytes(&found);
        let is_empty = bytes.iter().all(|byte| *byte == self.delimiter || byte.is_ascii_whitespace());
        (!is_empty && (found.line > 1 || !is_separator(bytes))).then_some(found)
    }

    fn bytes(&self, found: &Found) -> &[u8] {
        let bytes = self.buffer.get(found.start..found.start + found.length).unwrap_or_default();
        bytes.strip_suffix(b"\r").unwrap_or(bytes)
    }

    fn record(&self, found: Found) -> RawRecord<'_> {
        RawRecord { line: found.line, bytes: self.bytes(&found), fault: found.fault }
    }

    /// Passes over the rest of the line; false at the end of the file.
    fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', rest) {
                self.start += at + 1;
                self.line += 1;
                self.skipping = false;
                return Ok(true);
            }
            self.start = self.buffer.len();
            if !self.fill()? {
                return Ok(false);
            }
        }
    }

    /// Reads more behind what is left; false when there is no more.
    fn fill(&mut self) -> io::Result<bool> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let read = (&mut self.reader).take(READ_BYTES as u64).read_to_end(&mut self.buffer)?;
        self.at_end = read == 0;
        Ok(read > 0)
    }
}

/// Whether a line only tells spreadsheets the delimiter: `sep=;`.
fn is_separator(line: &[u8]) -> bool {
    line.len() == 5 && line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"sep="))
}

/// A record's place in the buffer.
struct Found {
    line: u64,
    start: usize,
    length: usize,
    fault: Option<&'static str>,
}

fn find_end(rest: &[u8], delimiter: u8) -> End {
    let first_break = memchr::memchr(b'\n', rest);
    let first_line = rest.get(..first_break.unwrap_or(rest.len())).unwrap_or_default();
    match (first_break, memchr::memchr(b'"', first_line)) {
        (Some(at), None) => End::At { length: at, next: at + 1, breaks: 1 },
        (None, None) => End::Beyond { open: false, is_final: false },
        (_, Some(_)) => find_quoted_end(rest, delimiter),
    }
}

/// The state of the parser after the bytes so far.
#[derive(Clone, Copy, PartialEq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote within quotes: the end of the field, or the first half of an escaped quote.
    Quote,
}

/// A quote opens a field only at its beginning.
fn find_quoted_end(rest: &[u8], delimiter: u8) -> End {
    let (mut state, mut breaks) = (State::FieldStart, 0);
    for (at, byte) in rest.iter().enumerate() {
        state = match (state, byte) {
            (State::Quoted, b'"') => State::Quote,
            (State::Quoted, b'\n') => {
                breaks += 1;
                if breaks >= MAX_LINES {
                    return End::Beyond { open: true, is_final: true };
                }
                State::Quoted
            }
            (State::Quoted, _) | (State::FieldStart | State::Quote, b'"') => State::Quoted,
            (_, b'\n') => return End::At { length: at, next: at + 1, breaks: breaks as u64 + 1 },
            (_, byte) if *byte == delimiter => State::FieldStart,
            // It opens a field of a line further down: what was open until here was never closed, and these lines are records.
            (State::Quote, byte) if breaks > 0 && *byte != b'\r' => return End::Beyond { open: true, is_final: true },
            _ => State::Plain,
        };
    }
    End::Beyond { open: state == State::Quoted, is_final: false }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// (line, text, fault) of every record.
    fn read(data: impl Read) -> Vec<(u64, String, Option<&'static str>)> {
        let mut reader = RecordReader::new(data, b',');
        let mut records = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            records.push((record.line, String::from_utf8_lossy(record.bytes).into_owned(), record.fault));
        }
        records
    }

    const OPEN: Option<&str> = Some("refused-open-quote");

    #[rstest]
    #[case("a,b\n1,2\n", vec![(1, "a,b", None), (2, "1,2", None)])]
    #[case("a,b\r\n\r\n1,2", vec![(1, "a,b", None), (3, "1,2", None)])]
    #[case("\"a\nb\",c\nd\n", vec![(1, "\"a\nb\",c", None), (3, "d", None)])]
    #[case("\"a\"\"\n\",c\nd", vec![(1, "\"a\"\"\n\",c", None), (3, "d", None)])]
    #[case("5\" nail,1\nd", vec![(1, "5\" nail,1", None), (2, "d", None)])]
    #[case("a,\"b\nc\nd\n", vec![(1, "a,\"b", OPEN), (2, "c", None), (3, "d", None)])]
    #[case("a,\"b", vec![(1, "a,\"b", OPEN)])]
    #[case("a,\"b\nc,\"d\"\ne\n", vec![(1, "a,\"b", OPEN), (2, "c,\"d\"", None), (3, "e", None)])]
    #[case("a,\"b\nc\"\r\nd\n", vec![(1, "a,\"b\nc\"", None), (3, "d", None)])]
    #[case("", vec![])]
    #[case("\n\n", vec![])]
    #[case(",,\na,b\n,\r\n , ,\n,c\n", vec![(2, "a,b", None), (5, ",c", None)])]
    #[case("sep=,\r\na,b\nsep=;\n", vec![(2, "a,b", None), (3, "sep=;", None)])]
    fn cuts_records(#[case] data: &str, #[case] expected: Vec<(u64, &str, Option<&'static str>)>) {
        let expected: Vec<_> = expected.into_iter().map(|(line, text, fault)| (line, text.to_owned(), fault)).collect();
        assert_eq!(read(data.as_bytes()), expected);
    }

    #[test]
    fn a_quote_that_stays_open_for_too_many_lines_costs_one_line() {
        let data = format!("x,\"y\n{}z\n", "1,2\n".repeat(500));
        let records = read(data.as_bytes());
        assert_eq!(records[0], (1, "x,\"y".to_owned(), OPEN));
        assert_eq!(records.len(), 502);
        assert_eq!(records[501], (502, "z".to_owned(), None));
    }

    #[test]
    fn a_line_of_64_megabytes_is_cut_short_and_passed_over() {
        let data = b"a,b\n".chain(io::repeat(b'x').take(1 << 26)).chain(b"\n1,2\n".as_slice());
        let mut reader = RecordReader::new(data, b',');
        reader.next().unwrap().unwrap();
        let long = reader.next().unwrap().unwrap();
        assert_eq!((long.line, long.bytes.len(), long.fault), (2, KEPT, Some("refused-too-long")));
        let last = reader.next().unwrap().unwrap();
        assert_eq!((last.line, last.bytes), (3, b"1,2".as_slice()));
        assert!(reader.next().unwrap().is_none());
        assert!(reader.buffer.capacity() < 4 * MAX_RECORD, "{}", reader.buffer.capacity());
    }

    proptest! {
        /// Every byte is looked at and none is lost: lines without quotes come out one by one.
        #[test]
        fn lines_without_quotes_are_records(lines in proptest::collection::vec("[a-z,]{0,20}[a-z][a-z,]{0,20}", 0..50)) {
            let data = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let read: Vec<_> = read(data.as_bytes()).into_iter().map(|(_, text, _)| text).collect();
            prop_assert_eq!(read, lines);
        }

        #[test]
        fn any_bytes_end(data in proptest::collection::vec(proptest::sample::select(b"a,\"\n\r;\xff\0".to_vec()), 0..300)) {
            let records = read(data.as_slice());
            prop_assert!(records.len() <= data.len());
        }
    }
}
