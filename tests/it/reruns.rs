//! Jobs that are run again: what has not changed is left alone, and whatever changed is found.

use std::fmt::Write as _;

use serde_json::Value;
use time::{Date, Duration};

use crate::service::{self, Service, run};

fn import(service: &Service, what: &str, text: &str) {
    let file = service.folder.path().join(format!("{what}.csv"));
    std::fs::write(&file, text).unwrap();
    let account = service.account.to_string();
    run(&mut service.api(&["import", what, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"]));
}

/// An order of two mugs at 10 each, noon in Madrid.
fn order(id: &str, day: Date, customer: &str) -> String {
    format!("{id},MUG,Mug,2,{day} 11:00:00,10,{customer}\n")
}

const ORDERS: &str = "order_id,sku,name,quantity,date,unit_price,customer_id\n";

/// Runs all jobs as of a day; the rows that the inventory's wrote, which are all of them where it had work to do.
fn jobs(service: &Service, as_of: Date) -> i64 {
    let (account, as_of) = (service.account.to_string(), as_of.to_string());
    let printed = run(&mut service.api(&["jobs", "run", "all", "--account", &account, "--clock", &as_of, "--json"]));
    let reports: Value = serde_json::from_str(&printed).unwrap();
    let reports = reports.as_array().unwrap();
    assert!(reports.iter().all(|report| report["outcome"] == "done"), "{printed}");
    reports.iter().find(|report| report["job"] == "inventory_velocity").unwrap()["rows"].as_i64().unwrap()
}

#[tokio::test]
async fn only_what_changed_since_is_computed_again() {
    let service = Service::start().await;
    let key = service.key(service.account, "read");
    let as_of = service::today() - Duration::days(5);
    let late = as_of - Duration::days(20);
    let mut orders = ORDERS.to_owned();
    for back in 1..=60 {
        write!(orders, "{}", order(&format!("O{back}"), as_of - Duration::days(back), "ana")).unwrap();
    }
    import(&service, "orders", &orders);
    import(&service, "stock", &format!("sku,stock,date\nMUG,5,{}\n", as_of - Duration::DAY));
    assert_eq!(jobs(&service, as_of), 1);
    assert_eq!(jobs(&service, as_of), 0, "nothing has changed");
    import(&service, "orders", &orders);
    assert_eq!(jobs(&service, as_of), 0, "nothing has changed by the same file");

    let get = async |path: &str| service.process.json(&format!("/api/v1/{path}"), &key).await;
    let day = async |field: &str| {
        let profit = get("profit?days=365").await["data"].clone();
        let found = profit.as_array().unwrap().iter().find(|day| day["snapshot_date"] == late.to_string()).unwrap();
        found[field].as_f64().unwrap()
    };
    let (revenue, goods) = (day("gross_revenue").await, day("cogs_estimate").await);
    import(&service, "orders", &format!("{ORDERS}{}", order("late", late, "bob")));
    assert_eq!(jobs(&service, as_of), 1, "a late order");
    assert_eq!(day("gross_revenue").await, 2.0 * revenue);
    let of_customers = get("customers").await;
    assert!(of_customers["data"].as_array().unwrap().iter().all(|one| one["orders_count"] != 0), "{of_customers}");

    import(&service, "products", &format!("sku,cost,cost_date\nMUG,9,{}\n", late - Duration::DAY));
    assert_eq!(jobs(&service, as_of), 1, "another cost");
    assert!(day("cogs_estimate").await > 2.0 * goods, "{goods}");

    import(&service, "products", "sku,lead_time_days\nMUG,60\n");
    let quantity = async || get("reorder").await["items"][0]["qty_suggested"].as_i64().unwrap();
    let ordered = quantity().await;
    assert_eq!(jobs(&service, as_of), 1, "a slower supplier");
    assert!(quantity().await > ordered);

    assert_eq!(jobs(&service, as_of.next_day().unwrap()), 1, "a day has passed");
    assert_eq!(jobs(&service, as_of), 1, "the day before again, after another day's result");
    assert_eq!(jobs(&service, as_of), 0);
}
