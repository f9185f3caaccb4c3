//! Usage by day of the account's zone.

use domain::{
    credits::CreditLedger,
    usage::{DayUse, Figures, UsageStore},
    zone::Zone,
};
use time::macros::{date, datetime};

use super::books::{account, debit, refund};
use crate::database::fresh;

#[tokio::test]
async fn a_day_of_25_hours_and_one_of_23_are_one_day_each() {
    let db = fresh().await;
    let payer = account(&db.sql, 10_000).await;
    db.sql.batch_execute("UPDATE credit_balances SET updated_at = '2026-01-01'").await.unwrap();
    // In Madrid clocks went forward on 29 March and go back on 25 October.
    let spent = [
        (datetime!(2026-03-28 22:59:59.999999 UTC), 1),
        (datetime!(2026-03-28 23:00 UTC), 2),
        (datetime!(2026-03-29 21:59:59 UTC), 4),
        (datetime!(2026-03-29 22:00 UTC), 8),
        (datetime!(2026-10-24 21:59:59 UTC), 16),
        (datetime!(2026-10-24 22:00 UTC), 32),
        // 02:30 twice.
        (datetime!(2026-10-25 00:30 UTC), 64),
        (datetime!(2026-10-25 01:30 UTC), 128),
        (datetime!(2026-10-25 22:59:59 UTC), 256),
        (datetime!(2026-10-25 23:00 UTC), 512),
    ];
    for (at, amount) in spent {
        db.store.debit(debit(payer, amount, &format!("job-{amount}")), at).await.unwrap();
    }
    db.store.refund(refund(payer, "job-32", "undo"), datetime!(2026-10-26 00:00 UTC)).await.unwrap();

    let zone: Zone = "Europe/Madrid".parse().unwrap();
    // 29 March is the first of the 180 days that end on 24 September; so it is for whoever looks then.
    let september = db.store.read(payer, &zone, datetime!(2026-09-24 12:00 UTC)).await.unwrap();
    assert!(september.days.iter().all(|used| used.day >= date!(2026 - 03 - 29)));
    let read = db.store.read(payer, &zone, datetime!(2026-10-26 12:00 UTC)).await.unwrap();
    assert_eq!((read.balance, read.used_lately), (10_000 - 1_023 + 32, 1_023 - 15 - 32));
    let mut days = september.days;
    days.retain(|used| used.day < date!(2026 - 06 - 01));
    days.extend(read.days);
    days.sort_by_key(|used| used.day);
    let day = |day, consumed, debits, refunded| DayUse {
        day,
        feature: "chat".to_owned(),
        figures: Figures { consumed, refunded, debits, refunds: i64::from(refunded > 0) },
    };
    let expected = [
        day(date!(2026 - 03 - 29), 6, 2, 0),
        day(date!(2026 - 03 - 30), 8, 1, 0),
        day(date!(2026 - 10 - 24), 16, 1, 0),
        day(date!(2026 - 10 - 25), 480, 4, 0),
        day(date!(2026 - 10 - 26), 512, 1, 32),
    ];
    assert_eq!(days, expected);

    let utc = db.store.read(payer, &"UTC".parse().unwrap(), datetime!(2026-10-25 23:30 UTC)).await.unwrap();
    let october = utc.days.iter().filter(|used| used.day >= date!(2026 - 10 - 25));
    let consumed: i64 = october.map(|used| used.figures.consumed).sum();
    assert_eq!(consumed, 64 + 128 + 256 + 512);
}
