//! A file is brought in by pages alone: sent, shown, told how to be read, imported, computed.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use nix::sys::signal::{Signal, kill};

use super::{Browser, Dashboard, Page};
use crate::{
    extras::file_form,
    service::{self, Process, api},
};

const WITHIN: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(100);

/// Order lines of the last 60 days; the columns are called as no program calls them.
fn orders(count: usize, extra: &str) -> String {
    let today = service::today();
    let mut text = "Pedido;Producto;Unidades;Cuando;Precio;Cliente\n".to_owned();
    for number in 0..count {
        let day = today - time::Duration::days(1 + i64::try_from(number % 60).unwrap());
        writeln!(text, "P{number};MUG-{};2;{day};10,50;c{}", number % 20, number % 700).unwrap();
    }
    text + extra
}

const COLUMNS: &str = "map-order_id=Pedido&map-sku=Producto&map-quantity=Unidades&map-date=Cuando&map-price=Precio&map-customer_id=Cliente";

async fn send(browser: &Browser, kind: &'static str, text: impl Into<Vec<u8>>) -> Page {
    let body = file_form(kind, "pedidos.csv", &text.into());
    let request = browser.client.post(format!("{}/data", browser.site)).body(body);
    let request = request.header("content-type", "multipart/form-data; boundary=edge");
    let request = request.header("cookie", browser.cookie.clone().unwrap()).header("sec-fetch-site", "same-origin");
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Page { status, headers, text: response.text().await.unwrap() }
}

/// The path of a file that was sent.
async fn sent(browser: &Browser, kind: &'static str, text: impl Into<Vec<u8>>) -> String {
    let page = send(browser, kind, text).await;
    assert_eq!(page.status, 303, "{}", page.text);
    page.header("location").unwrap().to_owned()
}

fn worker(dashboard: &Dashboard) -> Process {
    Process::start(api(&dashboard.service.db.url(), &dashboard.service.folder).arg("work"))
}

/// Looks at a page until it no longer looks again by itself.
async fn ended(browser: &mut Browser, path: &str) -> Page {
    let begun = Instant::now();
    loop {
        let page = browser.get(path).await;
        if page.header("refresh").is_none() {
            return page;
        }
        assert!(begun.elapsed() < WITHIN, "{}", page.text);
        tokio::time::sleep(PAUSE).await;
    }
}

#[tokio::test]
async fn a_file_of_orders_becomes_figures() {
    let dashboard = Dashboard::start().await;
    let _worker = worker(&dashboard);
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let path = sent(&browser, "orders", orders(10_000, "P-bad;MUG-1;2;never;10,50;c1\n")).await;
    let shown = browser.get(&path).await.text;
    assert!(shown.contains("pedidos.csv") && shown.contains("<td>MUG-0</td>"), "{shown}");
    assert!(shown.contains("Choose its column"), "nothing tells what the columns hold: {shown}");
    let unsaid = browser.post(&path, "map-sku=Producto").await;
    assert_eq!(unsaid.status, 400);
    assert!(unsaid.text.contains("Something is missing below"), "{}", unsaid.text);

    assert_eq!(browser.post(&path, COLUMNS).await.status, 303);
    let done = ended(&mut browser, &path).await;
    for wanted in ["Imported", "data-value=\"10001\"", "data-value=\"10000\"", "See your figures"] {
        assert!(done.text.contains(wanted), "{wanted}: {}", done.text);
    }
    assert_eq!(done.text.matches("✓ Done").count(), 8, "every job has run: {}", done.text);
    let overview = browser.get("/").await.text;
    assert!(overview.contains("class=\"plot") && !overview.contains("No orders yet"), "{overview}");

    let rejects = browser.get(&format!("{path}/rejects.csv")).await;
    assert!(rejects.header("content-disposition").unwrap().starts_with("attachment"));
    let lines: Vec<_> = rejects.text.lines().collect();
    assert_eq!(lines[0], "Pedido;Producto;Unidades;Cuando;Precio;Cliente;rejected_line;rejected_reason");
    assert!(lines.len() == 2 && lines[1].starts_with("P-bad;MUG-1;2;never;10,50;c1;10002;Cuando is"), "{lines:?}");

    // The same again changes nothing, and what was imported is kept no longer.
    let again = sent(&browser, "orders", orders(10_000, "")).await;
    assert_eq!(browser.post(&again, COLUMNS).await.status, 303);
    let done = ended(&mut browser, &again).await.text;
    let value = |name: &str| {
        let (_, rest) = done.split_once(&format!("<dt>{name}</dt>")).unwrap();
        rest.split_once("data-value=\"").unwrap().1.split_once('"').unwrap().0.to_owned()
    };
    assert_eq!([value("New"), value("Changed"), value("There already")], ["0", "0", "10000"]);
    let pieces = "SELECT count(*) FROM upload_pieces WHERE part = 'file'";
    assert_eq!(dashboard.sql.query_one(pieces, &[]).await.unwrap().get::<_, i64>(0), 0);
    assert_eq!(browser.post(&path, COLUMNS).await.status, 400, "there is nothing left to import");
}

#[tokio::test]
async fn an_import_goes_on_after_its_worker_was_killed() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let path = sent(&browser, "orders", orders(4_000, "")).await;
    assert_eq!(browser.post(&path, COLUMNS).await.status, 303);
    // One that is taken and never ended.
    let dead = worker(&dashboard);
    let begun = Instant::now();
    let is_running = "SELECT count(*) FROM uploads WHERE state = 'running'";
    while dashboard.sql.query_one(is_running, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        assert!(begun.elapsed() < WITHIN);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    kill(dead.pid(), Signal::SIGKILL).unwrap();
    drop(dead);
    // It may have come as far as the jobs. The leases of the dead are taken for over, since they last for minutes.
    let over = "UPDATE uploads SET lease_until = now() WHERE state = 'running';
        UPDATE job_requests SET lease_until = now();
        UPDATE job_runs SET lease_until = now() - interval '1 second' WHERE state = 'running'";
    dashboard.sql.batch_execute(over).await.unwrap();
    let _worker = worker(&dashboard);
    let done = ended(&mut browser, &path).await.text;
    assert!(done.contains("Imported") && done.contains("data-value=\"4000\""), "{done}");
    let orders = "SELECT count(*) FROM orders";
    assert_eq!(dashboard.sql.query_one(orders, &[]).await.unwrap().get::<_, i64>(0), 4_000);
}

#[tokio::test]
async fn what_is_no_file_of_a_shop_is_refused_with_the_reason() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    for (text, why) in [
        (b"PK\x03\x04 a workbook".to_vec(), "Save the sheet as CSV"),
        (b"\xFF\xFEs\0k\0u\0".to_vec(), "Save it as UTF-8"),
    ] {
        let path = sent(&browser, "stock", text).await;
        let page = browser.get(&path).await.text;
        assert!(page.contains(why), "{page}");
        let list = browser.get("/data").await.text;
        for page in [&page, &list] {
            assert!(page.contains("✕ Cannot be read") && !page.contains("Not imported yet"), "{page}");
        }
        assert_eq!(browser.post(&path, "map-sku=a").await.status, 400);
        assert_eq!(browser.post(&format!("{path}/discard"), "").await.status, 303);
        assert_eq!(browser.get(&path).await.status, 404);
    }
    assert_eq!(send(&browser, "stock", "").await.status, 400);
    assert_eq!(send(&browser, "nonsense", "sku,stock\n").await.status, 400);
    let count = "SELECT count(*) FROM uploads";
    assert_eq!(dashboard.sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 0);
    for _ in 0..20 {
        sent(&browser, "stock", "sku,stock\nMUG,4\n").await;
    }
    let full = send(&browser, "stock", "sku,stock\nMUG,4\n").await;
    assert_eq!(full.status, 409);
    assert!(full.text.contains("Too many files wait"), "{}", full.text);
    dashboard.sql.batch_execute("DELETE FROM uploads").await.unwrap();
    // Nobody else's.
    let path = sent(&browser, "stock", "sku,stock\nMUG,4\n").await;
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert_eq!(stranger.get(&path).await.status, 404);
    assert_eq!(stranger.post(&path, "map-sku=sku&map-stock=stock").await.status, 404);
    assert_eq!(stranger.post(&format!("{path}/discard"), "").await.status, 404);
}

/// What has no text is shown by the name of its message.
#[tokio::test]
async fn every_column_that_can_be_chosen_has_a_name_for_people() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    for kind in ["orders", "products", "stock", "ad_spend", "expenses"] {
        let path = sent(&browser, kind, "one,two\n1,2\n").await;
        let page = browser.get(&path).await.text;
        assert!(page.contains("name=\"map-") && !page.contains("field-"), "{kind}: {page}");
    }
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_kept() {
    let dashboard = Dashboard::start().await;
    let browser = dashboard.owner(dashboard.service.account).await;
    let page = send(&browser, "orders", vec![b'a'; (200 << 20) + 1]).await;
    assert_eq!(page.status, 413);
    assert!(page.text.contains("too large"), "{}", page.text);
    let pieces = "SELECT count(*) FROM upload_pieces";
    assert_eq!(dashboard.sql.query_one(pieces, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn the_jobs_run_when_they_are_asked_for() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let asked = browser.post("/jobs", "").await;
    let watched = "/data?watch=jobs";
    assert_eq!((asked.status, asked.header("location")), (303, Some("/data?watch=jobs#h-jobs")));
    // Where a file may be chosen, nothing takes the page away.
    let page = browser.get("/data").await;
    assert!(page.header("refresh").is_none() && page.text.contains("type=\"file\"") && page.text.contains(watched));
    let waiting = browser.get(watched).await;
    assert!(waiting.header("refresh") == Some("3") && !waiting.text.contains("type=\"file\""), "{}", waiting.text);
    assert!(waiting.text.contains("Computing: at work") && waiting.text.contains(" disabled"), "{}", waiting.text);
    let _worker = worker(&dashboard);
    let done = ended(&mut browser, watched).await.text;
    assert_eq!(done.matches("✓ Done").count(), 8, "{done}");
}
