//! In which language an answer is written: as `lang` says, else the header `Accept-Language`, else as the account is set. Numbers,
//! amounts and dates follow the country that the header names with the language, else the account's.

use std::{
    convert::Infallible,
    future::{Ready, ready},
};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{AcceptLanguage, Header, LanguageTag, Preference, Quality},
};
use domain::{
    imports::CountryCode,
    language::Language,
    texts::{Locale, Texts},
};
use serde::Deserialize;
use utoipa::IntoParams;
use validator::Validate;

use crate::{auth::Caller, input::Input, names};

/// What an endpoint takes that has no parameter but the language.
#[derive(Debug, Deserialize, Validate, IntoParams)]
pub struct LanguageParam {
    #[param(value_type = names::LanguageName, inline, required = false)]
    pub lang: Option<Language>,
}

impl Input for LanguageParam {}

/// The first of the languages of the header `Accept-Language` that there is, and the country named with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted(Option<(Language, Option<CountryCode>)>);

impl FromRequest for Accepted {
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        // A header that is none is as good as no header.
        let ranges = AcceptLanguage::parse(request).map(|header| header.0).unwrap_or_default();
        let wanted = AcceptLanguage(ranges.into_iter().filter(|range| range.quality > Quality::ZERO).collect());
        ready(Ok(Self(wanted.ranked().iter().find_map(known))))
    }
}

/// `*` is whatever the account is set to.
fn known(range: &Preference<LanguageTag>) -> Option<(Language, Option<CountryCode>)> {
    let tag = range.item()?;
    let language = match tag.primary_language().to_ascii_lowercase().as_str() {
        "en" => Language::English,
        "es" => Language::Spanish,
        "pt" => Language::BrazilianPortuguese,
        _ => return None,
    };
    Some((language, tag.region().and_then(|region| region.to_ascii_uppercase().parse().ok())))
}

impl Accepted {
    /// The texts for a caller, read today.
    pub fn texts(self, lang: Option<Language>, caller: &Caller, now: time::OffsetDateTime) -> Texts {
        Texts::of(self.locale(lang, caller.locale())).as_of(caller.zone().day_of(now))
    }

    pub fn locale(self, lang: Option<Language>, account: Locale) -> Locale {
        let language = lang.or(self.0.map(|(language, _)| language)).unwrap_or(account.language);
        let named = self.0.filter(|(of, _)| *of == language).and_then(|(_, country)| country);
        Locale { language, region: named.or(account.region) }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing_said(None, None, "pt-BR")]
    #[case::the_header(None, Some("es"), "es-BR")]
    #[case::with_its_country(None, Some("es-ar"), "es-AR")]
    #[case::the_parameter_comes_first(Some(Language::English), Some("es-AR"), "en-BR")]
    #[case::with_the_headers_country(Some(Language::Spanish), Some("es-AR"), "es-AR")]
    #[case::the_best_that_there_is(None, Some("fr;q=0.9, en-GB;q=0.3, es-MX;q=0.8"), "es-MX")]
    #[case::what_is_refused_is_not_taken(None, Some("es;q=0, en;q=0.1"), "en-BR")]
    #[case::portuguese_of_portugal(None, Some("pt-PT"), "pt-PT")]
    #[case::anything(None, Some("*"), "pt-BR")]
    #[case::unknown(None, Some("fr-CA, de"), "pt-BR")]
    #[case::nonsense(None, Some(";;=q"), "pt-BR")]
    fn the_language_is_what_the_request_asks_for_else_the_accounts(
        #[case] lang: Option<Language>,
        #[case] header: Option<&str>,
        #[case] expected: &str,
    ) {
        let request = header.map_or_else(TestRequest::default, |header| {
            TestRequest::default().insert_header(("accept-language", header))
        });
        let accepted = Accepted::from_request(&request.to_http_request(), &mut Payload::None).into_inner();
        let account = Locale { language: Language::BrazilianPortuguese, region: Some("BR".parse().unwrap()) };
        assert_eq!(accepted.unwrap_or_else(|never| match never {}).locale(lang, account).tag(), expected);
    }
}
