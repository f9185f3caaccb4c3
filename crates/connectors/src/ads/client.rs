//! Calls of advertising networks, within the limits that these tell of.

use std::time::Duration;

use domain::shops::ShopError;
use reqwest::{Method, RequestBuilder, header::CONTENT_TYPE};
use time::OffsetDateTime;
use url::{Url, form_urlencoded::Serializer};

use crate::shops::{
    budget::{Budgets, Rate},
    http::{Answer, Http, send},
};

/// What is asked of an ad account at most; the networks' own limits are lower in the long run.
const RATE: Rate = Rate { cap: 50.0, restore: 5.0 };
/// How often a call is tried that is answered with "too many".
const TRIES: usize = 5;
/// How long no call is made where the network does not say.
pub const STOP: time::Duration = time::Duration::minutes(5);

/// The client of a network's API, with what may be asked of each ad account.
#[derive(Debug)]
pub struct Client {
    http: Http,
    base: Url,
    budgets: Budgets,
}

/// What an answer says.
#[derive(Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Why there is none of what was asked for.
    pub refused: Option<ShopError>,
    /// How long no call is to be made.
    pub pause: Option<Duration>,
}

impl Client {
    /// `base` is the API's address with its version.
    pub fn new(base: Url) -> Result<Self, ShopError> {
        let http = Http::new(concat!("business-analytics-service/", env!("CARGO_PKG_VERSION")))?;
        Ok(Self { http, base, budgets: Budgets::new(RATE) })
    }

    pub fn url(&self, path: &[&str]) -> Result<Url, ShopError> {
        let mut url = self.base.clone();
        url.path_segments_mut().map_err(|()| no_path())?.extend(path);
        Ok(url)
    }

    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.http.request(method, url)
    }

    /// Makes a call, and again after a pause that the network asks for, if it is short.
    pub async fn call(
        &self,
        account: &str,
        request: impl Fn() -> RequestBuilder + Send,
        verdict: fn(&Answer) -> Verdict,
    ) -> Result<Answer, ShopError> {
        for _ in 0..TRIES {
            self.budgets.take(account, 1.0).await?;
            let answer = send(request()).await?;
            let Verdict { refused, pause } = verdict(&answer);
            match refused {
                None => {
                    if let Some(pause) = pause {
                        self.budgets.pause(account, pause);
                    }
                    return Ok(answer);
                }
                Some(ShopError::Throttled(_)) => {
                    self.budgets.pause(account, pause.unwrap_or_else(|| STOP.unsigned_abs()));
                }
                Some(error) => return Err(error),
            }
        }
        Err(throttled())
    }

    /// Sends a form, whose fields stand in no log, and gives what is answered, whatever its status.
    pub async fn send_form(&self, url: Url, fields: &[(&str, &str)]) -> Result<Answer, ShopError> {
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = self.http.request(Method::POST, url);
        send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await
    }
}

pub fn no_path() -> ShopError {
    ShopError::Rejected("the address takes no path".to_owned())
}

/// Too many calls; until when is not said.
pub fn throttled() -> ShopError {
    ShopError::Throttled(OffsetDateTime::now_utc() + STOP)
}

/// All of a list. `page` gives one page of it with the cursor of the next one.
pub async fn pages<T, F>(page: impl Fn(Option<String>) -> F + Send) -> Result<Vec<T>, ShopError>
where
    F: Future<Output = Result<(Vec<T>, Option<String>), ShopError>> + Send,
{
    let (mut all, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let (some, next) = page(cursor.clone()).await?;
        all.extend(some);
        match next {
            // A cursor that does not move would never end.
            Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
            Some(_) => return Err(ShopError::Malformed("paging".to_owned())),
            None => return Ok(all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_list_is_read_to_its_last_page_and_no_page_twice() {
        let page = |cursor: Option<String>| async move {
            let from: u32 = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            Ok((vec![from, from + 1], (from < 4).then(|| (from + 2).to_string())))
        };
        assert_eq!(pages(page).await, Ok(vec![0, 1, 2, 3, 4, 5]));
        let stuck = |_| async { Ok((vec![0], Some("5".to_owned()))) };
        assert_eq!(pages(stuck).await, Err(ShopError::Malformed("paging".into())));
    }
}
