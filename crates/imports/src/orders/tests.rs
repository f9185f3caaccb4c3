use std::{
    io::Cursor,
    sync::{Arc, Mutex},
};

use rstest::rstest;
use rust_decimal::dec;
use time::macros::datetime;

use super::*;
use crate::{
    DateOrder, Failure, Rejects,
    collect::{Collect, Outcome, TARGET, file, order_options, read_orders},
    import_orders,
    records::MAX_RECORD,
    sample::SAMPLE_BYTES,
};

const HEADER: &str = "invoice,stock_code,description,quantity,invoice_date,unit_price,customer_id,country\n";

async fn read(lines: &str) -> Outcome {
    read_orders(format!("{HEADER}{lines}"), file(), order_options(Some("C"))).await.unwrap()
}

#[tokio::test]
async fn lines_of_a_document_that_follow_each_other_become_one_part() {
    let outcome = read(
        "536365,85123A,MUG,6,2010-12-01 08:26:00,2.55,17850,United Kingdom\n\
         536365,POST,POSTAGE,1,2010-12-01 08:26:00,18,17850,United Kingdom\n\
         536366,85123A,MUG,1,2010-12-01 08:28:00,2.55,,EIRE\n\
         C536379,D,Discount,-1,2010-12-01 09:41:00,27.50,14527,United Kingdom\n",
    )
    .await;
    assert_eq!(outcome.parts.len(), 3);
    let first = &outcome.parts[0];
    assert_eq!((first.kind, first.external_id.as_str()), (DocumentKind::Order, "536365"));
    assert_eq!(first.at, datetime!(2010-12-01 08:26 UTC));
    assert_eq!(first.buyer.as_ref().unwrap().external_id, "17850");
    assert_eq!(first.country.unwrap().as_str(), "GB");
    let mug = Line {
        sku: "85123A".to_owned(),
        is_product: true,
        name: Some("MUG".to_owned()),
        category: None,
        quantity: 6,
        unit_price: dec!(2.55),
        unit_cost: None,
    };
    assert_eq!(first.lines[0], mug);
    assert!(!first.lines[1].is_product);
    assert_eq!((outcome.parts[1].buyer.as_ref(), outcome.parts[1].country.unwrap().as_str()), (None, "IE"));
    let refund = &outcome.parts[2];
    assert_eq!(
        (refund.kind, refund.lines[0].quantity, refund.lines[0].unit_price),
        (DocumentKind::Refund, 1, dec!(27.5))
    );
    assert_eq!((outcome.counts.lines, outcome.counts.accepted, outcome.counts.rejected), (4, 4, 0));
}

#[tokio::test]
async fn adjustments_and_write_offs_are_skipped_and_counted() {
    let outcome = read(
        "1,A,damaged,-10,2010-12-01 08:26:00,0,,\n\
         2,A,found,10,2010-12-01 08:26:00,0,,\n\
         A506401,B,Adjust bad debt,1,2010-12-01 08:26:00,-11062.06,,\n\
         3,A,returned,-1,2010-12-01 08:26:00,2,,\n\
         4,A,nothing,0,2010-12-01 08:26:00,2,,\n",
    )
    .await;
    assert!(outcome.parts.is_empty() && outcome.rejects.is_empty());
    let skipped: Vec<_> = outcome.counts.skipped.into_iter().collect();
    assert_eq!(
        skipped,
        [
            ("negative price", 1),
            ("negative quantity outside a cancellation", 1),
            ("price is zero", 2),
            ("quantity is zero", 1)
        ]
    );
}

#[tokio::test]
async fn who_gave_no_address_is_nobody() {
    let data = "order_id,sku,quantity,date,price,email\n1,A,1,2026-01-02,2,-\n2,A,1,2026-01-02,2,N/A\n\
        3,A,1,2026-01-02,2,Ana@example.com\n";
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    let buyers: Vec<_> =
        outcome.parts.iter().map(|part| part.buyer.as_ref().map(|buyer| buyer.external_id.as_str())).collect();
    assert_eq!(buyers, [None, None, Some("ana@example.com")]);
}

#[tokio::test]
async fn without_a_prefix_what_is_returned_on_a_day_is_a_refund_of_that_day() {
    let lines = "order,sku,qty,date,price\n7,A,3,2026-02-01,5\n7,A,-1,2026-02-05,5\n7,A,-1,2026-02-09,5\n";
    let outcome = read_orders(lines, file(), order_options(None)).await.unwrap();
    let documents: Vec<_> = outcome.parts.iter().map(|part| (part.kind, part.external_id.as_str())).collect();
    assert_eq!(
        documents,
        [(DocumentKind::Order, "7"), (DocumentKind::Refund, "7/2026-02-05"), (DocumentKind::Refund, "7/2026-02-09")]
    );
}

#[rstest]
#[case(",A,x,1,2010-12-01,2,,", "order_id is empty")]
#[case("1,,x,1,2010-12-01,2,,", "sku is empty")]
#[case(
    "2.00001E+15,A,x,1,2010-12-01,2,,",
    "order_id was rounded by a spreadsheet; take the number from the original export"
)]
#[case("1,7.89E+12,x,1,2010-12-01,2,,", "sku was rounded by a spreadsheet; take the number from the original export")]
#[case("1,#N/A,x,1,2010-12-01,2,,", "sku is the error of a formula; take the value from the original export")]
#[case("#¡REF!,A,x,1,2010-12-01,2,,", "order_id is the error of a formula; take the value from the original export")]
#[case("1,#ERRO!,x,1,2010-12-01,2,,", "sku is the error of a formula; take the value from the original export")]
#[case("1,A,x,,2010-12-01,2,,", "quantity is empty")]
#[case("1,A,x,one,2010-12-01,2,,", "quantity is not a number")]
#[case("1,A,x,1.5,2010-12-01,2,,", "quantity is not a whole number")]
#[case("1,A,x,1,,2,,", "date is empty")]
#[case("1,A,x,1,0001-01-01,2,,", "date lies outside the years 1970 to 2100")]
#[case("1,A,x,1,9999-12-31,2,,", "date lies outside the years 1970 to 2100")]
#[case("1,A,x,1,2010-02-30,2,,", "date has no such day")]
#[case("1,A,x,1,2010-12-01,NaN,,", "price is not a number")]
#[case("1,A,x,1,2010-12-01,1e5,,", "price is not a number")]
#[case("1,A,x,1,2010-12-01,0.1234567,,", "price has more than 6 decimals")]
#[case("1,A,x,1000,2010-12-01,999999999999,,", "quantity times price is 10^12 or more")]
#[case("1,A,x,1,2010-12-01,2,", "it has 7 columns instead of 8")]
#[case("1,A,x,1,2010-12-01,2,,,", "it has 9 columns instead of 8")]
#[case("1,A,\"x,1,2010-12-01,2,,", "a quote is never closed")]
#[case("1,A,\"x\"y,1,2010-12-01,2,,", "there is text behind a closing quote")]
#[case("1,A,x\0,1,2010-12-01,2,,", "it holds the character U+0000")]
#[tokio::test]
async fn a_bad_line_is_refused_with_its_number_and_the_rest_goes_in(#[case] bad: &str, #[case] reason: &str) {
    let good = "9,A,x,1,2010-12-01,2,,";
    let outcome = read(&format!("{good}\n{bad}\n{good}\n")).await;
    assert_eq!(outcome.rejects.len(), 1, "{:?}", outcome.rejects);
    assert_eq!((outcome.rejects[0].line, outcome.rejects[0].reason.as_str()), (3, reason));
    assert_eq!(outcome.rejects[0].record.as_deref(), Some(bad.as_bytes()));
    assert_eq!(outcome.counts.accepted, 2);
}

#[tokio::test]
async fn texts_that_are_too_long_are_refused() {
    let long = "x".repeat(600);
    let outcome = read(&format!("1,A,{long},1,2010-12-01,2,,\n{long},A,x,1,2010-12-01,2,,\n")).await;
    let reasons: Vec<_> = outcome.rejects.iter().map(|reject| reject.reason.as_str()).collect();
    assert_eq!(reasons, ["name has more than 512 characters", "order_id has more than 128 characters"]);
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_refused_unless_they_are_said_to_be_latin1() {
    let data = [HEADER.as_bytes(), b"1,A,caf\xE9 \x80,1,2010-12-01,2,,\n"].concat();
    let outcome = read_orders(data.clone(), file(), order_options(None)).await.unwrap();
    assert_eq!(outcome.rejects[0].reason, "it is not UTF-8; try --latin1");
    let latin1 = FileOptions { latin1: true, ..file() };
    let outcome = read_orders(data, latin1, order_options(None)).await.unwrap();
    assert_eq!(outcome.parts[0].lines[0].name.as_deref(), Some("café €"));
}

#[rstest]
#[case("\u{feff}order_id;sku;quantity;date;price\n1;A;1;2026-01-02;12,5\n")]
#[case("order_id\tsku\tquantity\tdate\tprice\n1\tA\t1\t2026-01-02\t12.5\n")]
#[case("Order ID,SKU,Quantity,Date,Price\r\n1,A,1,2026-01-02,\"12,5\"\r\n")]
#[case("Número de orden;SKU;Cantidad;Fecha;Precio\n1;A;1;2026-01-02;12,5\n")]
#[case("Número do Pedido;SKU;Quantidade;Data;Preço\n1;A;1;2026-01-02;12,5\n")]
#[case(
    "\"Lineitem sku\",\"Order name\",\"Lineitem quantity\",\"Created at\",\"Lineitem price\"\nA,1,1,2026-01-02,12.5"
)]
#[tokio::test]
async fn the_form_of_the_file_is_found(#[case] data: &str) {
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    assert_eq!(outcome.parts.len(), 1, "{outcome:?}");
    assert_eq!((outcome.parts[0].external_id.as_str(), outcome.parts[0].lines[0].unit_price), ("1", dec!(12.5)));
}

fn dated(dates: &[&str]) -> String {
    let lines: String = dates.iter().enumerate().map(|(id, date)| format!("{id},A,1,{date},2\n")).collect();
    format!("order_id,sku,quantity,date,price\n{lines}")
}

#[tokio::test]
async fn the_order_of_dates_is_found_and_contradictions_are_refused() {
    let data = dated(&["1/2/2010 8:26", "1/13/2010 8:26", "13/1/2010 8:26", "2010-05-06 07:08"]);
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    let at: Vec<_> = outcome.parts.iter().map(|part| part.at).collect();
    assert_eq!(at, [datetime!(2010-01-02 08:26 UTC), datetime!(2010-01-13 08:26 UTC), datetime!(2010-05-06 06:08 UTC)]);
    assert_eq!((outcome.rejects.len(), outcome.rejects[0].line), (1, 4));
}

#[tokio::test]
async fn dates_with_the_year_in_front_do_not_end_the_search_for_the_order_of_the_others() {
    let data = dated(&["2026-02-12", "01/02/2026", "13/02/2026"]);
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    let at: Vec<_> = outcome.parts.iter().map(|part| part.at).collect();
    assert_eq!(at, [datetime!(2026-02-12 00:00 UTC), datetime!(2026-02-01 00:00 UTC), datetime!(2026-02-13 00:00 UTC)]);
    assert!(outcome.rejects.is_empty(), "{:?}", outcome.rejects);
}

#[tokio::test]
async fn the_order_that_most_dates_show_counts() {
    let data = dated(&["12/31/2026", "31/12/2026", "1/2/2026", "30/12/2026"]);
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    assert_eq!(outcome.parts[1].at, datetime!(2026-02-01 00:00 UTC));
    assert_eq!((outcome.rejects.len(), outcome.rejects[0].line), (1, 2));
}

#[tokio::test]
async fn a_date_that_can_be_read_in_one_way_only_is_read_wherever_it_comes() {
    let mut data = dated(&["2026-02-12"]);
    // Beyond what is looked at for the form.
    data += &"9,A,1,2026-02-12,2\n".repeat(250_000);
    data += "5,A,1,13/02/2026,2\n6,A,1,02/14/2026,2\n7,A,1,02/02/2026,2\n8,A,1,02/03/2026,2\n";
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    let at: Vec<_> = outcome.parts.iter().map(|part| part.at).skip(outcome.parts.len() - 3).collect();
    assert_eq!(at, [datetime!(2026-02-13 00:00 UTC), datetime!(2026-02-14 00:00 UTC), datetime!(2026-02-02 00:00 UTC)]);
    assert_eq!((outcome.rejects.len(), outcome.rejects[0].line), (1, 250_006));
}

#[tokio::test]
async fn dates_that_could_be_both_need_a_word_among_others_too() {
    let data = dated(&["2026-02-12", "31.12.2026", "05/05/2026", "01/02/2026"]);
    let failure = read_orders(data.clone(), file(), order_options(None)).await.unwrap_err();
    assert!(matches!(&failure, Failure::File(why) if why.to_string().contains("--date-format")), "{failure}");
    let said = FileOptions { date_order: Some(DateOrder::YearMonthDay), ..file() };
    let outcome = read_orders(data, said, order_options(None)).await.unwrap();
    let lines: Vec<_> = outcome.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(lines, [4, 5]);
}

fn priced(prices: &[&str]) -> String {
    let lines: String = prices.iter().map(|price| format!("1;A;1;2026-01-02;{price}\n")).collect();
    format!("order_id;sku;quantity;date;price\n{lines}")
}

/// The same in orders of their own.
fn priced_apart(prices: &[&str]) -> String {
    let lines: String = prices.iter().enumerate().map(|(id, price)| format!("{id};A;1;2026-01-02;{price}\n")).collect();
    format!("order_id;sku;quantity;date;price\n{lines}")
}

#[rstest]
#[case(&["1.234", "12,50", "7"], &["1234", "12.50", "7"])]
#[case(&["1.234", "1.234,50"], &["1234", "1234.50"])]
#[case(&["1.234", "12.50"], &["1.234", "12.50"])]
#[case(&["1,234", "12.50"], &["1234", "12.50"])]
#[tokio::test]
async fn a_decimal_mark_is_found_from_the_whole_sample(#[case] prices: &[&str], #[case] read: &[&str]) {
    let outcome = read_orders(priced(prices), file(), order_options(None)).await.unwrap();
    let prices: Vec<_> = outcome.parts[0].lines.iter().map(|line| line.unit_price).collect();
    assert_eq!(prices, read.iter().map(|price| price.parse().unwrap()).collect::<Vec<rust_decimal::Decimal>>());
}

#[tokio::test]
async fn where_both_decimal_marks_occur_nothing_is_guessed() {
    let outcome =
        read_orders(priced_apart(&["12,50", "12.50", "1.234", "1,234"]), file(), order_options(None)).await.unwrap();
    let lines: Vec<_> = outcome.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!((lines, outcome.counts.accepted), (vec![4, 5], 2));
    let said = FileOptions { decimal_comma: true, ..file() };
    let outcome = read_orders(priced(&["12,50", "1.234"]), said, order_options(None)).await.unwrap();
    assert_eq!(outcome.parts[0].lines[1].unit_price, dec!(1234));
}

/// In Chile and Colombia `12.990` are twelve thousand pesos, in Spain as many euros, though the latter two have cents. Dinars of
/// Kuwait have three decimals.
#[rstest]
#[case("CLP")]
#[case("COP")]
#[case("EUR")]
#[tokio::test]
async fn thousands_are_not_read_as_decimals_where_nothing_shows_which_they_are(#[case] currency: &str) {
    let pesos = FileOptions { currency: currency.parse().unwrap(), ..file() };
    let outcome = read_orders(priced_apart(&["12.990", "990"]), pesos.clone(), order_options(None)).await.unwrap();
    assert_eq!((outcome.counts.rejected, outcome.counts.accepted), (1, 1));
    assert!(outcome.rejects[0].reason.contains("thousands or decimals"), "{}", outcome.rejects[0].reason);
    let said = FileOptions { decimal_comma: true, ..pesos.clone() };
    for (prices, options, price) in [
        (["12.990", "990"], said, dec!(12990)),
        (["12.990", "1.290.000"], pesos.clone(), dec!(12990)),
        (["12.990", "12.50"], pesos, dec!(12.990)),
    ] {
        let outcome = read_orders(priced(&prices), options, order_options(None)).await.unwrap();
        assert_eq!(outcome.parts[0].lines[0].unit_price, price, "{prices:?}");
    }
    let dinars = FileOptions { currency: "KWD".parse().unwrap(), ..file() };
    let outcome = read_orders(priced(&["12.990", "990"]), dinars, order_options(None)).await.unwrap();
    assert_eq!(outcome.parts[0].lines[0].unit_price, dec!(12.990));
}

/// `1,234` may be either. What is looked at for the form of the file ends with `1,2`.
#[tokio::test]
async fn a_number_of_which_only_a_part_is_in_the_sample_shows_nothing() {
    let header = "order_id;sku;quantity;date;price\n";
    let (seen, behind) = ("9;A;1;2026-01-02;1,2", "34\n");
    let line = "1;A;1;2026-01-02;7\n";
    let left = usize::try_from(SAMPLE_BYTES).unwrap() - header.len() - seen.len();
    let sku = "A".repeat(left % line.len());
    let lines = line.replacen('A', &format!("A{sku}"), 1) + &line.repeat(left / line.len() - 1);
    let outcome = read_orders(format!("{header}{lines}{seen}{behind}"), file(), order_options(None)).await.unwrap();
    assert_eq!(outcome.counts.rejected, 1);
    assert!(outcome.rejects[0].reason.contains("thousands or decimals"), "{}", outcome.rejects[0].reason);
}

/// A line that is refused for the number of its columns has others in their places.
#[tokio::test]
async fn a_line_of_other_columns_shows_nothing() {
    let data = format!("{}2;A;1;2026-01-02;12,50;\n", priced(&["1.234", "12.50"]));
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    assert_eq!((outcome.parts[0].lines[0].unit_price, outcome.counts.rejected), (dec!(1.234), 1));
}

#[tokio::test]
async fn what_spreadsheets_add_to_a_file_is_passed_over() {
    let data = "\u{feff}sep=;\r\n;;;;;\r\norder_id;sku;quantity;date;price;\r\n1;A;1;2026-01-02;12,5;\r\n;;;;;\r\n\
        2;A;one;;;\r\n";
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    assert_eq!((outcome.counts.lines, outcome.counts.accepted), (2, 1));
    assert_eq!(outcome.counts.ignored_columns, Vec::<String>::new());
    assert_eq!((outcome.parts[0].lines[0].unit_price, outcome.rejects[0].line), (dec!(12.5), 6));
}

/// The file that they are from may have shown what they do not, or what they are refused for may be uncorrected.
#[tokio::test]
async fn how_refused_lines_are_to_be_read_is_not_guessed_from_them() {
    let refused = |lines: &[&str]| {
        let header = "order_id;sku;quantity;date;price;rejected_line;rejected_reason\n";
        lines.iter().fold(header.to_owned(), |text, line| format!("{text}{line};2;price is empty\n"))
    };
    for others in [vec![], vec!["2;A;1;2026-01-02;12.50"], vec!["2;A;1;2026-01-02;12,50"]] {
        let accepted = others.len() as u64;
        let data = refused(&[vec!["1;A;1;2026-01-02;1.234"], others].concat());
        let outcome = read_orders(data.clone(), file(), order_options(None)).await.unwrap();
        let lines: Vec<_> = outcome.rejects.iter().map(|reject| reject.line).collect();
        assert_eq!((lines, outcome.counts.accepted), (vec![2], accepted), "{data}");
        assert!(outcome.rejects[0].reason.contains("thousands or decimals"), "{}", outcome.rejects[0].reason);
    }
    let said = FileOptions { decimal_comma: true, ..file() };
    let outcome = read_orders(refused(&["1;A;1;2026-01-02;1.234"]), said, order_options(None)).await.unwrap();
    assert_eq!(outcome.parts[0].lines[0].unit_price, dec!(1234));

    let data = refused(&["1;A;1;01/13/2026;2", "2;A;1;02/03/2026;2"]);
    let failure = read_orders(data.clone(), file(), order_options(None)).await.unwrap_err();
    assert!(matches!(&failure, Failure::File(why) if why.to_string().contains("--date-format")), "{failure}");
    let said = FileOptions { date_order: Some(DateOrder::DayMonthYear), ..file() };
    let outcome = read_orders(data, said, order_options(None)).await.unwrap();
    assert_eq!((outcome.rejects[0].line, outcome.parts[0].at), (2, datetime!(2026-03-02 00:00 UTC)));
}

#[rstest]
#[case("order_id,sku,quantity,date,price,\"note; a; b; c; d; e; f; g\"\n1,A,1,2026-01-02,12.5,\n")]
#[case("order_id;sku;quantity;date;\"price, net, each, in, our, currency\"\n1;A;1;2026-01-02;12,5\n")]
#[tokio::test]
async fn the_delimiter_is_the_one_that_gives_columns(#[case] data: &str) {
    let map = [("price".to_owned(), "price, net, each, in, our, currency".to_owned())];
    let map = if data.contains("net") { map.into() } else { std::collections::BTreeMap::new() };
    let outcome = read_orders(data, FileOptions { map, ..file() }, order_options(None)).await.unwrap();
    assert_eq!(outcome.parts[0].lines[0].unit_price, dec!(12.5));
}

#[tokio::test]
async fn what_is_refused_is_kept_byte_for_byte_and_can_be_imported_when_it_is_mended() {
    let data = b"\xEF\xBB\xBForder_id;sku;quantity;date;price;name\r\n\
        1;A;1;2026-01-02;2;\"x\"\"y\"\r\n\
         2 ;\"A\";one;2026-01-02;\"12,50\";caf\xE9\r\n\
        3;A;1;2026-01-02;2;\"two\r\nlines; \"\"quoted\"\"\"\r\n\
        4;A;1;;2;\"two\r\nlines; \"\"quoted\"\"\"\r\n";
    let options = FileOptions { latin1: true, ..file() };
    let kept = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&kept);
    let rejects: Rejects = Box::new(move |form, reject| {
        let mut kept = sink.lock().unwrap();
        if kept.is_empty() {
            *kept = form.head();
        }
        kept.extend(form.body(&reject));
        Ok(())
    });
    let store = Collect::default();
    let report =
        import_orders(&store, TARGET, options.clone(), order_options(None), Cursor::new(data.to_vec()), rejects)
            .await
            .unwrap();
    assert_eq!((report.read.accepted, report.read.rejected), (2, 2));
    let kept = kept.lock().unwrap().clone();
    let expected = b"\xEF\xBB\xBForder_id;sku;quantity;date;price;name;rejected_line;rejected_reason\r\n\
         2 ;\"A\";one;2026-01-02;\"12,50\";caf\xE9;3;quantity is not a number\r\n\
        4;A;1;;2;\"two\r\nlines; \"\"quoted\"\"\";6;date is empty\r\n";
    assert_eq!(kept, expected, "{}", String::from_utf8_lossy(&kept));

    let at = kept.windows(3).position(|window| window == b"one").unwrap();
    let mended = [&kept[..at], b"1", &kept[at + 3..]].concat();
    let outcome = read_orders(mended, options, order_options(None)).await.unwrap();
    assert_eq!((outcome.counts.accepted, outcome.counts.rejected), (1, 1));
    let line = &outcome.parts[0].lines[0];
    assert_eq!(
        (outcome.parts[0].external_id.as_str(), line.name.as_deref(), line.unit_price),
        ("2", Some("caf\u{e9}"), dec!(12.5))
    );
    assert!(outcome.counts.ignored_columns.is_empty(), "{:?}", outcome.counts.ignored_columns);
}

#[tokio::test]
async fn dates_that_could_be_both_need_a_word() {
    let data = dated(&["1/2/2010", "3/4/2010"]);
    let failure = read_orders(data.clone(), file(), order_options(None)).await.unwrap_err();
    assert!(matches!(&failure, Failure::File(why) if why.to_string().contains("--date-format")), "{failure}");
    let said = FileOptions { date_order: Some(DateOrder::DayMonthYear), ..file() };
    let outcome = read_orders(data, said, order_options(None)).await.unwrap();
    assert_eq!(outcome.parts[0].at, datetime!(2010-02-01 00:00 UTC));
}

#[tokio::test]
async fn money_columns_are_read_and_another_currency_is_refused() {
    let data = "order_id,sku,quantity,date,price,fees,shipping,currency,unit_cost,category,email,note\n\
        1,A,1,2026-01-02,10,0.5,3,GBP,4.25,Mugs,Ana@Example.com,x\n\
        2,A,1,2026-01-02,10,0.5,3,USD,4.25,Mugs,,x\n\
        3,A,1,2026-01-02,10,-0.5,3,gbp,4.25,Mugs,,x\n";
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    let part = &outcome.parts[0];
    assert_eq!((part.fees, part.shipping), (Some(dec!(0.5)), Some(dec!(3))));
    assert_eq!((part.lines[0].unit_cost, part.lines[0].category.as_deref()), (Some(dec!(4.25)), Some("Mugs")));
    let buyer = part.buyer.as_ref().unwrap();
    assert_eq!((buyer.external_id.as_str(), buyer.email.as_deref()), ("ana@example.com", Some("Ana@Example.com")));
    let reasons: Vec<_> = outcome.rejects.iter().map(|reject| reject.reason.as_str()).collect();
    assert_eq!(reasons, ["currency is not the account's, GBP", "fees is negative"]);
    assert_eq!(outcome.counts.ignored_columns, ["note"]);
}

#[tokio::test]
async fn a_document_of_many_lines_is_handed_on_in_pieces() {
    let outcome = read(&"1,A,x,1,2010-12-01,2,,\n".repeat(2_500)).await;
    let lines: Vec<_> = outcome.parts.iter().map(|part| part.lines.len()).collect();
    assert_eq!(lines, [1_000, 1_000, 500]);
}

#[rstest]
#[case("", "empty")]
#[case("a,b\n1,2\n", "no column for order_id, sku")]
#[case("\u{0}\u{0}\n", "U+0000")]
#[case("order_id,sku,quantity,date,price\r1,A,1,2026-01-02,3\r", "CR alone")]
#[case("order_id,sku,quantity,date,price\r1,A,1,2026-01-02,3\n", "CR alone")]
#[case(&format!("order_id,sku,quantity,date,price{}\n", ",x".repeat(496)), "501 columns")]
#[tokio::test]
async fn a_file_of_another_kind_is_refused_whole(#[case] data: &str, #[case] reason: &str) {
    let failure = read_orders(data, file(), order_options(None)).await.unwrap_err();
    assert!(matches!(&failure, Failure::File(why) if why.to_string().contains(reason)), "{failure}");
}

#[tokio::test]
async fn utf16_is_named() {
    let failure = read_orders(b"\xFF\xFEa\0".to_vec(), file(), order_options(None)).await.unwrap_err();
    assert!(matches!(&failure, Failure::File(why) if why.to_string().contains("UTF-16")), "{failure}");
}

/// What is corrected in the file of refused lines is imported by itself: it must not be a part of an order.
#[tokio::test]
async fn an_order_of_which_a_line_is_refused_is_refused_as_a_whole() {
    let outcome = read(
        "1,A,MUG,1,2010-12-01,2,,\n\
         2,A,MUG,1,2010-12-01,2,,\n\
         2,B,CUP,one,2010-12-01,3,,\n\
         2,C,POT,1,2010-12-01,4,,\n\
         3,A,MUG,1,2010-12-01,2,,\n\
         4,A,MUG,1,2010-12-01,2\n\
         2,D,PAN,1,2010-12-01,5,,\n",
    )
    .await;
    let orders: Vec<_> = outcome.parts.iter().map(|part| part.external_id.as_str()).collect();
    assert_eq!(orders, ["1", "3"]);
    assert_eq!((outcome.counts.lines, outcome.counts.accepted, outcome.counts.rejected), (7, 2, 5));
    let refused: Vec<_> = outcome
        .rejects
        .iter()
        .map(|reject| (reject.line, reject.reason.as_str(), String::from_utf8(reject.record.clone().unwrap()).unwrap()))
        .collect();
    let with = "line 4, of the same order, was refused";
    let line = |text: &str| text.to_owned();
    assert_eq!(
        refused,
        [
            (3, with, line("2,A,MUG,1,2010-12-01,2,,")),
            (4, "quantity is not a number", line("2,B,CUP,one,2010-12-01,3,,")),
            (5, with, line("2,C,POT,1,2010-12-01,4,,")),
            (7, "it has 6 columns instead of 8", line("4,A,MUG,1,2010-12-01,2")),
            (8, with, line("2,D,PAN,1,2010-12-01,5,,")),
        ]
    );
}

const NAMED: &str = "order_id,sku,quantity,date,price,name\n";

#[rstest]
#[case("A1,CUP,1,2026-01-02,5,\"Cup\" blue\n")]
#[case("A1,CUP,1,2026-01-02,5,\"Cup\n")]
#[case("A1,CUP,1,2026-01-02,5,\"Cup\nA2,POT,1,2026-01-02,5,\"Pot\"\n")]
#[tokio::test]
async fn a_line_with_a_broken_quote_refuses_its_order(#[case] broken: &str) {
    let data = format!("{NAMED}A2,MUG,1,2026-01-02,10,Mug\nA1,MUG,1,2026-01-02,10,Mug\n{broken}");
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    assert!(outcome.parts.iter().all(|part| part.external_id == "A2"), "{outcome:?}");
    let lines: Vec<_> = outcome.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(lines, [3, 4], "{outcome:?}");
}

/// Of a line that is too long the beginning is held, which may end within the number of the order.
#[tokio::test]
async fn a_part_of_an_orders_number_refuses_no_order() {
    let first = ",A,1,2026-01-02,2,A12";
    let name = "n".repeat(1_000 - first.len());
    let note = "x".repeat(2 * MAX_RECORD);
    let data = format!("name,sku,quantity,date,price,order_id,note\nMug{first},\n{name}{first}34,{note}\n");
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    let orders: Vec<_> = outcome.parts.iter().map(|part| part.external_id.as_str()).collect();
    assert_eq!((orders, outcome.counts.rejected), (vec!["A12"], 1));
}

#[tokio::test]
async fn lines_of_a_refused_order_far_above_are_counted() {
    let outcome = read("1,A,MUG,1,2010-12-01,2,,\n2,A,MUG,1,2010-12-01,2,,\n1,B,CUP,one,2010-12-01,3,,\n").await;
    assert_eq!(outcome.parts.iter().map(|part| part.external_id.as_str()).collect::<Vec<_>>(), ["2"]);
    assert_eq!((outcome.counts.accepted, outcome.counts.rejected), (1, 2));
    let told: Vec<_> = outcome.rejects.iter().map(|reject| (reject.line, reject.reason.as_str())).collect();
    let above = "lines of order 1 above it that were refused with it: 1; import all of them again";
    assert_eq!(told, [(4, "quantity is not a number"), (4, above)]);
}

#[rstest]
#[case("2027-01-01 23:59:00", None)]
#[case("2027-01-02 00:01:00", Some("date lies in the future"))]
#[tokio::test]
async fn nothing_was_sold_in_the_future(#[case] at: &str, #[case] expected: Option<&str>) {
    let outcome = read(&format!("1,A,MUG,1,{at},2,,\n")).await;
    assert_eq!(outcome.rejects.first().map(|reject| reject.reason.as_str()), expected);
}

/// What is refunded counts on a day of the account, whatever clock the file was written by.
#[tokio::test]
async fn a_refund_is_named_by_the_day_of_the_account() {
    let options = FileOptions {
        zone: "Asia/Tokyo".parse().unwrap(),
        account_zone: "America/Santiago".parse().unwrap(),
        ..file()
    };
    let data = "order_id,sku,quantity,date,price\n1,A,-1,2026-11-22T02:00:00Z,10\n1,A,-2,2026-11-22T04:00:00Z,10\n";
    let outcome = read_orders(data, options, order_options(None)).await.unwrap();
    let ids: Vec<_> = outcome.parts.iter().map(|part| part.external_id.as_str()).collect();
    assert_eq!(ids, ["1/2026-11-21", "1/2026-11-22"]);
}

/// Nothing of it was stored by an id that cannot be stored.
#[tokio::test]
async fn a_zero_in_an_id_refuses_its_line_alone() {
    let data = "order_id,sku,quantity,date,price\n1,A,1,2026-11-20,10\nB\u{0}2,A,1,2026-11-20,10\n";
    let outcome = read_orders(data, file(), order_options(None)).await.unwrap();
    assert_eq!((outcome.parts.len(), outcome.counts.accepted, outcome.counts.rejected), (1, 1, 1));
}
