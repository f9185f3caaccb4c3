//! Copies of sales. A sale that two platforms show counts once: on the one that it was made on, as far as it is read there.

use domain::{AccountId, StoreError, accounts::Platform, integrations::Integration, shops::ShopOrder};
use time::{Duration, OffsetDateTime};

use super::Ports;

/// Which copies do not count on a platform.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Copies {
    original: Option<Platform>,
    /// The times whose sales are read where they were made.
    read_there: Vec<Span>,
    /// When a connection that decides this last came or went.
    pub changed_at: Option<OffsetDateTime>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    from: OffsetDateTime,
    /// `None`: it goes on.
    until: Option<OffsetDateTime>,
}

impl Copies {
    /// What decides on copies at `provider`.
    pub async fn of(ports: &Ports, account: AccountId, provider: Platform) -> Result<Self, StoreError> {
        let Some(original) = provider.copies_of() else { return Ok(Self::default()) };
        let all = ports.all_of(account).await?;
        // A platform that this service has no app with any more has ended connections only.
        let history = ports.connectors.get(original).ok().map(|connector| connector.reader.timing().history);
        let there = || all.iter().filter(|connection| connection.provider == original);
        Ok(Self {
            original: Some(original),
            read_there: there().filter_map(|connection| span(connection, history)).collect(),
            changed_at: there().map(|connection| connection.revoked_at.unwrap_or(connection.connected_at)).max(),
        })
    }

    /// Whether an order is a copy of one that counts elsewhere.
    pub fn hold(&self, order: &ShopOrder) -> bool {
        let at = order.order.at;
        let is_read = |span: &Span| span.from <= at && span.until.is_none_or(|until| at < until);
        order.copy_of.is_some() && order.copy_of == self.original && self.read_there.iter().any(is_read)
    }
}

/// The time whose sales a connection reads, which is known from its beginning, with what the one before it has read; of one
/// that has ended, what it has read.
fn span(connection: &Integration, history: Option<Duration>) -> Option<Span> {
    let Integration { connected_at, revoked_at, backfilled_from, last_sync_at, .. } = connection;
    match revoked_at {
        None => {
            let from = history.and_then(|history| connected_at.checked_sub(history));
            let from = from.unwrap_or(OffsetDateTime::UNIX_EPOCH);
            Some(Span { from: backfilled_from.map_or(from, |filled| filled.min(from)), until: None })
        }
        Some(_) => Some(Span { from: (*backfilled_from)?, until: Some((*last_sync_at)?) }),
    }
}

#[cfg(test)]
mod tests {
    use domain::IntegrationId;
    use time::macros::datetime;

    use super::{super::tests::store::integration, *};

    const CONNECTED: OffsetDateTime = datetime!(2026-05-20 12:00 UTC);

    fn connection() -> Integration {
        integration(IntegrationId(1), Platform::Mercadolibre, CONNECTED)
    }

    #[test]
    fn a_connection_reads_its_whole_history_and_goes_on() {
        let span = span(&connection(), Some(Duration::days(365)));
        assert_eq!(span, Some(Span { from: datetime!(2025-05-20 12:00 UTC), until: None }));
    }

    #[test]
    fn one_that_was_made_again_keeps_what_was_read_before() {
        let (year, earlier) = (Duration::days(365), datetime!(2025-02-01 0:00 UTC));
        let again = Integration { backfilled_from: Some(earlier), ..connection() };
        assert_eq!(span(&again, Some(year)), Some(Span { from: earlier, until: None }));
        let filling = Integration { backfilled_from: Some(CONNECTED - Duration::WEEK), ..connection() };
        assert_eq!(span(&filling, Some(year)), Some(Span { from: CONNECTED - year, until: None }));
    }

    #[test]
    fn one_that_has_ended_read_what_it_had_come_to() {
        let ended = Integration { revoked_at: Some(CONNECTED + Duration::DAY), ..connection() };
        assert_eq!(span(&ended, None), None);
        let (from, until) = (CONNECTED - Duration::WEEK, CONNECTED + Duration::HOUR);
        let ended = Integration { backfilled_from: Some(from), last_sync_at: Some(until), ..ended };
        assert_eq!(span(&ended, None), Some(Span { from, until: Some(until) }));
    }
}
