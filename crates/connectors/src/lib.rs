//! Clients of other systems.
