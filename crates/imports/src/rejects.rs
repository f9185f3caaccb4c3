//! Refused lines, kept in a file of the same form: each as it came, byte for byte, with its number and the reason in two
//! more columns behind it. So what is corrected there can be imported as it is; columns that nothing is read from are passed
//! over.

use std::{collections::HashMap, io};

use domain::uploads::MAX_BYTES;

use super::{
    Failure, Reject, Rejects,
    groups::RefusedGroup,
    plain::TooLarge,
    reason::{Audience, Reason},
};

/// The columns that are added.
pub(super) const COLUMNS: [&str; 2] = ["rejected_line", "rejected_reason"];

/// How the lines of a file are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The first line as it came, with a byte order mark if there was one.
    pub header: Vec<u8>,
    pub delimiter: u8,
    /// Columns of the first line.
    pub columns: usize,
    /// Whether lines end with CR LF.
    pub crlf: bool,
}

impl Form {
    /// The first line of the file of refused lines.
    pub fn head(&self) -> Vec<u8> {
        let [line, reason] = COLUMNS;
        self.line(&self.header, line, reason)
    }

    /// A refused line. Of one that could not be held only the number and the reason are written, behind empty columns: a
    /// part of it might pass for the whole.
    pub fn body(&self, reject: &Reject) -> Vec<u8> {
        let empty = vec![self.delimiter; self.columns.saturating_sub(1)];
        let record = reject.record.as_deref().unwrap_or(&empty);
        self.line(record, &reject.line.to_string(), &reject.reason)
    }

    fn line(&self, record: &[u8], number: &str, reason: &str) -> Vec<u8> {
        let mut line = record.to_vec();
        line.push(self.delimiter);
        line.extend_from_slice(number.as_bytes());
        line.push(self.delimiter);
        let is_plain = !reason.bytes().any(|byte| byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r'));
        if is_plain {
            line.extend_from_slice(reason.as_bytes());
        } else {
            line.extend_from_slice(format!("\"{}\"", reason.replace('"', "\"\"")).as_bytes());
        }
        line.extend_from_slice(if self.crlf { b"\r\n" } else { b"\n" });
        line
    }
}

/// Where refused lines go, and the form they have.
pub(super) struct Refused {
    pub form: Form,
    pub sink: Rejects,
    /// Groups of which a record was refused.
    pub groups: HashMap<String, RefusedGroup>,
    pub audience: Audience,
}

impl Refused {
    pub fn add(&mut self, line: u64, reason: &Reason, record: Option<Vec<u8>>) -> Result<(), Failure> {
        let reason = reason.say(self.audience);
        let written = (self.sink)(&self.form, Reject { line, reason, record });
        written.map_err(|error: io::Error| {
            if TooLarge::is_in(&error) {
                return Failure::File(Reason::new("file-refused-lines").with("most", MAX_BYTES >> 20));
            }
            Failure::Io(format!("the refused lines cannot be written: {error}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> Form {
        Form { header: b"\xEF\xBB\xBFsku;stock".to_vec(), delimiter: b';', columns: 2, crlf: true }
    }

    #[test]
    fn the_first_line_gets_two_more_columns() {
        assert_eq!(form().head(), b"\xEF\xBB\xBFsku;stock;rejected_line;rejected_reason\r\n");
    }

    #[test]
    fn a_line_is_kept_byte_for_byte_and_only_the_reason_is_quoted_where_it_must_be() {
        let line = |reason: &str, record: &[u8]| {
            form().body(&Reject { line: 7, reason: reason.to_owned(), record: Some(record.to_vec()) })
        };
        assert_eq!(line("stock is empty", b" \"caf\xE9\" ;\"a\nb\""), b" \"caf\xE9\" ;\"a\nb\";7;stock is empty\r\n");
        assert_eq!(line("a; \"b\"", b"x;y"), b"x;y;7;\"a; \"\"b\"\"\"\r\n");
    }

    #[test]
    fn a_line_that_could_not_be_held_is_empty_columns() {
        let line = Form { crlf: false, columns: 4, ..form() }.body(&Reject {
            line: 7,
            reason: "the line is too long".to_owned(),
            record: None,
        });
        assert_eq!(line, b";;;;7;the line is too long\n");
    }
}
