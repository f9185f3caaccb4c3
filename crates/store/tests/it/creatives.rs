//! What verdicts on creatives are made from, how they are kept, and that a winner is announced once.

use domain::{
    AccountId, AdEntityId, CreativeId,
    ads::{AdListError, AdPlatform, Format},
    creatives::{
        Creative, CreativeSource, CreativeStore, CreativeWriter, Fatigue, Judged, Lift, Metric, Needs, Query, Status,
        Verdict, Verdicts,
    },
    jobs::{Again, Claim, JobName, JobStore, WriteOutcome},
    metrics::returns::OrderValue,
    money::Currency,
    page::PageRequest,
    profit::DayRange,
};
use futures_util::TryStreamExt;
use rust_decimal::dec;
use serde_json::Value;
use time::{
    Date, Duration, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop,
};

const DAY: Date = date!(2026 - 03 - 02);
const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);
const QUERY: Query = Query {
    range: DayRange { first: date!(2026 - 02 - 01), last: DAY },
    platform: None,
    status: None,
    winner: None,
    campaign: None,
};

/// A campaign with two ads that show creatives 1 and 2, over two days; and one whose creative is unknown.
async fn fill(db: &Database, account: AccountId) {
    let rows = "
        INSERT INTO ad_accounts (account_id, id, platform, external_id, source, last_synced_at) OVERRIDING SYSTEM VALUE
            VALUES ($1, 1, 'meta', 'meta', 'file', now());
        INSERT INTO creatives (account_id, id, platform, key, format, headline) OVERRIDING SYSTEM VALUE
            VALUES ($1, 1, 'meta', 'meta:video:1', 'video', 'Blue'), ($1, 2, 'meta', 'meta:image:2', 'image', NULL);
        INSERT INTO ad_entities (account_id, id, ad_account_id, level, parent_id, campaign_id, external_id, name, status,
            creative_id) OVERRIDING SYSTEM VALUE
            VALUES ($1, 10, 1, 'campaign', 0, NULL, 'c', 'Spring', 'active', NULL),
                ($1, 11, 1, 'ad_set', 10, 10, 's', 's', 'active', NULL), ($1, 21, 1, 'ad', 11, 10, 'a', 'a', 'active', 1),
                ($1, 22, 1, 'ad', 11, 10, 'b', 'b', 'active', 1), ($1, 23, 1, 'ad', 11, 10, 'd', 'd', 'active', 2),
                ($1, 24, 1, 'ad', 11, 10, '', '', 'active', NULL);
        INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, fx, spend, native_revenue, revenue, impressions,
            clicks, purchases, video_3s)
            SELECT $1, date '2026-02-20' + n, ad, 'USD', 10, 1, 10, 30, 30, 1000, 20, 2, 300
            FROM generate_series(0, 1) n CROSS JOIN (VALUES (21), (22), (23), (24)) ads (ad);
        UPDATE ad_days SET purchases = NULL WHERE account_id = $1 AND ad_id = 22 AND day = '2026-02-21';
        INSERT INTO orders (account_id, source, external_id, placed_at, gross, units, content_hash)
            VALUES ($1, 'shopify', '1', '2026-02-20', 10, 1, ''), ($1, 'shopify', '2', '2026-02-21', 30, 1, ''),
                ($1, 'shopify', 'long ago', '2025-11-01', 900, 1, '');";
    db.sql.batch_execute(&rows.replace("$1", &account.0.to_string())).await.unwrap();
}

fn judged(creative_id: i64, status: Status) -> Judged {
    let is_clear = status != Status::InsufficientData;
    Judged {
        campaign_id: AdEntityId(10),
        creative_id: CreativeId(creative_id),
        first_seen: date!(2026 - 02 - 20),
        last_seen: date!(2026 - 02 - 21),
        verdict: Verdict {
            status,
            metric: is_clear.then_some(Metric::Roas),
            evidence: is_clear.then_some(dec!(11.98)),
            lift: is_clear.then_some(Lift {
                observed: dec!(1.5133),
                shrunk: dec!(0.641873),
                low: dec!(0.176795),
                high: dec!(1.290752),
            }),
            compared_with: 1,
            days: 2,
            needs: (!is_clear).then_some(Needs { purchases: 6, days: 1, spend: dec!(40) }),
        },
        fatigue: is_clear.then_some(Fatigue { ctr_ratio: dec!(0.94), is_fatigued: false }),
        spend: dec!(40),
        revenue: Some(dec!(120)),
    }
}

async fn claim(db: &Database, account: AccountId, as_of: Date) -> Claim {
    db.store.claim(account, JobName::CreativeWinners, as_of, 60, Again::All).await.unwrap().unwrap()
}

fn verdicts(judged: Vec<Judged>) -> Verdicts {
    Verdicts { judged, tau: dec!(0.25), window_days: 90, currency: Currency::USD }
}

async fn write(db: &Database, account: AccountId, now: OffsetDateTime, judged: Vec<Judged>) -> WriteOutcome {
    let claim = claim(db, account, now.date()).await;
    CreativeWriter::replace(&*db.store, &claim, verdicts(judged), now).await.unwrap()
}

async fn list(db: &Database, account: AccountId, query: Query) -> Vec<Creative> {
    let all = PageRequest { limit: 100, cursor: None };
    CreativeStore::page(&*db.store, account, query, all).await.unwrap().items
}

async fn events(db: &Database, account: AccountId) -> Vec<Value> {
    let rows = db
        .sql
        .query(
            "SELECT body FROM events WHERE account_id = $1 AND kind = 'creative.winner.detected' ORDER BY id",
            &[&account.0],
        )
        .await
        .unwrap();
    rows.iter().map(|row| serde_json::from_slice(row.get::<_, &[u8]>(0)).unwrap()).collect()
}

#[tokio::test]
async fn the_days_are_summed_by_creative_and_ad_set() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    fill(&db, account).await;
    let parts = "UPDATE ad_days SET purchases_exact = 1.6 WHERE account_id = $1 AND ad_id = 23 AND day = '2026-02-21'";
    db.sql.execute(parts, &[&account.0]).await.unwrap();
    let record = db.store.record(account, QUERY.range).await.unwrap();
    let days: Vec<_> = record
        .days
        .iter()
        .map(|day| (day.creative_id.0, day.ad_set_id.0, day.day, day.spend, day.clicks, day.purchases))
        .collect();
    let (first, second) = (date!(2026 - 02 - 20), date!(2026 - 02 - 21));
    assert_eq!(
        days,
        [
            (1, 11, first, Some(dec!(20)), Some(40), Some(dec!(4))),
            // One of the two ads does not tell.
            (1, 11, second, Some(dec!(20)), Some(40), None),
            (2, 11, first, Some(dec!(10)), Some(20), Some(dec!(2))),
            (2, 11, second, Some(dec!(10)), Some(20), Some(dec!(1.6))),
        ]
    );
    // 10 and 30: a variance of 100 by a mean of 20.
    assert_eq!((record.won.len(), record.order_value), (0, OrderValue { mean: 20.0, spread: 0.25 }));
}

#[tokio::test]
async fn verdicts_are_read_as_they_were_written_beside_the_sums_of_the_window() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    fill(&db, account).await;
    assert_eq!(list(&db, account, QUERY).await, []);
    let written = write(&db, account, NOW, vec![judged(2, Status::InsufficientData), judged(1, Status::Winner)]).await;
    assert_eq!(written, WriteOutcome::Rows(2));
    let found = list(&db, account, QUERY).await;
    let winner = &found[0];
    assert_eq!(
        (winner.verdict, winner.fatigue),
        (judged(1, Status::Winner).verdict, judged(1, Status::Winner).fatigue)
    );
    assert_eq!((&*winner.key, &*winner.campaign, winner.format), ("meta:video:1", "Spring", Format::Video));
    assert_eq!(
        (winner.sums.spend, winner.sums.purchases, winner.ad_ids.as_slice()),
        (Some(dec!(40)), Some(6), &[AdEntityId(21), AdEntityId(22)][..])
    );
    assert_eq!((winner.hook_rate(), winner.won_at), (Some(dec!(0.3)), Some(NOW)));
    assert_eq!((found[1].verdict, found[1].won_at), (judged(2, Status::InsufficientData).verdict, None));
    let seen = |creative: &Creative| (creative.first_seen, creative.last_seen);
    assert_eq!(seen(winner), (date!(2026 - 02 - 20), date!(2026 - 02 - 21)));
    let one_day = Query { range: DayRange { first: date!(2026 - 02 - 21), last: DAY }, ..QUERY };
    assert_eq!(list(&db, account, one_day).await[0].sums.spend, Some(dec!(20)));
    let later = Query { range: DayRange { first: DAY, last: DAY }, ..QUERY };
    assert_eq!(list(&db, account, later).await, [], "it did not run then");
    let freshness = CreativeStore::freshness(&*db.store, account).await.unwrap();
    assert_eq!((freshness.job, freshness.as_of), (JobName::CreativeWinners, Some(NOW)));
    let since = "INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, fx, spend)
        VALUES ($1, '2026-02-22', 21, 'USD', 1, 1, 1)";
    db.sql.execute(since, &[&account.0]).await.unwrap();
    let newer = list(&db, account, QUERY).await;
    assert_eq!(seen(&newer[0]), (date!(2026 - 02 - 20), date!(2026 - 02 - 22)), "what ran since the verdict is told");
}

#[tokio::test]
async fn filters_and_pages() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    fill(&db, account).await;
    write(&db, account, NOW, vec![judged(1, Status::Testing), judged(2, Status::Winner)]).await;
    let ids = async |query| list(&db, account, query).await.iter().map(|one| one.key.clone()).collect::<Vec<_>>();
    let whole = ids(QUERY).await;
    assert_eq!(whole, ["meta:image:2", "meta:video:1"], "winners first, whatever was spent");
    for (query, expected) in [
        (Query { winner: Some(false), ..QUERY }, &whole[1..]),
        (Query { winner: Some(true), ..QUERY }, &whole[..1]),
        (Query { status: Some(Status::Testing), ..QUERY }, &whole[1..]),
        (Query { platform: Some(AdPlatform::Meta), campaign: Some(AdEntityId(10)), ..QUERY }, &whole[..]),
        (Query { platform: Some(AdPlatform::Google), ..QUERY }, &[]),
    ] {
        assert_eq!(ids(query).await, expected);
    }
    let first = CreativeStore::page(&*db.store, account, QUERY, PageRequest { limit: 1, cursor: None }).await.unwrap();
    let rest = PageRequest { limit: 1, cursor: first.next_cursor };
    let rest = CreativeStore::page(&*db.store, account, QUERY, rest).await.unwrap();
    assert_eq!((first.items[0].key.as_str(), rest.items[0].key.as_str()), ("meta:image:2", "meta:video:1"));
    assert_eq!(rest.next_cursor, None);
    let streamed: Vec<_> =
        db.store.stream(account, QUERY, first.next_cursor).await.unwrap().try_collect().await.unwrap();
    assert_eq!(streamed, rest.items);

    let other = shop::account(&db.sql, "UTC").await;
    let page = PageRequest { limit: 1, cursor: None };
    let theirs = CreativeStore::page(&*db.store, other, Query { campaign: Some(AdEntityId(10)), ..QUERY }, page)
        .await
        .unwrap_err();
    assert!(matches!(theirs, AdListError::NoSuchCampaign), "{theirs}");
    let foreign = PageRequest { limit: 1, cursor: first.next_cursor };
    let foreign = CreativeStore::page(&*db.store, other, QUERY, foreign).await.unwrap();
    assert_eq!((foreign.items, foreign.next_cursor), (vec![], None));
}

/// More creatives than the 2,000 that a file is read by, each of a campaign and with what its number says spent.
#[tokio::test]
async fn a_verdict_that_changes_while_a_list_is_read_does_not_end_it() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let fill = "
        INSERT INTO ad_accounts (account_id, id, platform, external_id, source, last_synced_at) OVERRIDING SYSTEM VALUE
            VALUES ($1, 1, 'meta', 'meta', 'file', now());
        INSERT INTO ad_entities (account_id, id, ad_account_id, level, parent_id, campaign_id, external_id, name, status)
            OVERRIDING SYSTEM VALUE VALUES ($1, 10, 1, 'campaign', 0, NULL, 'c', 'Spring', 'active');
        INSERT INTO creatives (account_id, id, platform, key, format) OVERRIDING SYSTEM VALUE
            SELECT $1, n, 'meta', n, 'image' FROM generate_series(1, 2010) n;
        INSERT INTO ad_entities (account_id, id, ad_account_id, level, parent_id, campaign_id, external_id, name, status,
            creative_id) OVERRIDING SYSTEM VALUE
            SELECT $1, 100 + n, 1, 'ad', 11, 10, n, n, 'active', n FROM generate_series(1, 2010) n;
        INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, fx, spend)
            SELECT $1, '2026-02-20', 100 + n, 'USD', n, 1, n FROM generate_series(1, 2010) n;";
    db.sql.batch_execute(&fill.replace("$1", &account.0.to_string())).await.unwrap();
    write(&db, account, NOW, (1..=2010).map(|id| judged(id, Status::Winner)).collect()).await;
    let fade = async |key: &str| {
        let faded =
            "UPDATE campaign_creatives SET status = 'faded' FROM creatives c WHERE campaign_creatives.account_id = $1
            AND c.account_id = $1 AND c.id = campaign_creatives.creative_id AND c.key = $2";
        assert_eq!(db.sql.execute(faded, &[&account.0, &key]).await.unwrap(), 1);
    };
    for query in [Query { winner: Some(true), ..QUERY }, Query { status: Some(Status::Winner), ..QUERY }] {
        let page = async |cursor| {
            CreativeStore::page(&*db.store, account, query, PageRequest { limit: 1, cursor }).await.unwrap()
        };
        let first = page(None).await;
        fade(&first.items[0].key).await;
        let second = page(first.next_cursor).await;
        let spent = [&first, &second].map(|page| page.items[0].sums.spend.unwrap());
        assert_eq!(spent[0] - spent[1], dec!(1), "the next one");
    }
    // 2,008 are left, 2,000 of which are read first: what changes then is seen behind those only.
    let mut rows = db.store.stream(account, Query { winner: Some(true), ..QUERY }, None).await.unwrap();
    assert_eq!(rows.try_next().await.unwrap().unwrap().key, "2008");
    for key in ["1009", "9", "7"] {
        fade(key).await;
    }
    let rest: Vec<Creative> = rows.try_collect().await.unwrap();
    let keys = [998, 1998, 1999, 2000, 2005].map(|place: usize| rest[place].key.as_str());
    assert_eq!((rest.len(), keys), (2006, ["1009", "9", "8", "6", "1"]));
}

#[tokio::test]
async fn a_winner_is_announced_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    fill(&db, account).await;
    let at = |days| NOW + Duration::days(days);
    write(&db, account, NOW, vec![judged(1, Status::Testing), judged(2, Status::Leading)]).await;
    assert_eq!(events(&db, account).await, Vec::<Value>::new());
    write(&db, account, at(1), vec![judged(1, Status::Winner), judged(2, Status::Leading)]).await;
    let told = events(&db, account).await;
    let id = list(&db, account, QUERY).await[0].id;
    assert_eq!(
        told,
        [serde_json::json!({"event": "creative.winner.detected", "data": {
            "platform": "meta", "campaign": "Spring", "creative": "Blue", "spend": 40, "revenue": 120,
            "currency": "USD", "window_days": 90, "creative_id": id, "metric": "roas", "lift": 0.6419, "lift_low": 0.1768,
            "lift_high": 1.2908, "evidence": 11.98
        }})]
    );
    for (days, status) in [(2, Status::Winner), (3, Status::Faded), (4, Status::Winner)] {
        write(&db, account, at(days), vec![judged(1, status), judged(2, Status::Testing)]).await;
    }
    assert_eq!(events(&db, account).await.len(), 1);
    let record = db.store.record(account, QUERY.range).await.unwrap();
    assert_eq!(record.won, [(AdEntityId(10), CreativeId(1))]);
    assert_eq!(list(&db, account, QUERY).await[0].won_at, Some(at(1)));

    // One that has faded is no winner again for want of others to compare it with.
    let alone = || {
        let verdict = Verdict { metric: None, evidence: None, lift: None, ..judged(1, Status::Winner).verdict };
        Judged { verdict, ..judged(1, Status::Winner) }
    };
    for (hours, verdict, status) in [
        (1, alone(), Status::Winner),
        (2, judged(1, Status::Faded), Status::Faded),
        (3, alone(), Status::Faded),
        (4, judged(1, Status::Winner), Status::Winner),
    ] {
        write(&db, account, at(4) + Duration::hours(hours), vec![verdict, judged(2, Status::Testing)]).await;
        assert_eq!(list(&db, account, QUERY).await[0].verdict.status, status, "{hours}");
    }

    // A run whose claim is another's by now changes and announces nothing.
    let late = claim(&db, account, at(5).date()).await;
    db.sql.execute("UPDATE job_runs SET lease_until = now() - interval '1 second'", &[]).await.unwrap();
    claim(&db, account, at(5).date()).await;
    let lost =
        CreativeWriter::replace(&*db.store, &late, verdicts(vec![judged(2, Status::Winner)]), at(5)).await.unwrap();
    assert_eq!((lost, events(&db, account).await.len()), (WriteOutcome::Superseded, 1));
    let without = Judged { revenue: None, ..judged(2, Status::Winner) };
    write(&db, account, at(6), vec![without]).await;
    assert_eq!(events(&db, account).await[1]["data"]["revenue"], Value::Null);
}
