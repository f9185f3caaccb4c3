//! OAuth 2.0 of Google: a code for a token of an hour and one that renews it for as long as the person agrees
//! (<https://developers.google.com/identity/protocols/oauth2/web-server>).

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    shops::{
        Access, Authorization, AuthorizeError, Callback, CompleteError, Grant, RefreshError, Secret, ShopAuth,
        ShopError, Tokens,
    },
};
use time::{Duration, OffsetDateTime};

use super::{
    super::reached::{Reached, chosen},
    GoogleAds, SCOPE,
    api::Caller,
    customer_number,
    wire::{ClientRow, OAuthError, TokenBody},
};

/// Characters of a code.
const MAX_CODE: usize = 512;
/// Seconds of the longest life of a token that is believed.
const MAX_LIFE: i64 = 315_360_000;
/// Accounts that are looked at where none is named.
const LOOKED_AT: usize = 20;
/// The ad accounts below a manager account.
const CLIENTS: &str = "SELECT customer_client.id, customer_client.descriptive_name FROM customer_client \
                       WHERE customer_client.manager = FALSE AND customer_client.status = 'ENABLED'";

/// What the endpoint of tokens said.
enum Exchange {
    Tokens(TokenBody),
    /// A refusal, by its code.
    Refused(String),
}

impl GoogleAds {
    async fn exchange(&self, form: &[(&str, &str)]) -> Result<Exchange, ShopError> {
        let answer = self.api.token(form).await?;
        match answer.status.as_u16() {
            200 => Ok(Exchange::Tokens(answer.json()?)),
            400..=499 if answer.status.as_u16() != 429 => {
                let OAuthError { error } =
                    answer.json().map_err(|_| ShopError::Unavailable("no refusal of OAuth".to_owned()))?;
                Ok(Exchange::Refused(
                    error.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect(),
                ))
            }
            status => Err(ShopError::Unavailable(format!("tokens were answered with {status}"))),
        }
    }

    /// The ad accounts that who agreed reaches, directly and below manager accounts, which have no ads themselves.
    async fn reached(&self, token: &Secret, asked: Option<&str>) -> Result<Vec<Reached>, ShopError> {
        let mut numbers = self.api.accessible(token).await?;
        if asked.is_some_and(|asked| numbers.iter().any(|number| number == asked)) {
            numbers.retain(|number| asked == Some(number));
        }
        let mut reached: Vec<Reached> = Vec::new();
        for number in numbers.into_iter().take(LOOKED_AT) {
            let found = match self.customer(&Caller { account: &number, manager: None, token }).await {
                Ok((customer, _)) if customer.manager => self.below(&number, token).await,
                Ok((customer, _)) => Ok(vec![Reached { number, name: customer.descriptive_name }]),
                Err(error) => Err(error),
            };
            match found {
                Ok(found) => {
                    let is_new = |one: &Reached| reached.iter().all(|other| other.number != one.number);
                    let new: Vec<_> = found.into_iter().filter(is_new).collect();
                    reached.extend(new);
                }
                // It was closed, or never finished.
                Err(ShopError::Suspended | ShopError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(reached)
    }

    /// The ad accounts below a manager account, at every depth.
    async fn below(&self, manager: &str, token: &Secret) -> Result<Vec<Reached>, ShopError> {
        let caller = Caller { account: manager, manager: Some(manager), token };
        let rows: Vec<ClientRow> = self.api.search(&caller, CLIENTS).await?;
        let client = |ClientRow { customer_client: client }: ClientRow| Reached {
            number: client.id.0,
            name: client.descriptive_name,
        };
        Ok(rows.into_iter().map(client).collect())
    }

    /// The manager account by way of which who agreed reaches an ad account that is not reached directly.
    ///
    /// # Errors
    /// [`ShopError::NotFound`] when it is below none of them.
    pub(super) async fn manager_of(&self, access: &Access) -> Result<String, ShopError> {
        for manager in self.api.accessible(&access.token).await?.into_iter().take(LOOKED_AT) {
            match self.below(&manager, &access.token).await {
                Ok(clients) if clients.iter().any(|client| client.number == access.shop_id) => return Ok(manager),
                Ok(_) | Err(ShopError::Suspended | ShopError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Err(ShopError::NotFound)
    }
}

/// `refresh` is the token that these were got by, which stays good where there is no other.
fn tokens(body: TokenBody, refresh: Option<&Secret>, now: OffsetDateTime) -> Result<Tokens, ShopError> {
    let TokenBody { access_token, expires_in, refresh_token, refresh_token_expires_in, scope } = body;
    let after = |seconds: i64| now + Duration::seconds(seconds.clamp(0, MAX_LIFE));
    let refresh = refresh_token.map(Secret::new).or_else(|| refresh.cloned());
    Ok(Tokens {
        access: Secret::new(access_token),
        access_expires_at: Some(after(expires_in.0)),
        refresh: Some(refresh.ok_or_else(|| ShopError::Malformed("refresh_token".to_owned()))?),
        // Told where the person agreed for a time.
        refresh_expires_at: refresh_token_expires_in.map(|seconds| after(seconds.0)),
        scopes: scope.split_whitespace().map(str::to_owned).collect(),
    })
}

#[async_trait]
impl ShopAuth for GoogleAds {
    fn platform(&self) -> Platform {
        Platform::GoogleAds
    }

    /// The number of the ad account. It is needed of people only who reach several.
    fn shop_name(&self, given: Option<&str>) -> Result<Option<String>, AuthorizeError> {
        given.map(|given| customer_number(given).ok_or(AuthorizeError::InvalidShop)).transpose()
    }

    /// Consent is asked for each time, as the token that renews the other is given with it alone.
    fn authorize_url(&self, authorization: &Authorization) -> Result<String, AuthorizeError> {
        let page = self.api.login().join("o/oauth2/v2/auth");
        let mut url = page.map_err(|_| AuthorizeError::UnsupportedCountry)?;
        url.query_pairs_mut()
            .append_pair("client_id", &self.api.app().client_id)
            .append_pair("redirect_uri", &authorization.redirect_uri)
            .append_pair("response_type", "code")
            .append_pair("scope", SCOPE)
            .append_pair("access_type", "offline")
            .append_pair("prompt", "consent")
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
        let form =
            [("grant_type", "authorization_code"), ("redirect_uri", &authorization.redirect_uri), ("code", code)];
        let tokens = match self.exchange(&form).await? {
            Exchange::Tokens(body) => tokens(body, None, now)?,
            Exchange::Refused(error) if error == "invalid_grant" => {
                return Err(CompleteError::Denied("the code is not valid, or no longer".to_owned()));
            }
            Exchange::Refused(error) => return Err(ShopError::Rejected(error).into()),
        };
        if !tokens.scopes.iter().any(|scope| scope == SCOPE) {
            return Err(CompleteError::Denied("who agreed left the permission for ads out".to_owned()));
        }
        let asked = authorization.shop.as_deref();
        let shop_id = chosen(&self.reached(&tokens.access, asked).await?, asked)?;
        Ok(Grant { shop_id, tokens })
    }

    async fn refresh(&self, _: &str, refresh: &Secret, now: OffsetDateTime) -> Result<Tokens, RefreshError> {
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        match self.exchange(&form).await.map_err(RefreshError::Unavailable)? {
            Exchange::Tokens(body) => tokens(body, Some(refresh), now).map_err(RefreshError::Unavailable),
            Exchange::Refused(error) if error == "invalid_grant" => Err(RefreshError::Refused),
            Exchange::Refused(error) => Err(RefreshError::Unavailable(ShopError::Rejected(error))),
        }
    }

    /// Unverified: that the token which renews this one ends with it, and with both what the same person agreed to for other
    /// ad accounts.
    async fn revoke(&self, access: &Access) -> Result<(), ShopError> {
        match self.api.give_back(&access.token).await?.status.as_u16() {
            // A token that is dead is answered with 400.
            200 | 400 => Ok(()),
            status => Err(ShopError::Unavailable(format!("it answered with {status}"))),
        }
    }
}
