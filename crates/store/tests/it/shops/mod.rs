//! Connected shops.

mod authorizations;
mod connections;
mod inbox;
mod known_orders;
mod privacy;
mod sync;
mod tokens;

use domain::{
    AccountId, IntegrationId,
    accounts::Platform,
    integrations::BuyerData,
    shops::{
        connections::{ConnectError, ConnectionStore, Description, NewConnection},
        tokens::SealedTokens,
    },
};
use store::Store;
use time::{OffsetDateTime, macros::datetime};

pub const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);

pub fn tokens(name: &str) -> SealedTokens {
    SealedTokens {
        access: format!("access {name}").into_bytes(),
        access_expires_at: Some(NOW + time::Duration::HOUR),
        refresh: Some(format!("refresh {name}").into_bytes()),
        refresh_expires_at: None,
    }
}

pub fn scopes(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub fn description() -> Description {
    Description {
        scopes: scopes(&["read_orders"]),
        missing_scopes: scopes(&["read_all_orders"]),
        history_from: Some(datetime!(2026-03-02 0:00 UTC)),
        buyer_data: BuyerData::Withheld,
    }
}

/// Connects a shop of a platform, named after its number.
pub async fn connect(
    store: &Store,
    account: AccountId,
    provider: Platform,
    shop_id: &str,
    now: OffsetDateTime,
) -> Result<IntegrationId, ConnectError> {
    let shop = format!("{shop_id}.example.com");
    let id = store.reserve(account, provider, &shop).await?;
    let (shop_id, tokens) = (shop_id.to_owned(), tokens("first"));
    let connection =
        NewConnection { id, provider, shop_id, shop, description: description(), tokens, key: None, note: None };
    store.connect(account, connection, now).await?;
    Ok(id)
}
