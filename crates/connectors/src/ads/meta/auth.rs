//! Who connects an ad account: the [log-in](crate::graph::login), whose token of sixty days is exchanged for another one
//! before it ends.

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    shops::{
        Access, Authorization, AuthorizeError, Callback, CompleteError, Grant, RefreshError, Secret, ShopAuth,
        ShopError, Tokens,
    },
};
use reqwest::Method;
use time::OffsetDateTime;

use super::{Meta, SCOPE, api::Caller, wire::AdAccountEntry};
use crate::{graph::login::PersonToken, shops::wire::clean};

/// Digits of an ad account's number.
const MAX_DIGITS: usize = 20;
/// Ad accounts that are named where one has to be chosen.
const NAMED: usize = 5;

/// The tokens of a person.
fn tokens(PersonToken { token, ends, scopes }: PersonToken) -> Tokens {
    Tokens {
        // Unverified: that one of sixty days is exchanged for another one. Where it is not, it ends, and its owner connects
        // again.
        refresh: ends.is_some().then(|| token.clone()),
        access: token,
        access_expires_at: ends,
        refresh_expires_at: ends,
        scopes,
    }
}

impl Meta {
    async fn ad_accounts(&self, token: &Secret) -> Result<Vec<AdAccountEntry>, ShopError> {
        self.api.login().all(token, &["me", "adaccounts"], "account_id,name", SCOPE).await
    }

    /// The ad account that was asked for, or the only one.
    async fn chosen(&self, token: &Secret, asked: Option<&str>) -> Result<String, CompleteError> {
        let reached = self.ad_accounts(token).await?;
        match (asked, reached.as_slice()) {
            (Some(asked), reached) if reached.iter().any(|account| account.account_id.0 == asked) => {
                Ok(asked.to_owned())
            }
            (Some(_), _) => Err(CompleteError::Denied("who agreed does not reach that ad account".to_owned())),
            (None, [only]) => Ok(only.account_id.0.clone()),
            (None, []) => Err(CompleteError::Denied("who agreed reaches no ad account".to_owned())),
            (None, several) => {
                Err(CompleteError::SeveralAccounts(several.iter().take(NAMED).map(AdAccountEntry::shown).collect()))
            }
        }
    }
}

impl AdAccountEntry {
    fn shown(&self) -> String {
        let number = &self.account_id.0;
        match self.name.as_deref().and_then(|name| clean(name, 40)) {
            Some(name) => format!("{number} ({name})"),
            None => number.clone(),
        }
    }
}

#[async_trait]
impl ShopAuth for Meta {
    fn platform(&self) -> Platform {
        Platform::Meta
    }

    /// The number of the ad account, `act_1234567890` or without `act_`. It is needed of people only who reach several.
    fn shop_name(&self, given: Option<&str>) -> Result<Option<String>, AuthorizeError> {
        let Some(given) = given else { return Ok(None) };
        let number = given.strip_prefix("act_").unwrap_or(given);
        let is_number = (1..=MAX_DIGITS).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
        if is_number { Ok(Some(number.to_owned())) } else { Err(AuthorizeError::InvalidShop) }
    }

    fn authorize_url(&self, authorization: &Authorization) -> Result<String, AuthorizeError> {
        Ok(self.api.login().dialog(authorization, &[SCOPE], false))
    }

    async fn complete(
        &self,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Grant, CompleteError> {
        let tokens = tokens(self.api.login().logged_in(callback, authorization, now).await?);
        let shop_id = self.chosen(&tokens.access, authorization.shop.as_deref()).await?;
        Ok(Grant { shop_id, tokens })
    }

    async fn refresh(&self, _: &str, refresh: &Secret, now: OffsetDateTime) -> Result<Tokens, RefreshError> {
        let renewed = self.api.login().long_lived(refresh.expose(), now).await;
        renewed.map(tokens).map_err(|error| match error {
            // It is the access token itself: what is dead as the one is as the other.
            ShopError::Unauthorized => RefreshError::Refused,
            error => RefreshError::Unavailable(error),
        })
    }

    /// That permission alone: the app may have others of the same person.
    async fn revoke(&self, access: &Access) -> Result<(), ShopError> {
        let caller = Caller { account: &access.shop_id, token: &access.token };
        match self.api.call(&caller, Method::DELETE, &["me", "permissions", SCOPE], &[]).await {
            Ok(_) | Err(ShopError::Unauthorized) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
