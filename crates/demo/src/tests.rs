use std::{collections::BTreeSet, sync::Arc};

use analytics::detector::{DailySeries, score};
use domain::{
    accounts::Platform,
    imports::{
        AdSpendRow, DocumentKind, DocumentPart, MAX_AMOUNT, MAX_DECIMALS, MAX_ID_CHARS, MAX_NAME_CHARS, StockRow,
    },
    tracking::NewEvent,
    zone::Zone,
};
use rstest::rstest;
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::{
    Date, OffsetDateTime,
    macros::{date, datetime},
};

use super::{
    HISTORY_DAYS,
    calendar::Calendar,
    happenings::{
        DEARER_DAY, FAULTY_RANK, LEAVERS, LEAVING_DAY, OUTAGE_DAY, REFUND_DAY, STOCK_OUT_DAY, STOCK_OUT_RANK,
        TREND_DAY, TREND_RANK,
    },
    shop::Shop,
    spend, visits,
};

const ZONE: &str = "America/Argentina/Buenos_Aires";
const OPENING: Date = date!(2026 - 05 - 02);
const UNTIL: OffsetDateTime = datetime!(2026-05-02 18:00 UTC);

fn zone() -> Zone {
    ZONE.parse().unwrap()
}

fn shop(opening: Date, until: OffsetDateTime) -> Arc<Shop> {
    Arc::new(Shop::run(Calendar::new(opening, &zone(), until)))
}

/// Everything that is loaded after an instant and from a day on.
#[derive(Debug, PartialEq)]
struct Rows {
    documents: Vec<DocumentPart>,
    stock: Vec<StockRow>,
    ads: Vec<AdSpendRow>,
    events: Vec<NewEvent>,
}

fn rows(shop: &Arc<Shop>, since: i64, first_day: usize) -> Rows {
    let days = first_day..shop.calendar.len();
    Rows {
        documents: Platform::SHOPS.iter().flat_map(|platform| shop.documents(*platform, since)).collect(),
        stock: shop.stock(first_day).collect(),
        ads: spend::ads(&shop.calendar, first_day),
        events: days.flat_map(|day| visits::events(shop, day, since)).collect(),
    }
}

fn amount(document: &DocumentPart) -> Decimal {
    document.lines.iter().map(|line| line.unit_price * Decimal::from(line.quantity)).sum()
}

/// The sums of a number a day.
fn daily<T>(shop: &Shop, all: &[T], day: impl Fn(&T) -> Date, value: impl Fn(&T) -> f64) -> Vec<Option<f64>> {
    let mut sums = vec![Some(0.0); shop.calendar.len()];
    for one in all {
        *sums[shop.calendar.number(day(one))].as_mut().unwrap() += value(one);
    }
    sums
}

/// How far a day is from what the days before it led to expect, in standard deviations.
fn distance(shop: &Shop, values: &[Option<f64>], day: usize) -> f64 {
    let history = DailySeries { first: shop.calendar.date(0), values: &values[..day] };
    score(history, values[day].unwrap(), &BTreeSet::new()).unwrap().z_score
}

/// Sums a day of what the jobs look at.
struct Series {
    orders: Vec<Option<f64>>,
    revenue: Vec<Option<f64>>,
    refunds: Vec<Option<f64>>,
    ad_spend: Vec<Option<f64>>,
}

fn series(shop: &Shop, rows: &Rows) -> Series {
    let zone = zone();
    let of_kind = |kind| rows.documents.iter().filter(|part| part.kind == kind).cloned().collect::<Vec<_>>();
    let (orders, refunds) = (of_kind(DocumentKind::Order), of_kind(DocumentKind::Refund));
    let money = |part: &DocumentPart| amount(part).to_f64().unwrap();
    Series {
        orders: daily(shop, &orders, |part| zone.day_of(part.at), |_| 1.0),
        revenue: daily(shop, &orders, |part| zone.day_of(part.at), money),
        refunds: daily(shop, &refunds, |part| zone.day_of(part.at), money),
        ad_spend: daily(shop, &rows.ads, |row| row.day, |row| row.spend.to_f64().unwrap()),
    }
}

#[test]
fn the_same_day_gives_the_same_shop() {
    let (one, other) = (shop(OPENING, UNTIL), shop(OPENING, UNTIL));
    assert_eq!(rows(&one, i64::MIN, 0), rows(&other, i64::MIN, 0));
    assert_eq!(one.products(), other.products());
}

/// What was loaded up to an instant and what came after it are together what is there at the end.
#[test]
fn a_later_load_adds_to_an_earlier_one() {
    let end = UNTIL + time::Duration::hours(60);
    let (early, late) = (shop(OPENING, UNTIL), shop(OPENING, end));
    let (cut, day) = (UNTIL.unix_timestamp(), HISTORY_DAYS);
    let (before, after, whole) = (rows(&early, i64::MIN, 0), rows(&late, cut, day), rows(&late, i64::MIN, 0));
    let by_number = |parts: &[&[DocumentPart]]| -> BTreeSet<(Platform, DocumentKind, String, OffsetDateTime, Decimal)> {
        let all = parts.iter().flat_map(|parts| parts.iter());
        all.map(|part| (platform_of(part), part.kind, part.external_id.clone(), part.at, amount(part))).collect()
    };
    let whole_documents = by_number(&[&whole.documents]);
    assert_eq!(by_number(&[&before.documents, &after.documents]), whole_documents);
    assert_eq!(before.documents.len() + after.documents.len(), whole_documents.len());
    assert!(after.documents.len() > 60, "{}", after.documents.len());
    let today = late.calendar.date(day);
    let settled = |rows: &Rows| {
        rows.stock
            .iter()
            .filter(|row| row.day < today)
            .map(|row| (row.day, row.sku.clone(), row.stock))
            .collect::<Vec<_>>()
    };
    assert_eq!(settled(&before), settled(&whole));
    assert_eq!([before.events, after.events].concat(), whole.events);
}

fn platform_of(part: &DocumentPart) -> Platform {
    let digits = part.external_id.trim_start_matches('R');
    match digits.len() {
        13 => Platform::Shopify,
        10 => Platform::Tiendanube,
        16 => Platform::Mercadolibre,
        _ => panic!("{digits}"),
    }
}

#[test]
fn rows_keep_to_the_limits_of_an_import() {
    let shop = shop(OPENING, UNTIL);
    let rows = rows(&shop, i64::MIN, 0);
    let is_money = |amount: Decimal| amount >= Decimal::ZERO && amount < MAX_AMOUNT && amount.scale() <= MAX_DECIMALS;
    let names: BTreeSet<(Platform, DocumentKind, &str)> =
        rows.documents.iter().map(|part| (platform_of(part), part.kind, part.external_id.as_str())).collect();
    assert_eq!(names.len(), rows.documents.len(), "numbers are given once");
    for part in &rows.documents {
        let buyer = part.buyer.as_ref().unwrap();
        assert!(buyer.external_id.len() <= MAX_ID_CHARS && part.country.is_some() && !part.lines.is_empty());
        assert!(buyer.email.as_ref().is_none_or(|email| email.ends_with("@example.com")), "{buyer:?}");
        assert!(part.at <= UNTIL && part.fees.is_none_or(is_money) && part.shipping.is_none_or(is_money));
        for line in &part.lines {
            assert!(line.quantity > 0 && is_money(line.unit_price) && line.unit_cost.is_some_and(is_money));
            assert!(
                line.sku.len() <= MAX_ID_CHARS && line.name.as_ref().is_some_and(|name| name.len() <= MAX_NAME_CHARS)
            );
        }
    }
    assert!(
        rows.ads.iter().all(|row| is_money(row.spend) && row.clicks.unwrap() >= 0 && row.impressions.unwrap() >= 0)
    );
    assert!(rows.stock.iter().all(|row| row.stock >= 0), "nothing is sold that is not there");
    assert!(shop.products().iter().all(|row| (0..=730).contains(&row.lead_time_days.unwrap())));
}

/// Every unit in the books: what was there first and came in is what was sold or is there still.
#[test]
fn stock_changes_by_what_is_sold_and_delivered() {
    let shop = shop(OPENING, UNTIL);
    let product = STOCK_OUT_RANK + 1;
    let mut sold = vec![0; shop.calendar.len()];
    for order in &shop.orders {
        let day = shop.calendar.number(zone().day_of(OffsetDateTime::from_unix_timestamp(order.at).unwrap()));
        sold[day] += order.items.iter().filter(|item| item.product == product).map(|item| item.units).sum::<i64>();
    }
    let pack = i64::from(shop.catalogue.product(product).unwrap().min_order_qty);
    let levels: Vec<_> = shop.levels.iter().filter(|level| level.product == product).collect();
    let mut deliveries = 0;
    for pair in levels.windows(2) {
        let between: i64 = sold[pair[0].day + 1..=pair[1].day].iter().sum();
        let delivered = pair[1].stock - pair[0].stock + between;
        assert!(delivered >= 0 && delivered % pack == 0, "{delivered} on day {}", pair[1].day);
        deliveries += i64::from(delivered > 0);
    }
    assert!(deliveries > 5, "{deliveries}");
}

#[test]
fn the_best_seller_is_out_of_stock() {
    let shop = shop(OPENING, UNTIL);
    let sales: Vec<usize> = shop
        .orders
        .iter()
        .filter(|order| order.items.iter().any(|item| item.product == STOCK_OUT_RANK))
        .map(|order| shop.calendar.number(zone().day_of(OffsetDateTime::from_unix_timestamp(order.at).unwrap())))
        .collect();
    assert_eq!(shop.shelves[STOCK_OUT_RANK].stock, 0);
    assert!(shop.shelves[STOCK_OUT_RANK].on_order() > 0);
    assert!(sales.iter().all(|day| *day < STOCK_OUT_DAY));
    let month_before = sales.iter().filter(|day| **day >= STOCK_OUT_DAY - 30).count();
    assert!(month_before >= 40, "{month_before}");
}

#[test]
fn a_product_takes_off() {
    let shop = shop(OPENING, UNTIL);
    let bought = |days: std::ops::Range<usize>| {
        let window = shop.calendar.start(days.start)..shop.calendar.start(days.end);
        let orders = shop.orders.iter().filter(|order| window.contains(&order.at));
        orders.filter(|order| order.items.iter().any(|item| item.product == TREND_RANK)).count()
    };
    let (week, before) = (bought(HISTORY_DAYS - 7..HISTORY_DAYS), bought(TREND_DAY - 56..TREND_DAY));
    // Eight weeks before.
    assert!(before >= 8 && week * 8 > before * 3, "{week} {before}");
    assert!(shop.shelves[TREND_RANK].stock > 0, "and is still there");
}

/// On whatever day of the year the shop is first loaded, its sudden happenings stand out from its noise.
#[rstest]
#[case(date!(2026 - 02 - 03))]
#[case(date!(2026 - 05 - 18))]
#[case(date!(2026 - 08 - 11))]
#[case(date!(2026 - 08 - 24))]
#[case(date!(2026 - 12 - 18))]
fn sudden_happenings_stand_out(#[case] opening: Date) {
    let shop = shop(opening, opening.midnight().assume_utc() + time::Duration::hours(18));
    let series = series(&shop, &rows(&shop, i64::MIN, 0));
    let (orders, revenue) = (distance(&shop, &series.orders, OUTAGE_DAY), distance(&shop, &series.revenue, OUTAGE_DAY));
    let refunds = distance(&shop, &series.refunds, REFUND_DAY);
    let ads = distance(&shop, &series.ad_spend, DEARER_DAY);
    assert!(orders < -4.0 && revenue < -4.0 && refunds > 4.0 && ads > 4.0, "{orders} {revenue} {refunds} {ads}");
}

/// Without its happenings the shop is a plain one: few of the days before them are out of the ordinary.
#[test]
fn usual_days_are_usual() {
    let shop = shop(OPENING, UNTIL);
    let series = series(&shop, &rows(&shop, i64::MIN, 0));
    let unusual =
        |values: &[Option<f64>]| (500..DEARER_DAY).filter(|day| distance(&shop, values, *day).abs() > 3.5).count();
    let days = [&series.orders, &series.revenue, &series.refunds, &series.ad_spend].map(|values| unusual(values));
    assert!(days.iter().all(|count| *count <= 6), "{days:?}");
}

#[test]
fn a_click_of_one_campaign_costs_more() {
    let calendar = Calendar::new(OPENING, &zone(), UNTIL);
    let ads = spend::ads(&calendar, 0);
    let cents_a_click = |campaign: &str, days: std::ops::Range<usize>| {
        let rows = ads.iter().filter(|row| row.campaign == campaign && days.contains(&calendar.number(row.day)));
        let (spend, clicks) =
            rows.fold((Decimal::ZERO, 0), |(spend, clicks), row| (spend + row.spend, clicks + row.clicks.unwrap()));
        (spend / Decimal::from(clicks)).to_f64().unwrap() * 100.0
    };
    let (before, since) = (DEARER_DAY - 30..DEARER_DAY, DEARER_DAY..HISTORY_DAYS);
    assert!((cents_a_click("Shopping - all products", before.clone()) - 46.0).abs() < 1.0);
    assert!((cents_a_click("Shopping - all products", since.clone()) - 119.6).abs() < 3.0);
    assert!((cents_a_click("Brand search", before) - cents_a_click("Brand search", since)).abs() < 1.0);
}

#[test]
fn good_customers_have_left() {
    let shop = shop(OPENING, UNTIL);
    let mut left = 0;
    for person in 0..shop.people.len() {
        let days: Vec<usize> = shop
            .orders
            .iter()
            .filter(|order| order.person == person)
            .map(|order| shop.calendar.number(zone().day_of(OffsetDateTime::from_unix_timestamp(order.at).unwrap())))
            .collect();
        let (Some(first), Some(last)) = (days.first(), days.last()) else { continue };
        left += u64::from(days.len() >= 10 && *last <= LEAVING_DAY && last - first > 250 && LEAVING_DAY - last < 26);
    }
    assert!(left >= LEAVERS, "{left}");
}

#[test]
fn buyers_of_the_faulty_batch_get_their_money_back() {
    let shop = shop(OPENING, UNTIL);
    let sku = shop.catalogue.product(FAULTY_RANK).unwrap().sku.clone();
    let parts = rows(&shop, i64::MIN, 0).documents;
    let day = shop.calendar.date(REFUND_DAY);
    let back = parts.iter().filter(|part| part.kind == DocumentKind::Refund && zone().day_of(part.at) == day);
    assert!(back.filter(|part| part.lines[0].sku == sku).count() >= 32);
}
