//! What was spent on Product Ads, with the token of the shop.

use std::collections::HashSet;

use domain::{
    imports::{AdAccount, AdDetail, AdSpendRow},
    shops::{Access, ShopError},
    zone::Zone,
};
use time::{Date, Duration, macros::format_description};

use super::{
    Mercadolibre,
    wire::{Advertisers, Campaign, CampaignDay, Campaigns},
};
use crate::ads::rows;

/// How far back figures are kept. A day less than the platform says, as its day may be another one than the account's.
pub const AD_HISTORY: Duration = Duration::days(89);
/// How long the platform corrects a day: until well into the next one.
pub(super) const AD_SETTLES: Duration = Duration::days(3);
/// What ads are called where the permission for them is missing: the first word of their paths.
pub(super) const AD_PERMISSION: &str = "advertising";
/// Campaigns of a page.
const PAGE: usize = 50;
/// As what the spend is imported.
const PLATFORM: &str = "mercadolibre";

impl Mercadolibre {
    /// The spend of the seller by day and campaign, in the currency of the site. The days are the site's, and the last ones
    /// change until 10:00 of the next day (UTC−3). Days before [`AD_HISTORY`] are refused. Empty where the seller does not
    /// advertise.
    pub(super) async fn spent_on_ads(
        &self,
        access: &Access,
        from: Date,
        until: Date,
    ) -> Result<(Vec<AdSpendRow>, Option<AdAccount>), ShopError> {
        let query = [("product_id", "PADS")];
        let advertisers =
            self.api.get_with(access, &[AD_PERMISSION, "advertisers"], &query, &[("api-version", "1")]).await;
        let advertisers: Advertisers = match advertisers {
            Err(ShopError::NotFound) => return Ok((Vec::new(), None)),
            answer => answer?.json()?,
        };
        let (mut rows, mut account) = (Vec::new(), None);
        for advertiser in advertisers.advertisers {
            account.get_or_insert_with(|| AdAccount {
                name: PLATFORM.to_owned(),
                zone: clock_of(&advertiser.site_id),
                // Campaigns that were deleted are not told of.
                tells_all: false,
            });
            let path = [AD_PERMISSION, &advertiser.site_id, "advertisers", &advertiser.advertiser_id.0];
            for campaign in self.campaigns(access, &path).await? {
                rows.extend(self.campaign(access, &advertiser.site_id, &campaign, from, until).await?);
            }
        }
        Ok((rows, account))
    }

    async fn campaigns(&self, access: &Access, advertiser: &[&str]) -> Result<Vec<Campaign>, ShopError> {
        let path = [advertiser, &["product_ads", "campaigns", "search"]].concat();
        let (mut campaigns, limit) = (Vec::new(), PAGE.to_string());
        loop {
            let offset = campaigns.len().to_string();
            let query = [("limit", limit.as_str()), ("offset", &offset)];
            let page: Campaigns = self.api.get_with(access, &path, &query, &[("api-version", "2")]).await?.json()?;
            let is_last = page.results.is_empty();
            campaigns.extend(page.results);
            if is_last || campaigns.len() as u64 >= page.paging.total {
                return Ok(each_once(campaigns));
            }
        }
    }

    /// The days of a campaign: those of all campaigns at once come without saying which is whose.
    async fn campaign(
        &self,
        access: &Access,
        site: &str,
        campaign: &Campaign,
        from: Date,
        until: Date,
    ) -> Result<Vec<AdSpendRow>, ShopError> {
        let format = format_description!("[year]-[month]-[day]");
        let text = |day: Date| day.format(format).map_err(|_| ShopError::Rejected("the days".to_owned()));
        let (since, to) = (text(from)?, text(until)?);
        let query = [
            ("date_from", since.as_str()),
            ("date_to", &to),
            ("metrics", "clicks,prints,cost"),
            ("aggregation_type", "DAILY"),
        ];
        let path = [AD_PERMISSION, site, "product_ads", "campaigns", &campaign.id.0];
        let days: Vec<CampaignDay> = self.api.get_with(access, &path, &query, &[("api-version", "2")]).await?.json()?;
        let row = |day: CampaignDay| {
            Ok(AdSpendRow {
                day: rows::day(&day.date, "date")?,
                platform: PLATFORM.to_owned(),
                // Not its name: days are read again, and those of a campaign with a new name would count twice.
                campaign: campaign.id.0.clone(),
                spend: rows::spent(day.cost.0, "cost")?,
                impressions: day.prints.map(|count| count.0),
                clicks: day.clicks.map(|count| count.0),
                detail: AdDetail::default(),
                line: 0,
                record: Vec::new(),
            })
        };
        days.into_iter().map(row).collect()
    }
}

/// The list moves on when a campaign is made while it is read, and shows one twice, whose days would count twice.
fn each_once(campaigns: Vec<Campaign>) -> Vec<Campaign> {
    let mut seen = HashSet::new();
    campaigns.into_iter().filter(|campaign| seen.insert(campaign.id.0.clone())).collect()
}

/// The clock of a site, whose days those of its advertisers are.
fn clock_of(site: &str) -> Option<Zone> {
    let zone = match site {
        "MLA" => "America/Argentina/Buenos_Aires",
        "MLB" => "America/Sao_Paulo",
        "MLC" => "America/Santiago",
        "MCO" => "America/Bogota",
        "MLM" => "America/Mexico_City",
        "MLU" => "America/Montevideo",
        "MPE" => "America/Lima",
        _ => return None,
    };
    zone.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_that_is_listed_twice_is_one() {
        let listed = r#"[{"id":3},{"id":2},{"id":"2"},{"id":1}]"#;
        let once = each_once(serde_json::from_str(listed).unwrap());
        assert_eq!(once.iter().map(|campaign| campaign.id.0.as_str()).collect::<Vec<_>>(), ["3", "2", "1"]);
    }
}
