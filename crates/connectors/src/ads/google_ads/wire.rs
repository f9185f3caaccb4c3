//! What Google sends, as far as it is used. Whole numbers come as texts, and what is 0 or empty may be left out.

use domain::{money::Currency, shops::ShopError, zone::Zone};
use serde::Deserialize;

use crate::shops::wire::{Amount, Count, Id};

/// A page of what a query finds.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    #[serde(default = "Vec::new")]
    pub results: Vec<T>,
    pub next_page_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessible {
    #[serde(default)]
    pub resource_names: Vec<String>,
}

#[derive(Deserialize)]
pub struct TokenBody {
    pub access_token: String,
    /// Seconds.
    pub expires_in: Count,
    pub refresh_token: Option<String>,
    /// Seconds.
    pub refresh_token_expires_in: Option<Count>,
    /// Separated by spaces.
    #[serde(default)]
    pub scope: String,
}

#[derive(Deserialize)]
pub struct OAuthError {
    pub error: String,
}

#[derive(Debug, Deserialize)]
pub struct CustomerRow {
    pub customer: Customer,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Customer {
    pub id: Id,
    pub descriptive_name: Option<String>,
    currency_code: String,
    time_zone: Option<String>,
    #[serde(default)]
    pub manager: bool,
}

impl Customer {
    pub fn currency(&self) -> Result<Currency, ShopError> {
        self.currency_code.parse().map_err(|_| ShopError::Malformed("customer.currencyCode".to_owned()))
    }

    pub fn zone(&self) -> Option<Zone> {
        self.time_zone.as_deref()?.parse().ok()
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientRow {
    pub customer_client: Client,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Client {
    pub id: Id,
    pub descriptive_name: Option<String>,
}

/// What a campaign did on a day.
#[derive(Debug, Deserialize)]
pub struct CampaignDay {
    pub campaign: Campaign,
    pub segments: Segments,
    #[serde(default)]
    pub metrics: Metrics,
}

/// What an ad did on a day.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdDay {
    pub campaign: Campaign,
    pub ad_group: AdGroup,
    pub ad_group_ad: AdGroupAd,
    pub segments: Segments,
    #[serde(default)]
    pub metrics: Metrics,
}

/// An ad as it is now.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdRow {
    pub campaign: Campaign,
    pub ad_group: AdGroup,
    pub ad_group_ad: AdGroupAd,
}

#[derive(Debug, Deserialize)]
pub struct Campaign {
    pub id: Id,
    pub name: Option<String>,
    pub status: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct AdGroup {
    pub id: Id,
    pub name: Option<String>,
    pub status: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Segments {
    pub date: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    pub cost_micros: Option<Count>,
    pub impressions: Option<Count>,
    pub clicks: Option<Count>,
    pub conversions: Option<Amount>,
    pub conversions_value: Option<Amount>,
}

#[derive(Debug, Deserialize)]
pub struct AdGroupAd {
    pub status: Option<String>,
    pub ad: Ad,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ad {
    pub id: Id,
    pub name: Option<String>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub responsive_search_ad: Option<Assets>,
    pub responsive_display_ad: Option<Assets>,
    pub video_responsive_ad: Option<Assets>,
    pub demand_gen_multi_asset_ad: Option<Assets>,
    pub demand_gen_video_responsive_ad: Option<Assets>,
    pub image_ad: Option<ImageAd>,
    pub video_ad: Option<VideoAd>,
}

/// What Google puts an ad together from.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assets {
    #[serde(default)]
    pub headlines: Vec<Text>,
    #[serde(default)]
    pub descriptions: Vec<Text>,
    #[serde(default)]
    pub marketing_images: Vec<Asset>,
    #[serde(default)]
    pub videos: Vec<Asset>,
}

#[derive(Debug, Deserialize)]
pub struct Text {
    pub text: Option<String>,
}

/// An image or a video, by its name: `customers/1234567890/assets/42`.
#[derive(Debug, Deserialize)]
pub struct Asset {
    pub asset: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageAd {
    pub image_asset: Option<Asset>,
}

#[derive(Debug, Deserialize)]
pub struct VideoAd {
    pub video: Option<Asset>,
}
