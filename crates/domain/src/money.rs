//! Money: exact decimals and the currency that says how many of them are shown.

use std::{fmt, str::FromStr};

use rust_decimal::{Decimal, RoundingStrategy, prelude::FromPrimitive};

/// An ISO 4217 currency code: three capital letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency([u8; 3]);

/// A text is not a currency code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a currency is the ISO 4217 code, in capital letters, of what people pay with, such as USD or BRL")]
pub struct InvalidCurrency;

impl Currency {
    pub const USD: Self = Self(*b"USD");

    /// The currency that a shop may keep its accounts in: one that ISO 4217 knows, and no precious metal, no code for tests and
    /// none for "no currency". What files and shops name is not held against that list, which changes faster than they do.
    ///
    /// # Errors
    /// When it is none of those.
    pub fn of_account(code: &str) -> Result<Self, InvalidCurrency> {
        match iso_currency::Currency::from_code(code) {
            Some(known) if !known.is_special() => code.parse(),
            _ => Err(InvalidCurrency),
        }
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The number of decimals of the minor unit (ISO 4217): 0 for JPY, 3 for KWD, 2 for most.
    pub fn exponent(&self) -> u32 {
        match &self.0 {
            b"BIF" | b"CLP" | b"DJF" | b"GNF" | b"ISK" | b"JPY" | b"KMF" | b"KRW" | b"PYG" | b"RWF" | b"UGX"
            | b"UYI" | b"VND" | b"VUV" | b"XAF" | b"XOF" | b"XPF" => 0,
            b"BHD" | b"IQD" | b"JOD" | b"KWD" | b"LYD" | b"OMR" | b"TND" => 3,
            b"CLF" | b"UYW" => 4,
            _ => 2,
        }
    }

    /// The amount as it is shown: rounded half-even to the minor unit.
    pub fn round(&self, amount: Decimal) -> Decimal {
        round(amount, self.exponent())
    }
}

impl FromStr for Currency {
    type Err = InvalidCurrency;
    fn from_str(text: &str) -> Result<Self, InvalidCurrency> {
        let code: [u8; 3] = text.as_bytes().try_into().map_err(|_| InvalidCurrency)?;
        if code.iter().all(u8::is_ascii_uppercase) { Ok(Self(code)) } else { Err(InvalidCurrency) }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Rounds half-even ("banker's rounding", IEEE 754 roundTiesToEven) to `decimals` places.
pub fn round(amount: Decimal, decimals: u32) -> Decimal {
    amount.round_dp_with_strategy(decimals, RoundingStrategy::MidpointNearestEven)
}

/// `part / whole`, or zero when there is no whole or the quotient cannot be represented.
pub fn ratio(part: Decimal, whole: Decimal) -> Decimal {
    part.checked_div(whole).unwrap_or_default()
}

/// The largest figure that [`estimate`] gives.
const LARGEST_ESTIMATE: f64 = 1e15;

/// A measured value with at most four decimals.
pub fn round4(value: f64) -> f64 {
    let scaled = (value * 10_000.0).round() / 10_000.0;
    // Too large to have decimals at all.
    if scaled.is_finite() { scaled } else { value }
}

/// A statistical figure as a decimal that can be stored: not negative, at most 10^15, rounded to `decimals` places; zero
/// when it is not a number. Amounts that were ever exact never take this way.
pub fn estimate(figure: f64, decimals: u32) -> Decimal {
    let figure = if figure.is_nan() { 0.0 } else { figure.clamp(0.0, LARGEST_ESTIMATE) };
    round(Decimal::from_f64(figure).unwrap_or_default(), decimals)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("USD", "0.125", "0.12")]
    #[case("USD", "0.135", "0.14")]
    #[case("JPY", "2.5", "2")]
    #[case("KWD", "1.0005", "1.000")]
    #[case("USD", "-0.125", "-0.12")]
    fn rounds_half_even_to_the_minor_unit(#[case] code: &str, #[case] amount: &str, #[case] shown: &str) {
        let currency: Currency = code.parse().unwrap();
        assert_eq!(currency.round(amount.parse().unwrap()), shown.parse::<Decimal>().unwrap());
    }

    #[rstest]
    #[case(f64::NAN, "0")]
    #[case(f64::INFINITY, "1000000000000000")]
    #[case(-3.5, "0")]
    #[case(0.123_456, "0.1235")]
    fn an_estimate_is_always_a_number(#[case] figure: f64, #[case] stored: &str) {
        assert_eq!(estimate(figure, 4), stored.parse::<Decimal>().unwrap());
    }

    #[rstest]
    #[case("usd")]
    #[case("US")]
    #[case("USDT")]
    #[case("ÜS")]
    fn refuses_other_codes(#[case] code: &str) {
        assert_eq!(code.parse::<Currency>(), Err(InvalidCurrency));
        assert_eq!(Currency::of_account(code), Err(InvalidCurrency));
    }

    #[rstest]
    #[case("UDS")]
    #[case("XXX")]
    #[case("XAU")]
    #[case("XTS")]
    fn no_shop_keeps_accounts_in_what_nobody_pays_with(#[case] code: &str) {
        assert_eq!(Currency::of_account(code), Err(InvalidCurrency));
    }

    #[test]
    fn every_currency_has_the_minor_unit_of_the_standard() {
        let letters = b'A'..=b'Z';
        let codes =
            letters.clone().flat_map(|a| letters.clone().flat_map(move |b| (b'A'..=b'Z').map(move |c| [a, b, c])));
        let known: Vec<Currency> =
            codes.filter_map(|code| Currency::of_account(std::str::from_utf8(&code).unwrap()).ok()).collect();
        assert!(known.len() > 150, "{}", known.len());
        for currency in known {
            let standard =
                iso_currency::Currency::from_code(currency.as_str()).and_then(iso_currency::Currency::exponent);
            assert_eq!(Some(currency.exponent()), standard.map(u32::from), "{currency}");
        }
    }
}
