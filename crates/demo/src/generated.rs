//! The shop as rows, for whom it is to be measured on and not loaded into an account.

use std::sync::Arc;

use domain::{
    accounts::Platform,
    imports::{AdSpendRow, DocumentPart, ExpenseRow},
    zone::Zone,
};
use time::{Date, OffsetDateTime};

use super::{calendar::Calendar, shop::Shop, spend, visits};

/// Everything that happened in the shop.
#[derive(Debug)]
pub struct Generated {
    /// Orders and refunds of each platform, orders first.
    pub documents: Vec<(Platform, DocumentPart)>,
    pub ads: Vec<AdSpendRow>,
    pub expenses: Vec<ExpenseRow>,
    /// Visitors by day and country.
    pub visitors: Vec<(Date, String, i64)>,
}

/// The shop that was loaded on `opening`, as it is at `until`.
pub fn generate(opening: Date, zone: &Zone, until: OffsetDateTime) -> Generated {
    let shop = Arc::new(Shop::run(Calendar::new(opening, zone, until)));
    let of = |platform: &Platform| {
        let platform = *platform;
        shop.documents(platform, i64::MIN).map(move |document| (platform, document))
    };
    Generated {
        documents: Platform::SHOPS.iter().flat_map(of).collect(),
        ads: spend::ads(&shop.calendar, 0),
        expenses: spend::expenses(&shop.calendar, 0),
        visitors: (0..shop.calendar.len()).flat_map(|day| visitors(&shop, day)).collect(),
    }
}

fn visitors(shop: &Shop, day: usize) -> Vec<(Date, String, i64)> {
    let mut countries: std::collections::BTreeMap<String, std::collections::BTreeSet<String>> = Default::default();
    for event in visits::events(shop, day, i64::MIN) {
        if let (Some(country), Some(visitor)) = (event.location.country, event.visitor_id) {
            countries.entry(country).or_default().insert(visitor);
        }
    }
    let date = shop.calendar.date(day);
    let count = |ids: std::collections::BTreeSet<String>| i64::try_from(ids.len()).unwrap_or(i64::MAX);
    countries.into_iter().map(|(country, ids)| (date, country, count(ids))).collect()
}
