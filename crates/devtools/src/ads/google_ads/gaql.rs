//! The Google Ads Query Language, as far as a reader of figures needs it.

use std::collections::BTreeMap;

use domain::zone::Zone;
use time::{Date, Duration, OffsetDateTime, macros::format_description};

use super::Refused;

/// Days that figures are kept: 37 months.
const KEPT: Duration = Duration::days(1_126);
const DATE: &str = "segments.date";
/// The kind of a conversion, beside which no costs are told.
pub const KIND: &str = "segments.conversion_action_category";
const COSTS: [&str; 3] = ["metrics.cost_micros", "metrics.impressions", "metrics.clicks"];
const FIGURES: [&str; 7] = [
    DATE,
    KIND,
    "metrics.cost_micros",
    "metrics.impressions",
    "metrics.clicks",
    "metrics.conversions",
    "metrics.conversions_value",
];
const CUSTOMER: [&str; 5] =
    ["customer.id", "customer.descriptive_name", "customer.currency_code", "customer.time_zone", "customer.manager"];
const CLIENT: [&str; 4] =
    ["customer_client.id", "customer_client.descriptive_name", "customer_client.manager", "customer_client.status"];
const CAMPAIGN: [&str; 3] = ["campaign.id", "campaign.name", "campaign.status"];
const AD: [&str; 7] = [
    "ad_group.id",
    "ad_group.name",
    "ad_group.status",
    "ad_group_ad.status",
    "ad_group_ad.ad.id",
    "ad_group_ad.ad.name",
    "ad_group_ad.ad.type",
];
/// What ads of each type show.
const SHOWN: [&str; 16] = [
    "responsive_search_ad.headlines",
    "responsive_search_ad.descriptions",
    "responsive_display_ad.headlines",
    "responsive_display_ad.descriptions",
    "responsive_display_ad.marketing_images",
    "video_responsive_ad.headlines",
    "video_responsive_ad.descriptions",
    "video_responsive_ad.videos",
    "demand_gen_multi_asset_ad.headlines",
    "demand_gen_multi_asset_ad.descriptions",
    "demand_gen_multi_asset_ad.marketing_images",
    "demand_gen_video_responsive_ad.headlines",
    "demand_gen_video_responsive_ad.descriptions",
    "demand_gen_video_responsive_ad.videos",
    "image_ad.image_asset.asset",
    "video_ad.video.asset",
];

/// What rows are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    Customer,
    CustomerClient,
    Campaign,
    AdGroupAd,
}

impl Resource {
    fn named(name: &str) -> Result<Self, Refused> {
        match name {
            "customer" => Ok(Self::Customer),
            "customer_client" => Ok(Self::CustomerClient),
            "campaign" => Ok(Self::Campaign),
            "ad_group_ad" => Ok(Self::AdGroupAd),
            other => Err(Refused::query("BAD_RESOURCE_TYPE_IN_FROM_CLAUSE", &format!("Unknown resource {other}."))),
        }
    }

    fn knows(self, field: &str) -> bool {
        let shown = field.strip_prefix("ad_group_ad.ad.");
        match self {
            Self::Customer => CUSTOMER.contains(&field),
            Self::CustomerClient => CLIENT.contains(&field),
            Self::Campaign => CAMPAIGN.contains(&field) || FIGURES.contains(&field),
            Self::AdGroupAd => {
                CAMPAIGN.contains(&field)
                    || AD.contains(&field)
                    || FIGURES.contains(&field)
                    || shown.is_some_and(|shown| SHOWN.contains(&shown))
            }
        }
    }
}

/// What a query asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    pub resource: Resource,
    pub fields: Vec<String>,
    /// Where figures are asked for.
    pub days: Option<(Date, Date)>,
    /// The values that a field may have.
    pub filters: BTreeMap<String, Vec<String>>,
    pub limit: Option<usize>,
}

impl Asked {
    pub fn of(query: &str, zone: &Zone, now: OffsetDateTime) -> Result<Self, Refused> {
        let rest =
            query.strip_prefix("SELECT ").ok_or_else(|| Refused::query("EXPECTED_SELECT", "SELECT is missing."))?;
        let (fields, rest) =
            rest.split_once(" FROM ").ok_or_else(|| Refused::query("EXPECTED_FROM", "FROM is missing."))?;
        let (rest, limit) = match rest.split_once(" LIMIT ") {
            Some((rest, limit)) => {
                let limit = limit.parse().map_err(|_| Refused::query("BAD_LIMIT_VALUE", "Limit is no number."))?;
                (rest, Some(limit))
            }
            None => (rest, None),
        };
        let (resource, conditions) = rest.split_once(" WHERE ").unwrap_or((rest, ""));
        let resource = Resource::named(resource)?;
        let fields: Vec<_> = fields.split(',').map(|field| field.trim().to_owned()).collect();
        let mut asked = Self { resource, fields, days: None, filters: BTreeMap::new(), limit };
        asked.conditions(conditions)?;
        asked.check(zone, now)?;
        Ok(asked)
    }

    fn conditions(&mut self, text: &str) -> Result<(), Refused> {
        let wrong = || Refused::query("UNEXPECTED_INPUT", "Unexpected input in the WHERE clause.");
        let mut words = text.split(" AND ").filter(|condition| !condition.is_empty());
        while let Some(condition) = words.next() {
            if let Some((field, first)) = condition.split_once(" BETWEEN ") {
                // The second value follows the next AND.
                let last = words.next().ok_or_else(|| Refused::query("EXPECTED_AND", "BETWEEN takes two values."))?;
                if field != DATE || self.days.is_some() {
                    return Err(wrong());
                }
                self.days = Some((day(first)?, day(last)?));
            } else if let Some((field, values)) = condition.split_once(" IN ") {
                let values = values.strip_prefix('(').and_then(|values| values.strip_suffix(')')).ok_or_else(wrong)?;
                let values = values.split(',').map(|value| unquoted(value.trim()).to_owned()).collect();
                self.filters.insert(field.to_owned(), values);
            } else {
                let (field, value) = condition.split_once(" = ").ok_or_else(wrong)?;
                self.filters.insert(field.to_owned(), vec![unquoted(value).to_owned()]);
            }
        }
        Ok(())
    }

    fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|known| known == field)
    }

    fn check(&self, zone: &Zone, now: OffsetDateTime) -> Result<(), Refused> {
        if let Some(unknown) = self.fields.iter().chain(self.filters.keys()).find(|field| !self.resource.knows(field)) {
            return Err(Refused::query(
                "UNRECOGNIZED_FIELD",
                &format!("Unrecognized field in the query: '{unknown}'."),
            ));
        }
        if self.has(KIND) && COSTS.iter().any(|field| self.has(field)) {
            let said = "Cannot select costs with the segment conversion_action_category.";
            return Err(Refused::query("PROHIBITED_SEGMENT_WITH_METRIC_IN_SELECT_OR_WHERE_CLAUSE", said));
        }
        // All but the day itself are to be selected where they are filtered by.
        if self.filters.contains_key(KIND) && !self.has(KIND) {
            let said = "The segment conversion_action_category must be present in the SELECT clause.";
            return Err(Refused::query("EXPECTED_REFERENCED_FIELD_IN_SELECT_CLAUSE", said));
        }
        match self.days {
            None if self.has(DATE) => {
                Err(Refused::query("EXPECTED_FILTERS_ON_DATE_RANGE", "A finite range of dates must be given."))
            }
            Some((from, until)) if until < from => {
                Err(Refused::query("DATE_RANGE_TOO_NARROW", "The start date is after the end date."))
            }
            Some((from, _)) if from < zone.day_of(now - KEPT) => {
                Err(Refused::failure(400, ("dateRangeError", "OUT_OF_RANGE"), "The start date is too long ago."))
            }
            _ => Ok(()),
        }
    }

    /// Whether a field may have a value.
    pub fn takes(&self, field: &str, value: &str) -> bool {
        self.filters.get(field).is_none_or(|values| values.iter().any(|known| known == value))
    }
}

fn unquoted(text: &str) -> &str {
    text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or(text)
}

fn day(text: &str) -> Result<Date, Refused> {
    let wrong = |_| Refused::query("BAD_VALUE", "Dates are written as 'YYYY-MM-DD'.");
    Date::parse(unquoted(text), format_description!("[year]-[month]-[day]")).map_err(wrong)
}
