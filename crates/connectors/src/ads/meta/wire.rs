//! What Meta sends, as far as it is used.

use domain::{money::Currency, shops::ShopError, zone::Zone};
use serde::{Deserialize, de::IgnoredAny};
use time::OffsetDateTime;

use crate::{
    graph::instant,
    shops::wire::{Amount, Count, Id},
};

#[derive(Debug, Deserialize)]
pub struct AdAccountEntry {
    pub account_id: Id,
    pub name: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Account {
    pub account_id: Id,
    currency: String,
    timezone_name: Option<String>,
    created_time: Option<String>,
}

impl Account {
    pub fn currency(&self) -> Result<Currency, ShopError> {
        self.currency.parse().map_err(|_| ShopError::Malformed("currency".to_owned()))
    }

    /// When it was made: there is nothing before.
    pub fn created_at(&self) -> Option<OffsetDateTime> {
        self.created_time.as_deref().and_then(instant)
    }

    pub fn zone(&self) -> Option<Zone> {
        self.timezone_name.as_deref()?.parse().ok()
    }
}

/// What an ad did on a day. Numbers come as texts; what there was none of is left out.
#[derive(Debug, Deserialize)]
pub struct Insight {
    pub campaign_id: Id,
    pub campaign_name: Option<String>,
    pub adset_id: Id,
    pub adset_name: Option<String>,
    pub ad_id: Id,
    pub ad_name: Option<String>,
    pub date_start: String,
    pub spend: Option<Amount>,
    pub impressions: Option<Count>,
    pub clicks: Option<Count>,
    #[serde(default)]
    pub actions: Vec<Action>,
    #[serde(default)]
    pub action_values: Vec<Action>,
}

#[derive(Debug, Deserialize)]
pub struct Action {
    pub action_type: String,
    pub value: Amount,
}

/// A report that is being made.
#[derive(Debug, Deserialize)]
pub struct Report {
    pub report_run_id: Id,
}

#[derive(Debug, Deserialize)]
pub struct ReportState {
    pub async_status: String,
}

#[derive(Debug, Deserialize)]
pub struct Ad {
    pub id: Id,
    pub effective_status: String,
    pub creative: Option<Creative>,
}

#[derive(Debug, Deserialize)]
pub struct Creative {
    pub id: Id,
    pub title: Option<String>,
    pub body: Option<String>,
    pub image_hash: Option<String>,
    pub video_id: Option<Id>,
    pub object_story_spec: Option<StorySpec>,
}

#[derive(Debug, Deserialize)]
pub struct StorySpec {
    pub link_data: Option<LinkData>,
}

#[derive(Debug, Deserialize)]
pub struct LinkData {
    /// The cards of a carousel.
    #[serde(default)]
    pub child_attachments: Vec<IgnoredAny>,
}
