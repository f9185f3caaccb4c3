//! Country names as ISO 3166-1 alpha-2.

use std::{collections::HashMap, sync::LazyLock};

use domain::{
    imports::CountryCode,
    language::Language,
    texts::{Locale, Texts},
};

/// Names that shops use and the standard does not have.
const OTHER_NAMES: [(&str, &str); 11] = [
    ("EIRE", "IE"),
    ("RSA", "ZA"),
    ("UK", "GB"),
    ("HOLLAND", "NL"),
    ("DEUTSCHLAND", "DE"),
    ("CZECHREPUBLIC", "CZ"),
    ("TURKEY", "TR"),
    ("VIETNAM", "VN"),
    ("IRAN", "IR"),
    ("SYRIA", "SY"),
    ("MACEDONIA", "MK"),
];

/// Codes by what countries are called.
static NAMES: LazyLock<HashMap<String, CountryCode>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for country in celes::Country::get_countries() {
        let Ok(code) = country.alpha2.parse::<CountryCode>() else { continue };
        let long = squeeze(country.long_name);
        names.insert(long.strip_prefix("THE").unwrap_or(&long).to_owned(), code);
        names.insert(long, code);
        names.insert(country.alpha2.to_owned(), code);
        names.insert(country.alpha3.to_owned(), code);
        for alias in celes::LookupTable::iter(&country.aliases) {
            names.insert(squeeze(alias), code);
        }
    }
    for (name, code) in OTHER_NAMES {
        if let Ok(code) = code.parse() {
            names.insert(name.to_owned(), code);
        }
    }
    for language in [Language::Spanish, Language::BrazilianPortuguese] {
        let texts = Texts::of(Locale { language, region: None });
        for country in celes::Country::get_countries() {
            let Ok(code) = country.alpha2.parse::<CountryCode>() else { continue };
            let name = texts.message("country").text("code", country.alpha2).say();
            names.entry(squeeze(&name)).or_insert(code);
        }
    }
    names
});

/// The country of that code or name. `None` for what is no country: "Unspecified", "European Community".
pub(super) fn find(name: &str) -> Option<CountryCode> {
    NAMES.get(&squeeze(name)).copied()
}

/// Capital letters only: names differ in blanks, points and hyphens.
fn squeeze(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("United Kingdom", "GB")]
    #[case("EIRE", "IE")]
    #[case("RSA", "ZA")]
    #[case("USA", "US")]
    #[case("United States", "US")]
    #[case("br", "BR")]
    #[case("Brasil", "BR")]
    #[case("Hong Kong", "HK")]
    #[case("Netherlands", "NL")]
    #[case("Czech Republic", "CZ")]
    #[case("Russia", "RU")]
    #[case("South Korea", "KR")]
    #[case("Taiwan", "TW")]
    #[case("United Arab Emirates", "AE")]
    #[case("Saudi Arabia", "SA")]
    #[case("DEU", "DE")]
    #[case("España", "ES")]
    #[case("Estados Unidos", "US")]
    #[case("Países Bajos", "NL")]
    #[case("Alemanha", "DE")]
    #[case("República Dominicana", "DO")]
    fn finds_countries(#[case] name: &str, #[case] code: &str) {
        assert_eq!(find(name), Some(code.parse().unwrap()), "{name}");
    }

    #[rstest]
    #[case("Unspecified")]
    #[case("European Community")]
    #[case("Channel Islands")]
    #[case("")]
    #[case("Mars")]
    fn knows_what_is_no_country(#[case] name: &str) {
        assert_eq!(find(name), None);
    }
}
