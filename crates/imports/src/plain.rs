//! The text of a file, which may be compressed.

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::{Failure, pipeline::unreadable, reason::Reason};

const BUFFER_BYTES: usize = 1 << 17;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZIP: &[u8] = b"PK\x03\x04";

/// The text of a file. Compression is recognised by the first bytes.
///
/// # Errors
/// When it is a workbook or archive, or cannot be read.
pub fn plain(raw: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>, Failure> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, raw);
    let start = reader.fill_buf().map_err(unreadable)?;
    if start.starts_with(GZIP) {
        Ok(Box::new(MultiGzDecoder::new(reader)))
    } else if start.starts_with(ZIP) {
        Err(Failure::File(Reason::new("file-packed")))
    } else {
        Ok(Box::new(reader))
    }
}
