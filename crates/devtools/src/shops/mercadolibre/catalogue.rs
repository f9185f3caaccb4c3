//! Listings, stock and Product Ads, as Mercado Libre shows them.

use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::{Date, Duration, OffsetDateTime, macros::format_description};

use super::{
    answer::Answer,
    sales::{Query, number},
    seller::{Offer, SITE, Seller, SkuPlace},
};

const MULTIGET: usize = 20;
/// How long a scan is kept.
const SCROLL_LIFE: Duration = Duration::minutes(5);
/// A listing that the scan still finds and the multiget no longer does.
const GONE: &str = "MLA999999999";

/// Scans that were begun: a `scroll_id` works once, and the next page comes with another.
#[derive(Default)]
pub struct Scans {
    begun: u64,
    open: Option<(String, usize, OffsetDateTime)>,
}

impl Scans {
    fn begin(&mut self, at: usize, now: OffsetDateTime) -> String {
        self.begun += 1;
        let id = format!("YXBpY29yZS1pdGVtcw==:{}", self.begun);
        self.open = Some((id.clone(), at, now + SCROLL_LIFE));
        id
    }

    fn resume(&mut self, id: &str, now: OffsetDateTime) -> Option<usize> {
        self.open.take().filter(|(own, _, until)| own == id && now < *until).map(|(_, at, _)| at)
    }
}

impl Seller {
    fn listings(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.offers.iter().map(|offer| offer.listing.as_str()).collect();
        ids.dedup();
        ids.push(GONE);
        ids
    }

    /// `GET /users/{id}/items/search`: by offset up to 1,000, or as a scan.
    pub fn item_ids(&self, query: &Query, scans: &mut Scans, now: OffsetDateTime) -> Result<Answer, Answer> {
        let limit = query.whole("limit", 50)?;
        if limit == 0 || limit > 100 {
            return Err(Answer::refused(400, "bad_request", "limit is not valid"));
        }
        let ids = self.listings();
        let is_scan = query.get("search_type") == Some("scan");
        let offset = match (is_scan, query.get("offset")) {
            (true, Some(_)) => return Err(Answer::refused(400, "bad_request", "offset does not go with a scan")),
            (true, None) => match query.get("scroll_id") {
                None => 0,
                Some(id) => {
                    let invalid = || Answer::refused(400, "bad_request", "scroll_id is not valid");
                    scans.resume(id, now).ok_or_else(invalid)?
                }
            },
            (false, _) => query.whole("offset", 0)?,
        };
        if !is_scan && offset + limit > 1_000 {
            return Err(Answer::refused(400, "bad_request", "offset is not valid"));
        }
        let page: Vec<&str> = ids.iter().skip(offset).take(limit).copied().collect();
        let scroll = is_scan.then(|| scans.begin(offset + page.len(), now));
        Ok(Answer::ok(json!({
            "seller_id": self.id.to_string(),
            "paging": {"limit": limit, "offset": offset, "total": ids.len()},
            "results": page,
            "scroll_id": scroll,
        })))
    }

    /// `GET /items?ids=`: each with a status of its own.
    pub fn items(&self, query: &Query) -> Result<Answer, Answer> {
        let ids: Vec<&str> = query.get("ids").unwrap_or_default().split(',').collect();
        if ids.len() > MULTIGET {
            return Err(Answer::refused(400, "bad_request", "at most 20 items"));
        }
        let shows_variations = query.get("include_attributes") == Some("all");
        let get = |id: &&str| match self.item(id, shows_variations) {
            Some(body) => json!({"code": 200, "body": body}),
            None => json!({"code": 404, "body": {"message": "Item not found", "error": "not_found", "status": 404}}),
        };
        Ok(Answer::ok(ids.iter().map(get).collect()))
    }

    fn item(&self, id: &str, shows_variations: bool) -> Option<Value> {
        let offers: Vec<&Offer> = self.offers.iter().filter(|offer| offer.listing == id).collect();
        let first = *offers.first()?;
        let skus = |offer: &Offer| (sku(offer, SkuPlace::Attribute), sku(offer, SkuPlace::CustomField));
        let attributes = |sku: Option<String>| match sku {
            Some(sku) => json!([{"id": "BRAND", "value_name": "Genérica"}, {"id": "SELLER_SKU", "value_name": sku}]),
            None => json!([{"id": "BRAND", "value_name": "Genérica"}]),
        };
        let variations: Vec<Value> = offers
            .iter()
            .filter_map(|offer| Some((offer, offer.variation?)))
            .map(|(offer, variation)| {
                let (own, custom) = skus(offer);
                json!({
                    "id": variation,
                    "price": number(offer.price),
                    "available_quantity": offer.available,
                    "seller_custom_field": custom,
                    "attributes": if shows_variations { attributes(own) } else { Value::Null },
                    "attribute_combinations": [{"id": "COLOR", "name": "Color", "value_name": offer.color}],
                })
            })
            .collect();
        let (own, custom) = if variations.is_empty() { skus(first) } else { (None, None) };
        Some(json!({
            "id": first.listing,
            "title": first.title,
            "status": if first.is_closed { "closed" } else { "active" },
            "category_id": first.category,
            "price": number(first.price),
            "currency_id": first.currency,
            "available_quantity": offers.iter().map(|offer| offer.available).sum::<i64>(),
            "seller_custom_field": custom,
            "user_product_id": first.user_product,
            "attributes": attributes(own),
            "variations": variations,
        }))
    }

    /// `GET /user-products/{id}/stock`
    pub fn user_product_stock(&self, id: &str) -> Result<Answer, Answer> {
        let (own, full) = self.user_products.get(id).ok_or_else(Answer::not_found)?;
        Ok(Answer::ok(json!({
            "locations": [
                {"type": "selling_address", "quantity": own},
                {"type": "meli_facility", "quantity": full},
            ],
            "user_id": self.id,
            "id": id,
        })))
    }

    /// `GET /advertising/advertisers`
    pub fn advertisers(&self, query: &Query) -> Result<Answer, Answer> {
        if query.get("product_id") != Some("PADS") {
            return Err(Answer::refused(404, "not_found", "No permissions found"));
        }
        Ok(Answer::ok(json!({"advertisers": [
            {"advertiser_id": self.id, "site_id": SITE, "advertiser_name": "Tienda", "account_name": "MLA - TIENDA"},
        ]})))
    }

    /// `GET /advertising/{site}/advertisers/{id}/product_ads/campaigns/search`
    pub fn campaigns(&self, query: &Query) -> Result<Answer, Answer> {
        let (limit, offset) = (query.whole("limit", 50)?, query.whole("offset", 0)?);
        if limit > 50 {
            return Err(Answer::refused(400, "bad_request", "limit is not valid"));
        }
        let all = (1..=CAMPAIGNS).map(|id| json!({"id": id, "name": format!("Campaña {id}"), "status": "active"}));
        let page: Vec<Value> = all.skip(offset).take(limit).collect();
        Ok(Answer::ok(json!({"paging": {"total": CAMPAIGNS, "offset": offset, "limit": limit}, "results": page})))
    }

    /// `GET /advertising/{site}/product_ads/campaigns/{id}` by day; 90 days back.
    pub fn campaign(&self, id: &str, query: &Query, now: OffsetDateTime) -> Result<Answer, Answer> {
        let refused = |what: &str| Answer::refused(400, "bad_request", what);
        let id = id.parse::<i64>().ok().filter(|id| (1..=CAMPAIGNS).contains(id)).ok_or_else(Answer::not_found)?;
        let day = |name: &str| {
            let format = format_description!("[year]-[month]-[day]");
            query.get(name).and_then(|text| Date::parse(text, format).ok()).ok_or_else(|| refused(name))
        };
        let (from, to) = (day("date_from")?, day("date_to")?);
        if query.get("metrics").is_none() || query.get("aggregation_type") != Some("DAILY") {
            return Err(refused("metrics and aggregation_type"));
        }
        if from < now.date() - Duration::days(90) || to < from {
            return Err(refused("date_from: at most 90 days back"));
        }
        let days = std::iter::successors(Some(from), |day| day.next_day()).take_while(|day| *day <= to);
        let row = |day: Date| json!({"date": day.to_string(), "clicks": id, "prints": id * 100, "cost": number(Self::ad_cost(id, day))});
        Ok(Answer::ok(days.map(row).collect()))
    }

    /// What a campaign cost on a day.
    pub fn ad_cost(campaign: i64, day: Date) -> Decimal {
        Decimal::new(campaign * 1_000 + i64::from(day.ordinal()), 2)
    }
}

/// Campaigns of the seller.
pub const CAMPAIGNS: i64 = 60;

fn sku(offer: &Offer, place: SkuPlace) -> Option<String> {
    (offer.place == place).then(|| offer.sku.clone())
}
