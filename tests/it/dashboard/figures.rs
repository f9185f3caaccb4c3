//! The figures of a page are those that the API answers to the call that the page prints.

use std::fmt::Write as _;

use rust_decimal::Decimal;
use serde_json::Value;
use time::Duration;

use super::{Browser, Dashboard};
use crate::service::{self, Service, run};

/// Fields of `totals`, in the order of the figures.
const FIELDS: [&str; 6] = ["final_profit", "net_revenue", "purchase_count", "aov", "avg_margin_pct", "ad_spend"];

/// Sales of each of the last days, today's among them, with what they cost.
fn fill(service: &Service, account: i64) {
    let today = service::today();
    let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id,email\n".to_owned();
    let mut spend = "day,platform,campaign,spend,clicks\n".to_owned();
    for back in 0..100 {
        let day = today - Duration::days(back);
        for order in 0..=back % 3 {
            let price = 1_000 + 37 * back + order;
            writeln!(
                orders,
                "O{back}-{order},MUG,Mug,{},{day} 00:30:00,{}.{:02},c{back},c@example.com",
                1 + order,
                price / 100,
                price % 100
            )
            .unwrap();
        }
        writeln!(spend, "{day},meta,a,{}.35,9", back % 7).unwrap();
    }
    let account = account.to_string();
    for (what, text) in [("orders", orders), ("ad-spend", spend)] {
        let file = service.folder.path().join(format!("{what}.csv"));
        std::fs::write(&file, text).unwrap();
        let arguments = ["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"];
        run(&mut service.api(&arguments));
    }
    run(&mut service.api(&["jobs", "run", "all", "--account", &account]));
}

/// The values of the figures; none where there is a dash.
fn values(page: &str) -> Vec<Option<Decimal>> {
    let (_, list) = page.split_once("<ul class=\"figs\"").unwrap();
    let (list, _) = list.split_once("</ul>").unwrap();
    let value = |figure: &str| {
        let (attributes, _) = figure.split_once('>').unwrap();
        let (_, value) = attributes.split_once("data-value=\"")?;
        Some(value.trim_end_matches('"').parse().unwrap())
    };
    list.split("<span class=\"v\"").skip(1).map(value).collect()
}

/// The calls that the foot of the chart prints, as paths: of the figures, and of the chart.
fn calls(page: &str, api: &str) -> [String; 2] {
    let (_, command) = page.split_once("<pre>").unwrap();
    let (command, _) = command.split_once("</pre>").unwrap();
    let command = command.replace("&amp;", "&").replace("&quot;", "\"");
    let paths: Vec<_> = command.split('\'').filter_map(|text| text.strip_prefix(&format!("http://{api}"))).collect();
    paths.into_iter().map(ToOwned::to_owned).collect::<Vec<_>>().try_into().unwrap()
}

/// What the API answers for each figure.
async fn answered(service: &Service, key: &str, path: &str) -> Vec<Option<Decimal>> {
    let totals = service.process.json(path, key).await["totals"].clone();
    let is_told = |field: &str| field != "avg_margin_pct" || totals["margin_defined"] == true;
    let number = |field: &&str| match &totals[*field] {
        Value::Number(number) if is_told(field) => Some(number.to_string().parse().unwrap()),
        _ => None,
    };
    FIELDS.iter().map(number).collect()
}

async fn assert_equal(dashboard: &Dashboard, browser: &mut Browser, key: &str, address: &str) -> Vec<Option<Decimal>> {
    let page = browser.get(address).await;
    assert_eq!(page.status, 200, "{address}");
    let shown = values(&page.text);
    let [figures, chart] = calls(&page.text, dashboard.service.process.address());
    assert_eq!(shown, answered(&dashboard.service, key, &figures).await, "{address}: {figures}");
    assert!(!chart.contains("complete"), "{chart}");
    assert_eq!(dashboard.service.process.get(&chart, key).await.status(), 200);
    shown
}

#[tokio::test]
async fn the_figures_of_the_overview_are_those_of_the_call_that_it_prints() {
    let dashboard = Dashboard::start().await;
    let (account, stranger) = (dashboard.service.account, dashboard.service.stranger);
    fill(&dashboard.service, account);
    let key = dashboard.service.key(account, "read");
    let mut browser = dashboard.owner(account).await;
    let past = format!("/?period=7d&until={}", service::today() - Duration::days(40));
    for language in ["en", "es", "pt-BR"] {
        dashboard.sql.execute("UPDATE people SET language = $1", &[&language]).await.unwrap();
        let page = browser.get("/").await.text;
        assert!(page.contains(&format!("<html lang=\"{language}")), "{language}");
        // Nothing is compared with years before the shop's first day.
        let said = match language {
            "es" => "No se muestra ningún cambio",
            "pt-BR" => "Nenhuma mudança é mostrada",
            _ => "No change is shown",
        };
        assert!(!page.contains(said), "{page}");
        for address in ["/?period=12m", "/profit?period=12m"] {
            let page = browser.get(address).await.text;
            assert!(page.contains(said) && !page.contains("class=\"up good\""), "{address}: {page}");
        }
        // The time of the request says nothing of how fresh the figures are: each panel tells that.
        let (_, top) = page.split_once("<header class=\"top\">").unwrap();
        assert!(!top.split_once("</header>").unwrap().0.contains("class=\"soft\""), "{top}");
        for address in ["/", "/?period=7d", "/?period=90d&metric=aov", "/?period=12m", &past] {
            let shown = assert_equal(&dashboard, &mut browser, &key, address).await;
            assert!(shown.iter().all(Option::is_some), "{address}: {shown:?}");
        }
    }
    // Today's orders are in the chart and not in the figures.
    let with_today = answered(&dashboard.service, &key, "/api/v1/profit?days=30").await;
    assert_ne!(with_today, answered(&dashboard.service, &key, "/api/v1/profit?days=30&complete=1").await);

    let empty = dashboard.service.key(stranger, "read");
    let mut other = dashboard.owner(stranger).await;
    let shown = assert_equal(&dashboard, &mut other, &empty, "/").await;
    assert_eq!((shown[3], shown[4]), (None, None), "no orders, no average and no margin");
}
