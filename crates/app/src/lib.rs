//! Use cases that span several ports.
