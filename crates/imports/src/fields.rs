//! The fields of one record.

use std::borrow::Cow;

/// Where a field lies in its record, with its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

/// The fields of one record; the list is used again for the next record.
#[derive(Default)]
pub(super) struct Fields {
    text: String,
    spans: Vec<Span>,
}

impl Fields {
    /// Cuts a record. A quoted field must end at its closing quote; of a record where one does not, the fields before it are
    /// there.
    pub fn split(&mut self, text: &str, delimiter: u8) -> Result<(), &'static str> {
        self.text.clear();
        self.text.push_str(text);
        self.spans.clear();
        let bytes = text.as_bytes();
        let mut start = 0;
        loop {
            let rest = bytes.get(start..).unwrap_or_default();
            let length = if rest.first() == Some(&b'"') {
                quoted_length(rest, delimiter)?
            } else {
                memchr::memchr(delimiter, rest).unwrap_or(rest.len())
            };
            self.spans.push(Span { start, end: start + length });
            start += length + 1;
            if start > bytes.len() {
                return Ok(());
            }
        }
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn drop_last(&mut self) {
        self.spans.pop();
    }

    /// The field's text without quotes and surrounding blanks; `None` when there is none.
    pub fn get(&self, index: usize) -> Option<Cow<'_, str>> {
        let span = self.spans.get(index)?;
        let field = self.text.get(span.start..span.end)?;
        let text = match field.strip_prefix('"').and_then(|field| field.strip_suffix('"')) {
            Some(inner) if inner.contains('"') => {
                Cow::Owned(without_formula(inner.replace("\"\"", "\"").trim()).to_owned())
            }
            Some(inner) => Cow::Borrowed(inner.trim()),
            None => {
                let text = field.trim();
                Cow::Borrowed(within_quotes(text).unwrap_or_else(|| without_formula(text)))
            }
        };
        (!text.is_empty()).then_some(text)
    }

    pub fn texts(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default().into_owned())
    }
}

/// The text of `="0012"`, which exports write so that Excel keeps its zeros and digits.
fn without_formula(text: &str) -> &str {
    text.strip_prefix('=').and_then(within_quotes).unwrap_or(text)
}

/// What is between quotes that did not begin the field, as in `1, "MUG"`.
fn within_quotes(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.contains('"')).then(|| inner.trim())
}

/// Length of a quoted field, both quotes included.
fn quoted_length(rest: &[u8], delimiter: u8) -> Result<usize, &'static str> {
    let mut at = 1;
    loop {
        let quote = memchr::memchr(b'"', rest.get(at..).unwrap_or_default()).ok_or("a quote is never closed")? + at;
        match rest.get(quote + 1) {
            Some(b'"') => at = quote + 2,
            None => return Ok(quote + 1),
            Some(byte) if *byte == delimiter => return Ok(quote + 1),
            Some(_) => return Err("refused-behind-quote"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("a,b,c", vec!["a", "b", "c"])]
    #[case("a,,", vec!["a", "", ""])]
    #[case("", vec![""])]
    #[case("\"a,b\", c ,\"\"", vec!["a,b", "c", ""])]
    #[case("\"5\"\" nail\",\"x\ny\"", vec!["5\" nail", "x\ny"])]
    #[case("5\" nail,é", vec!["5\" nail", "é"])]
    #[case("=\"0012\",\"=\"\"00,13\"\"\",=\" \",=A1", vec!["0012", "00,13", "", "=A1"])]
    #[case("1, \"MUG\" ,\t\"\"", vec!["1", "MUG", ""])]
    #[case("=\"A\"&\"B\",=\",=", vec!["=\"A\"&\"B\"", "=\"", "="])]
    fn cuts_fields(#[case] record: &str, #[case] expected: Vec<&str>) {
        let mut fields = Fields::default();
        fields.split(record, b',').unwrap();
        assert_eq!(fields.texts().collect::<Vec<_>>(), expected);
    }

    #[rstest]
    #[case("\"a\"b,c")]
    #[case("x,\"a")]
    #[case("\"")]
    fn refuses_broken_quotes(#[case] record: &str) {
        assert!(Fields::default().split(record, b',').is_err());
    }

    #[test]
    fn fields_before_a_broken_quote_are_there() {
        let mut fields = Fields::default();
        assert!(fields.split("a,b,\"c\" d,e", b',').is_err());
        assert_eq!(fields.texts().collect::<Vec<_>>(), ["a", "b"]);
    }
}
