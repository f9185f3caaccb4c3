//! What a shop's data does on the pages: it shows in its own account alone, and draws nothing but itself.

use std::fmt::Write as _;

use time::Duration;

use super::{Browser, Dashboard, ROUTES};
use crate::{
    crawl::{Crawler, links},
    extras::{Owner, receiver},
    service::{self, Service, run},
};

/// Names that are markup, scripts, attributes, formulas, or in no one's alphabet.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "' onmouseover='alert(3)",
    "</td></table><svg onload=alert(4)>",
    "<!-- unfinished",
    "]]><b>bold</b>",
    "&lt;i&gt; is not markup",
    "=HYPERLINK(\"http://evil.example\")",
    "{{7*7}} ${7*7} { $product }",
    "ñandú 日本語 שלום 🦤",
];

/// A product that sells every day and of which one is left.
fn sold(service: &Service, account: i64, products: &[&str]) {
    let today = service::today();
    let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id,email\n".to_owned();
    let mut stock = "sku,stock,date\n".to_owned();
    for (number, name) in products.iter().enumerate() {
        let name = name.replace('"', "\"\"");
        writeln!(stock, "SKU{number},1,{today}").unwrap();
        for back in 0..70 {
            let day = today - Duration::days(back);
            writeln!(orders, "O{number}-{back},SKU{number},\"{name}\",2,{day} 00:30:00,10.50,c{back},c@example.com")
                .unwrap();
        }
    }
    let account = account.to_string();
    for (what, text) in [("orders", orders), ("stock", stock)] {
        let file = service.folder.path().join(format!("{what}-{account}.csv"));
        std::fs::write(&file, text).unwrap();
        let arguments = ["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"];
        run(&mut service.api(&arguments));
    }
    run(&mut service.api(&["jobs", "run", "all", "--account", &account]));
}

/// All that a member can read, one page after the other.
async fn pages(browser: &mut Browser) -> String {
    let mut all = String::new();
    for (_, path, _) in ROUTES.iter().filter(|(method, ..)| *method == "GET") {
        all.push_str(&browser.get(path).await.text);
    }
    all
}

/// All that leads anywhere in an account: its pages, and what their forms change.
async fn addresses(dashboard: &Dashboard, account: i64, receiver: u16) -> (Vec<String>, Vec<String>) {
    let (cookie, site) = (dashboard.owner(account).await.cookie.unwrap(), dashboard.site());
    let owner = Owner { service: &dashboard.service, sql: &dashboard.sql, site: &site, account, cookie: &cookie };
    let mut extras = owner.add_extras("marked-mine", receiver).await;
    // What is in an address is of whoever opens it.
    extras.retain(|(address, _)| !address.contains("marked-mine"));
    let pages = Crawler::new(&site, Some(&cookie), 20).starting_at(extras).pages().await;
    let part = |text: &str, mark: &str| -> Vec<String> {
        text.split(mark).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
    };
    let forms =
        pages.iter().flat_map(|page| part(&page.text, " action=\"")).filter(|form| form.contains(char::is_numeric));
    // The same person owns both, so these would be forms of the other account too.
    let forms = forms.filter(|form| !form.starts_with("/settings/people/"));
    let forms = forms.collect();
    let files = pages.iter().flat_map(|page| links(&page.text)).filter(|link| link.starts_with("/api/"));
    (pages.iter().map(|page| page.address.clone()).chain(files).collect(), forms)
}

#[tokio::test]
async fn no_address_of_another_account_has_a_byte_of_it_or_changes_it() {
    let port = receiver(&[503]).await;
    let dashboard = Dashboard::start_with(&[("BAS_WEBHOOK_ALLOW_LOOPBACK", &format!("127.0.0.1:{port}"))]).await;
    let (account, stranger) = (dashboard.service.account, dashboard.service.stranger);
    sold(&dashboard.service, account, &["Mug of marked-mine"]);
    sold(&dashboard.service, stranger, &["Mug of marked-theirs"]);
    let (pages, forms) = addresses(&dashboard, account, port).await;
    let numbered = |address: &&String| address.contains(char::is_numeric);
    assert!(pages.iter().filter(numbered).count() > 3 && !forms.is_empty(), "{pages:?} {forms:?}");
    let mut own = dashboard.owner(account).await;
    let mut seen = Vec::new();
    for page in &pages {
        seen.push(own.get(page).await.text.contains("marked-mine"));
    }
    assert!(seen.contains(&true));
    let mut other = dashboard.owner(stranger).await;
    for page in &pages {
        let found = other.get(page).await;
        assert!(!found.text.contains("marked-mine"), "{page}: {}", found.status);
    }
    let before = rows(&dashboard, account).await;
    for form in &forms {
        let answer = other.post(form, "from=open&status=dismissed&to=dismissed").await;
        assert!([400, 404].contains(&answer.status), "{form}: {}", answer.status);
    }
    assert_eq!(rows(&dashboard, account).await, before);
}

/// What the forms of an account's pages change.
async fn rows(dashboard: &Dashboard, account: i64) -> Vec<String> {
    let tables = [
        "insights",
        "reorder_suggestions",
        "alert_rules",
        "notes",
        "webhook_subscriptions",
        "deliveries",
        "webhook_replays",
        "api_keys",
        "uploads",
    ];
    let mut all = Vec::new();
    for table in tables {
        let rows = format!("SELECT coalesce(json_agg(t ORDER BY id), '[]')::text FROM {table} t WHERE account_id = $1");
        all.push(dashboard.sql.query_one(&rows, &[&account]).await.unwrap().get(0));
    }
    all
}

#[tokio::test]
async fn a_page_has_no_byte_of_another_account() {
    let dashboard = Dashboard::start().await;
    let accounts = [(dashboard.service.account, "mine"), (dashboard.service.stranger, "theirs")];
    for (account, mark) in accounts {
        sold(&dashboard.service, account, &[&format!("Mug of marked-{mark}")]);
        let name = format!("Shop of marked-{mark}");
        dashboard.sql.execute("UPDATE accounts SET name = $2 WHERE id = $1", &[&account, &name]).await.unwrap();
    }
    for ((account, own), (_, other)) in [(accounts[0], accounts[1]), (accounts[1], accounts[0])] {
        let mut browser = dashboard.owner(account).await;
        // Who opens both is a member of both, and may see what the other is called.
        let others = "DELETE FROM memberships WHERE user_id <> (SELECT user_id FROM accounts WHERE id = $1)";
        dashboard.sql.execute(others, &[&account]).await.unwrap();
        let text = pages(&mut browser).await;
        let count = |mark: &str| text.matches(&format!("marked-{mark}")).count();
        assert!(text.contains(&format!("Mug of marked-{own}")) && text.contains(&format!("Shop of marked-{own}")));
        assert_eq!(count(other), 0);
        // The sandbox of the same user has none of it either.
        assert_eq!(browser.post("/mode", "mode=test").await.status, 303);
        assert!(!pages(&mut browser).await.contains("Mug of marked"));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[tokio::test]
async fn hostile_names_draw_nothing_but_themselves() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    let mut drawn = 0;
    let names = HOSTILE.iter().map(|name| format!("{name} #")).collect::<Vec<_>>();
    // The overview lists a few products.
    for few in names.chunks(5) {
        sold(&dashboard.service, account, &few.iter().map(String::as_str).collect::<Vec<_>>());
        dashboard.sql.execute("UPDATE accounts SET name = $2 WHERE id = $1", &[&account, &few[0]]).await.unwrap();
        dashboard.sql.execute("UPDATE people SET name = $1", &[&few[1]]).await.unwrap();
        let text = pages(&mut dashboard.owner(account).await).await;
        for name in few {
            assert!(text.contains(&escaped(name)), "{name} is not drawn");
            drawn += 1;
        }
        for markup in ["<script>", "<img", "<svg onload", "<b>bold", "' onmouseover='alert(3) #'", "<!-- "] {
            assert!(!text.contains(markup), "{markup} is drawn");
        }
        // As many elements are opened as are of ours: none of the names closes one.
        assert_eq!(text.matches("<table").count(), text.matches("</table>").count());
    }
    assert_eq!(drawn, HOSTILE.len());
}
