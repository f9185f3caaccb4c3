//! What the shop pays for ads, and for everything else.

use domain::imports::{AdDetail, AdSpendRow, ExpenseRow};
use time::Weekday;

use super::{
    calendar::{self, Calendar},
    creatives,
    draw::{Draw, Stream},
    happenings::{DEARER_BY, DEARER_CAMPAIGN, DEARER_DAY},
    rows::money,
};

#[derive(Debug, Clone, Copy)]
struct Campaign {
    platform: &'static str,
    name: &'static str,
    /// Clicks on an average first day, in hundredths; they grow with the shop.
    clicks: i64,
    /// What a click costs, in cents.
    click_cents: i64,
    /// Impressions a click.
    impressions: i64,
}

const CAMPAIGNS: [Campaign; 6] = [
    campaign("google_ads", "Brand search", 2_500, 32, 9),
    campaign("google_ads", DEARER_CAMPAIGN, 5_000, 46, 62),
    campaign("meta_ads", "Prospecting - lookalike", 6_000, 38, 88),
    campaign("meta_ads", "Retargeting - cart", 2_900, 30, 41),
    campaign("meta_ads", "Seasonal video", 2_000, 27, 120),
    campaign("mercadolibre_ads", "Product ads", 3_700, 24, 55),
];

const fn campaign(
    platform: &'static str,
    name: &'static str,
    clicks: i64,
    click_cents: i64,
    impressions: i64,
) -> Campaign {
    Campaign { platform, name, clicks, click_cents, impressions }
}

/// Ad spend of the days from `since` on; of a day that is not over, the part that has been spent.
pub(super) fn ads(calendar: &Calendar, since: usize) -> Vec<AdSpendRow> {
    let days = since..calendar.len();
    days.flat_map(|day| CAMPAIGNS.iter().zip(0_u64..).map(move |(campaign, no)| (day, campaign, no)))
        .flat_map(|(day, campaign, no)| {
            let mut draw = Draw::new(Stream::Campaign, (day as u64) << 8 | no);
            let usual = campaign.clicks * calendar::growth(day) / 1_000;
            let whole_day = usual * draw.between(920, 1_080) / 1_000 / 100;
            let clicks = whole_day * calendar.elapsed(day) / 1_000_000;
            let dearer = campaign.name == DEARER_CAMPAIGN && day >= DEARER_DAY;
            let per_mille = if dearer { DEARER_BY } else { 1_000 } * draw.between(960, 1_040) / 1_000;
            let row = AdSpendRow {
                day: calendar.date(day),
                platform: campaign.platform.to_owned(),
                campaign: campaign.name.to_owned(),
                spend: money(clicks * campaign.click_cents * per_mille / 1_000),
                impressions: Some(clicks * campaign.impressions * draw.between(930, 1_070) / 1_000),
                clicks: Some(clicks),
                detail: AdDetail::default(),
                line: 0,
                record: Vec::new(),
            };
            let ads = creatives::of(campaign.name);
            if ads.is_empty() { vec![row] } else { creatives::split(&row, ads, (day as u64) << 8 | no) }
        })
        .collect()
}

/// Paid every week: salaries on Fridays, rent on Mondays, packaging on Wednesdays; and on each first of a month: software.
const SOFTWARE: [(&str, i64); 4] =
    [("Shop platform", 7_900), ("E-mail marketing", 4_900), ("Accounting", 3_200), ("Help desk", 2_900)];
const RENT_CENTS: i64 = 24_000;
/// On the first day; wages grow with the shop.
const SALARIES_CENTS: i64 = 26_000;
const PACKAGING_CENTS: i64 = 2_200;

/// Expenses of the days from `since` on.
pub(super) fn expenses(calendar: &Calendar, since: usize) -> Vec<ExpenseRow> {
    (since..calendar.len()).flat_map(|day| expenses_of(calendar, day)).collect()
}

fn expenses_of(calendar: &Calendar, day: usize) -> Vec<ExpenseRow> {
    let date = calendar.date(day);
    // Wages change every half year.
    let settled = calendar::growth(day / 182 * 182);
    let mut paid: Vec<(&str, &str, i64)> = match date.weekday() {
        Weekday::Monday => vec![("rent", "Warehouse and office, one week", RENT_CENTS)],
        Weekday::Wednesday => vec![("supplies", "Packaging", PACKAGING_CENTS * calendar::growth(day) / 1_000)],
        Weekday::Friday => vec![("salaries", "Wages, one week", SALARIES_CENTS * settled / 1_000)],
        _ => Vec::new(),
    };
    if date.day() == 1 {
        paid.extend(SOFTWARE.iter().map(|(description, cents)| ("software", *description, *cents)));
    }
    let row = |(category, description, cents): (&str, &str, i64)| ExpenseRow {
        day: date,
        category: category.to_owned(),
        description: description.to_owned(),
        amount: money(cents),
    };
    paid.into_iter().map(row).collect()
}
