//! How large an answer can become: the longest texts that are accepted, in the characters that take the most room.

use std::sync::Arc;

use api::State;
use domain::{
    InventoryItemId, SuggestionId,
    customers::MockCustomerStore,
    imports::{MAX_ID_CHARS, MAX_NAME_CHARS},
    inventory::{self, MockInventoryStore},
    jobs::JobName,
    page::Page,
    reorder::{self, MockReorderStore},
};
use rust_decimal::dec;
use time::macros::date;

use crate::{
    lists::customer,
    support::{BOTH, NOW, Service, dated, freshness, state},
};

/// Bytes of a page at most.
const BUDGET: usize = 8_000_000;

/// A text of `chars` characters, each of which is six bytes of JSON.
fn longest(chars: usize) -> String {
    "\u{1}".repeat(chars)
}

#[test]
fn the_largest_page_of_customers_is_within_the_budget() {
    let row = domain::customers::Customer {
        email: Some(longest(MAX_NAME_CHARS)),
        name: Some(longest(MAX_NAME_CHARS)),
        city: Some(longest(MAX_NAME_CHARS)),
        // Without a column of its own it is the e-mail address.
        external_id: longest(MAX_NAME_CHARS),
        revenue_total: dec!(999999999999999.99),
        ..customer(i64::MAX)
    };
    let mut customers = MockCustomerStore::new();
    customers.expect_page().returning(move |_, _, page| {
        let items = vec![row.clone(); usize::try_from(page.limit).unwrap()];
        Ok(dated(JobName::CustomerMetrics, Page { items, next_cursor: Some(i64::MAX) }))
    });
    let service = Service::start(State { customers: Arc::new(customers), ..state() });
    let page = service.get("/api/v1/customers?limit=1000", BOTH);
    assert!(page.complete && (1_200_000..BUDGET).contains(&page.body.len()), "{}", page.body.len());
    // Six bytes a character in JSON, one in a file.
    let file = service.get("/api/v1/customers?limit=1000&format=csv", BOTH);
    assert!(file.complete && (200_000..BUDGET).contains(&file.body.len()), "{}", file.body.len());
}

#[test]
fn the_largest_pages_of_products_are_within_the_budget() {
    let item = inventory::Item {
        id: InventoryItemId(i64::MAX),
        sku: longest(MAX_ID_CHARS),
        product_name: longest(MAX_NAME_CHARS),
        current_stock: i64::MAX,
        units_sold_30d: i64::MAX,
        units_sold_7d: i64::MAX,
        avg_daily_units_30d: dec!(1000000000.1234),
        avg_daily_units_7d: dec!(1000000000.1234),
        days_of_stock: Some(dec!(1000000000.1234)),
        days_of_stock_range: Some((dec!(1000000000.1234), dec!(1000000000.1234))),
        velocity: Some(dec!(1000000000.1234)),
        velocity_class: Some(inventory::VelocityClass::Intermittent),
        trend: inventory::Trend::Accelerating,
        status: inventory::Status::Overstocked,
        estimated_stockout_at: Some(date!(2999 - 12 - 31)),
        computed_at: NOW,
    };
    let mut inventory = MockInventoryStore::new();
    inventory.expect_list().returning(move |_, _, page| {
        Ok(inventory::Listing {
            page: Page { items: vec![item.clone(); usize::try_from(page.limit).unwrap()], next_cursor: Some(i64::MAX) },
            summary: inventory::Summary::default(),
            freshness: freshness(JobName::InventoryVelocity),
        })
    });
    let suggestion = reorder::Suggestion {
        id: SuggestionId(i64::MAX),
        inventory_item_id: InventoryItemId(i64::MAX),
        sku: longest(MAX_ID_CHARS),
        product_name: Some(longest(MAX_NAME_CHARS)),
        qty_suggested: i64::MAX,
        reason: longest(1_000),
        confidence: dec!(0.9999),
        forecast_days: i64::MAX,
        basis: None,
        computed_at: NOW,
        status: reorder::Status::Pending,
    };
    let mut reorder = MockReorderStore::new();
    reorder.expect_list().returning(move |_, _, page| {
        Ok(reorder::Listing {
            page: Page {
                items: vec![suggestion.clone(); usize::try_from(page.limit).unwrap()],
                next_cursor: Some(i64::MAX),
            },
            freshness: freshness(JobName::SmartReorder),
        })
    });
    let service = Service::start(State { inventory: Arc::new(inventory), reorder: Arc::new(reorder), ..state() });
    let items = service.get("/api/v1/inventory?limit=1000", BOTH);
    assert!(items.complete && (2_000_000..BUDGET).contains(&items.body.len()), "{}", items.body.len());
    let suggestions = service.get("/api/v1/reorder?limit=1000", BOTH);
    assert!(
        suggestions.complete && (1_000_000..BUDGET).contains(&suggestions.body.len()),
        "{}",
        suggestions.body.len()
    );
}
