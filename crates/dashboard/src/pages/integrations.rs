//! The connected shops, and the platforms that a shop can be connected on.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use app::shops::NotConfigured;
use domain::{
    accounts::Platform,
    integrations::{BuyerData, Integration, Status},
    page::{Page, PageRequest},
    people::Act,
};
use url::Url;

use super::{connect, html, panel, query, shell::shell, social_profiles, window};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        integrations::{self as view, Missing, Model, Offer},
        layout::Here,
        panel::Panel,
        rows::{Badge, Cell, Head, Row},
    },
};

/// Connections of a page.
const LIMIT: i64 = 20;

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let cursor = query::cursor(&request)?;
    let page = PageRequest { limit: LIMIT, cursor };
    let (found, _) = state.integrations.page(viewer.account(), page, writer.now).await?;
    let title = writer.say("integrations");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Integrations, title.clone()).await?,
        title,
        place: window::place(&writer),
        offers_title: writer.say("integrations-offers"),
        offers: Platform::ALL.iter().map(|platform| offer(&writer, &viewer, &state, *platform)).collect(),
        profiles: social_profiles::list(&writer, &viewer, &state).await?,
        profile_head: social_profiles::head(&writer),
        profile_offers_title: writer.say("profiles-offers"),
        profile_offers: social_profiles::offers(&writer, &viewer, &state),
        head: head(&writer),
        connections: connections(&writer, cursor, &found, &state.settings.api_url),
    };
    Ok(html(view::page(&model)))
}

/// A platform that a shop can be connected on; else what has to be done before.
fn offer(writer: &Writer, viewer: &Viewer, state: &State, platform: Platform) -> Offer {
    let usable = state.shops.ports.connectors.for_mode(platform, viewer.session().account.mode);
    let (form, missing) = match usable {
        Ok(_) if viewer.may(Act::Change) => (Some(connect::form(writer, platform)), None),
        Ok(_) => (None, Some(Missing { text: writer.say("integrations-viewer"), operator: None })),
        Err(error) => {
            let told = not_configured(writer, platform, error, &state.settings.public_url);
            (None, Some(not_offered(writer, error, told)))
        }
    };
    Offer { name: name(writer, platform), reads: writer.say(&format!("reads-{platform}")), form, missing }
}

/// What a person who cannot connect is told: what the operator has to do is not theirs to read.
pub fn not_offered(writer: &Writer, error: NotConfigured, told: String) -> Missing {
    match error {
        NotConfigured::NoApp => {
            Missing { text: writer.say("offer-not-yet"), operator: Some((writer.say("offer-for-operator"), told)) }
        }
        NotConfigured::Sandbox => Missing { text: told, operator: None },
    }
}

/// Why a platform cannot be used, and what the operator of the service has to do about it.
pub fn not_configured(writer: &Writer, platform: Platform, error: NotConfigured, site: &Url) -> String {
    match error {
        NotConfigured::NoApp => {
            let prefix = format!("BAS_{}", platform.as_str().to_uppercase());
            writer
                .message("integrations-no-app")
                .text("platform", name(writer, platform))
                .text("settings", format!("{prefix}_CLIENT_ID, {prefix}_CLIENT_SECRET"))
                .text("redirect", connect::redirect_uri(site, platform))
                .say()
        }
        NotConfigured::Sandbox => writer.say("integrations-sandbox"),
    }
}

/// How a platform is called.
pub fn name(writer: &Writer, platform: Platform) -> String {
    writer.message("platform").text("platform", platform).say()
}

/// The state of a connection.
pub fn badge(writer: &Writer, integration: &Integration) -> Badge {
    let status = integration.status(writer.now);
    let (class, sign) = match status {
        Status::Connected => ("good", "✓"),
        Status::Stale => ("warn", "!"),
        Status::Revoked => ("bad", "✕"),
        Status::NeverSynced => ("", "↻"),
    };
    Badge { class, text: format!("{sign} {}", writer.say(&format!("state-{status}"))) }
}

/// What keeps a connection from being whole, a sentence each.
pub fn missing(writer: &Writer, integration: &Integration) -> Vec<String> {
    let said = [
        integration.suspended.then(|| writer.say("connection-suspended")),
        (integration.status(writer.now) == Status::Stale).then(|| writer.say("connection-stale")),
        integration.revoke_reason.map(|reason| writer.say(&format!("connection-revoked-{reason}"))),
        (!integration.missing_scopes.is_empty())
            .then(|| writer.message("connection-scopes").text("scopes", integration.missing_scopes.join(", ")).say()),
        (integration.buyer_data == BuyerData::Withheld).then(|| writer.say("connection-buyers")),
        integration
            .history_from
            .map(|at| (at, if integration.provider.is_shop() { "connection-history" } else { "connection-ad-history" }))
            .map(|(at, text)| writer.message(text).text("day", writer.full_day(writer.zone.day_of(at))).say()),
        integration.last_error.as_ref().map(|error| {
            let what = writer.say(&format!("connection-error-{}", error.code));
            writer.message("connection-error").text("at", writer.moment(error.at)).text("what", what).say()
        }),
    ];
    said.into_iter().flatten().collect()
}

fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("connection")),
        Head::Text(writer.say("state")),
        Head::Text(writer.say("last-sync")),
        Head::Text(writer.say("read-back-to")),
        Head::Text(writer.say("attention")),
    ]
}

fn connections(writer: &Writer, cursor: Option<i64>, found: &Page<Integration>, api: &Url) -> Panel<Row> {
    let below =
        |path: &str, cursor: Option<i64>| query::address(path, [cursor.map(|cursor| format!("cursor={cursor}"))]);
    let next = found.next_cursor.map(|cursor| below(Here::Integrations.address(), Some(cursor)));
    let call = query::call("/api/v1/integrations", LIMIT, cursor);
    Panel {
        id: "h-connections",
        title: writer.say("connections-title"),
        items: found.items.iter().map(|integration| row(writer, integration)).collect(),
        nothing: writer.say("connections-none"),
        all: None,
        next: panel::next(writer, next),
        foot: panel::current(writer, vec![writer.say("how-connections")], &call, api),
    }
}

fn row(writer: &Writer, integration: &Integration) -> Row {
    let moment =
        |at: Option<time::OffsetDateTime>| Cell::Text(at.map_or_else(|| writer.say("not-yet"), |at| writer.moment(at)));
    let count = i64::try_from(missing(writer, integration).len()).unwrap_or(i64::MAX);
    let attention = match count {
        0 => "–".to_owned(),
        count => writer.message("attention-count").count("count", count).say(),
    };
    Row {
        name: integration.shop.clone(),
        address: Some(format!("/integrations/{}", integration.id)),
        below: Some(name(writer, integration.provider).into()),
        cells: vec![
            Cell::Badge(Some(badge(writer, integration))),
            moment(integration.last_sync_at),
            Cell::Text(
                integration
                    .backfilled_from
                    .map_or_else(|| writer.say("not-yet"), |at| writer.day_of_year(writer.zone.day_of(at))),
            ),
            Cell::Text(attention),
        ],
    }
}

#[cfg(test)]
pub mod tests {
    use domain::{
        IntegrationId,
        integrations::{ErrorCode, LastError, RevokeReason},
    };
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    pub fn example() -> Integration {
        Integration {
            id: IntegrationId(12),
            provider: Platform::Shopify,
            shop: "demo.myshopify.com".into(),
            scopes: vec![],
            connected_at: datetime!(2026-11-01 12:00 UTC),
            revoked_at: None,
            last_sync_at: Some(datetime!(2026-11-22 22:00 UTC)),
            missing_scopes: vec![],
            history_from: None,
            backfilled_from: Some(datetime!(2025-03-01 12:00 UTC)),
            buyer_data: BuyerData::Full,
            last_error: None,
            suspended: false,
            owner_of: vec![],
            revoke_reason: None,
        }
    }

    #[test]
    fn a_connection_without_trouble_asks_for_nothing() {
        let row = row(&writer("en"), &example());
        assert_eq!(row.address.as_deref(), Some("/integrations/12"));
        let texts: Vec<_> = row
            .cells
            .iter()
            .filter_map(|cell| match cell {
                Cell::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, ["19:00", "1 Mar 2025", "–"]);
    }

    #[test]
    fn what_is_missing_is_said_in_each_language() {
        let broken = Integration {
            suspended: true,
            missing_scopes: vec!["read_orders".into(), "read_returns".into()],
            history_from: Some(datetime!(2026-01-01 12:00 UTC)),
            buyer_data: BuyerData::Withheld,
            revoke_reason: Some(RevokeReason::TokenExpired),
            last_error: Some(LastError {
                code: ErrorCode::Unreachable,
                message: "no answer".into(),
                at: datetime!(2026-11-22 21:00 UTC),
            }),
            ..example()
        };
        for tag in ["en", "es-AR", "pt-BR"] {
            let said = missing(&writer(tag), &broken);
            assert_eq!(said.len(), 6, "{said:?}");
            assert!(said[2].contains("read_orders, read_returns"), "{said:?}");
            assert!(said.iter().all(|sentence| !sentence.starts_with("connection-")), "{said:?}");
        }
    }

    #[test]
    fn an_operator_is_told_what_to_set_and_to_register() {
        let site = Url::parse("https://shop.example.com").unwrap();
        let said = not_configured(&writer("en"), Platform::Tiendanube, NotConfigured::NoApp, &site);
        for wanted in ["BAS_TIENDANUBE_CLIENT_ID", "https://shop.example.com/integrations/tiendanube/callback"] {
            assert!(said.contains(wanted), "{said}");
        }
    }
}
