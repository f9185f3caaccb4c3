//! Country names as ISO 3166-1 alpha-2.

use std::collections::HashMap;

use domain::imports::CountryCode;

/// Names that shops use and the standard does not have.
const OTHER_NAMES: [(&str, &str); 18] = [
    ("EIRE", "IE"),
    ("RSA", "ZA"),
    ("UK", "GB"),
    ("HOLLAND", "NL"),
    ("BRASIL", "BR"),
    ("ESPAÑA", "ES"),
    ("MÉXICO", "MX"),
    ("PERÚ", "PE"),
    ("PANAMÁ", "PA"),
    ("DEUTSCHLAND", "DE"),
    ("ITALIA", "IT"),
    ("ESTADOSUNIDOS", "US"),
    ("CZECHREPUBLIC", "CZ"),
    ("TURKEY", "TR"),
    ("VIETNAM", "VN"),
    ("IRAN", "IR"),
    ("SYRIA", "SY"),
    ("MACEDONIA", "MK"),
];

/// Finds the code of a country by code or name.
pub(super) struct Countries(HashMap<String, CountryCode>);

impl Countries {
    pub fn new() -> Self {
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
        Self(names)
    }

    /// `None` for what is no country: "Unspecified", "European Community".
    pub fn find(&self, name: &str) -> Option<CountryCode> {
        self.0.get(&squeeze(name)).copied()
    }
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
    fn finds_countries(#[case] name: &str, #[case] code: &str) {
        assert_eq!(Countries::new().find(name), Some(code.parse().unwrap()), "{name}");
    }

    #[rstest]
    #[case("Unspecified")]
    #[case("European Community")]
    #[case("Channel Islands")]
    #[case("")]
    #[case("Mars")]
    fn knows_what_is_no_country(#[case] name: &str) {
        assert_eq!(Countries::new().find(name), None);
    }
}
