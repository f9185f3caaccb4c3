//! What somebody goes through who has never been here.

use std::{
    fmt::Write as _,
    fs,
    time::{Duration, Instant},
};

use thirtyfour::{By, extensions::query::ElementQueryable};
use time::OffsetDateTime;

use crate::{
    service::{Process, api, free_port},
    shop::World,
};

const ORDERS: usize = 10_000;
/// What nobody has to fill in more of on the way to a chart of their own.
const FIELDS: usize = 6;
/// Far above what a mail or the jobs of a new shop take on a busy machine.
const WITHIN: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(200);

/// Orders of the last 90 days, as shops export them.
fn orders() -> String {
    let today = OffsetDateTime::now_utc().date();
    let mut text = "order_id,sku,name,quantity,date,unit_price,customer_id,email\n".to_owned();
    for number in 0..ORDERS {
        let day = today - time::Duration::days(1 + i64::try_from(number % 90).unwrap());
        let (product, customer) = (number % 20, number % 900);
        writeln!(
            text,
            "O{number},MUG-{product},Mug {product},2,{day} 12:00:00,10.50,c{customer},c{customer}@example.com"
        )
        .unwrap();
    }
    text
}

/// Somebody before a browser, and how many fields they have filled in.
struct Somebody<'a> {
    world: &'a World,
    site: String,
    filled: usize,
}

impl Somebody<'_> {
    /// Fills in a field, unless something stands in it that will do.
    async fn fill(&mut self, field: &str, text: &str) {
        let field = self.world.rig.wait(field).await;
        if field.value().await.unwrap().is_none_or(|value| value.is_empty()) {
            field.send_keys(text).await.unwrap();
            self.filled += 1;
        }
    }

    async fn press(&self, what: &str) {
        let query = self.world.rig.driver.query(By::Css(what)).wait(WITHIN, PAUSE);
        query.first().await.unwrap_or_else(|error| panic!("{what}: {error}")).click().await.unwrap();
    }

    /// Asks for an account, and opens the link of the mail that comes.
    async fn sign_up(&mut self) {
        self.world.rig.goto(&format!("{}/signup", self.site)).await;
        self.fill("#email", "ana@example.com").await;
        self.press("form button").await;
        self.press("a[href='/outbox']").await;
        let begun = Instant::now();
        while self.world.rig.driver.find(By::Css("pre a")).await.is_err() {
            assert!(begun.elapsed() < WITHIN, "no mail comes");
            tokio::time::sleep(PAUSE).await;
            self.world.rig.driver.refresh().await.unwrap();
        }
        self.press("pre a").await;
        for (field, text) in [
            ("#shop", "Mugs of Ana"),
            ("#currency", "EUR"),
            ("#zone", "Europe/Madrid"),
            ("#password", "a long walk by the sea"),
        ] {
            self.fill(field, text).await;
        }
        self.press("form button").await;
    }
}

pub async fn who_signs_up_sees_a_chart_of_their_own_orders(world: &World) {
    world.keep(None).await;
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    // On a database of its own: there mails are put aside, for a page to show.
    let mut command = api("", &folder);
    command.args(["up", "--no-demo"]).env_remove("BAS_DATA_KEYS").env("BAS_DASHBOARD_LISTEN", &listen);
    let service = Process::start(&mut command);
    let file = folder.path().join("orders.csv");
    fs::write(&file, orders()).unwrap();
    let mut ana = Somebody { world, site: format!("http://{listen}"), filled: 0 };

    let began = Instant::now();
    ana.sign_up().await;
    // The page without figures says where they come from.
    ana.press("main a.btn.main[href='/data']").await;
    world.rig.wait("#file").await.send_keys(file.to_str().unwrap()).await.unwrap();
    ana.filled += 1;
    ana.press("main form[enctype] button").await;
    // Its columns are known by their names.
    ana.press("form.form button.main").await;
    ana.press("main a.btn.main[href='/']").await;
    let chart = world.rig.wait("figure svg.plot path.line").await;
    let took = began.elapsed();
    assert!(chart.rect().await.unwrap().width > 300.0);
    println!(
        "from signing up to the first chart of {ORDERS} orders: {:.1} s, {} fields",
        took.as_secs_f64(),
        ana.filled
    );
    assert!(ana.filled <= FIELDS, "{} fields", ana.filled);
    assert_eq!(world.rig.complaints().await, [""; 0]);
    drop(service);
}
