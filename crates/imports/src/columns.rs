//! Which column holds what: by the names in the header, or as the caller says.

use std::collections::BTreeMap;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use super::{Failure, reason::Reason};

/// Something a row may say.
pub(super) struct Field {
    /// Its name in `--map`.
    pub name: &'static str,
    pub required: bool,
    /// Names that columns have for it, best first, in small letters and digits only; accents do not matter.
    pub headers: &'static [&'static str],
}

/// A file that a platform exports, which has columns that mean something else elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Export {
    /// The columns by which it is known, by exactly these names.
    pub signs: &'static [&'static str],
    /// A field, by its place, and the column that holds it.
    pub field: (usize, &'static str),
    /// What is read beside the fields.
    pub columns: &'static [&'static str],
}

/// Where the columns of an export are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exported {
    pub export: &'static Export,
    pub positions: Vec<Option<usize>>,
}

impl Exported {
    fn find(header: &[String], export: &'static Export) -> Option<Self> {
        let is_known = export.signs.iter().all(|sign| place(header, sign).is_some());
        is_known.then(|| Self { export, positions: export.columns.iter().map(|name| place(header, name)).collect() })
    }
}

fn place(header: &[String], name: &str) -> Option<usize> {
    header.iter().position(|column| column.trim() == name)
}

/// For every field, in their order, the column that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub positions: Vec<Option<usize>>,
    /// What the file is an export of, if the table knows it.
    pub exported: Option<Exported>,
    pub names: Vec<String>,
    /// Columns that nothing is read from.
    pub ignored: Vec<String>,
}

impl Columns {
    /// `map` (field → column) wins over the names; a column is read for one field at most. A field that is mapped to an empty
    /// name has no column.
    pub fn find(
        header: &[String],
        fields: &[Field],
        export: Option<&'static Export>,
        map: &BTreeMap<String, String>,
    ) -> Result<Self, Failure> {
        let columns = Self::matched(header, fields, export, map)?;
        let missing: Vec<&str> = fields
            .iter()
            .zip(&columns.positions)
            .filter(|(field, position)| field.required && position.is_none())
            .map(|(field, _)| field.name)
            .collect();
        if !missing.is_empty() {
            let reason = Reason::new("file-missing-columns")
                .with("missing", missing.join(", "))
                .with("columns", list(header))
                .with("first", missing.first().unwrap_or(&""));
            return Err(Failure::File(reason));
        }
        Ok(columns)
    }

    /// The same, whether or not everything is there that must be.
    pub fn matched(
        header: &[String],
        fields: &[Field],
        export: Option<&'static Export>,
        map: &BTreeMap<String, String>,
    ) -> Result<Self, Failure> {
        let names: Vec<Name> = header.iter().map(|name| Name::of(name)).collect();
        let mut positions = vec![None; fields.len()];
        let mut taken = vec![false; header.len()];
        let mut left_out = vec![false; fields.len()];
        for (field, column) in map {
            let index =
                fields.iter().position(|known| known.name == field).ok_or_else(|| unknown_field(field, fields))?;
            if column.is_empty() {
                if let Some(field) = left_out.get_mut(index) {
                    *field = true;
                }
                continue;
            }
            let position = position(&names, column, |_| true).ok_or_else(|| no_column(column, header))?;
            claim(&mut positions, &mut taken, index, position);
        }
        let exported = export.and_then(|export| Exported::find(header, export));
        if let Some(Exported { export, positions: others }) = &exported {
            for position in others.iter().flatten() {
                if let Some(taken) = taken.get_mut(*position) {
                    *taken = true;
                }
            }
            let (field, name) = export.field;
            let is_open = positions.get(field) == Some(&None) && left_out.get(field) == Some(&false);
            if let (true, Some(position)) = (is_open, place(header, name)) {
                claim(&mut positions, &mut taken, field, position);
            }
        }
        // By rank of the name, so that a field's second choice does not take another one's first.
        let ranks = fields.iter().map(|field| field.headers.len()).max().unwrap_or(0);
        for rank in 0..ranks {
            for (index, field) in fields.iter().enumerate() {
                let wanted = field.headers.get(rank);
                let free = wanted.and_then(|wanted| position(&names, wanted, |at| taken.get(at) == Some(&false)));
                let is_wanted = left_out.get(index) == Some(&false);
                if let (true, Some(None), Some(position)) = (is_wanted, positions.get(index), free) {
                    claim(&mut positions, &mut taken, index, position);
                }
            }
        }
        let ignored = header.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(name, _)| name.clone()).collect();
        Ok(Self { positions, exported, names: header.to_vec(), ignored })
    }
}

fn claim(positions: &mut [Option<usize>], taken: &mut [bool], field: usize, column: usize) {
    if let (Some(position), Some(taken)) = (positions.get_mut(field), taken.get_mut(column)) {
        *position = Some(column);
        *taken = true;
    }
}

fn no_column(column: &str, header: &[String]) -> Failure {
    Failure::File(Reason::new("file-no-column").with("column", column).with("columns", list(header)))
}

fn unknown_field(field: &str, fields: &[Field]) -> Failure {
    let known: Vec<&str> = fields.iter().map(|field| field.name).collect();
    Failure::File(Reason::new("file-unknown-field").with("name", field).with("fields", known.join(", ")))
}

/// The columns' names, cut short: a file that is no CSV has a strange first line.
fn list(header: &[String]) -> String {
    let names: Vec<String> = header.iter().take(40).map(|name| name.chars().take(40).collect()).collect();
    names.join(", ")
}

/// A name in the forms that it is compared in, the strictest first: as written, without regard to case, to blanks and what
/// stands for them, to all but letters and digits, and to accents. `Cost` and `Cost %` are two columns, though both may be called
/// `cost`.
struct Name([String; 5]);

impl Name {
    fn of(name: &str) -> Self {
        let exact = name.trim();
        let small = exact.to_lowercase();
        let joined = small.chars().filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-')).collect();
        let squeezed: String = small.chars().filter(|c| c.is_alphanumeric()).collect();
        let plain = squeezed.nfkd().filter(|c| !is_combining_mark(*c)).collect();
        Self([exact.to_owned(), small, joined, squeezed, plain])
    }
}

/// The first column that is called so, among those that `may_be` it, by the strictest form in which there is one. Nothing is
/// called by a form of which nothing is left.
fn position(names: &[Name], wanted: &str, may_be: impl Fn(usize) -> bool) -> Option<usize> {
    let Name(wanted) = Name::of(wanted);
    wanted.iter().enumerate().filter(|(_, text)| !text.is_empty()).find_map(|(form, text)| {
        names.iter().enumerate().position(|(at, Name(name))| name.get(form) == Some(text) && may_be(at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[
        Field { name: "order_id", required: true, headers: &["orderid", "invoice", "name"] },
        Field { name: "name", required: false, headers: &["description", "name"] },
    ];

    fn find(header: &[&str], map: &[(&str, &str)]) -> Result<Vec<Option<usize>>, String> {
        let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
        let map = map.iter().map(|(field, column)| ((*field).to_owned(), (*column).to_owned())).collect();
        let columns = Columns::find(&header, FIELDS, Some(&EXPORT), &map);
        columns.map(|columns| columns.positions).map_err(|failure| failure.to_string())
    }

    const EXPORT: Export = Export { signs: &["Item", "Net"], field: (0, "Number"), columns: &["Net", "Name"] };

    #[test]
    fn a_column_of_an_export_is_nothing_else() {
        assert_eq!(find(&["Name", "Item", "Number", "Net"], &[]), Ok(vec![Some(2), None]));
        assert_eq!(find(&["Name", "Item", "Number", "Net"], &[("order_id", "item")]), Ok(vec![Some(1), None]));
        assert_eq!(find(&["Name", "Item", "Number", "Net"], &[("name", "name")]), Ok(vec![Some(2), Some(0)]));
        assert_eq!(find(&["Name", "Description", "Number", "Net"], &[]), Ok(vec![Some(0), Some(1)]));
        assert!(find(&["Name", "Item", "Number", "Net"], &[("order_id", "")]).unwrap_err().contains("order_id"));
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        assert_eq!(find(&["Description", "Order ID"], &[]), Ok(vec![Some(1), Some(0)]));
        assert_eq!(find(&["ORDER_ID", "name"], &[]), Ok(vec![Some(0), Some(1)]));
    }

    #[test]
    fn a_last_choice_is_taken_when_nothing_better_is_there() {
        assert_eq!(find(&["Name", "Description"], &[]), Ok(vec![Some(0), Some(1)]));
    }

    #[test]
    fn the_map_wins() {
        assert_eq!(find(&["invoice", "ref", "name"], &[("order_id", "REF")]), Ok(vec![Some(1), Some(2)]));
    }

    #[test]
    fn a_column_that_is_called_so_comes_before_one_that_is_called_alike() {
        assert_eq!(find(&["Invoice", "Description %", "Description"], &[]), Ok(vec![Some(0), Some(2)]));
        assert_eq!(find(&["Order-ID #", "Order ID"], &[]), Ok(vec![Some(1), None]));
        assert_eq!(find(&["Invoice", "Cost %", "Cost", "$"], &[("name", "cost")]), Ok(vec![Some(0), Some(2)]));
        assert_eq!(find(&["Invoice", "Cost %", "Cost", "$"], &[("name", "$")]), Ok(vec![Some(0), Some(3)]));
        assert_eq!(find(&["Invoice", "Cost %"], &[("name", "Cost")]), Ok(vec![Some(0), Some(1)]));
        assert_eq!(find(&["Invoice", "cost", "Cost"], &[("name", "Cost")]), Ok(vec![Some(0), Some(2)]));
        assert!(find(&["Invoice", "$"], &[("name", "%")]).unwrap_err().contains("`%`"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(find(&["x"], &[]).unwrap_err().contains("order_id"));
        assert!(find(&["x"], &[("order_id", "y")]).unwrap_err().contains("`y`"));
        assert!(find(&["x"], &[("colour", "x")]).unwrap_err().contains("`colour`"));
    }
}
