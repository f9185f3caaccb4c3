//! OAuth of Facebook Login: a code for a token of an hour, that for one of sixty days, which is exchanged for another one
//! before it ends (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens>).

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    shops::{
        Access, Authorization, AuthorizeError, Callback, CompleteError, Grant, RefreshError, Secret, ShopAuth,
        ShopError, Tokens,
    },
};
use reqwest::Method;
use time::{Duration, OffsetDateTime};

use super::{
    super::reached::{Reached, chosen},
    Meta, SCOPE, VERSION,
    api::Caller,
    wire::{AdAccountEntry, Page, Permission, TokenBody},
};

/// Characters of a code.
const MAX_CODE: usize = 1_024;
/// Digits of an ad account's number.
const MAX_DIGITS: usize = 20;
/// Shares the budget of no ad account.
const NO_ACCOUNT: &str = "";

impl Meta {
    /// A token of sixty days for one of an hour, or for another one of sixty days.
    async fn long_lived(&self, token: &str, now: OffsetDateTime) -> Result<Tokens, ShopError> {
        let form = [("grant_type", "fb_exchange_token"), ("fb_exchange_token", token)];
        let TokenBody { access_token, expires_in } = self.api.token(&form).await?.json()?;
        let access = Secret::new(access_token);
        // Tokens of system users do not expire, and come without a time.
        let ends = expires_in.map(|seconds| now + Duration::seconds(seconds.0.clamp(0, 315_360_000)));
        let scopes = self.scopes(&access).await?;
        Ok(Tokens {
            // Unverified: that one of sixty days is exchanged for another one. Where it is not, it ends, and its owner
            // connects again.
            refresh: ends.is_some().then(|| access.clone()),
            access,
            access_expires_at: ends,
            refresh_expires_at: ends,
            scopes,
        })
    }

    async fn scopes(&self, token: &Secret) -> Result<Vec<String>, ShopError> {
        let caller = Caller { account: NO_ACCOUNT, token };
        let granted: Page<Permission> =
            self.api.call(&caller, Method::GET, &["me", "permissions"], &[]).await?.json()?;
        let granted = granted.data.into_iter().filter(|permission| permission.status == "granted");
        Ok(granted.map(|permission| permission.permission).collect())
    }

    async fn reached(&self, token: &Secret) -> Result<Vec<Reached>, ShopError> {
        let caller = Caller { account: NO_ACCOUNT, token };
        let fields = [("fields", "account_id,name")];
        let all: Vec<AdAccountEntry> = self.api.pages(&caller, &["me", "adaccounts"], &fields, "100").await?;
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
        let page = self.login_url.join(&format!("{VERSION}/dialog/oauth"));
        let mut url = page.map_err(|_| AuthorizeError::UnsupportedCountry)?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.api.app().client_id)
            .append_pair("redirect_uri", &authorization.redirect_uri)
            .append_pair("response_type", "code")
            .append_pair("scope", SCOPE)
            .append_pair("state", authorization.state.expose());
        Ok(url.into())
    }

    async fn complete(
        &self,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Grant, CompleteError> {
        let code = callback.code(MAX_CODE)?;
        let form = [("redirect_uri", authorization.redirect_uri.as_str()), ("code", code)];
        let answer = self.api.token(&form).await.map_err(|error| match error {
            ShopError::Rejected(_) => CompleteError::Denied("the code is not valid, or no longer".to_owned()),
            error => error.into(),
        })?;
        let TokenBody { access_token, expires_in: _ } = answer.json()?;
        let tokens = self.long_lived(&access_token, now).await?;
        let shop_id = chosen(&self.reached(&tokens.access).await?, authorization.shop.as_deref())?;
        Ok(Grant { shop_id, tokens })
    }

    async fn refresh(&self, _: &str, refresh: &Secret, now: OffsetDateTime) -> Result<Tokens, RefreshError> {
        self.long_lived(refresh.expose(), now).await.map_err(|error| match error {
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
