//! The account on the pages: what it is called, all that it has as a file, and its end.

use std::{
    collections::BTreeMap,
    io::Write,
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{Browser, Dashboard};
use crate::service::{Process, run, zone};

const SHOP: &str = "name=Casa+%26+T%C3%A9&zone=America%2FSao_Paulo&language=pt-BR&country=BR&holidays=BR&fee_rate=2,9\
    &fee_fixed=0.30&shipping=1&cogs=35";

#[tokio::test]
async fn a_shop_is_changed_by_its_owner_and_the_change_is_noted() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    let mut owner = dashboard.owner(account).await;
    let saved = owner.post("/settings/shop", SHOP).await;
    assert_eq!((saved.status, saved.header("location")), (303, Some("/settings?saved=true")), "{}", saved.text);
    let row = "SELECT name, timezone, language, country, holiday_country, fee_rate::text, cogs_ratio::text FROM accounts WHERE id = $1";
    let row = dashboard.sql.query_one(row, &[&account]).await.unwrap();
    let fields: Vec<String> = (0..7).map(|at| row.get::<_, String>(at)).collect();
    assert_eq!(fields[..5], ["Casa & Té", "America/Sao_Paulo", "pt-BR", "BR", "BR"]);
    assert_eq!((&*fields[5], &*fields[6]), ("0.02900", "0.35000"));
    let page = owner.get("/settings").await.text;
    assert!(page.contains("value=\"Casa &amp; Té\"") && page.contains("value=\"2,9\""), "{page}");
    let noted = "SELECT before::text || after::text FROM audit_entries WHERE action = 'account_changed'";
    let noted: String = dashboard.sql.query_one(noted, &[]).await.unwrap().get(0);
    assert!(noted.contains(zone()) && noted.contains("America/Sao_Paulo"), "{noted}");

    // The other shop is as it was, and what cannot be taken says which field.
    let other = "SELECT name FROM accounts WHERE id = $1";
    let other: String = dashboard.sql.query_one(other, &[&dashboard.service.stranger]).await.unwrap().get(0);
    assert_eq!(other, "Stranger");
    let wrong = owner.post("/settings/shop", &SHOP.replace("America%2FSao_Paulo", "Mars")).await;
    assert!(wrong.status == 400 && wrong.text.contains("aria-invalid") && wrong.text.contains("value=\"Mars\""));
    dashboard.set_role("viewer").await;
    assert!(!owner.get("/settings").await.text.contains("/settings/shop"));
}

#[tokio::test]
async fn everybody_says_how_they_are_called_and_see_the_pages() {
    let dashboard = Dashboard::start().await;
    let mut viewer = dashboard.owner(dashboard.service.account).await;
    dashboard.set_role("viewer").await;
    assert_eq!(viewer.post("/settings/you", "name=Ana+Ruiz&language=es&theme=dark").await.status, 303);
    let page = viewer.get("/settings").await.text;
    assert!(
        page.contains("<html lang=\"es") && page.contains("data-theme=\"dark\"") && page.contains("Ana Ruiz"),
        "{page}"
    );
    for wrong in ["name=+&language=&theme=dark", "name=a&language=xx&theme=dark", "name=a&language=&theme=pink"] {
        assert_eq!(viewer.post("/settings/you", wrong).await.status, 400, "{wrong}");
    }
    // So do pages without navigation: of an error, also one before any work, and the one that asks who they are.
    dashboard.sql.execute("UPDATE sessions SET confirmed_at = now() - interval '16 minutes'", &[]).await.unwrap();
    for (path, status) in [("/nowhere", 404), ("/settings/people", 403), ("/profit?until=x", 400), ("/confirm", 200)] {
        let page = viewer.get(path).await;
        assert_eq!(page.status, status, "{path}");
        assert!(page.text.contains("<html lang=\"es") && page.text.contains("data-theme=\"dark\""), "{}", page.text);
    }
}

fn loaded(dashboard: &Dashboard) -> i64 {
    let loaded: Value = serde_json::from_str(&run(&mut dashboard.service.api(&["demo", "--json"]))).unwrap();
    loaded["account"].as_i64().unwrap()
}

/// The rows of a file, by table.
fn tables(packed: &[u8]) -> BTreeMap<String, Vec<Value>> {
    let mut gzip = Command::new("gzip").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, packed) = (gzip.stdin.take().unwrap(), packed.to_vec());
    let writing = std::thread::spawn(move || stdin.write_all(&packed).unwrap());
    let output = gzip.wait_with_output().unwrap();
    writing.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut tables: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut line: Value = serde_json::from_str(line).unwrap();
        tables.entry(line["table"].as_str().unwrap().to_owned()).or_default().push(line["row"].take());
    }
    tables
}

/// The address of the file, once it is made.
async fn made(owner: &mut Browser) -> String {
    loop {
        let page = owner.get("/settings/export").await;
        if let Some((_, rest)) = page.text.split_once("href=\"/settings/export/") {
            return format!("/settings/export/{}", rest.split('"').next().unwrap());
        }
        assert_eq!(page.header("refresh"), Some("3"), "{}", page.text);
    }
}

#[tokio::test]
async fn an_export_has_all_of_the_account_and_nothing_of_another() {
    let dashboard =
        Dashboard::start_as(&["up", "--no-demo"], format!("127.0.0.1:{}", crate::service::free_port()), &[]).await;
    let demo = loaded(&dashboard);
    let key = dashboard.service.key(demo, "read");
    let mut owner = dashboard.owner(demo).await;
    assert_eq!(owner.post("/settings/export", "").await.status, 303);
    let address = made(&mut owner).await;
    let file = owner.client.get(format!("{}{address}", owner.site));
    let file = file
        .header("cookie", owner.cookie.clone().unwrap())
        .header("sec-fetch-site", "same-origin")
        .send()
        .await
        .unwrap();
    assert!(file.headers()["content-disposition"].to_str().unwrap().ends_with(".ndjson.gz\""));
    let tables = tables(&file.bytes().await.unwrap());

    // Every row of a table that an account has, of this one and of no other.
    for table in
        ["orders", "order_lines", "customers", "products", "credit_transactions", "profit_snapshots", "api_keys"]
    {
        let count = format!("SELECT count(*) FROM {table} WHERE account_id = $1");
        let count: i64 = dashboard.sql.query_one(&count, &[&demo]).await.unwrap().get(0);
        let rows = &tables[table];
        assert_eq!(rows.len() as i64, count, "{table}");
        assert!(count > 0 && rows.iter().all(|row| row["account_id"] == demo), "{table}");
    }
    assert_eq!((tables["accounts"].len(), tables["members"].len()), (1, 1));
    let text = format!("{tables:?}");
    assert!(!text.contains("Stranger") && !text.contains("sealed_") && !text.contains("\"hash\""));
    assert!(!text.contains(&key), "a secret is in the file");

    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    assert_eq!(stranger.get(&address).await.status, 404);
    let noted =
        "SELECT string_agg(action, ' ' ORDER BY id) FROM audit_entries WHERE account_id = $1 AND action LIKE 'export%'";
    let noted: String = dashboard.sql.query_one(noted, &[&demo]).await.unwrap().get(0);
    assert_eq!(noted, "export_requested export_fetched");
}

/// Rows of the accounts by table, where there are any.
async fn rows(dashboard: &Dashboard, accounts: &[i64]) -> BTreeMap<String, i64> {
    let names = "SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND a.attname IN ('account_id', 'owner_id') AND NOT a.attisdropped";
    let mut counts = BTreeMap::new();
    for row in dashboard.sql.query(names, &[]).await.unwrap() {
        let (name, column): (String, String) = (row.get(0), row.get(1));
        let count = format!("SELECT count(*) FROM {name} WHERE {column} = ANY ($1)");
        let count: i64 = dashboard.sql.query_one(&count, &[&accounts]).await.unwrap().get(0);
        if count > 0 {
            counts.insert(name, count);
        }
    }
    counts
}

async fn accounts_of(dashboard: &Dashboard, account: i64) -> Vec<i64> {
    let all = "SELECT id FROM accounts WHERE user_id = (SELECT user_id FROM accounts WHERE id = $1)";
    dashboard.sql.query(all, &[&account]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn an_account_that_is_deleted_leaves_nothing_and_the_other_as_it_was() {
    let dashboard = Dashboard::start().await;
    let demo = loaded(&dashboard);
    let (mine, theirs) =
        (accounts_of(&dashboard, demo).await, accounts_of(&dashboard, dashboard.service.stranger).await);
    let key = dashboard.service.key(demo, "read,write");
    dashboard.service.key(dashboard.service.stranger, "read");
    // What keys from outside lead to.
    for account in [demo, dashboard.service.stranger] {
        let lead = format!(
            "INSERT INTO shop_owners (provider, shop_id, owner_id, integration_id, is_connected)
                VALUES ('shopify', 's{account}', {account}, 1, true);
            INSERT INTO social_owners (channel, external_id, owner_id) VALUES ('instagram', 'p{account}', {account});
            INSERT INTO payment_owners (gateway, payment_id, owner_id) VALUES ('fake', 'pay{account}', {account})"
        );
        dashboard.sql.batch_execute(&lead).await.unwrap();
    }
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    let mut owner = dashboard.owner(demo).await;
    let name: String =
        dashboard.sql.query_one("SELECT name FROM accounts WHERE id = $1", &[&demo]).await.unwrap().get(0);
    let meant = format!("name={}", name.replace(' ', "+"));

    let wrong = owner.post("/settings/delete", "name=Another").await;
    assert!(wrong.status == 400 && wrong.text.contains("not the name of the shop"), "{}", wrong.text);
    assert_eq!(owner.post("/settings/delete", &meant).await.status, 200);
    let told = "SELECT count(*) FROM mails WHERE facts ->> 'what' = 'erasure_requested' AND recipient IN (
        SELECT email FROM people JOIN memberships ON person_id = people.id
        JOIN accounts a ON a.user_id = memberships.user_id WHERE a.id = $1)";
    assert_eq!(dashboard.sql.query_one(told, &[&demo]).await.unwrap().get::<_, i64>(0), 1);
    // Keys and log-ins end at once.
    assert!(!owner.is_in().await && stranger.is_in().await);
    while dashboard.service.process.get("/api/v1/me", &key).await.status() != 401 {
        tokio::task::yield_now().await;
    }
    let mut owner = dashboard.owner(demo).await;
    assert!(owner.get("/").await.text.contains("This account is deleted on"));
    assert_eq!(owner.post("/settings/delete/undo", "").await.status, 303);
    assert!(!owner.get("/").await.text.contains("This account is deleted on"));
    assert_eq!(owner.post("/settings/delete/undo", "").await.status, 409);

    assert_eq!(owner.post("/settings/delete", &meant).await.status, 200);
    let before = (rows(&dashboard, &mine).await, rows(&dashboard, &theirs).await);
    assert!(before.0.len() > 30 && before.1.len() > 3, "{before:?}");
    assert!(before.0["credit_transactions"] > 0);
    let live = "SELECT count(*) FROM credit_transactions t JOIN accounts a ON a.id = t.account_id
        WHERE a.id = ANY ($1) AND a.mode = 'live'";
    let ledger: i64 = dashboard.sql.query_one(live, &[&mine]).await.unwrap().get(0);
    dashboard.sql.execute("UPDATE erasures SET due_at = now() - interval '1 minute'", &[]).await.unwrap();
    // Workers look at it when they start.
    let worker = Process::start(&mut dashboard.service.api(&["work"]));
    let is_there = async || !dashboard.sql.query("SELECT FROM erasures", &[]).await.unwrap().is_empty();
    while is_there().await {
        tokio::task::yield_now().await;
    }
    drop(worker);
    assert_eq!(rows(&dashboard, &mine).await, BTreeMap::new());
    assert_eq!(accounts_of(&dashboard, demo).await, Vec::<i64>::new());
    // The worker runs the jobs of the other shop as well, which adds rows of other tables.
    let after = rows(&dashboard, &theirs).await;
    assert!(before.1.iter().all(|(table, count)| after.get(table) == Some(count)), "{:?} became {after:?}", before.1);
    assert!(stranger.is_in().await);
    let count = async |of: &str| {
        dashboard.sql.query_one(&format!("SELECT count(*) FROM {of}"), &[]).await.unwrap().get::<_, i64>(0)
    };
    assert_eq!(count("closed_ledger").await, ledger);
    let left = "memberships m WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.user_id = m.user_id)";
    assert_eq!(
        (count(left).await, count("users u WHERE NOT EXISTS (SELECT FROM accounts a WHERE a.user_id = u.id)").await),
        (0, 0)
    );
}

#[tokio::test]
async fn who_has_a_password_gives_it_again_to_delete_the_account() {
    let dashboard = Dashboard::start().await;
    let mut owner = dashboard.owner(dashboard.service.account).await;
    let password = "password=correct+horse+battery+staple+42";
    assert_eq!(owner.post("/settings/password", password).await.status, 303);
    let wrong = owner.post("/settings/delete", "name=Shop&password=something+else").await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    assert!(owner.is_in().await);
    let asked = owner.post("/settings/delete", &format!("name=Shop&{password}")).await;
    assert_eq!(asked.status, 200, "{}", asked.text);
    assert!(!owner.is_in().await);
}

#[tokio::test]
async fn who_belongs_to_several_shops_goes_from_one_to_another() {
    let dashboard = Dashboard::start().await;
    let mut ana = dashboard.owner(dashboard.service.account).await;
    assert!(!ana.get("/settings").await.text.contains("Your shops"));
    // The same person opens the other one.
    let mut bob = dashboard.owner(dashboard.service.stranger).await;
    let user = "SELECT user_id FROM accounts WHERE id = $1";
    let user: String = dashboard.sql.query_one(user, &[&dashboard.service.stranger]).await.unwrap().get(0);
    assert!(ana.get("/settings").await.text.contains("Go to Stranger"));
    assert_eq!(ana.post("/shop", &format!("user={user}")).await.status, 303);
    let page = ana.get("/settings").await.text;
    assert!(page.contains("Go to Shop") && page.contains("value=\"Stranger\""), "{page}");
    // A form of a page that was drawn before, in another tab, is not taken for one of this shop.
    let [before, now] =
        [dashboard.service.account, dashboard.service.stranger].map(|id| format!("/settings/you?account={id}"));
    let you = "name=Ana&language=&theme=dark";
    let refused = ana.post(&before, you).await;
    assert!(refused.status == 409 && refused.text.contains("This page is of another shop"), "{}", refused.text);
    assert!(page.contains(&format!("data-account=\"{}\"", dashboard.service.stranger)), "{page}");
    assert_eq!(ana.post(&now, you).await.status, 303);
    // Where one is no member, there is nothing.
    dashboard.sql.execute("DELETE FROM memberships WHERE user_id <> $1", &[&user]).await.unwrap();
    let other = "SELECT user_id FROM accounts WHERE id = $1";
    let other: String = dashboard.sql.query_one(other, &[&dashboard.service.account]).await.unwrap().get(0);
    assert_eq!(ana.post("/shop", &format!("user={other}")).await.status, 404);
    assert_eq!(bob.post("/shop", "user=nobody").await.status, 400);
    assert!(ana.is_in().await);
}
