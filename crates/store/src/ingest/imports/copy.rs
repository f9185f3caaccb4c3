//! Rows in the text format of Postgres' COPY, gathered until they are worth a round trip.

use std::fmt::{Display, Write};

use bytes::{Bytes, BytesMut};

/// Bytes after which gathered rows are sent.
const FLUSH_BYTES: usize = 1 << 19;

/// Rows on their way into one table of the session.
pub(super) struct CopyBuffer {
    table: &'static str,
    rows: BytesMut,
}

impl CopyBuffer {
    pub fn new(table: &'static str) -> Self {
        Self { table, rows: BytesMut::new() }
    }

    /// Starts a row; every column follows in the order of the table, then [`Row::end`].
    pub fn row(&mut self) -> Row<'_> {
        Row { rows: &mut self.rows, first: true }
    }

    pub fn is_full(&self) -> bool {
        self.rows.len() >= FLUSH_BYTES
    }

    /// The statement and its data, unless nothing was gathered.
    pub fn take(&mut self) -> Option<(String, Bytes)> {
        if self.rows.is_empty() {
            return None;
        }
        Some((format!("COPY {} FROM STDIN", self.table), self.rows.split().freeze()))
    }
}

/// A row that is being written.
pub(super) struct Row<'a> {
    rows: &'a mut BytesMut,
    first: bool,
}

impl Row<'_> {
    fn separate(&mut self) {
        if !self.first {
            self.rows.extend_from_slice(b"\t");
        }
        self.first = false;
    }

    /// A value whose text holds nothing to escape: a number or a date.
    pub fn plain(mut self, value: impl Display) -> Self {
        self.separate();
        // Writing into a growing buffer cannot fail.
        let _ = write!(self.rows, "{value}");
        self
    }

    pub fn plain_or_null(self, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.plain(value),
            None => self.null(),
        }
    }

    pub fn text(mut self, text: &str) -> Self {
        self.separate();
        let mut rest = text.as_bytes();
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\\' | b'\n' | b'\r' | b'\t')) {
            let (clean, special) = rest.split_at(at);
            self.rows.extend_from_slice(clean);
            self.rows.extend_from_slice(match special.first() {
                Some(b'\n') => b"\\n",
                Some(b'\r') => b"\\r",
                Some(b'\t') => b"\\t",
                _ => b"\\\\",
            });
            rest = special.get(1..).unwrap_or_default();
        }
        self.rows.extend_from_slice(rest);
        self
    }

    pub fn text_or_null(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    /// A `bytea`.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.separate();
        self.rows.extend_from_slice(b"\\\\x");
        self.rows.extend_from_slice(hex::encode(bytes).as_bytes());
        self
    }

    fn null(mut self) -> Self {
        self.separate();
        self.rows.extend_from_slice(b"\\N");
        self
    }

    pub fn end(self) {
        self.rows.extend_from_slice(b"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_in_hex() {
        let mut buffer = CopyBuffer::new("t");
        buffer.row().bytes(b"a\t\xff").bytes(b"").end();
        assert_eq!(buffer.take().unwrap().1, Bytes::from_static(b"\\\\x6109ff\t\\\\x\n"));
    }

    #[test]
    fn special_characters_are_escaped_and_nothing_is_null_by_accident() {
        let mut buffer = CopyBuffer::new("t");
        buffer.row().text("a\\b\tc\nd\re").text("").text("\\N").text_or_null(None).plain(-5).end();
        let (statement, data) = buffer.take().unwrap();
        assert_eq!(statement, "COPY t FROM STDIN");
        assert_eq!(data, Bytes::from_static(b"a\\\\b\\tc\\nd\\re\t\t\\\\N\t\\N\t-5\n"));
        assert!(buffer.take().is_none());
    }
}
