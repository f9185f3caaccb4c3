//! Rows of CSV (RFC 4180).

use std::io;

use actix_web::web::Bytes;
use csv::{Terminator, WriterBuilder};
use serde::Serialize;

/// A row of a file.
pub trait Row {
    /// The header row: the names of the fields, in their order.
    const COLUMNS: &'static [&'static str];
    /// As many cells as there are columns.
    ///
    /// # Errors
    /// When a value has no JSON.
    fn cells(&self) -> io::Result<Vec<String>>;
}

/// Declares the columns of a struct: its fields in their order, with the values that they have as JSON. Fields behind a
/// semicolon are not in the file.
#[macro_export]
macro_rules! row {
    ($name:ident { $($column:ident),+ $(,)? $(; $($left_out:ident),+)? }) => {
        impl $crate::csv::Row for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),+];

            fn cells(&self) -> ::std::io::Result<Vec<String>> {
                let Self { $($column,)+ $($($left_out: _),+)? } = self;
                Ok(vec![$($crate::csv::cell($column)?),+])
            }
        }
    };
}

/// A value as it stands in a cell: a text, the JSON of anything else, and nothing for null.
///
/// # Errors
/// When the value has no JSON.
pub fn cell(value: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(value)?;
    Ok(match json.as_bytes().first() {
        Some(b'"') => text(serde_json::from_str(&json)?),
        Some(b'n') => String::new(),
        _ => json,
    })
}

/// A text may have come from outside, and a spreadsheet would take one that starts like a formula for a formula.
fn text(value: String) -> String {
    if value.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{value}") } else { value }
}

/// The header row.
///
/// # Errors
/// None but those of the encoder, which writes into memory.
pub fn header_row<R: Row>() -> io::Result<Bytes> {
    let names: Vec<String> = R::COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    write(std::iter::once(Ok(names)))
}

/// The rows in one piece, without the header.
///
/// # Errors
/// When a value has no JSON.
pub fn rows<R: Row>(rows: &[R]) -> io::Result<Bytes> {
    write(rows.iter().map(Row::cells))
}

fn write(rows: impl Iterator<Item = io::Result<Vec<String>>>) -> io::Result<Bytes> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row?)?;
    }
    writer.into_inner().map(Bytes::from).map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    struct Sample {
        id: i64,
        name: Option<String>,
        amounts: [f64; 2],
        #[expect(dead_code, reason = "not in the file")]
        note: String,
    }

    row!(Sample { id, name, amounts; note });

    fn sample(name: Option<&str>) -> Sample {
        Sample { id: -7, name: name.map(str::to_owned), amounts: [-1.5, 2.0], note: "x".to_owned() }
    }

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        assert_eq!(header_row::<Sample>().unwrap(), "id,name,amounts\r\n");
        let cells = "-7,Ana,\"[-1.5,2.0]\"\r\n-7,,\"[-1.5,2.0]\"\r\n";
        assert_eq!(rows(&[sample(Some("Ana")), sample(None)]).unwrap(), cells);
    }

    #[rstest]
    #[case("=1+1", "'=1+1")]
    #[case("+1", "'+1")]
    #[case("-1", "'-1")]
    #[case("@x", "'@x")]
    #[case("\tx", "'\tx")]
    #[case("\rx", "\"'\rx\"")]
    #[case("a,b", "\"a,b\"")]
    #[case("say \"x\"", "\"say \"\"x\"\"\"")]
    #[case("two\r\nlines", "\"two\r\nlines\"")]
    #[case("João", "João")]
    fn a_text_is_a_text_to_spreadsheets(#[case] name: &str, #[case] cell: &str) {
        assert_eq!(rows(&[sample(Some(name))]).unwrap(), format!("-7,{cell},\"[-1.5,2.0]\"\r\n"));
    }
}
