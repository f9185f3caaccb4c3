//! Ad spend down to ads, and the spend that is rolled up of it.

use domain::{
    ads::{AdListError, AdPlatform, AdRow, AdStore, Coverage, Format, Group, Level, Overview, Query, Status, Sums},
    daily::DailyStore,
    imports::{AdAccount, AdDetail, AdNames, AdSource, AdSpendRow, Changes, ImportStore, MAX_RATE, RateRow},
    jobs::{Again, JobName, JobStore, WriteOutcome},
    page::PageRequest,
    profit::{Basis, Components, DayRange, ProfitStore, ProfitWriter},
};
use futures_util::TryStreamExt;
use rust_decimal::{Decimal, dec};
use store::Store;
use time::{Date, macros::date};

use super::fixture::{NOW, Shop, rows};

const DAY: Date = date!(2026 - 04 - 01);
const QUERY: Query = Query {
    range: DayRange { first: DAY, last: date!(2026 - 04 - 30) },
    platform: None,
    campaign: None,
    status: None,
    level: Level::Campaign,
    group: Group::Total,
};

/// A row of Meta's, whose ad and creative have the same name.
fn row(campaign: &str, ad: &str, spend: Decimal) -> AdSpendRow {
    AdSpendRow {
        day: DAY,
        platform: "meta_ads".to_owned(),
        campaign: campaign.to_owned(),
        spend,
        impressions: Some(1_000),
        clicks: Some(20),
        detail: AdDetail {
            ad_set: "Broad".to_owned(),
            ad: ad.to_owned(),
            format: Some(Format::Video),
            purchases: Some(dec!(2)),
            revenue: Some(dec!(30)),
            ..AdDetail::default()
        },
        line: 2,
        record: b"as it came".to_vec(),
    }
}

/// One of campaign `a` whose 10 of spend are in another currency than the account's.
fn foreign(ad: &str, currency: &str) -> AdSpendRow {
    let row = row("a", ad, dec!(10));
    AdSpendRow { detail: AdDetail { currency: Some(currency.parse().unwrap()), ..row.detail }, ..row }
}

async fn import(shop: &Shop, spent: Vec<AdSpendRow>) -> Changes {
    shop.importer.ad_spend(shop.target(), AdSource::File, rows(spent)).await.unwrap().rows.rows
}

async fn list(store: &Store, shop: &Shop, query: Query) -> Vec<AdRow> {
    let all = PageRequest { limit: 100, cursor: None };
    AdStore::page(store, shop.account, query, all).await.unwrap().items
}

fn names(rows: &[AdRow]) -> Vec<(&str, Option<Decimal>)> {
    rows.iter().map(|row| (row.name.as_str(), row.sums.spend)).collect()
}

const SPEND: &str = "SELECT concat_ws(' ', day, platform, campaign, spend::float8) FROM ad_spend
    WHERE account_id = $1 ORDER BY 1";

/// An import into tables that nobody has made statistics of: the planner takes them for empty.
#[tokio::test]
async fn ads_that_have_the_same_name_in_every_campaign_are_not_compared_with_each_other() {
    if testkit::skip_on_citus("a table's counts are those of its shards") {
        return;
    }
    const CAMPAIGNS: i64 = 60;
    const DAYS: i64 = 30;
    let shop = Shop::open().await;
    let spent = (0..CAMPAIGNS).flat_map(|campaign| {
        let row = row(&format!("Campaign {campaign}"), "Ad", dec!(1));
        (0..DAYS).map(move |day| AdSpendRow { day: DAY + time::Duration::days(day), ..row.clone() })
    });
    assert_eq!(import(&shop, spent.collect()).await.new, CAMPAIGNS * DAYS);
    // The session of the import counts when it ends, which is soon.
    let counted = "SELECT n_tup_ins, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) FROM pg_stat_user_tables \
        WHERE relname = 'ad_entities'";
    let read: i64 = loop {
        let row = shop.client.query_one(counted, &[]).await.unwrap();
        if row.get::<_, i64>(0) == 3 * CAMPAIGNS {
            break row.get(1);
        }
    };
    assert!(read < 10 * CAMPAIGNS * DAYS, "{read} entities are read for {} rows", CAMPAIGNS * DAYS);
}

#[tokio::test]
async fn every_level_has_the_sums_of_its_ads_and_the_totals_are_the_same() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let plain = AdSpendRow { platform: "TikTok".into(), detail: AdDetail::default(), ..row("a", "", dec!(7)) };
    let file = vec![row("a", "x", dec!(10)), row("a", "y", dec!(2.5)), row("b", "x", dec!(1)), plain];
    assert_eq!(import(&shop, file.clone()).await, Changes { new: 3, changed: 0, unchanged: 0 });
    let before = shop.image().await;
    assert_eq!(import(&shop, file).await, Changes { new: 0, changed: 0, unchanged: 3 });
    assert_eq!(shop.image().await, before);
    assert_eq!(
        shop.texts(SPEND).await,
        ["2026-04-01 TikTok a 7", "2026-04-01 meta_ads a 12.5", "2026-04-01 meta_ads b 1"]
    );

    let campaigns = list(&store, &shop, QUERY).await;
    assert_eq!(names(&campaigns), [("a", Some(dec!(12.5))), ("a", Some(dec!(7))), ("b", Some(dec!(1)))]);
    assert_eq!(campaigns[0].sums.purchases, Some(4));
    assert_eq!((campaigns[1].platform, campaigns[1].sums.revenue), (AdPlatform::Manual, None), "not told");
    let ads = list(&store, &shop, Query { level: Level::Ad, ..QUERY }).await;
    assert_eq!(
        names(&ads),
        [("x", Some(dec!(10))), ("a", Some(dec!(7))), ("y", Some(dec!(2.5))), ("x", Some(dec!(1)))],
        "what is not split has the name of its campaign"
    );
    assert_eq!((ads[0].external_id.as_deref(), ads[1].external_id.as_deref()), (Some("x"), None));
    let sets = list(&store, &shop, Query { level: Level::AdSet, ..QUERY }).await;
    let of = |row: &AdRow| Some(domain::AdEntityId(row.id.0));
    assert_eq!((sets[0].parent_id, ads[0].parent_id), (of(&campaigns[0]), of(&sets[0])));
    let accounts = list(&store, &shop, Query { level: Level::Account, ..QUERY }).await;
    assert_eq!(names(&accounts), [("meta_ads", Some(dec!(13.5))), ("TikTok", Some(dec!(7)))]);
    for level in Level::ALL {
        let Overview { totals, .. } = store.overview(shop.account, Query { level: *level, ..QUERY }).await.unwrap();
        assert_eq!((totals.spend, totals.purchases, totals.revenue), (Some(dec!(20.5)), Some(6), Some(dec!(90))));
        assert_eq!(totals.roas().map(|roas| roas.round_dp(4)), Some(dec!(6.6667)), "of 13.5, where revenue is told");
    }
    let theirs = AdStore::page(&store, shop.other, QUERY, PageRequest { limit: 5, cursor: None }).await.unwrap();
    assert_eq!(theirs.items, []);
    let nothing = store.overview(shop.other, QUERY).await.unwrap();
    assert_eq!((nothing.totals.spend, nothing.sources.len()), (Some(dec!(0)), 0));
}

#[tokio::test]
async fn a_creative_keeps_the_texts_that_a_row_does_not_tell() {
    let shop = Shop::open().await;
    let line = |line, headline: Option<&str>, body: Option<&str>| {
        let known = row("a", "x", dec!(1));
        let texts = AdDetail { headline: headline.map(Into::into), body: body.map(Into::into), ..known.detail.clone() };
        AdSpendRow { line, detail: AdDetail { creative: Some("9".into()), ..texts }, ..known }
    };
    let texts = async || shop.texts("SELECT concat_ws('|', headline, body) FROM creatives WHERE account_id = $1").await;
    let file = vec![line(2, Some("Old"), None), line(3, Some("New"), Some("Body")), line(4, None, None)];
    import(&shop, file).await;
    assert_eq!(texts().await, ["New|Body"]);
    import(&shop, vec![line(2, None, Some("Other"))]).await;
    assert_eq!(texts().await, ["New|Other"]);
}

#[tokio::test]
async fn a_campaigns_day_is_replaced_as_a_whole() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let unsplit = AdSpendRow { detail: AdDetail::default(), ..row("a", "", dec!(5)) };
    import(&shop, vec![unsplit]).await;
    shop.forget_days().await;
    let split = vec![row("a", "x", dec!(3)), row("a", "y", dec!(4))];
    assert_eq!(import(&shop, split).await, Changes { new: 0, changed: 1, unchanged: 0 });
    assert_eq!(
        (shop.texts(SPEND).await, shop.days().await),
        (vec!["2026-04-01 meta_ads a 7".into()], vec![DAY.to_string()])
    );
    let ads = list(&store, &shop, Query { level: Level::Ad, ..QUERY }).await;
    assert_eq!(names(&ads), [("y", Some(dec!(4))), ("x", Some(dec!(3)))]);
    // More was sold than was known: the spend is the same, and the day is computed again.
    shop.forget_days().await;
    let detail = AdDetail { purchases: Some(dec!(9)), ..row("a", "x", dec!(3)).detail };
    import(&shop, vec![AdSpendRow { detail, ..row("a", "x", dec!(3)) }, row("a", "y", dec!(4))]).await;
    assert_eq!(shop.days().await, [DAY.to_string()]);
    assert_eq!(list(&store, &shop, QUERY).await[0].sums.purchases, Some(11));
}

#[tokio::test]
async fn parts_of_purchases_add_up_however_few_of_them_come_at_a_time() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let part = |ad: &str, day, purchases| {
        let row = row("a", ad, dec!(1));
        AdSpendRow { day, detail: AdDetail { purchases: Some(purchases), ..row.detail }, ..row }
    };
    let (second, third) = (date!(2026 - 04 - 02), date!(2026 - 04 - 03));
    let file = vec![
        part("x", DAY, dec!(0.1)),
        part("x", DAY, dec!(0.3)),
        part("y", DAY, dec!(2.6)),
        part("x", second, dec!(0.4)),
        part("x", third, dec!(0.4)),
    ];
    for day in file.chunk_by(|one, next| one.day == next.day) {
        import(&shop, day.to_vec()).await;
    }
    let told = async |query| list(&store, &shop, query).await.iter().map(|row| row.sums.purchases).collect::<Vec<_>>();
    assert_eq!(told(Query { level: Level::Ad, ..QUERY }).await, [Some(1), Some(3)]);
    assert_eq!(told(QUERY).await, [Some(4)], "1.2 and 2.6");
    let by_day = Query { group: Group::Day, ..QUERY };
    assert_eq!(told(by_day).await, [Some(0), Some(0), Some(3)]);
    assert_eq!(import(&shop, file).await, Changes { new: 0, changed: 0, unchanged: 3 });
}

#[tokio::test]
async fn filters_and_pages() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let paused =
        |row: AdSpendRow| AdSpendRow { detail: AdDetail { status: Some(Status::Paused), ..row.detail.clone() }, ..row };
    let google = AdSpendRow { platform: "google".into(), ..row("g", "x", dec!(4)) };
    let later = AdSpendRow { day: date!(2026 - 04 - 02), ..row("a", "x", dec!(1)) };
    let outside = AdSpendRow { day: date!(2026 - 05 - 01), ..row("a", "x", dec!(100)) };
    import(&shop, vec![row("a", "x", dec!(4)), paused(row("a", "y", dec!(2))), google, later, outside]).await;
    let of = async |query| list(&store, &shop, query).await;
    let campaigns = of(QUERY).await;
    assert_eq!(names(&campaigns), [("a", Some(dec!(7))), ("g", Some(dec!(4)))]);
    assert_eq!(names(&of(Query { platform: Some(AdPlatform::Google), ..QUERY }).await), [("g", Some(dec!(4)))]);
    let paused = of(Query { status: Some(Status::Paused), ..QUERY }).await;
    assert_eq!((names(&paused), paused[0].status), (vec![("a", Some(dec!(2)))], Status::Paused));
    let own = Query { campaign: Some(domain::AdEntityId(campaigns[0].id.0)), level: Level::Ad, ..QUERY };
    assert_eq!(names(&of(own).await), [("x", Some(dec!(5))), ("y", Some(dec!(2)))]);

    let by_day = Query { group: Group::Day, level: Level::Ad, ..QUERY };
    for query in [QUERY, Query { level: Level::Ad, ..QUERY }, by_day] {
        let whole = of(query).await;
        let (mut walked, mut cursor) = (Vec::new(), None);
        loop {
            let page = AdStore::page(&store, shop.account, query, PageRequest { limit: 1, cursor }).await.unwrap();
            walked.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(walked, whole);
        let streamed: Vec<_> = store.stream(shop.account, query, None).await.unwrap().try_collect().await.unwrap();
        assert_eq!(streamed, whole);
    }
    let days: Vec<_> = of(by_day).await.iter().map(|row| row.date.unwrap()).collect();
    assert_eq!(days, [date!(2026 - 04 - 02), DAY, DAY, DAY]);

    let ad = of(Query { level: Level::Ad, ..QUERY }).await[0].id.0;
    let page =
        async |account, query, cursor| AdStore::page(&store, account, query, PageRequest { limit: 1, cursor }).await;
    let theirs = page(shop.other, Query { campaign: own.campaign, ..QUERY }, None).await.unwrap_err();
    assert!(matches!(theirs, AdListError::NoSuchCampaign), "{theirs}");
    for (query, cursor) in [(QUERY, i64::MAX), (QUERY, ad), (by_day, 7), (by_day, i64::MAX)] {
        let behind = page(shop.account, query, Some(cursor)).await.unwrap();
        assert_eq!((behind.items, behind.next_cursor), (vec![], None), "{cursor}");
    }
}

/// More rows than a file is read by at a time, each of them an ad that spent as much as it is called.
#[tokio::test]
async fn an_ad_that_is_paused_while_a_list_is_read_does_not_end_it() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let fill = "
        INSERT INTO ad_accounts (account_id, id, platform, external_id, source, last_synced_at) OVERRIDING SYSTEM VALUE
            VALUES ($1, 1, 'meta', 'meta', 'file', now());
        INSERT INTO ad_entities (account_id, id, ad_account_id, level, parent_id, campaign_id, external_id, name, status)
            OVERRIDING SYSTEM VALUE
            SELECT $1, 3000 + n, 1, 'ad', 2, 1, n, n, 'active' FROM generate_series(1, 2100) n;
        INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, fx, spend)
            SELECT $1, '2026-04-01', 3000 + n, 'BRL', n, 1, n FROM generate_series(1, 2100) n;";
    shop.client.batch_execute(&fill.replace("$1", &shop.account.0.to_string())).await.unwrap();
    let pause = async |name: &str| {
        let paused = "UPDATE ad_entities SET status = 'paused' WHERE account_id = $1 AND name = $2";
        assert_eq!(shop.client.execute(paused, &[&shop.account.0, &name]).await.unwrap(), 1);
    };
    let query = Query { level: Level::Ad, status: Some(Status::Active), ..QUERY };
    let page =
        async |cursor| AdStore::page(&store, shop.account, query, PageRequest { limit: 2, cursor }).await.unwrap();
    let first = page(None).await;
    pause("2099").await;
    let second = page(first.next_cursor).await;
    let found = [first.items, second.items].concat();
    assert_eq!(found.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["2100", "2099", "2098", "2097"]);

    let mut rows = store.stream(shop.account, query, None).await.unwrap();
    assert_eq!(rows.try_next().await.unwrap().unwrap().name, "2100");
    // The last one of those that are read first.
    pause("100").await;
    let rest: Vec<AdRow> = rows.try_collect().await.unwrap();
    assert_eq!((rest.len(), rest[1_998].name.as_str(), rest[1_999].name.as_str()), (2_098, "100", "99"));
}

#[tokio::test]
async fn money_without_a_rate_is_unknown_until_there_is_one() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let euro = |ad: &str| foreign(ad, "EUR");
    import(&shop, vec![euro("x"), row("b", "x", dec!(3))]).await;
    let campaigns = list(&store, &shop, QUERY).await;
    assert_eq!(names(&campaigns), [("b", Some(dec!(3))), ("a", None)], "unknown comes last");
    let Sums { revenue, clicks, .. } = campaigns[1].sums;
    assert_eq!((revenue, clicks, campaigns[1].native), (None, Some(20), Some((dec!(10), "EUR".parse().unwrap()))));
    let overview = store.overview(shop.account, QUERY).await.unwrap();
    assert_eq!((overview.totals.spend, overview.totals.clicks, overview.lacks_rates), (Some(dec!(3)), Some(40), true));
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 meta_ads b 3"]);

    let snapshot =
        "INSERT INTO profit_snapshots (account_id, snapshot_date, gross_revenue, refunds, ad_spend, cogs_estimate,
            fees_estimate, shipping_estimate, extra_expenses, purchase_count, computed_at)
        SELECT $1, day, 0, 0, 0, 0, 0, 0, 0, 0, now() FROM unnest(ARRAY['2026-04-01', '2026-04-02']::date[]) day";
    shop.client.execute(snapshot, &[&shop.account.0]).await.unwrap();
    let lack_rates = async || -> Vec<bool> {
        let days = ProfitStore::range(&store, shop.account, QUERY.range).await.unwrap();
        days.found.iter().map(|day| day.lacks_rates).collect()
    };
    assert_eq!(lack_rates().await, [false, true], "profit of the 1st is without the euros");

    let rate = |day, rate| RateRow { day, currency: "EUR".parse().unwrap(), rate };
    let rates = async |given: Vec<RateRow>| shop.importer.rates(shop.target(), rows(given)).await.unwrap();
    assert_eq!(rates(vec![rate(date!(2026 - 03 - 24), dec!(9))]).await.days_touched, 0, "eight days before");
    shop.forget_days().await;
    let summary = rates(vec![rate(date!(2026 - 03 - 25), dec!(5)), rate(date!(2026 - 03 - 30), dec!(6))]).await;
    assert_eq!((summary.rows.new, summary.days_touched), (2, 1));
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 meta_ads a 60", "2026-04-01 meta_ads b 3"]);
    let before = shop.image().await;
    assert_eq!(rates(vec![rate(date!(2026 - 03 - 30), dec!(6))]).await.rows.unchanged, 1);
    assert_eq!(shop.image().await, before);
    let overview = store.overview(shop.account, QUERY).await.unwrap();
    assert_eq!((overview.totals.spend, overview.totals.revenue), (Some(dec!(63)), Some(dec!(210))));
    assert!(!overview.lacks_rates);
    assert_eq!(lack_rates().await, [false, false]);
    // What comes in later is converted at once.
    import(&shop, vec![euro("x"), euro("y")]).await;
    assert_eq!(shop.texts(SPEND).await[0], "2026-04-01 meta_ads a 120");
}

/// Each number is one that a file may have; at the rate they come to more than a column holds.
#[tokio::test]
async fn the_largest_amounts_at_the_largest_rate_are_added_up() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let rate = RateRow { day: DAY, currency: "EUR".parse().unwrap(), rate: MAX_RATE };
    shop.importer.rates(shop.target(), rows(vec![rate])).await.unwrap();
    let largest = |campaign: &str, ad: &str| {
        let (row, amount) = (foreign(ad, "EUR"), dec!(999999999999.999999));
        let detail = AdDetail { revenue: Some(amount), ..row.detail };
        AdSpendRow { campaign: campaign.to_owned(), spend: amount, detail, ..row }
    };
    let of_one_ad = (0..200).map(|_| largest("a", "x"));
    let of_many = (0..200).map(|ad| largest("b", &ad.to_string()));
    import(&shop, of_one_ad.chain(of_many).collect()).await;
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 meta_ads a 1e+15", "2026-04-01 meta_ads b 1e+15"]);
    store.roll_up(shop.account, &"UTC".parse().unwrap(), NOW).await.unwrap().unwrap();
    let of_day = "SELECT ad_spend::float8::text FROM daily_metrics WHERE account_id = $1";
    assert_eq!(shop.texts(of_day).await, ["1e+15"]);
}

#[tokio::test]
async fn a_day_of_profit_lacks_what_had_no_rate_until_it_is_computed_again() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let compute = async || {
        let claim = store.claim(shop.account, JobName::ProfitSnapshots, DAY, 60, Again::All).await.unwrap().unwrap();
        store.replace(&claim, vec![(DAY, Components::default(), Basis::default())], NOW).await.unwrap()
    };
    let lacks_rates = async || {
        let days = ProfitStore::range(&store, shop.account, QUERY.range).await.unwrap();
        days.found[0].lacks_rates
    };
    import(&shop, vec![foreign("x", "EUR"), foreign("y", "EUR")]).await;
    assert_eq!((compute().await, lacks_rates().await), (WriteOutcome::Rows(1), true));
    let rate = RateRow { day: DAY, currency: "EUR".parse().unwrap(), rate: dec!(5) };
    shop.importer.rates(shop.target(), rows(vec![rate])).await.unwrap();
    assert!(lacks_rates().await, "the euros are in no snapshot yet");
    assert_eq!((compute().await, lacks_rates().await), (WriteOutcome::Rows(1), false));
    assert_eq!(compute().await, WriteOutcome::Rows(0), "nothing differs");
    import(&shop, vec![foreign("x", "EUR"), foreign("z", "USD")]).await;
    assert!(lacks_rates().await, "the dollars are in it neither");
}

#[tokio::test]
async fn a_platform_that_is_read_takes_its_days_over_and_files_cannot_tell_of_them() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let market = |day, platform: &str, spend| AdSpendRow {
        day,
        platform: platform.into(),
        detail: AdDetail::default(),
        ..row("1", "", spend)
    };
    let (second, third) = (date!(2026 - 04 - 02), date!(2026 - 04 - 03));
    // Once by the name that the platform's own days have.
    let told = [
        market(DAY, "Mercado Ads", dec!(1)),
        market(DAY, "mercadolibre", dec!(1)),
        market(third, "Mercado Ads", dec!(3)),
    ];
    import(&shop, told.into()).await;
    let zone = Some("America/Bogota".parse().unwrap());
    let account = AdAccount { name: "mercadolibre".into(), zone, tells_all: false };
    let source = AdSource::Platform { account, first: DAY, last: second };
    let read = vec![market(DAY, "mercadolibre", dec!(10))];
    shop.importer.ad_spend(shop.target(), source.clone(), rows(read.clone())).await.unwrap();
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 mercadolibre 1 10", "2026-04-03 Mercado Ads 1 3"]);
    let before = shop.image().await;
    shop.importer.ad_spend(shop.target(), source, rows(read)).await.unwrap();
    assert_eq!(shop.image().await, before, "read again");

    let file = vec![
        market(DAY, "mercadolibre", dec!(5)),
        market(second, "mercado libre", dec!(6)),
        market(third, "mercadolibre", dec!(7)),
        market(DAY, "meta", dec!(8)),
    ];
    let summary = shop.importer.ad_spend(shop.target(), AdSource::File, rows(file)).await.unwrap();
    assert_eq!((summary.synced_count, summary.synced.len()), (2, 2));
    assert_eq!(summary.rows.rows, Changes { new: 1, changed: 1, unchanged: 0 });
    let refused = &summary.synced[0];
    assert_eq!((refused.line, refused.record.as_slice()), (2, b"as it came".as_slice()));
    assert_eq!(
        shop.texts(SPEND).await,
        ["2026-04-01 mercadolibre 1 10", "2026-04-01 meta 1 8", "2026-04-03 Mercado Ads 1 7"]
    );
    let overview = store.overview(shop.account, QUERY).await.unwrap();
    let known = [
        Coverage { platform: AdPlatform::Mercadolibre, days: 3, is_synced: true },
        Coverage { platform: AdPlatform::Meta, days: 1, is_synced: false },
    ];
    assert_eq!(overview.coverage, known);
    assert!(overview.sources.contains(&(AdPlatform::Mercadolibre, Some("America/Bogota".into()))));
}

#[tokio::test]
async fn what_a_platform_no_longer_tells_of_its_days_is_gone_and_its_names_are_the_newest() {
    let shop = Shop::open().await;
    let store = shop.database.store().unwrap();
    let second = date!(2026 - 04 - 02);
    let told = |day, ad: &str, campaign: &str, spend| {
        let names = AdNames { campaign: campaign.into(), ad_set: "Everybody".into(), ad: format!("Ad {ad}") };
        let row = row("77", ad, spend);
        let line = if campaign == "Summer" { 3 } else { 2 };
        AdSpendRow {
            day,
            line,
            platform: "meta 5".into(),
            detail: AdDetail { names: Some(names), ..row.detail },
            ..row
        }
    };
    let account = AdAccount { name: "meta 5".into(), zone: None, tells_all: true };
    let source = AdSource::Platform { account, first: DAY, last: second };
    let read = vec![
        told(DAY, "1", "Spring", dec!(10)),
        told(second, "1", "Spring", dec!(4)),
        told(second, "2", "Spring", dec!(3)),
    ];
    shop.importer.ad_spend(shop.target(), source.clone(), rows(read)).await.unwrap();
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 meta 5 77 10", "2026-04-02 meta 5 77 7"]);

    let corrected = vec![told(DAY, "1", "Spring", dec!(10)), told(DAY, "2", "Summer", dec!(1))];
    shop.importer.ad_spend(shop.target(), source.clone(), rows(corrected)).await.unwrap();
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 meta 5 77 11"]);
    let names = "SELECT name FROM ad_entities WHERE account_id = $1 ORDER BY level, name";
    assert_eq!(shop.texts(names).await, ["Ad 1", "Ad 2", "Everybody", "Summer"]);

    shop.importer.ad_spend(shop.target(), source, rows(vec![])).await.unwrap();
    assert_eq!(shop.texts(SPEND).await, Vec::<String>::new());
    let overview = store.overview(shop.account, QUERY).await.unwrap();
    assert_eq!(overview.coverage, [Coverage { platform: AdPlatform::Meta, days: 2, is_synced: true }]);
}

/// A network shows its ads at one time, and refuses to at another.
#[tokio::test]
async fn what_a_platform_does_not_show_of_an_ad_stays_as_it_is_known() {
    let shop = Shop::open().await;
    let told = |name: &str, ad_set: &str, shown: Option<(Format, &str)>| {
        let row = row("77", "1", dec!(10));
        let names = AdNames { campaign: "Spring".into(), ad_set: ad_set.into(), ad: name.into() };
        let detail = AdDetail {
            ad_set: "8".into(),
            creative: shown.map(|(_, key)| key.to_owned()),
            format: shown.map(|(format, _)| format),
            status: shown.map(|_| Status::Paused),
            names: Some(names),
            ..row.detail
        };
        vec![AdSpendRow { platform: "google 5".into(), detail, ..row }]
    };
    let account = AdAccount { name: "google 5".into(), zone: None, tells_all: true };
    let source = AdSource::Platform { account, first: DAY, last: DAY };
    let import =
        async |read: Vec<AdSpendRow>| shop.importer.ad_spend(shop.target(), source.clone(), rows(read)).await.unwrap();
    let known = async || {
        let known = "SELECT concat_ws(' ', ad.name, above.name, ad.status, c.key)
            FROM ad_entities ad JOIN ad_entities above ON above.account_id = $1 AND above.id = ad.parent_id
                JOIN creatives c ON c.account_id = $1 AND c.id = ad.creative_id
            WHERE ad.account_id = $1 AND ad.level = 'ad'";
        shop.texts(known).await
    };
    import(told("1", "8", None)).await;
    assert_eq!(known().await, ["1 8 active google:unknown:1"]);
    import(told("Kettle", "Everybody", Some((Format::Video, "99")))).await;
    assert_eq!(known().await, ["Kettle Everybody paused google:video:99"]);
    import(told("1", "8", None)).await;
    assert_eq!(known().await, ["Kettle Everybody paused google:video:99"]);
    import(told("Kettle 2", "All", Some((Format::Image, "7")))).await;
    assert_eq!(known().await, ["Kettle 2 All paused google:image:7"]);
}

#[tokio::test]
async fn a_platform_that_is_spelled_otherwise_is_the_same() {
    let shop = Shop::open().await;
    let spelled = |platform: &str, spend| AdSpendRow { platform: platform.into(), ..row("a", "x", spend) };
    import(&shop, vec![spelled("Meta Ads", dec!(5)), spelled("TikTok", dec!(3))]).await;
    let again = import(&shop, vec![spelled("facebook", dec!(5)), spelled("tiktok ads", dec!(4))]).await;
    assert_eq!(again, Changes { new: 0, changed: 1, unchanged: 1 });
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 Meta Ads a 5", "2026-04-01 TikTok a 4"]);
    // An account of its own is another one.
    import(&shop, vec![spelled("meta 1048576", dec!(7))]).await;
    assert_eq!(shop.texts(SPEND).await.len(), 3);
}

/// Meta's own files tell a campaign's spend on each.
#[tokio::test]
async fn facebook_and_instagram_are_told_apart() {
    let shop = Shop::open().await;
    let on = |platform: &str, spend| vec![AdSpendRow { platform: platform.into(), ..row("a", "x", spend) }];
    import(&shop, on("facebook", dec!(100))).await;
    import(&shop, on("instagram", dec!(50))).await;
    import(&shop, [on("Facebook", dec!(100)), on("Instagram", dec!(55))].concat()).await;
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 facebook a 100", "2026-04-01 instagram a 55"]);
}

/// Two spellings came before they were taken for one.
#[tokio::test]
async fn a_platform_that_is_known_keeps_its_name() {
    let shop = Shop::open().await;
    let spelled = |platform: &str, spend| vec![AdSpendRow { platform: platform.into(), ..row("a", "x", spend) }];
    import(&shop, spelled("Meta Ads", dec!(5))).await;
    import(&shop, spelled("instagram", dec!(6))).await;
    shop.client
        .batch_execute(
            "UPDATE ad_accounts SET external_id = 'facebook' WHERE external_id = 'instagram';
        UPDATE ad_spend SET platform = 'facebook' WHERE platform = 'instagram'",
        )
        .await
        .unwrap();
    let again = import(&shop, spelled("facebook", dec!(6))).await;
    assert_eq!(again, Changes { new: 0, changed: 0, unchanged: 1 });
    assert_eq!(shop.texts(SPEND).await, ["2026-04-01 Meta Ads a 5", "2026-04-01 facebook a 6"]);
}
