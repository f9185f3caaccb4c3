//! The fakes from outside, and our clients against them.

mod shopify;
