//! What commands print.

use std::{
    fmt::Arguments,
    io::{self, ErrorKind, Write},
    sync::atomic::{AtomicBool, Ordering},
};

use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

// The macros of the standard library panic where a reader has seen enough, as `head` does.
macro_rules! print {
    ($($text:tt)*) => {
        $crate::output::to_stdout(::std::format_args!($($text)*))
    };
}

macro_rules! println {
    () => {
        $crate::output::to_stdout(::std::format_args!("\n"))
    };
    ($($text:tt)*) => {
        $crate::output::to_stdout(::std::format_args!("{}\n", ::std::format_args!($($text)*)))
    };
}

macro_rules! eprintln {
    ($($text:tt)*) => {
        $crate::output::to_stderr(::std::format_args!("{}\n", ::std::format_args!($($text)*)))
    };
}

/// Whether standard output has not taken all that was printed.
static INCOMPLETE: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. A closed pipe is no error; another one is told, once.
pub fn to_stdout(text: Arguments<'_>) {
    let mut stdout = io::stdout().lock();
    match stdout.write_fmt(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe && !INCOMPLETE.swap(true, Ordering::Relaxed) => {
            eprintln!("api: standard output cannot be written: {error}");
        }
        _ => {}
    }
}

/// Whether something was printed that did not get out, though somebody waited for it.
pub fn is_incomplete() -> bool {
    INCOMPLETE.load(Ordering::Relaxed)
}

/// Writes to standard error.
pub fn to_stderr(text: Arguments<'_>) {
    // There is nowhere left to say that this failed.
    let _ = io::stderr().write_fmt(text);
}

/// An instant in UTC, whole seconds.
pub fn rfc3339(instant: OffsetDateTime) -> String {
    let seconds = instant.to_offset(UtcOffset::UTC).replace_nanosecond(0).unwrap_or(instant);
    seconds.format(&Rfc3339).unwrap_or_default()
}

/// An instant, or a dash.
pub fn rfc3339_or_dash(instant: Option<OffsetDateTime>) -> String {
    instant.map_or_else(|| "-".to_owned(), rfc3339)
}
