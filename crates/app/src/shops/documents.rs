//! What a connector read, as the documents of an import: held to the limits that a file is held to.

use std::collections::BTreeMap;

use domain::{
    imports::{
        AdDetail, AdSpendRow, Buyer, DocumentKind, DocumentPart, Line, MAX_AMOUNT, MAX_DECIMALS, MAX_ID_CHARS,
        MAX_NAME_CHARS, MAX_QUANTITY, amounts::is_importable_cost, refund_id,
    },
    instants,
    shops::{Refund, ShopOrder},
    text,
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

/// The documents of an order: itself, and what was refunded of it on each day of `zone`.
///
/// # Errors
/// A sentence for the owner, when a part of it cannot be taken; then nothing of the order is.
pub fn documents(order: ShopOrder, zone: &Zone) -> Result<Vec<DocumentPart>, String> {
    let ShopOrder { order, refunds, refund_unknown: _, copy_of: _ } = order;
    let refunds = by_day(refunds, zone).into_iter().map(|(day, refund)| DocumentPart {
        kind: DocumentKind::Refund,
        external_id: refund_id(&order.external_id, day),
        at: refund.at,
        buyer: order.buyer.clone(),
        country: order.country,
        fees: None,
        shipping: None,
        lines: refund.lines,
    });
    let refunds: Vec<_> = refunds.collect();
    [order].into_iter().chain(refunds).map(checked).collect()
}

/// The refunds of a day are one: its identifier is the day's.
fn by_day(refunds: Vec<Refund>, zone: &Zone) -> BTreeMap<Date, Refund> {
    let mut days: BTreeMap<Date, Refund> = BTreeMap::new();
    for refund in refunds.into_iter().filter(|refund| !refund.lines.is_empty()) {
        match days.entry(zone.day_of(refund.at)) {
            std::collections::btree_map::Entry::Vacant(day) => drop(day.insert(refund)),
            std::collections::btree_map::Entry::Occupied(mut day) => {
                let all = day.get_mut();
                all.at = all.at.min(refund.at);
                all.lines.extend(refund.lines);
            }
        }
    }
    days
}

fn checked(mut part: DocumentPart) -> Result<DocumentPart, String> {
    check_id("its number", &part.external_id)?;
    part.at = whole_second(part.at).ok_or("its date lies outside the years 1970 to 2999")?;
    part.buyer = part.buyer.map(checked_buyer).transpose()?;
    check_optional("its fees", part.fees)?;
    check_optional("its shipping cost", part.shipping)?;
    for line in &mut part.lines {
        check_line(line, part.kind)?;
    }
    Ok(part)
}

fn whole_second(at: OffsetDateTime) -> Option<OffsetDateTime> {
    instants::check(at).ok()?.replace_nanosecond(0).ok()
}

fn checked_buyer(buyer: Buyer) -> Result<Buyer, String> {
    let Buyer { external_id, email, name, city } = buyer;
    check_id("the number of its buyer", &external_id)?;
    Ok(Buyer { external_id, email: email.and_then(shown), name: name.and_then(shown), city: city.and_then(shown) })
}

fn check_line(line: &mut Line, kind: DocumentKind) -> Result<(), String> {
    check_id("a SKU", &line.sku)?;
    line.name = line.name.take().and_then(shown);
    line.category = line.category.take().and_then(shown);
    let least = if kind == DocumentKind::Order { 1 } else { -MAX_QUANTITY };
    if !(least..=MAX_QUANTITY).contains(&line.quantity) {
        return Err(format!("{} units in a line are out of range", line.quantity));
    }
    check_amount("a price", line.unit_price)?;
    check_optional("a unit cost", line.unit_cost)?;
    if (Decimal::from(line.quantity) * line.unit_price).abs() >= MAX_AMOUNT {
        return Err("the amount of a line is 10^12 or more".to_owned());
    }
    Ok(())
}

/// Completes "… has" or "… is", so that the owner finds it on the platform.
pub fn check_id(what: &str, id: &str) -> Result<(), String> {
    if id.trim().is_empty() {
        return Err(format!("{what} is empty"));
    }
    text::check(id, MAX_ID_CHARS).map_err(|_| format!("{what} has more than {MAX_ID_CHARS} characters, or U+0000"))
}

pub fn check_amount(what: &str, amount: Decimal) -> Result<(), String> {
    if !is_importable_cost(amount) {
        return Err(format!("{what} is negative, 10^12 or more, or has more than {MAX_DECIMALS} decimals"));
    }
    Ok(())
}

pub fn check_optional(what: &str, amount: Option<Decimal>) -> Result<(), String> {
    amount.map_or(Ok(()), |amount| check_amount(what, amount))
}

/// Makes figures of a day of an ad that no file may have unknown, such as a negative revenue, and gives their names: like one that
/// the platform does not tell, such a figure is part of no ratio, while the spend beside it counts.
pub fn make_unknown(row: &mut AdSpendRow) -> Vec<&'static str> {
    let AdSpendRow { impressions, clicks, detail: AdDetail { purchases, revenue, video_3s, .. }, .. } = row;
    let is_count = |count: Decimal| (Decimal::ZERO..=Decimal::from(MAX_QUANTITY)).contains(&count);
    let unknown = [
        impressions.take_if(|count| !is_count((*count).into())).map(|_| "impressions"),
        clicks.take_if(|count| !is_count((*count).into())).map(|_| "clicks"),
        purchases.take_if(|count| !is_count(*count)).map(|_| "purchases"),
        video_3s.take_if(|count| !is_count((*count).into())).map(|_| "video views"),
        revenue.take_if(|amount| !is_importable_cost(*amount)).map(|_| "revenue"),
    ];
    unknown.into_iter().flatten().collect()
}

/// A text that is shown and decides nothing: without U+0000, and cut where it is too long. `None` when nothing is left.
pub fn shown(given: String) -> Option<String> {
    let fits = text::check(&given, MAX_NAME_CHARS).is_ok() && given.trim().len() == given.len();
    let kept =
        if fits { given } else { given.trim().chars().filter(|letter| *letter != '\0').take(MAX_NAME_CHARS).collect() };
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::{date, datetime};

    use super::*;

    fn line(sku: &str, quantity: i64, unit_price: Decimal) -> Line {
        let sku = sku.to_owned();
        Line { sku, is_product: true, name: None, category: None, quantity, unit_price, unit_cost: None }
    }

    fn order(lines: Vec<Line>, refunds: Vec<Refund>) -> ShopOrder {
        let order = DocumentPart {
            kind: DocumentKind::Order,
            external_id: "1001".to_owned(),
            at: datetime!(2026-05-01 10:00:00.9 UTC),
            buyer: Some(Buyer { external_id: "5".to_owned(), ..Buyer::default() }),
            country: None,
            fees: Some(dec!(1.25)),
            shipping: Some(dec!(4)),
            lines,
        };
        ShopOrder { order, refunds, refund_unknown: false, copy_of: None }
    }

    #[test]
    fn what_is_refunded_on_a_day_of_the_account_is_one_document() {
        let refund = |at, lines| Refund { at, lines };
        let refunds = vec![
            refund(datetime!(2026-05-02 02:59:59 UTC), vec![line("A", 1, dec!(5))]),
            refund(datetime!(2026-05-01 13:00 UTC), vec![line("B", 1, dec!(2))]),
            refund(datetime!(2026-05-02 03:00 UTC), vec![line("A", -1, dec!(5))]),
            refund(datetime!(2026-05-03 12:00 UTC), vec![]),
        ];
        let zone: Zone = "America/Sao_Paulo".parse().unwrap();
        let documents = documents(order(vec![line("A", 2, dec!(5)), line("B", 1, dec!(2))], refunds), &zone).unwrap();
        let found: Vec<_> = documents.iter().map(|part| (part.kind, part.external_id.as_str(), part.at)).collect();
        assert_eq!(
            found,
            [
                (DocumentKind::Order, "1001", datetime!(2026-05-01 10:00 UTC)),
                (DocumentKind::Refund, "1001/2026-05-01", datetime!(2026-05-01 13:00 UTC)),
                (DocumentKind::Refund, "1001/2026-05-02", datetime!(2026-05-02 03:00 UTC)),
            ]
        );
        assert_eq!(documents[1].lines, [line("A", 1, dec!(5)), line("B", 1, dec!(2))]);
        assert_eq!((documents[1].fees, documents[1].shipping), (None, None), "they belong to the order");
        assert_eq!(documents[1].buyer, documents[0].buyer);
    }

    #[rstest]
    #[case(line("", 1, dec!(1)), "a SKU is empty")]
    #[case(line("A", 0, dec!(1)), "0 units in a line are out of range")]
    #[case(line("A", -1, dec!(1)), "-1 units in a line are out of range")]
    #[case(line("A", 1, dec!(-1)), "a price is negative, 10^12 or more, or has more than 6 decimals")]
    #[case(line("A", 1, dec!(0.1234567)), "a price is negative, 10^12 or more, or has more than 6 decimals")]
    #[case(line("A", 1_000, dec!(1_000_000_000)), "the amount of a line is 10^12 or more")]
    #[case(line("A\0", 1, dec!(1)), "a SKU has more than 128 characters, or U+0000")]
    fn what_a_file_could_not_hold_is_refused_with_its_reason(#[case] bad: Line, #[case] reason: &str) {
        let zone: Zone = "UTC".parse().unwrap();
        assert_eq!(documents(order(vec![line("A", 1, dec!(1)), bad], vec![]), &zone), Err(reason.to_owned()));
    }

    #[rstest]
    #[case(Some(1_000_000_000), dec!(0.5), dec!(0), &[])]
    #[case(None, dec!(0), dec!(3.50), &[])]
    #[case(Some(1_000_000_001), dec!(0), dec!(0), &["clicks"])]
    #[case(Some(-1), dec!(-1), dec!(0), &["clicks", "purchases"])]
    #[case(Some(0), dec!(1_000_000_001), dec!(0), &["purchases"])]
    #[case(Some(0), dec!(0), dec!(-4), &["revenue"])]
    fn a_figure_of_an_ad_that_cannot_be_is_unknown_and_the_others_are_kept(
        #[case] clicks: Option<i64>,
        #[case] purchases: Decimal,
        #[case] revenue: Decimal,
        #[case] unknown: &[&str],
    ) {
        let detail = AdDetail { purchases: Some(purchases), revenue: Some(revenue), ..AdDetail::default() };
        let mut row = AdSpendRow {
            day: date!(2026 - 11 - 20),
            platform: "meta 5".to_owned(),
            campaign: "7".to_owned(),
            spend: dec!(1),
            impressions: Some(1_000_000_000),
            clicks,
            detail,
            line: 1,
            record: Vec::new(),
        };
        assert_eq!(make_unknown(&mut row), unknown);
        let kept = |name: &str| !unknown.contains(&name);
        assert_eq!((row.spend, row.impressions), (dec!(1), Some(1_000_000_000)));
        assert_eq!(row.clicks, clicks.filter(|_| kept("clicks")));
        assert_eq!(row.detail.purchases, Some(purchases).filter(|_| kept("purchases")));
        assert_eq!(row.detail.revenue, Some(revenue).filter(|_| kept("revenue")));
    }

    #[test]
    fn a_text_that_is_only_shown_is_cut() {
        assert_eq!(shown("x".repeat(600)), Some("x".repeat(512)));
        assert_eq!(shown(" a\0b ".to_owned()), Some("ab".to_owned()));
        assert_eq!(shown(" ".to_owned()), None);
    }
}
