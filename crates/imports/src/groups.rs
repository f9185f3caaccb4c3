//! Records that belong together, as the lines of an order do: all of them are taken, or none. What is refused can then be
//! corrected and imported by itself, without what went in before being replaced by a part of it.

use std::collections::HashMap;

use super::{Failure, reason::Reason};

/// Records of a group that are kept at most, in bytes: more than any real order has.
const MOST_KEPT: usize = 8 << 20;
/// Refused groups of a file: with the longest names, some 300 megabytes of memory.
const MOST_REFUSED: usize = 500_000;

/// A group of which a record was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RefusedGroup {
    /// The record that was wrong.
    pub line: u64,
    /// The others, as far as they are among the refused lines: those that were read right before it, or after it.
    pub others: i64,
}

/// A record, and its number.
type Kept = (u64, Vec<u8>);

/// The groups of a file.
#[derive(Default)]
pub(super) struct Groups {
    current: String,
    /// The records of the current group that follow each other.
    kept: Vec<Kept>,
    bytes: usize,
    pub refused: HashMap<String, RefusedGroup>,
}

impl Groups {
    /// Notes a sound record. Gives the wrong one that it is refused with, if there was one.
    pub fn accept(&mut self, group: &str, line: u64, record: &[u8]) -> Option<u64> {
        if let Some(refused) = self.refused.get_mut(group) {
            refused.others += 1;
            return Some(refused.line);
        }
        if self.current != group || self.bytes > MOST_KEPT {
            group.clone_into(&mut self.current);
            self.kept.clear();
            self.bytes = 0;
        }
        self.bytes += record.len();
        self.kept.push((line, record.to_vec()));
        None
    }

    /// Notes a wrong record. Gives those that are refused with it.
    pub fn refuse(&mut self, group: &str, line: u64) -> Result<Vec<Kept>, Failure> {
        if self.refused.contains_key(group) {
            return Ok(vec![]);
        }
        if self.refused.len() >= MOST_REFUSED {
            return Err(Failure::File(Reason::new("file-refused-orders").with("most", MOST_REFUSED)));
        }
        let others = if self.current == group { std::mem::take(&mut self.kept) } else { vec![] };
        let count = i64::try_from(others.len()).unwrap_or(i64::MAX);
        self.refused.insert(group.to_owned(), RefusedGroup { line, others: count });
        Ok(others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_which_too_many_groups_are_refused_is_refused_as_a_whole() {
        let mut groups = Groups::default();
        for number in 0..MOST_REFUSED {
            assert!(groups.refuse(&number.to_string(), 2).unwrap().is_empty());
        }
        assert!(groups.refuse("0", 3).unwrap().is_empty());
        let failure = groups.refuse("one more", 4).unwrap_err();
        assert!(failure.to_string().starts_with("more than 500000 orders have a line"), "{failure}");
    }
}
