//! Tracking events of the shop's own site: who looked at what in the last weeks.

use domain::tracking::{EventName, Location, NewEvent};
use serde_json::{Map, Value};

use super::{
    calendar::{self, HISTORY_DAYS},
    draw::{Draw, Stream},
    happenings::{OUTAGE_DAY, OUTAGE_VISITS},
    people, rows,
    shop::Shop,
};

/// The first day with tracking.
const FIRST_DAY: usize = HISTORY_DAYS - 42;
/// Visitors on an average day when the shop was as large as on its first one.
const VISITORS: i64 = 80;
/// Visitors in a thousand who look at a product, who put it into the cart, and who go to the checkout.
const STEPS: [(&str, u64); 3] = [("product_viewed", 420), ("add_to_cart", 300), ("checkout_started", 450)];
const SITE: &str = "https://demo-shop.example.com";

/// The events of a day after `since` (Unix seconds), in the order of time.
pub(super) fn events(shop: &Shop, day: usize, since: i64) -> Vec<NewEvent> {
    if day < FIRST_DAY {
        return Vec::new();
    }
    let mut draw = Draw::new(Stream::Visits, day as u64);
    let usual = VISITORS * calendar::growth(day) / 1_000 * shop.calendar.weight(day) / 1_000;
    let came = if day == OUTAGE_DAY { usual * OUTAGE_VISITS / 1_000 } else { usual };
    let visitors = came * draw.between(940, 1_060) / 1_000;
    let mut events: Vec<(i64, NewEvent)> = (0..visitors.unsigned_abs())
        .flat_map(|visitor| visit(shop, day, visitor))
        .filter(|(at, _)| *at > since && *at <= shop.calendar.until)
        .collect();
    events.sort_by_key(|(at, _)| *at);
    events.into_iter().map(|(_, event)| event).collect()
}

/// One visitor: a page, perhaps a product, the cart and the checkout.
fn visit(shop: &Shop, day: usize, visitor: u64) -> Vec<(i64, NewEvent)> {
    let mut draw = Draw::new(Stream::Visitor, (day as u64) << 20 | visitor);
    let start = calendar::time_of_day(&mut draw);
    let product = shop.catalogue.product(shop.catalogue.wanted(&mut draw));
    let sku = product.map_or("", |product| product.sku.as_str());
    let (country, city) = people::place(&mut draw);
    let session = draw.next();
    let event = |name: &str, url: String, props: Map<String, Value>, seconds: i64| {
        // The last second of the day is as late as it gets.
        let at = shop.calendar.at(day, start + seconds);
        let event = NewEvent {
            name: EventName::parse(name.to_owned()).ok()?,
            props,
            visitor_id: Some(format!("v-{day}-{visitor}")),
            session_id: Some(format!("s-{session:016x}")),
            url: Some(url),
            location: Location { country: Some(country.to_owned()), region: None, city: Some(city.to_owned()) },
            occurred_at: rows::instant(at),
            received_at: rows::instant(at),
        };
        Some((at, event))
    };
    let mut events = vec![event("page_view", format!("{SITE}/"), Map::new(), 0)];
    let mut seconds = 0;
    for (name, goes_on) in STEPS {
        if !draw.chance(goes_on) {
            break;
        }
        seconds += draw.between(8, 90);
        let props = Map::from_iter([("sku".to_owned(), Value::from(sku))]);
        events.push(event(name, format!("{SITE}/products/{sku}"), props, seconds));
    }
    events.into_iter().flatten().collect()
}
