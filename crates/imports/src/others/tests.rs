use std::io::{self, Cursor, Read};

use rstest::rstest;
use rust_decimal::dec;
use time::macros::date;

use domain::ads::{Format, Status};

use super::*;
use crate::{
    Failure, Form, Reject,
    collect::{Collect, TARGET, file, order_options, rejects},
    import_ad_spend, import_expenses, import_orders, import_products, import_rates, import_stock,
};

fn reader(data: &str) -> Cursor<Vec<u8>> {
    Cursor::new(data.as_bytes().to_vec())
}

#[tokio::test]
async fn a_catalogue_says_what_it_says() {
    let store = Collect::default();
    let (refused, sink) = rejects();
    let data = "sku,name,category,price,cost,valid_from,stock,on_order,lead_time_days,pack_size,min_order_qty\n\
        MUG,Mug,Kitchen,10,4,2026-03-01,-2,0,14,6,12\nCUP,,,,3,,,,,,\n\
        A,,,,,,,,731,,\nB,,,,,,,,,0,\nC,,,,-1,,,,,,\nD,,,,,,,-1,,,\n";
    let report = import_products(&store, TARGET, file(), date!(2026 - 01 - 01), reader(data), sink).await.unwrap();
    let rows = store.products.into_inner().unwrap();
    assert_eq!(
        rows[0],
        ProductRow {
            sku: "MUG".to_owned(),
            name: Some("Mug".to_owned()),
            category: Some("Kitchen".to_owned()),
            price: Some(dec!(10)),
            cost: Some((dec!(4), date!(2026 - 03 - 01))),
            stock: Some(-2),
            on_order: Some(0),
            lead_time_days: Some(14),
            pack_size: Some(6),
            min_order_qty: Some(12),
        }
    );
    assert_eq!((rows[1].name.as_deref(), rows[1].cost), (None, Some((dec!(3), date!(2026 - 01 - 01)))));
    assert_eq!((rows.len(), report.read.rejected), (2, 4));
    let reasons: Vec<_> = refused.lock().unwrap().iter().map(|reject| reject.reason.clone()).collect();
    assert_eq!(
        reasons,
        [
            "lead_time_days is not between 0 and 730",
            "pack_size is not between 1 and 1000000000",
            "cost is negative",
            "on_order is not between 0 and 1000000000"
        ]
    );
}

#[rstest]
#[case("SKU;Nombre;Categorías;Precio;Costo;Existencias\nTAZA;Taza;Cocina;1.250,50;500,25;4\n")]
#[case("SKU;Nome;Categorias;Preço;Custo;Estoque\nTAZA;Taza;Cocina;1.250,50;500,25;4\n")]
#[tokio::test]
async fn a_catalogue_has_its_columns_in_the_languages_of_the_shops(#[case] data: &str) {
    let store = Collect::default();
    let (refused, sink) = rejects();
    let day = date!(2026 - 01 - 01);
    let report = import_products(&store, TARGET, file(), day, reader(data), sink).await.unwrap();
    assert_eq!((report.read.ignored_columns.len(), refused.lock().unwrap().len()), (0, 0), "{refused:?}");
    let rows = store.products.into_inner().unwrap();
    assert_eq!((rows[0].name.as_deref(), rows[0].category.as_deref()), (Some("Taza"), Some("Cocina")));
    assert_eq!((rows[0].price, rows[0].cost, rows[0].stock), (Some(dec!(1250.5)), Some((dec!(500.25), day)), Some(4)));
}

#[rstest]
#[case("Fecha;Categoría;Concepto;Importe\n13/01/2026;Alquiler;Enero;1.000,50\n")]
#[case("Data;Categoria;Descrição;Valor\n13/01/2026;Alquiler;Enero;1.000,50\n")]
#[tokio::test]
async fn expenses_have_their_columns_in_the_languages_of_the_shops(#[case] data: &str) {
    let store = Collect::default();
    let (refused, sink) = rejects();
    import_expenses(&store, TARGET, file(), reader(data), sink).await.unwrap();
    let rows = store.expenses.into_inner().unwrap();
    assert_eq!((rows.len(), refused.lock().unwrap().len()), (1, 0), "{refused:?}");
    assert_eq!((rows[0].category.as_str(), rows[0].description.as_str()), ("Alquiler", "Enero"));
    assert_eq!((rows[0].day, rows[0].amount), (date!(2026 - 01 - 13), dec!(1000.5)));
}

#[rstest]
#[case("SKU;Existencias;Almacén\nTAZA;3;Norte\n")]
#[case("SKU;Estoque;Depósito\nTAZA;3;Norte\n")]
#[tokio::test]
async fn stock_has_its_columns_in_the_languages_of_the_shops(#[case] data: &str) {
    let store = Collect::default();
    let today = date!(2026 - 04 - 01);
    import_stock(&store, TARGET, file(), today, reader(data), rejects().1).await.unwrap();
    let rows = store.stock.into_inner().unwrap();
    assert_eq!((rows[0].stock, rows[0].location.as_deref()), (3, Some("Norte")));
}

#[tokio::test]
async fn stock_without_a_date_is_of_today() {
    let store = Collect::default();
    let data = "sku,stock,date\nMUG,5,2026-03-01\nCUP,6,\n";
    import_stock(&store, TARGET, file(), date!(2026 - 04 - 01), reader(data), rejects().1).await.unwrap();
    let rows = store.stock.into_inner().unwrap();
    let record = b"MUG,5,2026-03-01".to_vec();
    let expected =
        StockRow { line: 2, sku: "MUG".to_owned(), location: None, stock: 5, day: date!(2026 - 03 - 01), record };
    assert_eq!(rows[0], expected);
    assert_eq!((rows[1].line, rows[1].day), (3, date!(2026 - 04 - 01)));
}

/// Both forms of Shopify's inventory export.
#[tokio::test]
async fn stock_may_lie_at_several_locations() {
    for columns in ["On hand (current),On hand (new)", "On hand,Bin name"] {
        let store = Collect::default();
        let (refused, sink) = rejects();
        let data = format!(
            "Handle,SKU,Location,Available (not editable),{columns}\n\
             mug,MUG,Shop,3,5,\nmug,MUG,Store room,2,7,\nmug,MUG,Fair,not stocked,Not stocked,\n"
        );
        let report = import_stock(&store, TARGET, file(), date!(2026 - 04 - 01), reader(&data), sink).await.unwrap();
        let rows = store.stock.into_inner().unwrap();
        let told: Vec<_> = rows.iter().map(|row| (row.sku.as_str(), row.location.as_deref(), row.stock)).collect();
        assert_eq!(told, [("MUG", Some("Shop"), 3), ("MUG", Some("Store room"), 2)]);
        assert_eq!((report.read.skipped.get("not stocked"), refused.lock().unwrap().len()), (Some(&1), 0));
    }
}

#[tokio::test]
async fn stock_is_of_the_past_by_the_account_s_clock() {
    let (west, east): (Zone, Zone) = ("America/Los_Angeles".parse().unwrap(), "Pacific/Kiritimati".parse().unwrap());
    let today = |zone: &Zone| zone.day_of(TARGET.now);
    for (zone, account_zone, taken) in [(&west, &east, 2), (&east, &west, 1)] {
        let store = Collect::default();
        let file = FileOptions { zone: zone.clone(), account_zone: account_zone.clone(), ..file() };
        let data = format!("sku,stock,date\nMUG,5,\nCUP,6,{}\n", today(&east));
        import_stock(&store, TARGET, file, today(account_zone), reader(&data), rejects().1).await.unwrap();
        assert_eq!(store.stock.into_inner().unwrap().len(), taken, "file {zone}, account {account_zone}");
    }
}

#[tokio::test]
async fn ad_spend_and_expenses_are_read() {
    let store = Collect::default();
    let data = "date,platform,campaign,spend,impressions,clicks\n2026-03-01,meta,spring,12.34,1000,7\n2026-03-01,google,,1,,\n";
    import_ad_spend(&store, TARGET, file(), reader(data), rejects().1).await.unwrap();
    let data = "date;category;description;amount\n31.12.2025;rent;Office;900,50\n";
    import_expenses(&store, TARGET, file(), reader(data), rejects().1).await.unwrap();
    let spend = store.ad_spend.into_inner().unwrap();
    assert_eq!((spend[0].spend, spend[0].impressions, spend[0].clicks), (dec!(12.34), Some(1_000), Some(7)));
    assert_eq!((spend[1].campaign.as_str(), spend[1].clicks), ("", None));
    let expenses = store.expenses.into_inner().unwrap();
    assert_eq!((expenses[0].day, expenses[0].amount), (date!(2025 - 12 - 31), dec!(900.50)));
}

#[tokio::test]
async fn ads_have_sets_creatives_and_what_the_platform_claims() {
    let store = Collect::default();
    let data = "date,platform,campaign,ad set name,ad name,creative,format,spend,purchases,purchase value,status,currency\n\
        2026-03-01,meta,spring,Broad,Blue,99,VIDEO,12.34,3,99.5,paused,eur\n\
        2026-03-01,meta,spring,Broad,Blue,99,film,1,,,,\n\
        2026-03-01,meta,spring,Broad,Blue,99,video,1,-3,,,\n\
        2026-03-01,meta,spring,Broad,Blue,99,video,1,,,running,\n\
        2026-03-01,meta,spring,Broad,Blue,99,video,1,,,,euro\n\
        2026-03-01,meta,spring,,,99,video,1,,,,\n";
    let (refused, sink) = rejects();
    let report = import_ad_spend(&store, TARGET, file(), reader(data), sink).await.unwrap();
    let rows = store.ad_spend.into_inner().unwrap();
    assert_eq!((rows.len(), report.read.rejected), (1, 5));
    let told = AdDetail {
        ad_set: "Broad".into(),
        ad: "Blue".into(),
        creative: Some("99".into()),
        format: Some(Format::Video),
        status: Some(Status::Paused),
        currency: Some("EUR".parse().unwrap()),
        purchases: Some(dec!(3)),
        revenue: Some(dec!(99.5)),
        ..AdDetail::default()
    };
    assert_eq!((&rows[0].detail, rows[0].line), (&told, 2));
    let reasons: Vec<_> = refused.lock().unwrap().iter().map(|reject| reject.reason.clone()).collect();
    assert_eq!(
        reasons,
        [
            "format is none of video, image, carousel, text, unknown",
            "purchases is not between 0 and 1000000000",
            "status is none of active, paused, archived",
            "currency is no ISO 4217 code, such as USD",
            "ad is empty, but there is a creative"
        ]
    );
}

#[tokio::test]
async fn ads_as_google_and_meta_export_them() {
    let store = Collect::default();
    let data = "Day,Platform,Campaign,Ad name,Cost,Conversions,Ad delivery\n\
        2026-03-01,google_ads,spring,Blue,12.34,0.33,Enabled\n\
        2026-03-01,google_ads,spring,Red,1,2,removed\n\
        2026-03-01,meta,spring,Green,1,,not_delivering\n";
    let (refused, sink) = rejects();
    import_ad_spend(&store, TARGET, file(), reader(data), sink).await.unwrap();
    let rows = store.ad_spend.into_inner().unwrap();
    let told: Vec<_> = rows.iter().map(|row| (row.detail.purchases, row.detail.status)).collect();
    let expected = [
        (Some(dec!(0.33)), Some(Status::Active)),
        (Some(dec!(2)), Some(Status::Archived)),
        (None, Some(Status::Paused)),
    ];
    assert_eq!((told.as_slice(), refused.lock().unwrap().len()), (expected.as_slice(), 0));
}

#[rstest]
#[case(
    "Day,Platform,Campaign,Cost,Impr.,Clicks,Conversions,Conv. value\n2026-03-01,google,spring,12.34,1000,7,2,99.5\n"
)]
#[case(
    "Día;Plataforma;Campaña;Costo;Impr.;Clics;Conversiones;Valor de conv.\n01/03/2026;google;spring;12,34;1.000;7;2,00;99,50\n"
)]
#[case(
    "Dia;Plataforma;Campanha;Custo;Impr.;Cliques;Conversões;Valor conv.\n01/03/2026;google;spring;12,34;1.000;7;2,00;99,50\n"
)]
#[tokio::test]
async fn ads_as_google_exports_them_in_the_languages_of_the_shops(#[case] data: &str) {
    let store = Collect::default();
    let file = FileOptions { date_order: Some(crate::DateOrder::DayMonthYear), ..file() };
    let (refused, sink) = rejects();
    import_ad_spend(&store, TARGET, file, reader(data), sink).await.unwrap();
    let rows = store.ad_spend.into_inner().unwrap();
    assert_eq!((rows.len(), refused.lock().unwrap().len()), (1, 0), "{refused:?}");
    let row = &rows[0];
    assert_eq!((row.day, row.campaign.as_str(), row.spend), (date!(2026 - 03 - 01), "spring", dec!(12.34)));
    assert_eq!((row.impressions, row.clicks), (Some(1_000), Some(7)));
    assert_eq!((row.detail.purchases, row.detail.revenue), (Some(dec!(2)), Some(dec!(99.5))));
}

#[tokio::test]
async fn the_name_of_metas_column_has_the_currency() {
    let read = async |header: &str, line: &str| {
        let store = Collect::default();
        let map = [("spend".to_owned(), header.split(',').next_back().unwrap().to_owned())].into();
        let data = format!("{header}\n{line}\n");
        import_ad_spend(&store, TARGET, FileOptions { map, ..file() }, reader(&data), rejects().1).await.unwrap();
        let rows = store.ad_spend.into_inner().unwrap();
        rows[0].detail.currency.map(|currency| currency.to_string())
    };
    let eur = Some("EUR".to_owned());
    assert_eq!(read("Day,Platform,Amount spent (EUR)", "2026-03-01,meta,5").await, eur);
    assert_eq!(read("Day,Platform,Currency,Amount spent (USD)", "2026-03-01,meta,EUR,5").await, eur);
    assert_eq!(read("Day,Platform,Amount spent (net)", "2026-03-01,meta,5").await, None);
    assert_eq!(read("Day,Platform,Amount spent", "2026-03-01,meta,5").await, None);
}

#[tokio::test]
async fn lines_of_pictures_are_no_products() {
    let store = Collect::default();
    let (refused, sink) = rejects();
    let data = "Handle,Title,Type,Variant SKU,Variant Price,Image Src\nmug,Mug,Kitchen,MUG,10.00,https://a/1.jpg\n\
        mug,,,,,https://a/2.jpg\nmug,,,,12.00,https://a/3.jpg\n";
    let report = import_products(&store, TARGET, file(), date!(2026 - 01 - 01), reader(data), sink).await.unwrap();
    assert_eq!((store.products.into_inner().unwrap().len(), report.read.accepted), (1, 1));
    assert_eq!(report.read.skipped.get("nothing about a product"), Some(&1));
    let reasons: Vec<_> = refused.lock().unwrap().iter().map(|reject| reject.reason.clone()).collect();
    assert_eq!(reasons, ["sku is empty"]);
}

#[tokio::test]
async fn the_type_of_a_product_in_woocommerce_is_a_category_where_nothing_else_is() {
    let header = "SKU,Type,Categories,Sale price,Regular price";
    for (header, category) in [(header, "Mugs"), ("SKU,Type,Tags,Sale price,Precio normal", "simple")] {
        let store = Collect::default();
        let data = format!("{header}\nMUG,simple,Mugs,9.50,12.50\n");
        import_products(&store, TARGET, file(), date!(2026 - 01 - 01), reader(&data), rejects().1).await.unwrap();
        let product = store.products.into_inner().unwrap().remove(0);
        assert_eq!((product.category.as_deref(), product.price), (Some(category), Some(dec!(12.50))));
    }
}

#[tokio::test]
async fn rates_are_above_nothing_and_have_more_decimals_than_amounts() {
    let store = Collect::default();
    let data = "date,currency,rate\n2026-03-01,EUR,1.0842\n2026-03-01,IDR,0.0000632911\n2026-03-01,ARS,0\n\
        2026-03-01,usd,1\n2026-03-01,dollar,1\n2026-03-01,GBP,1000001\n2026-03-01,GBP,0.00000000001\n\
        2026-03-01,GBP,1\n2026-03-01,gbp,1.15\n";
    let (refused, sink) = rejects();
    import_rates(&store, TARGET, file(), reader(data), sink).await.unwrap();
    let rates: Vec<_> = store.rates.into_inner().unwrap().iter().map(|row| row.rate).collect();
    assert_eq!(rates, [dec!(1.0842), dec!(0.0000632911), dec!(1), dec!(1)]);
    let reasons: Vec<_> = refused.lock().unwrap().iter().map(|reject| reject.reason.clone()).collect();
    assert_eq!(
        reasons,
        [
            "rate is not above 0 and at most 1000000",
            "currency is no ISO 4217 code, such as USD",
            "rate is not above 0 and at most 1000000",
            "rate has more than 10 decimals",
            "currency is the account's own; a rate says how much of that a unit of another one is worth"
        ]
    );
}

/// A disk or a compressed file that ends in the middle.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "ends in the middle"))
    }
}

#[tokio::test]
async fn a_file_that_breaks_off_fails_as_a_whole() {
    let store = Collect::default();
    let lines = "order_id,sku,quantity,date,price\n".to_owned() + &"1,A,1,2026-01-01,2\n".repeat(300_000);
    let reader = reader(&lines).chain(Broken);
    let failure = import_orders(&store, TARGET, file(), order_options(None), reader, rejects().1).await.unwrap_err();
    assert!(matches!(&failure, Failure::Damaged(text) if text.contains("ends in the middle")), "{failure}");
}

#[tokio::test]
async fn rejects_that_cannot_be_written_end_the_import() {
    let store = Collect::default();
    let full = Box::new(|_: &Form, _| Err(io::Error::from(io::ErrorKind::StorageFull)));
    let data = "order_id,sku,quantity,date,price\n1,A,one,2026-01-01,2\n";
    let failure = import_orders(&store, TARGET, file(), order_options(None), reader(data), full).await.unwrap_err();
    assert!(matches!(failure, Failure::Io(_)), "{failure}");
}

#[tokio::test]
async fn what_is_refused_when_the_others_are_in_does_not_undo_them() {
    let store = Collect::default();
    // Full for what the store refuses, which comes last.
    let full = Box::new(|_: &Form, reject: Reject| match reject.record {
        Some(_) => Ok(()),
        None => Err(io::Error::from(io::ErrorKind::StorageFull)),
    });
    let data = "order_id,sku,quantity,date,price\n1,A,1,2026-01-01,2\n2,A,1,2026-01-01,2\n1,B,one,2026-01-01,2\n";
    let failure = import_orders(&store, TARGET, file(), order_options(None), reader(data), full).await.unwrap_err();
    assert!(matches!(failure, Failure::Rejects(_)), "{failure}");
}
