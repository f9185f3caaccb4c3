//! The form of a shop: its fields as texts, and what they mean.

use domain::{
    accounts::{Account, AccountChange, MAX_NAME_CHARS, parse_amount, parse_share},
    imports::CountryCode,
    profit::Assumptions,
    text,
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{super::entry, LANGUAGES};
use crate::{
    text::Writer,
    views::ask::{Field, Form, Kind},
};

/// Countries of whose way to write numbers shops make use.
const COUNTRIES: [&str; 17] =
    ["AR", "BO", "BR", "CL", "CO", "CR", "DO", "EC", "ES", "GB", "GT", "MX", "PE", "PT", "PY", "US", "UY"];
/// Zones that are proposed; any other is taken as well.
const ZONES: [&str; 12] = [
    "America/Argentina/Buenos_Aires",
    "America/Bogota",
    "America/Lima",
    "America/Mexico_City",
    "America/Montevideo",
    "America/New_York",
    "America/Santiago",
    "America/Sao_Paulo",
    "Europe/Lisbon",
    "Europe/London",
    "Europe/Madrid",
    "UTC",
];

/// The fields, as they are sent. Rates are percent, as people say them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shop {
    name: String,
    zone: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    country: String,
    #[serde(default)]
    holidays: String,
    fee_rate: String,
    fee_fixed: String,
    shipping: String,
    cogs: String,
}

/// What is wrong, by the name of the field.
pub type Faults = Vec<(&'static str, String)>;

impl Shop {
    pub fn of(writer: &Writer, account: &Account, assumed: &Assumptions) -> Self {
        let code = |country: Option<&CountryCode>| country.map(|code| code.as_str().to_owned()).unwrap_or_default();
        let number = |number: Decimal| writer.field(number);
        Self {
            name: account.name.clone(),
            zone: account.timezone.name().to_owned(),
            language: account.locale.language.to_string(),
            country: code(account.locale.region.as_ref()),
            holidays: code(account.holiday_country.as_ref()),
            fee_rate: number(assumed.fee_rate * Decimal::ONE_HUNDRED),
            fee_fixed: number(assumed.fee_fixed),
            shipping: number(assumed.shipping_per_order),
            cogs: number(assumed.cogs_ratio * Decimal::ONE_HUNDRED),
        }
    }

    /// The change that is asked for, by the rules that the command line goes by.
    ///
    /// # Errors
    /// Every field at fault.
    pub fn change(&self, writer: &Writer, holidays: &[&str]) -> Result<AccountChange, Faults> {
        let mut faults = Faults::new();
        let name = self.name.trim();
        let is_name =
            !name.is_empty() && text::check(name, MAX_NAME_CHARS).is_ok() && !name.chars().any(char::is_control);
        let mut check = |name: &'static str, is_good: bool, words: &str| {
            if !is_good {
                faults.push((name, writer.say(words)));
            }
        };
        let (zone, language) = (self.zone.trim().parse().ok(), self.language.parse().ok());
        let (country, holiday) = (code(&self.country), code(&self.holidays));
        let holiday = holiday.filter(|code| code.as_ref().is_none_or(|code| holidays.contains(&code.as_str())));
        let percent = |text: &str| {
            let share = writer.read(text)?.checked_div(Decimal::ONE_HUNDRED)?;
            parse_share(&share.normalize().to_string()).ok()
        };
        let amount = |text: &str| parse_amount(&writer.read(text)?.to_string()).ok();
        let (fee_rate, cogs) = (percent(&self.fee_rate), percent(&self.cogs));
        let (fee_fixed, shipping) = (amount(&self.fee_fixed), amount(&self.shipping));
        check("name", is_name, "shop-name-wrong");
        check("zone", zone.is_some(), "zone-wrong");
        check("language", language.is_some(), "choose-one");
        check("country", country.is_some(), "choose-one");
        check("holidays", holiday.is_some(), "choose-one");
        check("fee_rate", fee_rate.is_some(), "share-wrong");
        check("fee_fixed", fee_fixed.is_some(), "amount-wrong");
        check("shipping", shipping.is_some(), "amount-wrong");
        check("cogs", cogs.is_some(), "share-wrong");
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(AccountChange {
            name: Some(name.to_owned()),
            timezone: zone,
            holiday_country: holiday,
            language,
            country,
            fee_rate,
            fee_fixed,
            shipping_per_order: shipping,
            cogs_ratio: cogs,
        })
    }

    /// The fields that differ: as they were, and as they are asked to be.
    pub fn changed(&self, asked: &Self) -> (Map<String, Value>, Map<String, Value>) {
        let fields = |shop: &Self| match serde_json::to_value(shop) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let (mut was, mut is) = (fields(self), fields(asked));
        was.retain(|name, value| is.get(name) != Some(value));
        is.retain(|name, _| was.contains_key(name));
        (was, is)
    }
}

/// A country, or none; `None` where the text is neither.
fn code(text: &str) -> Option<Option<CountryCode>> {
    if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) }
}

pub fn form(writer: &Writer, shop: &Shop, faults: &Faults, holidays: &[&'static str]) -> Form {
    let error = |name: &str| faults.iter().find(|(field, _)| *field == name).map(|(_, said)| said.clone());
    let field = |name: &'static str, label: &str, value: &str, kind| Field {
        value: value.to_owned(),
        error: error(name),
        ..entry::field(name, writer.say(label), kind)
    };
    let helped = |field: Field, help: &str| Field { help: Some(writer.say(help)), ..field };
    let languages = LANGUAGES.iter().map(|(language, name)| (language.to_string(), (*name).to_owned())).collect();
    let number = || Kind::Line("text", "off");
    let mut form = entry::form(
        vec![
            field("name", "shop-name", &shop.name, Kind::Line("text", "organization")),
            helped(field("zone", "zone", &shop.zone, Kind::Proposed(ZONES.into())), "zone-cuts"),
            field("language", "shop-language", &shop.language, Kind::Select(languages)),
            helped(
                field(
                    "country",
                    "shop-country",
                    &shop.country,
                    Kind::Select(countries(writer, "country-usual", &COUNTRIES, &shop.country)),
                ),
                "shop-country-help",
            ),
            helped(
                field(
                    "holidays",
                    "shop-holidays",
                    &shop.holidays,
                    Kind::Select(countries(writer, "holidays-none", holidays, &shop.holidays)),
                ),
                "shop-holidays-help",
            ),
            helped(field("fee_rate", "fee-rate", &shop.fee_rate, number()), "fee-rate-help"),
            field("fee_fixed", "fee-fixed", &shop.fee_fixed, number()),
            helped(field("shipping", "shipping-per-order", &shop.shipping, number()), "shipping-help"),
            helped(field("cogs", "cogs-ratio", &shop.cogs, number()), "cogs-help"),
        ],
        writer.say("save"),
    );
    form.action = "/settings/shop".to_owned();
    form
}

/// None, and countries to choose from by name, with the one that is chosen already.
fn countries(writer: &Writer, none: &str, codes: &[&str], chosen: &str) -> Vec<(String, String)> {
    let other = Some(chosen).filter(|code| !code.is_empty() && !codes.contains(code));
    let pick = |code: &str| (code.to_owned(), writer.country(code));
    let mut named: Vec<_> = codes.iter().copied().chain(other).map(pick).collect();
    named.sort_by(|left, right| left.1.cmp(&right.1));
    std::iter::once((String::new(), writer.say(none))).chain(named).collect()
}

/// The same for who may not change it.
pub fn told(writer: &Writer, account: &Account, assumed: &Assumptions) -> Vec<String> {
    vec![
        writer.message("shop-zone-is").text("zone", account.timezone.name()).say(),
        writer
            .message("shop-costs-are")
            .text("rate", writer.percent(assumed.fee_rate, 2))
            .text("fixed", writer.exact(assumed.fee_fixed))
            .text("shipping", writer.exact(assumed.shipping_per_order))
            .text("cogs", writer.percent(assumed.cogs_ratio, 0))
            .text("currency", account.currency)
            .say(),
    ]
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;

    use super::*;
    use crate::text::tests::writer;

    fn shop() -> Shop {
        let text = |text: &str| text.to_owned();
        Shop {
            name: text("Casa"),
            zone: text("America/Sao_Paulo"),
            language: text("pt-BR"),
            country: text("BR"),
            holidays: String::new(),
            fee_rate: text("2,9"),
            fee_fixed: text("0.30"),
            shipping: text("0"),
            cogs: text("40"),
        }
    }

    #[test]
    fn percent_become_shares_and_a_comma_is_taken() {
        let change = shop().change(&writer("pt-BR"), &["BR"]).unwrap();
        assert_eq!((change.fee_rate, change.cogs_ratio), (Some(dec!(0.029)), Some(dec!(0.4))));
        assert_eq!((change.fee_fixed, change.holiday_country), (Some(dec!(0.30)), Some(None)));
    }

    #[rstest]
    #[case(Shop { name: " ".into(), ..shop() }, "name")]
    #[case(Shop { zone: "Mars".into(), ..shop() }, "zone")]
    #[case(Shop { language: "xx".into(), ..shop() }, "language")]
    #[case(Shop { country: "Brasil".into(), ..shop() }, "country")]
    #[case(Shop { holidays: "ZZ".into(), ..shop() }, "holidays")]
    #[case(Shop { fee_rate: "101".into(), ..shop() }, "fee_rate")]
    #[case(Shop { fee_fixed: "-1".into(), ..shop() }, "fee_fixed")]
    #[case(Shop { shipping: "free".into(), ..shop() }, "shipping")]
    #[case(Shop { cogs: String::new(), ..shop() }, "cogs")]
    fn a_fault_names_its_field(#[case] shop: Shop, #[case] field: &str) {
        let faults = shop.change(&writer("en"), &["BR"]).unwrap_err();
        assert_eq!(faults.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [field]);
    }

    #[test]
    fn only_what_differs_is_noted() {
        let asked = Shop { zone: "UTC".into(), ..shop() };
        let (was, is) = shop().changed(&asked);
        assert_eq!(Value::from(was).to_string(), r#"{"zone":"America/Sao_Paulo"}"#);
        assert_eq!(Value::from(is).to_string(), r#"{"zone":"UTC"}"#);
    }
}
