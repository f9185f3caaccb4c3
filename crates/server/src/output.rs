//! What commands print.

use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

/// An instant in UTC, whole seconds.
pub fn rfc3339(instant: OffsetDateTime) -> String {
    let seconds = instant.to_offset(UtcOffset::UTC).replace_nanosecond(0).unwrap_or(instant);
    seconds.format(&Rfc3339).unwrap_or_default()
}

/// An instant, or a dash.
pub fn rfc3339_or_dash(instant: Option<OffsetDateTime>) -> String {
    instant.map_or_else(|| "-".to_owned(), rfc3339)
}
