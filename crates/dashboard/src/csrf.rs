//! Requests that another site made a browser send.

use actix_web::http::{
    Method,
    header::{self, HeaderMap},
};
use url::Url;

/// Whether a request may do what it asks for: one that changes something has to come from a page of ours, by
/// `Sec-Fetch-Site` (Fetch Metadata, W3C), or by `Origin` where a browser does not send that. One that only reads may come from
/// anywhere when the browser goes there, and from nowhere else when it is fetched into another page.
pub fn is_allowed(method: &Method, headers: &HeaderMap, public_url: &Url) -> bool {
    let one = |name: &str| {
        let mut values = headers.get_all(name);
        match (values.next(), values.next()) {
            (Some(value), None) => value.to_str().ok(),
            _ => None,
        }
    };
    let site = one("sec-fetch-site");
    if method.is_safe() {
        return match site {
            Some("cross-site" | "same-site") => one("sec-fetch-mode") == Some("navigate"),
            _ => true,
        };
    }
    match site {
        Some(site) => site == "same-origin",
        None => one(header::ORIGIN.as_str())
            .and_then(|origin| Url::parse(origin).ok())
            .is_some_and(|origin| origin.origin().is_tuple() && origin.origin() == public_url.origin()),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use rstest::rstest;

    use super::*;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[rstest]
    #[case::own_page(&[("sec-fetch-site", "same-origin")], true)]
    #[case::own_page_of_an_old_browser(&[("origin", "https://shop.example.com")], true)]
    #[case::with_its_port(&[("origin", "https://shop.example.com:443")], true)]
    #[case::another_site(&[("sec-fetch-site", "cross-site"), ("origin", "https://shop.example.com")], false)]
    #[case::a_sister(&[("sec-fetch-site", "same-site")], false)]
    #[case::typed_in(&[("sec-fetch-site", "none")], false)]
    #[case::a_sister_of_an_old_browser(&[("origin", "https://evil.example.com")], false)]
    #[case::another_scheme(&[("origin", "http://shop.example.com")], false)]
    #[case::an_opaque_origin(&[("origin", "null")], false)]
    #[case::twice(&[("origin", "https://shop.example.com"), ("origin", "https://shop.example.com")], false)]
    #[case::nothing(&[], false)]
    fn a_change_comes_from_a_page_of_ours(#[case] lines: &[(&'static str, &'static str)], #[case] allowed: bool) {
        let url = Url::parse("https://shop.example.com/").unwrap();
        assert_eq!(is_allowed(&Method::POST, &headers(lines), &url), allowed);
    }

    #[rstest]
    #[case::a_link_elsewhere(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], true)]
    #[case::fetched_elsewhere(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")], false)]
    #[case::no_browser(&[], true)]
    fn a_page_is_not_fetched_into_another(#[case] lines: &[(&'static str, &'static str)], #[case] allowed: bool) {
        let url = Url::parse("https://shop.example.com/").unwrap();
        assert_eq!(is_allowed(&Method::GET, &headers(lines), &url), allowed);
    }
}
