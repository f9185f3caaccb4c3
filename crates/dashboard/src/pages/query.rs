//! What is asked for by the URL: the state of a page, whole.

use std::str::FromStr;

use actix_web::HttpRequest;
use domain::instants;
use time::Date;
use url::form_urlencoded;

use super::parameter;
use crate::error::PageError;

/// A parameter, if it is given; an empty one is not.
///
/// # Errors
/// When it has none of the allowed values.
pub fn one<T: FromStr>(request: &HttpRequest, name: &'static str) -> Result<Option<T>, PageError> {
    match parameter(request, name).filter(|text| !text.is_empty()) {
        Some(text) => text.parse().map(Some).map_err(|_| PageError::Invalid(name)),
        None => Ok(None),
    }
}

/// A day, if it is given.
///
/// # Errors
/// When it is none.
pub fn day(request: &HttpRequest, name: &'static str) -> Result<Option<Date>, PageError> {
    let day = one::<String>(request, name)?.map(|text| instants::parse_day(&text)).transpose();
    day.map_err(|_| PageError::Invalid(name))
}

/// Where a list goes on.
///
/// # Errors
/// When it is not above zero.
pub fn cursor(request: &HttpRequest) -> Result<Option<i64>, PageError> {
    let cursor = one(request, "cursor")?;
    if cursor.is_some_and(|cursor: i64| cursor <= 0) { Err(PageError::Invalid("cursor")) } else { Ok(cursor) }
}

/// What is looked for, as it was written; blanks are nothing.
pub fn text(request: &HttpRequest) -> Option<String> {
    parameter(request, "q").map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The same in an address.
pub fn text_pair(text: &str) -> String {
    format!("q={}", form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>())
}

/// The number in the path: what has another form does not exist.
///
/// # Errors
/// [`PageError::NotFound`]
pub fn id(request: &HttpRequest) -> Result<i64, PageError> {
    let number = request.match_info().get("id").and_then(|text| text.parse().ok());
    number.filter(|number| *number > 0).ok_or(PageError::NotFound)
}

/// An address with those of its parameters that are not as usual. Their values are names and numbers, which need no escaping, but for [`text_pair`].
pub fn address<const N: usize>(path: &str, pairs: [Option<String>; N]) -> String {
    let query = pairs.into_iter().flatten().collect::<Vec<_>>().join("&");
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The call of the API for a page of a list.
pub fn call(path: &str, limit: i64, cursor: Option<i64>) -> String {
    address(path, [Some(format!("limit={limit}")), cursor.map(|cursor| format!("cursor={cursor}"))])
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn what_is_not_given_is_as_usual_and_what_is_wrong_is_said() {
        let read = |uri: &str| {
            let request = TestRequest::with_uri(uri).to_http_request();
            cursor(&request).map_err(|error| error.cause().map(str::to_owned))
        };
        assert_eq!(read("/anomalies"), Ok(None));
        assert_eq!(read("/anomalies?cursor="), Ok(None));
        assert_eq!(read("/anomalies?cursor=7"), Ok(Some(7)));
        assert_eq!(read("/anomalies?cursor=0"), Err(Some("cursor".into())));
        assert_eq!(read("/anomalies?cursor=x"), Err(Some("cursor".into())));
    }

    #[test]
    fn an_address_has_what_is_not_as_usual() {
        assert_eq!(address("/anomalies", [None, None]), "/anomalies");
        assert_eq!(
            address("/anomalies", [Some("days=7".into()), None, Some("cursor=3".into())]),
            "/anomalies?days=7&cursor=3"
        );
    }
}
