//! A file as a table: its header is matched to fields, and its records are turned into rows.

use std::borrow::Cow;

use domain::imports::{MAX_ID_CHARS, MAX_NAME_CHARS};
use rust_decimal::Decimal;

use super::{
    DateOrder,
    columns::{Columns, Export, Field},
    dates::{self, Moment},
    fields::Fields,
    numbers::{self, DecimalMark},
    reason::Reason,
};

/// Why a record gives no row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is wrong.
    Reject(Reason),
    /// It is sound, and there is nothing in it to import.
    Skip(&'static str),
}

/// Turns records into rows.
pub(super) trait Table: Send + 'static {
    type Row: Send + 'static;
    const FIELDS: &'static [Field];
    /// The field whose texts tell the order of day and month.
    const DATE: Option<usize>;
    /// The fields whose texts tell what separates decimals.
    const NUMBERS: &'static [usize];
    /// Whether these numbers are amounts of the account's currency, beside whole ones.
    const AMOUNTS: bool = true;
    /// The field whose text says which records belong together: all of a group are taken, or none.
    const GROUP: Option<usize> = None;
    /// A platform's export that is read in its own way. Its columns are read like fields; their places come after the table's.
    const EXPORT: Option<&'static Export> = None;

    /// Adds the rows that the record completes.
    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<Self::Row>) -> Result<(), Refusal>;
    /// The row that takes a group back, of which others may have been added before.
    fn take_back(_group: &str) -> Option<Self::Row> {
        None
    }
    /// Adds what is left at the end of the file.
    fn finish(&mut self, _rows: &mut Vec<Self::Row>) {}
}

/// How texts of a file are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    pub date_order: Option<DateOrder>,
    pub decimal_mark: DecimalMark,
}

/// One record with its fields by name.
pub(super) struct Record<'a> {
    pub line: u64,
    /// As it came, without the line break.
    pub bytes: &'a [u8],
    pub format: Format,
    pub fields: &'a Fields,
    pub columns: &'a Columns,
    pub known: &'static [Field],
}

impl Record<'_> {
    /// The column that holds the field.
    fn position(&self, field: usize) -> Option<usize> {
        match field.checked_sub(self.known.len()) {
            Some(column) => *self.columns.exported.as_ref()?.positions.get(column)?,
            None => *self.columns.positions.get(field)?,
        }
    }

    fn name_of(&self, field: usize) -> Option<&'static str> {
        match field.checked_sub(self.known.len()) {
            Some(column) => self.columns.exported.as_ref()?.export.columns.get(column).copied(),
            None => self.known.get(field).map(|field| field.name),
        }
    }

    /// The field's text; `None` when it is empty or has no column.
    pub fn text(&self, field: usize) -> Option<Cow<'_, str>> {
        self.fields.get(self.position(field)?)
    }

    pub fn has_column(&self, field: usize) -> bool {
        self.position(field).is_some()
    }

    pub fn reject(&self, field: usize, why: &'static str) -> Refusal {
        Refusal::Reject(self.wrong(field, why))
    }

    /// Why the field is refused, to be completed.
    pub fn wrong(&self, field: usize, why: &'static str) -> Reason {
        Reason::of_field(why, self.name_of(field).unwrap_or_default(), self.column(field).map(str::to_owned))
    }

    /// The name of the column that holds the field.
    pub fn column(&self, field: usize) -> Option<&str> {
        self.columns.names.get(self.position(field)?).map(String::as_str)
    }

    fn limited(&self, field: usize, max: usize) -> Result<Option<Cow<'_, str>>, Refusal> {
        match self.text(field) {
            Some(text) if text.len() > max && text.chars().count() > max => {
                Err(Refusal::Reject(self.wrong(field, "refused-characters").with("most", max)))
            }
            text => Ok(text),
        }
    }

    fn required<T>(&self, field: usize, value: Option<T>) -> Result<T, Refusal> {
        value.ok_or_else(|| self.reject(field, "refused-empty"))
    }

    /// An identifier that must be there.
    pub fn id(&self, field: usize) -> Result<Cow<'_, str>, Refusal> {
        self.required(field, self.optional_id(field)?)
    }

    pub fn optional_id(&self, field: usize) -> Result<Option<Cow<'_, str>>, Refusal> {
        self.unrounded(field, self.limited(field, MAX_ID_CHARS)?)
    }

    /// The field's text, if no spreadsheet rounded it or wrote an error in its place.
    pub fn unrounded<'t>(&self, field: usize, text: Option<Cow<'t, str>>) -> Result<Option<Cow<'t, str>>, Refusal> {
        match text {
            Some(text) if numbers::is_rounded(&text) => Err(self.reject(field, "refused-rounded")),
            Some(text) if numbers::is_formula_error(&text) => Err(self.reject(field, "refused-formula-error")),
            text => Ok(text),
        }
    }

    pub fn name(&self, field: usize) -> Result<Option<Cow<'_, str>>, Refusal> {
        self.limited(field, MAX_NAME_CHARS)
    }

    pub fn optional_amount(&self, field: usize) -> Result<Option<Decimal>, Refusal> {
        self.text(field)
            .map(|text| numbers::decimal(&text, self.format.decimal_mark).map_err(|reason| self.reject(field, reason)))
            .transpose()
    }

    pub fn amount(&self, field: usize) -> Result<Decimal, Refusal> {
        self.required(field, self.optional_amount(field)?)
    }

    /// An amount of 0 or more.
    pub fn optional_cost(&self, field: usize) -> Result<Option<Decimal>, Refusal> {
        match self.optional_amount(field)? {
            Some(amount) if amount < Decimal::ZERO => Err(self.reject(field, "refused-negative")),
            amount => Ok(amount),
        }
    }

    /// A rate of exchange that must be there.
    pub fn rate(&self, field: usize) -> Result<Decimal, Refusal> {
        let read = |text: Cow<'_, str>| {
            numbers::rate(&text, self.format.decimal_mark).map_err(|reason| self.reject(field, reason))
        };
        self.required(field, self.text(field).map(read).transpose()?)
    }

    pub fn optional_whole(&self, field: usize) -> Result<Option<i64>, Refusal> {
        self.text(field)
            .map(|text| numbers::whole(&text, self.format.decimal_mark).map_err(|reason| self.reject(field, reason)))
            .transpose()
    }

    pub fn whole(&self, field: usize) -> Result<i64, Refusal> {
        self.required(field, self.optional_whole(field)?)
    }

    /// A whole number from `least` to `most`.
    pub fn optional_within(&self, field: usize, least: i64, most: i64) -> Result<Option<i64>, Refusal> {
        self.within(field, self.optional_whole(field)?, least, most)
    }

    /// A number from `least` to `most`, which may have decimals.
    pub fn optional_part_within(&self, field: usize, least: i64, most: i64) -> Result<Option<Decimal>, Refusal> {
        self.within(field, self.optional_amount(field)?, least, most)
    }

    fn within<T: PartialOrd + From<i64>>(
        &self,
        field: usize,
        number: Option<T>,
        least: i64,
        most: i64,
    ) -> Result<Option<T>, Refusal> {
        match number {
            Some(number) if !(T::from(least)..=T::from(most)).contains(&number) => {
                Err(Refusal::Reject(self.wrong(field, "refused-between").with("least", least).with("most", most)))
            }
            number => Ok(number),
        }
    }

    pub fn optional_moment(&self, field: usize) -> Result<Option<Moment>, Refusal> {
        self.text(field)
            .map(|text| dates::moment(&text, self.format.date_order).map_err(|reason| self.reject(field, reason)))
            .transpose()
    }

    pub fn moment(&self, field: usize) -> Result<Moment, Refusal> {
        self.required(field, self.optional_moment(field)?)
    }

    /// Whether the file is the export that the table knows.
    pub fn is_exported(&self) -> bool {
        self.columns.exported.is_some()
    }
}
