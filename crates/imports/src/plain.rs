//! The text of a file, which may be compressed.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::{Failure, pipeline::unreadable, reason::Reason};

const BUFFER_BYTES: usize = 1 << 17;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZIP: &[u8] = b"PK\x03\x04";
/// Workbooks as Excel wrote them until 2007.
const OLD_EXCEL: &[u8] = b"\xD0\xCF\x11\xE0";
/// Bytes of text that an upload may have: ten times those that it may have packed, as far as exports can be packed.
pub(super) const MAX_TEXT: u64 = 2 << 30;

/// The text of a file. Compression is recognised by the first bytes.
///
/// # Errors
/// When it is a workbook or archive, or cannot be read.
pub fn plain(raw: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>, Failure> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, raw);
    let start = reader.fill_buf().map_err(unreadable)?;
    if start.starts_with(GZIP) {
        Ok(Box::new(MultiGzDecoder::new(reader)))
    } else if start.starts_with(ZIP) || start.starts_with(OLD_EXCEL) {
        Err(Failure::File(Reason::new("file-packed")))
    } else {
        Ok(Box::new(reader))
    }
}

/// A text that ends in [`TooLarge`] where it is longer than it may be: a small file can be packed that unpacks without end.
pub(super) struct Limited<R> {
    reader: R,
    left: u64,
}

/// A text is longer than it may be.
#[derive(Debug, thiserror::Error)]
#[error("it is too large")]
pub(super) struct TooLarge;

impl TooLarge {
    /// Whether this is why something failed.
    pub fn is_in(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|error| error.is::<Self>())
    }
}

impl<R> Limited<R> {
    /// At most `most` bytes.
    pub fn new(reader: R, most: u64) -> Self {
        Self { reader, left: most }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other(TooLarge))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_have_as_many_bytes_as_are_allowed_and_no_more() {
        let read = |most| {
            let mut text = String::new();
            Limited::new(io::Cursor::new("sku,stock\n"), most).read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(read(10).unwrap(), "sku,stock\n");
        assert!(read(9).unwrap_err().get_ref().unwrap().is::<TooLarge>());
    }
}
