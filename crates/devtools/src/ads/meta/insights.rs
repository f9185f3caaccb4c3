//! Figures of ads by day, as the platform tells them.

use rust_decimal::Decimal;
use serde_json::{Map, Value, json};
use time::{Date, Duration, OffsetDateTime, macros::format_description};

use super::world::{Ad, Figures, World};
use crate::graph::{Answer, Query};

/// Rows that an answer is made of at most, over all of its pages; a report holds more.
pub const AT_ONCE: usize = 1_000;
/// Days that figures are kept: 37 months.
const KEPT: Duration = Duration::days(1_126);
pub const PARAMETERS: [&str; 8] =
    ["level", "time_increment", "time_range", "filtering", "fields", "limit", "after", "appsecret_proof"];
/// What an ad is told of only where its state is asked for.
const HIDDEN: [&str; 2] = ["ARCHIVED", "DELETED"];
const STATE: &str = "ad.effective_status";
const FIELDS: [&str; 11] = [
    "campaign_id",
    "campaign_name",
    "adset_id",
    "adset_name",
    "ad_id",
    "ad_name",
    "spend",
    "impressions",
    "clicks",
    "actions",
    "action_values",
];

/// Days that are asked for.
pub struct Asked {
    pub since: Date,
    pub until: Date,
    fields: Vec<String>,
    states: Option<Vec<String>>,
}

impl Asked {
    pub fn of(query: &Query, world: &World, now: OffsetDateTime) -> Result<Self, Answer> {
        query.only(&PARAMETERS)?;
        if query.need("level")? != "ad" || query.need("time_increment")? != "1" {
            return Err(Answer::invalid("this stand-in knows ads by day only"));
        }
        let range = query.json("time_range")?.ok_or_else(|| Answer::invalid("The parameter time_range is required"))?;
        let day = |name: &str| {
            let text = range.get(name).and_then(Value::as_str).unwrap_or_default();
            let wrong = |_| Answer::invalid("Must be a date representation in the format YYYY-MM-DD");
            Date::parse(text, format_description!("[year]-[month]-[day]")).map_err(wrong)
        };
        let (since, until) = (day("since")?, day("until")?);
        if until < since {
            return Err(Answer::invalid("since must be before or equal to until"));
        }
        if since < world.zone.day_of(now - KEPT) {
            let said = "(#3018) The start date of the time range cannot be beyond 37 months from the current date";
            return Err(Answer::refused(400, 3_018, 1_487_390, said));
        }
        let fields: Vec<_> = query.need("fields")?.split(',').map(str::to_owned).collect();
        if let Some(unknown) = fields.iter().find(|field| !FIELDS.contains(&field.as_str())) {
            return Err(Answer::invalid(&format!("{unknown} is not valid for fields param")));
        }
        let states = query.filters(&[STATE])?.remove(STATE);
        Ok(Self { since, until, fields, states })
    }

    pub fn days(&self) -> i64 {
        (self.until - self.since).whole_days() + 1
    }

    /// The rows, by ad and then by day. There is none of what did not happen.
    pub fn rows(&self, world: &World) -> Vec<Value> {
        let is_shown = |ad: &&Ad| match &self.states {
            Some(states) => states.iter().any(|state| state == ad.state),
            None => !HIDDEN.contains(&ad.state),
        };
        let of_ad = |ad: &Ad| {
            let days = world.days.range(self.since..=self.until);
            let found: Vec<_> = days.filter_map(|(day, ads)| ads.get(&ad.id).map(|did| (*day, *did))).collect();
            let told = found.into_iter().filter(|(_, did)| *did != Figures::default());
            told.map(|(day, did)| self.row(world, ad, day, did)).collect::<Vec<_>>()
        };
        world.ads.values().filter(is_shown).flat_map(of_ad).collect()
    }

    fn row(&self, world: &World, ad: &Ad, day: Date, did: Figures) -> Value {
        let whole = json!({
            "campaign_id": ad.campaign.to_string(), "campaign_name": world.campaigns.get(&ad.campaign),
            "adset_id": ad.ad_set.to_string(), "adset_name": format!("Ad set {}", ad.ad_set),
            "ad_id": ad.id.to_string(), "ad_name": format!("Ad {}", ad.id), "spend": did.spend.to_string(),
            "impressions": did.impressions.to_string(), "clicks": did.clicks.to_string(),
            "actions": actions(ad, &did), "action_values": values(ad, did.revenue),
        });
        let mut row = Map::new();
        for field in &self.fields {
            // What there was none of is left out.
            let value = whole.get(field).filter(|value| value.as_array().is_none_or(|list| !list.is_empty()));
            row.extend(value.map(|value| (field.clone(), value.clone())));
        }
        row.insert("date_start".to_owned(), json!(day.to_string()));
        row.insert("date_stop".to_owned(), json!(day.to_string()));
        Value::Object(row)
    }
}

/// The names of a purchase: the same ones are told several times, and of some fewer are known.
const fn names(ad: &Ad) -> &'static [(&'static str, i64)] {
    match ad.id % 3 {
        0 => &[("purchase", 0), ("omni_purchase", 0), ("offsite_conversion.fb_pixel_purchase", 0)],
        1 => &[("offsite_conversion.fb_pixel_purchase", -1), ("purchase", 0)],
        _ => &[("offsite_conversion.fb_pixel_purchase", 0)],
    }
}

fn actions(ad: &Ad, did: &Figures) -> Vec<Value> {
    let action = |kind: &str, value: i64| json!({ "action_type": kind, "value": value.to_string() });
    let mut all = Vec::new();
    if did.clicks > 0 {
        all.push(action("link_click", did.clicks));
    }
    if did.views > 0 {
        all.push(action("video_view", did.views));
    }
    if did.purchases > 0 {
        all.extend(names(ad).iter().map(|(name, less)| action(name, did.purchases + less)));
    }
    all
}

fn values(ad: &Ad, revenue: Decimal) -> Vec<Value> {
    if revenue.is_zero() {
        return Vec::new();
    }
    names(ad).iter().map(|(name, _)| json!({ "action_type": name, "value": revenue.to_string() })).collect()
}
