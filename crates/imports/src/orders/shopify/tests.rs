use domain::imports::{DocumentKind, DocumentPart};
use rstest::rstest;
use rust_decimal::{Decimal, dec};
use time::macros::datetime;

use crate::collect::{Outcome, file, order_options, read_orders};

/// Columns as Shopify has them, those left out that nothing is read from.
const HEADER: &str = "Name,Email,Financial Status,Paid at,Currency,Subtotal,Shipping,Taxes,Total,Discount Amount,\
    Shipping Method,Created at,Lineitem quantity,Lineitem name,Lineitem price,Lineitem sku,Billing Name,Billing City,\
    Shipping City,Shipping Country,Cancelled at,Refunded Amount,Vendor,Id\n";

/// The first line of an order: what is said of all of it, and a line of goods.
struct First<'a> {
    name: &'a str,
    status: &'a str,
    shipping: &'a str,
    taxes: &'a str,
    total: &'a str,
    line: &'a str,
    cancelled_at: &'a str,
    refunded: &'a str,
    id: &'a str,
}

const ORDER: First<'static> = First {
    name: "#1001",
    status: "paid",
    shipping: "5.00",
    taxes: "0.00",
    total: "45.00",
    line: "2,Tee - S,15.00,TEE-S",
    cancelled_at: "",
    refunded: "0.00",
    id: "5001",
};

impl First<'_> {
    fn text(&self) -> String {
        let Self { name, status, shipping, taxes, total, line, cancelled_at, refunded, id } = self;
        format!(
            "{name},ana@example.com,{status},2026-03-02 10:00:05 +0000,GBP,40.00,{shipping},{taxes},{total},0.00,Post,\
             2026-03-02 10:00:00 +0000,{line},Ana Silva,Porto,Lisboa,PT,{cancelled_at},{refunded},Acme,{id}\n"
        )
    }
}

/// Another line of the order.
fn other(name: &str, line: &str) -> String {
    format!("{name},ana@example.com,,,,,,,,,,,{line},,,,,,,Acme,\n")
}

const CUP: &str = "1,Cup,10.00,CUP";

async fn read(lines: &[String]) -> Outcome {
    read_orders(format!("{HEADER}{}", lines.concat()), file(), order_options(None)).await.unwrap()
}

/// (SKU, units, price) of each line.
fn lines(part: &DocumentPart) -> Vec<(&str, i64, Decimal)> {
    part.lines.iter().map(|line| (line.sku.as_str(), line.quantity, line.unit_price)).collect()
}

fn amount(part: &DocumentPart) -> Decimal {
    part.lines.iter().map(|line| Decimal::from(line.quantity) * line.unit_price).sum()
}

#[tokio::test]
async fn an_order_has_what_was_paid_for_shipping_and_no_cost_of_it() {
    let outcome = read(&[ORDER.text(), other("#1001", CUP)]).await;
    assert_eq!((outcome.counts.accepted, outcome.rejects.len(), outcome.parts.len()), (2, 0, 1), "{outcome:?}");
    let order = &outcome.parts[0];
    let shipping = ("shopify:shipping", 1, dec!(5));
    assert_eq!(lines(order), [("TEE-S", 2, dec!(15)), ("CUP", 1, dec!(10)), shipping]);
    assert_eq!(order.lines.iter().map(|line| line.is_product).collect::<Vec<_>>(), [true, true, false]);
    assert_eq!((order.kind, order.fees, order.shipping), (DocumentKind::Order, None, None));
    assert_eq!((order.at, order.country.unwrap().as_str()), (datetime!(2026-03-02 10:00 UTC), "PT"));
    let buyer = order.buyer.as_ref().unwrap();
    assert_eq!((buyer.external_id.as_str(), buyer.city.as_deref()), ("ana@example.com", Some("Lisboa")));
    assert_eq!(outcome.numbers, [("#1001".to_owned(), "5001".to_owned())]);
    let unread = ["Paid at", "Subtotal", "Discount Amount", "Shipping Method", "Billing City", "Vendor"];
    assert_eq!(outcome.counts.ignored_columns, unread);
}

/// Goods of 40 and shipping of 5 are listed.
#[rstest]
#[case::discount("0.00", "36.00", "36")]
#[case::tax_on_top("9.00", "54.00", "45")]
#[case::tax_in_prices("7.50", "45.00", "37.50")]
#[case::tax_in_prices_and_a_discount("6.00", "36.00", "30")]
#[case::that_does_not_divide("0.00", "38.33", "38.33")]
#[case::all_of_it("0.00", "0.00", "0")]
#[case::tip_and_duty("0.00", "52.00", "52")]
#[tokio::test]
async fn an_order_counts_for_its_total_without_tax(#[case] taxes: &str, #[case] total: &str, #[case] net: &str) {
    let outcome = read(&[First { taxes, total, ..ORDER }.text(), other("#1001", CUP)]).await;
    let order = &outcome.parts[0];
    assert_eq!(amount(order), net.parse::<Decimal>().unwrap(), "{order:?}");
    let units = |sku: &str| order.lines.iter().filter(|line| line.sku == sku).map(|line| line.quantity).sum::<i64>();
    assert_eq!((units("TEE-S"), units("CUP")), (2, 1));
    assert!(order.lines.iter().all(|line| line.unit_price >= Decimal::ZERO), "{order:?}");
}

#[tokio::test]
async fn a_discount_is_taken_off_every_line_in_proportion() {
    let outcome = read(&[First { total: "36.00", ..ORDER }.text(), other("#1001", CUP)]).await;
    let expected = [("TEE-S", 2, dec!(12)), ("CUP", 1, dec!(8)), ("shopify:shipping", 1, dec!(4))];
    assert_eq!(lines(&outcome.parts[0]), expected);
}

#[rstest]
#[case::a_part("", "9.00", "#1001/2026-03-02", vec![("shopify:refund", 1, dec!(7.5))])]
#[case::all_of_it("", "54.00", "#1001/2026-03-02", vec![("shopify:refund", 1, dec!(45))])]
#[case::cancelled(
    "2026-03-05 09:00:00 +0000",
    "54.00",
    "#1001/2026-03-05",
    vec![("TEE-S", 2, dec!(15)), ("CUP", 1, dec!(10)), ("shopify:shipping", 1, dec!(5))]
)]
#[case::cancelled_but_for_a_fee("2026-03-05 09:00:00 +0000", "48.00", "#1001/2026-03-05", vec![("shopify:refund", 1, dec!(40))])]
#[tokio::test]
async fn what_was_refunded_is_taken_off_without_its_tax(
    #[case] cancelled_at: &str,
    #[case] refunded: &str,
    #[case] id: &str,
    #[case] expected: Vec<(&str, i64, Decimal)>,
) {
    let first = First { taxes: "9.00", total: "54.00", status: "refunded", cancelled_at, refunded, ..ORDER };
    let outcome = read(&[first.text(), other("#1001", CUP)]).await;
    assert_eq!(outcome.parts.len(), 2, "{outcome:?}");
    let refund = &outcome.parts[1];
    assert_eq!((refund.kind, refund.external_id.as_str()), (DocumentKind::Refund, id));
    assert_eq!(lines(refund), expected);
    assert_eq!((amount(&outcome.parts[0]), refund.buyer.as_ref()), (dec!(45), outcome.parts[0].buyer.as_ref()));
}

#[rstest]
#[case("pending")]
#[case("VOIDED")]
#[case("expired")]
#[tokio::test]
async fn an_order_that_is_not_paid_does_not_count(#[case] status: &str) {
    let paid = First { name: "#1002", id: "5002", ..ORDER };
    let outcome = read(&[First { status, ..ORDER }.text(), other("#1001", CUP), paid.text()]).await;
    assert_eq!(outcome.parts.iter().map(|part| part.external_id.as_str()).collect::<Vec<_>>(), ["#1002"]);
    assert_eq!((outcome.counts.skipped.get("not paid"), outcome.counts.accepted), (Some(&2), 1));
    // Of the first the store hears, as it may have been paid before.
    let numbers = [("#1001", "5001"), ("#1002", "5002")].map(|(name, id)| (name.to_owned(), id.to_owned()));
    assert_eq!(outcome.numbers, numbers);
}

/// A gift in the first line has the order's total all the same.
const GIFT: First<'static> = First { line: "1,Sticker,0.00,STICKER", total: "13.00", ..ORDER };

#[tokio::test]
async fn the_first_line_speaks_for_the_order_though_no_goods_are_taken_of_it() {
    let outcome = read(&[GIFT.text(), other("#1001", CUP), other("#1001", "1,Card,0.00,CARD")]).await;
    assert_eq!((outcome.counts.accepted, outcome.counts.skipped.get("price is zero")), (2, Some(&1)));
    assert_eq!((outcome.parts.len(), amount(&outcome.parts[0])), (1, dec!(13)));
}

/// Without it the others could not be corrected and imported again.
#[tokio::test]
async fn the_first_line_is_refused_with_its_order_though_no_goods_are_taken_of_it() {
    let outcome = read(&[GIFT.text(), other("#1001", CUP), other("#1001", "1,Cap,10.00,")]).await;
    let refused: Vec<_> = outcome.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!((refused, outcome.counts.accepted, outcome.counts.rejected), (vec![2, 3, 4], 0, 3), "{outcome:?}");
}

#[tokio::test]
async fn a_total_that_is_repeated_in_all_lines_of_an_order_counts_once() {
    let cup = First { line: CUP, ..ORDER };
    let outcome = read(&[ORDER.text(), cup.text()]).await;
    assert_eq!((outcome.counts.accepted, outcome.parts.len(), amount(&outcome.parts[0])), (2, 1, dec!(45)));
}

#[tokio::test]
async fn the_largest_amounts_are_taken_too() {
    let dear = other("#1001", "1,Cup,999999999999,CUP");
    let outcome = read(&[ORDER.text(), dear.repeat(900)]).await;
    assert_eq!((outcome.counts.accepted, amount(&outcome.parts[0])), (901, dec!(45)), "{:?}", outcome.rejects);
}

/// A file that was sorted, so that its lines do not say any more what they belong to.
#[tokio::test]
async fn a_line_away_from_its_order_refuses_the_order() {
    let second = First { name: "#1002", id: "5002", ..ORDER };
    let outcome = read(&[ORDER.text(), second.text(), other("#1001", CUP)]).await;
    assert_eq!(outcome.parts.iter().map(|part| part.external_id.as_str()).collect::<Vec<_>>(), ["#1002"]);
    let reason = "the first line of its order, which has the total, is not above it or was refused";
    assert_eq!((outcome.rejects[0].line, outcome.rejects[0].reason.as_str()), (4, reason));
    assert!(outcome.rejects[1].reason.contains("above it that were refused with it: 1"), "{outcome:?}");
    assert_eq!((outcome.counts.accepted, outcome.counts.rejected), (1, 2));
}

#[rstest]
#[case(First { total: "much", ..ORDER }, "Total is not a number")]
#[case(First { taxes: "-1", ..ORDER }, "Taxes is negative")]
#[case(
    First { id: "5.00123E+12", ..ORDER },
    "Id was rounded by a spreadsheet; take the number from the original export"
)]
#[case(First { cancelled_at: "soon", ..ORDER }, "Cancelled at is not a date")]
#[case(First { cancelled_at: "2027-03-02 10:00:00 +0000", ..ORDER }, "Cancelled at lies in the future")]
#[tokio::test]
async fn what_is_wrong_with_the_order_is_named_by_its_column(#[case] first: First<'static>, #[case] reason: &str) {
    let outcome = read(&[first.text(), other("#1001", CUP)]).await;
    assert_eq!((outcome.rejects[0].line, outcome.rejects[0].reason.as_str()), (2, reason));
    assert_eq!((outcome.counts.rejected, outcome.parts.len()), (2, 0));
}

#[tokio::test]
async fn an_order_without_the_platforms_number_is_known_by_its_name() {
    let outcome = read(&[First { id: "", ..ORDER }.text()]).await;
    assert_eq!(outcome.numbers, [("#1001".to_owned(), "#1001".to_owned())]);
}

/// In a file of any other kind a column of this name is what shipping cost the shop.
#[tokio::test]
async fn other_files_have_the_cost_of_shipping() {
    let data = "order_id,sku,quantity,date,price,shipping,total\n1,A,1,2026-03-02,10,3,99\n";
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    assert_eq!((outcome.parts[0].shipping, amount(&outcome.parts[0])), (Some(dec!(3)), dec!(10)));
}
