//! Resources as types, their rules, and the ports.
