//! The one executable.
