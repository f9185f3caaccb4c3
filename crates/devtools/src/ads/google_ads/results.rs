//! What queries find, as the API tells it. What was 0 altogether is left out where it is told by day.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::{Map, Value, json};
use time::Date;

use super::{
    gaql::{Asked, KIND, Resource},
    world::{Ad, Campaign, Figures, MANAGER, World},
};

impl World {
    /// The rows that a query about an account finds.
    pub fn rows(&self, account: u64, asked: &Asked) -> Vec<Value> {
        let rows = match asked.resource {
            Resource::Customer => vec![self.customer(account)],
            Resource::CustomerClient => self.clients(account),
            _ if !self.is_own(account) => Vec::new(),
            Resource::Campaign => match asked.days {
                Some(days) => self.campaign_days(asked, days),
                None => self.campaigns.values().map(campaign).collect(),
            },
            Resource::AdGroupAd => match asked.days {
                Some(days) => self.ad_days(asked, days),
                None => self.ads.values().map(|ad| self.ad(ad)).collect(),
            },
        };
        let told = rows.into_iter().filter(|row| {
            asked.filters.keys().all(|field| at(row, field).is_none_or(|value| asked.takes(field, &plain(value))))
        });
        told.take(asked.limit.unwrap_or(usize::MAX)).map(|row| picked(&row, &asked.fields)).collect()
    }

    fn customer(&self, account: u64) -> Value {
        json!({ "customer": {
            "resourceName": format!("customers/{account}"), "id": account.to_string(),
            "descriptiveName": format!("Shop {account}"), "currencyCode": self.currency.as_str(),
            "timeZone": self.zone.name(), "manager": account == MANAGER,
        } })
    }

    /// What is below a manager account, itself included.
    fn clients(&self, account: u64) -> Vec<Value> {
        let below = self.accounts.iter().filter(|_| account == MANAGER);
        let client = |number: &u64| {
            json!({ "customerClient": {
                "resourceName": format!("customers/{account}/customerClients/{number}"), "id": number.to_string(),
                "descriptiveName": format!("Shop {number}"), "manager": *number == MANAGER, "status": "ENABLED",
            } })
        };
        [account].iter().chain(below).map(client).collect()
    }

    fn campaign_days(&self, asked: &Asked, (from, until): (Date, Date)) -> Vec<Value> {
        let days = self.days.range(from..=until);
        let of_day = |(day, did): (&Date, &BTreeMap<u64, Figures>)| {
            let sums = self.campaigns_on(did);
            let rows =
                sums.iter().filter_map(|(id, figures)| told(asked, campaign(self.campaigns.get(id)?), *day, figures));
            rows.collect::<Vec<_>>()
        };
        days.flat_map(of_day).collect()
    }

    fn ad_days(&self, asked: &Asked, (from, until): (Date, Date)) -> Vec<Value> {
        let days = self.days.range(from..=until);
        let of_day = |(day, did): (&Date, &BTreeMap<u64, Figures>)| {
            let rows = did.iter().filter_map(|(id, figures)| told(asked, self.ad(self.ads.get(id)?), *day, figures));
            rows.collect::<Vec<_>>()
        };
        days.flat_map(of_day).collect()
    }

    fn ad(&self, ad: &Ad) -> Value {
        let mut shown = json!({
            "resourceName": format!("customers/1/ads/{}", ad.id), "id": ad.id.to_string(), "type": "RESPONSIVE_SEARCH_AD",
        });
        let text = |text: String| json!([{ "text": text }]);
        // The same texts are in the ads of an ad group.
        let parts = match ad.id % 3 {
            0 => (
                "responsiveSearchAd",
                json!({
                    "headlines": text(format!("Kettle {}", ad.ad_group)), "descriptions": text("Free shipping this week".to_owned()),
                }),
            ),
            1 => (
                "videoResponsiveAd",
                json!({
                    "videos": [{ "asset": format!("customers/1/assets/{}", 4_000 + ad.ad_group % 1_000) }],
                    "headlines": text(format!("Kettle {}", ad.ad_group)),
                }),
            ),
            _ => (
                "imageAd",
                json!({ "imageAsset": { "asset": format!("customers/1/assets/{}", 5_000 + ad.id % 1_000) } }),
            ),
        };
        if let Some(shown) = shown.as_object_mut() {
            shown.insert(parts.0.to_owned(), parts.1);
        }
        let name = self.campaigns.get(&ad.campaign).map(campaign);
        let mut row = name.unwrap_or_else(|| json!({}));
        if let Some(row) = row.as_object_mut() {
            let group = json!({
                "resourceName": format!("customers/1/adGroups/{}", ad.ad_group), "id": ad.ad_group.to_string(),
                "name": format!("Ad group {}", ad.ad_group), "status": "ENABLED",
            });
            row.insert("adGroup".to_owned(), group);
            row.insert("adGroupAd".to_owned(), json!({ "status": ad.state, "ad": shown }));
        }
        row
    }
}

fn campaign(campaign: &Campaign) -> Value {
    json!({ "campaign": {
        "resourceName": format!("customers/1/campaigns/{}", campaign.id), "id": campaign.id.to_string(),
        "name": campaign.name, "status": "ENABLED",
    } })
}

/// A row with the figures of a day, or of its conversions of a kind; `None` where what was asked for is 0 altogether.
fn told(asked: &Asked, mut row: Value, day: Date, figures: &Figures) -> Option<Value> {
    let is_kind = asked.fields.iter().any(|field| field == KIND);
    let mut segments = json!({ "date": day.to_string() });
    let mut metrics = Map::new();
    if is_kind {
        segments.as_object_mut()?.insert("conversionActionCategory".to_owned(), "PURCHASE".into());
    }
    for field in asked.fields.iter().filter_map(|field| field.strip_prefix("metrics.")) {
        let value = match field {
            "cost_micros" => nonzero(figures.micros),
            "impressions" => nonzero(figures.impressions),
            "clicks" => nonzero(figures.clicks),
            "conversions" => double(figures.purchases),
            _ => double(figures.revenue),
        };
        metrics.extend(value.map(|value| (camel(field), value)));
    }
    if metrics.is_empty() {
        return None;
    }
    let whole = row.as_object_mut()?;
    whole.insert("segments".to_owned(), segments);
    whole.insert("metrics".to_owned(), Value::Object(metrics));
    Some(row)
}

/// A whole number of 64 bits is told as a text.
fn nonzero(number: i64) -> Option<Value> {
    (number != 0).then(|| number.to_string().into())
}

fn double(amount: Decimal) -> Option<Value> {
    amount.to_f64().filter(|amount| *amount != 0.0).map(Value::from)
}

/// A part of a name as JSON has it.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at_checked(1).unwrap_or((word, ""));
        name + &head.to_uppercase() + tail
    })
}

fn at<'a>(row: &'a Value, field: &str) -> Option<&'a Value> {
    field.split('.').try_fold(row, |value, part| value.get(camel(part)))
}

fn plain(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string().to_uppercase(),
        value => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

/// The fields that were asked for, with the names of what they are of.
fn picked(row: &Value, fields: &[String]) -> Value {
    let mut told = json!({});
    for field in fields {
        let Some(value) = at(row, field) else { continue };
        let parts: Vec<_> = field.split('.').map(camel).collect();
        let Some((last, above)) = parts.split_last() else { continue };
        let (mut from, mut to) = (row, &mut told);
        for part in above {
            from = from.get(part).unwrap_or(&Value::Null);
            to = &mut to[part.as_str()];
            if let Some(name) = from.get("resourceName") {
                to["resourceName"] = name.clone();
            }
        }
        to[last.as_str()] = value.clone();
    }
    told
}
