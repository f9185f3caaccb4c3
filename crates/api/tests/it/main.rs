//! The edge over HTTP: a real server on a free port, ports played by mocks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail")]

mod support;

mod admission;
mod ads;
mod alerts;
mod conversations;
mod decisions;
mod description;
mod figures;
mod files;
mod incidents;
mod index;
mod insight_runs;
mod integrations;
mod lists;
mod logs;
mod modules;
mod pages;
mod robustness;
mod service;
mod shop_hooks;
mod social_profiles;
mod track;
mod track_batch;
mod uptime;
mod webhook_settings;
mod webhooks;
