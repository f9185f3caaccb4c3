//! Accounts change in what is said, and alone.

use domain::{
    AccountId,
    accounts::{AccountChange, AccountStore},
    profit::{Assumptions, ProfitStore},
};
use rust_decimal::dec;
use time::{OffsetDateTime, macros::datetime};

use crate::{database::fresh, shop};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

#[tokio::test]
async fn an_account_changes_in_what_is_given_and_alone() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let change = AccountChange {
        timezone: Some("Europe/Lisbon".parse().unwrap()),
        holiday_country: Some(Some("PT".parse().unwrap())),
        fee_rate: Some(dec!(0.0349)),
        ..AccountChange::default()
    };
    let changed = db.store.change(mine, change, None, NOW).await.unwrap().unwrap();
    assert_eq!((changed.timezone.name(), changed.holiday_country), ("Europe/Lisbon", Some("PT".parse().unwrap())));
    let expected = Assumptions {
        fee_rate: dec!(0.0349),
        fee_fixed: dec!(0.30),
        shipping_per_order: dec!(4),
        cogs_ratio: dec!(0.5),
    };
    assert_eq!(db.store.assumptions(mine).await.unwrap(), expected);
    let unchanged = db.store.change(mine, AccountChange::default(), None, NOW).await.unwrap();
    assert_eq!(unchanged, Some(changed));
    let none = AccountChange { holiday_country: Some(None), ..AccountChange::default() };
    assert_eq!(db.store.change(mine, none, None, NOW).await.unwrap().unwrap().holiday_country, None);
    let other = AccountStore::find(&*db.store, theirs).await.unwrap().unwrap();
    assert_eq!((other.timezone.name(), other.holiday_country), ("UTC", None));
    assert_eq!(db.store.change(AccountId(i64::MAX), AccountChange::default(), None, NOW).await.unwrap(), None);
}
