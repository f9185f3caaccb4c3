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

use super::{
    super::reached::{Reached, chosen},
    Meta, SCOPE,
    api::Caller,
    wire::AdAccountEntry,
};
use crate::graph::login::PersonToken;

/// Digits of an ad account's number.
const MAX_DIGITS: usize = 20;

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
    async fn reached(&self, token: &Secret) -> Result<Vec<Reached>, ShopError> {
        let all: Vec<AdAccountEntry> =
            self.api.login().all(token, &["me", "adaccounts"], "account_id,name", SCOPE).await?;
        Ok(all.into_iter().map(|account| Reached { number: account.account_id.0, name: account.name }).collect())
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
        let shop_id = chosen(&self.reached(&tokens.access).await?, authorization.shop.as_deref())?;
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
