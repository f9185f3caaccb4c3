use std::collections::HashMap;

use rstest::rstest;
use time::macros::datetime;

use super::*;
use crate::shops::{AppCredentials, mercadolibre::MercadolibreConfig};

fn app() -> Mercadolibre {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Mercadolibre::new(MercadolibreConfig {
        app: AppCredentials {
            client_id: "5503910054141466".to_owned(),
            client_secret: "secret".to_owned().into(),
            previous_secret: None,
        },
        api_url: "https://api.mercadolibre.com".parse().unwrap(),
        authorize_url: None,
        limits: super::super::Limits::per_second(super::super::CALLS_PER_SECOND),
    })
    .unwrap()
}

fn authorization(country: Option<&str>) -> Authorization {
    Authorization {
        state: Secret::new("st&te".to_owned()),
        redirect_uri: "https://example.com/connected?a=b".to_owned(),
        shop: None,
        verifier: Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned()),
        country: country.map(|country| country.parse().unwrap()),
    }
}

/// RFC 7636, appendix B.
#[test]
fn the_challenge_is_that_of_the_rfc() {
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

#[rstest]
#[case("AR", "auth.mercadolibre.com.ar")]
#[case("BR", "auth.mercadolivre.com.br")]
#[case("CL", "auth.mercadolibre.cl")]
fn owners_are_sent_to_their_country(#[case] country: &str, #[case] host: &str) {
    let url: Url = app().authorize_url(&authorization(Some(country))).unwrap().parse().unwrap();
    assert_eq!((url.scheme(), url.host_str(), url.path()), ("https", Some(host), "/authorization"));
    let query: HashMap<String, String> = url.query_pairs().into_owned().collect();
    let expected = [
        ("response_type", "code"),
        ("client_id", "5503910054141466"),
        ("redirect_uri", "https://example.com/connected?a=b"),
        ("state", "st&te"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
    ];
    assert_eq!(query, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
}

#[rstest]
#[case(None)]
#[case(Some("DE"))]
fn a_country_without_site_is_refused(#[case] country: Option<&str>) {
    assert_eq!(app().authorize_url(&authorization(country)), Err(AuthorizeError::UnsupportedCountry));
}

#[rstest]
#[case(&[("error", "access_denied")], CompleteError::Denied("access_denied".to_owned()))]
#[case(&[("error", "mail of ana@example.com")], CompleteError::Denied("no code".to_owned()))]
#[case(&[("state", "x")], CompleteError::Malformed("code"))]
#[case(&[("code", "a"), ("code", "b")], CompleteError::Malformed("code"))]
#[case(&[("code", "")], CompleteError::Malformed("code"))]
#[case(&[("code", "a b")], CompleteError::Malformed("code"))]
#[tokio::test]
async fn a_callback_without_one_code_is_refused(#[case] query: &[(&str, &str)], #[case] expected: CompleteError) {
    let query = query.iter().map(|(key, value)| ((*key).to_owned(), Secret::new((*value).to_owned()))).collect();
    let now = datetime!(2026-11-24 12:00 UTC);
    let refused = app().complete(&Callback(query), &authorization(Some("AR")), now).await;
    assert_eq!(refused, Err(expected));
}

#[test]
fn the_lifetime_that_is_stated_counts() {
    let body = r#"{"access_token":"APP_USR-1","token_type":"bearer","expires_in":10800,"scope":"offline_access read write",
        "user_id":1234567,"refresh_token":"TG-1"}"#;
    let now = datetime!(2026-11-24 12:00 UTC);
    let tokens = tokens(serde_json::from_str(body).unwrap(), now);
    assert_eq!(tokens.access_expires_at, Some(datetime!(2026-11-24 15:00 UTC)));
    assert_eq!(tokens.refresh_expires_at, Some(datetime!(2027-05-23 12:00 UTC)));
    assert_eq!(tokens.scopes, ["offline_access", "read", "write"]);
}
