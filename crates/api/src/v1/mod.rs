//! The endpoints of version 1: one line of the table below for each.

mod ads;
mod alert_firings;
mod alerts;
mod anomalies;
mod auto_topup;
mod conversations;
mod creatives;
mod credits;
mod customers;
mod docs;
mod health;
mod incidents;
mod index;
mod insight_runs;
mod insights;
mod integration_connect;
mod integration_runs;
mod integrations;
mod inventory;
mod me;
mod metrics;
pub mod openapi;
mod payment_hooks;
mod profit;
mod reorder;
mod reply_templates;
mod risks;
mod segments;
mod shop_hooks;
mod social_hooks;
mod social_profile_connect;
mod social_profiles;
mod social_settings;
pub mod status;
mod track;
mod track_batch;
mod transactions;
mod uptime;
mod usage;
mod webhook_deliveries;
mod webhook_replays;
mod webhook_settings;
mod webhook_verify;
mod webhooks;

use std::sync::LazyLock;

use crate::endpoint::{Table, endpoints};

/// Every handler. What else there is to say about one stands on the handler itself.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // A request is held against one path after the other: those asked for most come first.
    Table::new(endpoints![
        track::track,
        customers::get,
        profit::get,
        status::get,
        health::get,
        index::get,
        index::catalog,
        uptime::get,
        incidents::list,
        incidents::get,
        openapi::get,
        docs::redirect,
        docs::file,
        me::get,
        credits::get,
        transactions::list,
        auto_topup::set,
        usage::get,
        payment_hooks::receive,
        shop_hooks::receive,
        social_hooks::confirm,
        social_hooks::receive,
        segments::get,
        integrations::list,
        integrations::get,
        integrations::sync,
        integrations::disconnect,
        integration_connect::authorize,
        integration_connect::complete,
        integration_runs::list,
        webhooks::list,
        webhooks::create,
        webhooks::revoke,
        webhook_verify::verify,
        webhook_settings::change,
        webhook_settings::rotate,
        webhook_deliveries::test,
        webhook_deliveries::list,
        webhook_deliveries::get,
        webhook_deliveries::resend,
        webhook_replays::start,
        webhook_replays::get,
        webhook_replays::cancel,
        insights::get,
        insights::change,
        insight_runs::start,
        insight_runs::get,
        track_batch::track_batch,
        anomalies::get,
        metrics::get,
        inventory::get,
        reorder::get,
        reorder::change,
        risks::get,
        ads::get,
        creatives::get,
        alerts::list,
        alerts::create,
        alerts::get,
        alert_firings::list,
        alerts::change,
        alerts::delete,
        conversations::list,
        conversations::get,
        conversations::change,
        conversations::reply,
        conversations::judge,
        reply_templates::list,
        reply_templates::get,
        reply_templates::create,
        reply_templates::change,
        reply_templates::delete,
        social_settings::get,
        social_settings::put,
        social_profiles::list,
        social_profile_connect::authorize,
        social_profile_connect::complete,
        social_profiles::get,
        social_profiles::disconnect,
    ])
});
