//! What is for sale. Prices are configuration, read from two lists of `:`-separated parts.

use std::str::FromStr;

use rust_decimal::Decimal;

use crate::{
    accounts::Plan,
    credits::{CreditAmount, RechargeSource},
    money::Currency,
};

text_enum!(
    /// How often a plan is paid.
    Interval { Month = "month", Year = "year" }
);

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// In units of the currency, positive, with no more decimals than it has.
    pub amount: Decimal,
    pub currency: Currency,
}

impl Price {
    /// The amount with all the decimals of its currency: the same text every time, wherever the number has been.
    pub fn written(&self) -> String {
        let mut amount = self.amount;
        amount.rescale(self.currency.exponent());
        amount.to_string()
    }
}

/// Credits that are sold once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreditPack {
    pub key: String,
    pub credits: CreditAmount,
    pub price: Price,
}

/// A plan, with the credits that each payment of it brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanPrice {
    pub plan: Plan,
    pub interval: Interval,
    pub credits: CreditAmount,
    pub price: Price,
}

/// What a payment buys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entitlement {
    pub credits: CreditAmount,
    pub source: RechargeSource,
    pub plan: Option<(Plan, Interval)>,
}

/// What a person gets for an item, and for how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    pub entitlement: Entitlement,
    pub price: Price,
}

/// Everything that is for sale. An item may have a price in several currencies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PriceList {
    packs: Vec<CreditPack>,
    plans: Vec<PlanPrice>,
}

/// Why a price list cannot be read; names the entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{entry}`: {fault}")]
pub struct InvalidPrices {
    entry: String,
    fault: &'static str,
}

impl PlanPrice {
    /// The key under which a checkout names it, such as `pro_month`.
    pub fn key(&self) -> String {
        format!("{}_{}", self.plan, self.interval)
    }
}

impl PriceList {
    /// Reads `key:credits:price:currency, …` and `plan:interval:credits:price:currency, …`.
    ///
    /// # Errors
    /// The first entry that is not of its form, or that there is twice.
    pub fn parse(packs: &str, plans: &str) -> Result<Self, InvalidPrices> {
        let mut list = Self::default();
        for entry in entries(packs) {
            let pack = pack(entry).map_err(|fault| invalid(entry, fault))?;
            if list.packs.iter().any(|known| known.key == pack.key && known.price.currency == pack.price.currency) {
                return Err(invalid(entry, "there is another price for it"));
            }
            list.packs.push(pack);
        }
        for entry in entries(plans) {
            let plan = plan(entry).map_err(|fault| invalid(entry, fault))?;
            if list.plans.iter().any(|known| known.key() == plan.key() && known.price.currency == plan.price.currency) {
                return Err(invalid(entry, "there is another price for it"));
            }
            list.plans.push(plan);
        }
        Ok(list)
    }

    pub fn packs(&self) -> &[CreditPack] {
        &self.packs
    }

    pub fn plans(&self) -> &[PlanPrice] {
        &self.plans
    }

    /// Every offer with the key of its item.
    pub fn offers(&self) -> impl Iterator<Item = (String, Offer)> {
        let pack = |pack: &CreditPack| {
            (pack.key.clone(), Offer { entitlement: entitlement(pack.credits, None), price: pack.price })
        };
        let plan = |plan: &PlanPrice| {
            (
                plan.key(),
                Offer { entitlement: entitlement(plan.credits, Some((plan.plan, plan.interval))), price: plan.price },
            )
        };
        self.packs.iter().map(pack).chain(self.plans.iter().map(plan))
    }

    /// What a person gets for an item, for each currency in which it has a price; empty when it is not for sale.
    pub fn offers_of(&self, item: &str) -> Vec<Offer> {
        self.offers().filter(|(key, _)| key == item).map(|(_, offer)| offer).collect()
    }

    /// The pack with this number of credits: in the account's currency if there is one, else in the first that is listed.
    pub fn pack_of(&self, credits: i64, currency: Currency) -> Option<&CreditPack> {
        let mut packs = self.packs.iter().filter(|pack| pack.credits.get() == credits);
        packs.clone().find(|pack| pack.price.currency == currency).or_else(|| packs.next())
    }

    /// Every pack once: at its price in `currency` if it has one, else at the first that is listed.
    pub fn packs_in(&self, currency: Currency) -> Vec<&CreditPack> {
        let mut chosen: Vec<&CreditPack> = Vec::new();
        for pack in &self.packs {
            match chosen.iter_mut().find(|known| known.key == pack.key) {
                Some(known) if pack.price.currency == currency => *known = pack,
                Some(_) => {}
                None => chosen.push(pack),
            }
        }
        chosen
    }

    /// How many credits an automatic top-up may add, in rising order.
    pub fn sizes(&self) -> Vec<i64> {
        let mut sizes: Vec<_> = self.packs.iter().map(|pack| pack.credits.get()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

const fn entitlement(credits: CreditAmount, plan: Option<(Plan, Interval)>) -> Entitlement {
    Entitlement { credits, source: RechargeSource::Manual, plan }
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty())
}

fn invalid(entry: &str, fault: &'static str) -> InvalidPrices {
    InvalidPrices { entry: entry.to_owned(), fault }
}

fn pack(entry: &str) -> Result<CreditPack, &'static str> {
    let [key, credits, amount, currency] = parts(entry).ok_or("write key:credits:price:currency")?;
    let named = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    if !(1..=64).contains(&key.len()) || !key.bytes().all(named) {
        return Err("a key is 1 to 64 of a-z, 0-9, `_` and `-`");
    }
    Ok(CreditPack { key: key.to_owned(), credits: credits_of(credits)?, price: price(amount, currency)? })
}

fn plan(entry: &str) -> Result<PlanPrice, &'static str> {
    let [plan, interval, credits, amount, currency] =
        parts(entry).ok_or("write plan:interval:credits:price:currency")?;
    let plan = plan.parse().ok().filter(|plan| *plan != Plan::Free).ok_or("a plan is starter, pro or scale")?;
    let interval = interval.parse().map_err(|_| "an interval is month or year")?;
    Ok(PlanPrice { plan, interval, credits: credits_of(credits)?, price: price(amount, currency)? })
}

fn parts<const N: usize>(entry: &str) -> Option<[&str; N]> {
    entry.split(':').map(str::trim).collect::<Vec<_>>().try_into().ok()
}

fn credits_of(text: &str) -> Result<CreditAmount, &'static str> {
    text.parse().map_err(|_| "credits are a whole number of at least 1")
}

fn price(amount: &str, currency: &str) -> Result<Price, &'static str> {
    let currency: Currency = currency.parse().map_err(|_| "a currency is an ISO 4217 code")?;
    let amount = Decimal::from_str(amount).map_err(|_| "a price is a decimal number")?;
    if amount <= Decimal::ZERO || currency.round(amount) != amount {
        return Err("a price is positive and has no more decimals than its currency");
    }
    Ok(Price { amount, currency })
}

#[cfg(test)]
mod tests {

    use rstest::rstest;
    use rust_decimal::dec;

    use super::*;

    #[test]
    fn a_list_says_what_an_item_is_and_costs() {
        let list = PriceList::parse("small:500:9.00:USD, small:500:8.50:EUR,big:5000:80:USD", "pro:month:5000:49:USD");
        let list = list.unwrap();
        assert_eq!(list.offers_of("small").len(), 2);
        let Offer { entitlement, price } = list.offers_of("pro_month")[0];
        assert_eq!((entitlement.credits.get(), entitlement.plan), (5000, Some((Plan::Pro, Interval::Month))));
        assert_eq!(price.amount, dec!(49));
        assert!(list.offers_of("pro").is_empty());
        assert_eq!(list.sizes(), [500, 5000]);
        let (usd, eur, jpy) = ("USD".parse().unwrap(), "EUR".parse().unwrap(), "JPY".parse().unwrap());
        assert_eq!(list.pack_of(500, eur).unwrap().price.amount, dec!(8.50));
        assert_eq!(list.pack_of(500, jpy).unwrap().price.currency, usd);
        assert_eq!(list.pack_of(501, usd), None);
        let packs = |currency| -> Vec<_> {
            list.packs_in(currency).iter().map(|pack| (pack.key.as_str(), pack.price.currency)).collect()
        };
        assert_eq!(packs(eur), [("small", eur), ("big", usd)]);
        assert_eq!(packs(jpy), [("small", usd), ("big", usd)]);
    }

    #[rstest]
    #[case("9", "USD", "9.00")]
    #[case("9.000000", "USD", "9.00")]
    #[case("1500.000000", "JPY", "1500")]
    fn a_price_is_always_written_alike(#[case] amount: &str, #[case] currency: &str, #[case] written: &str) {
        let price = Price { amount: amount.parse().unwrap(), currency: currency.parse().unwrap() };
        assert_eq!(price.written(), written);
    }

    #[rstest]
    #[case("small:500:9.00", "")]
    #[case("small:0:9.00:USD", "")]
    #[case("small:500:0:USD", "")]
    #[case("small:500:-1:USD", "")]
    #[case("small:500:9.001:USD", "")]
    #[case("small:500:9.5:JPY", "")]
    #[case("small:500:9:usd", "")]
    #[case("Small:500:9:USD", "")]
    #[case("small:500:9:USD,small:600:10:USD", "")]
    #[case("", "free:month:1:1:USD")]
    #[case("", "pro:week:1:1:USD")]
    #[case("", "pro:month:1:1:USD,pro:month:2:2:USD")]
    fn an_entry_that_is_wrong_is_refused(#[case] packs: &str, #[case] plans: &str) {
        assert!(PriceList::parse(packs, plans).is_err());
    }
}
