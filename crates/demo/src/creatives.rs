//! The ads of a campaign: which part of its clicks each has, and how well it sells.

use domain::{
    ads::Format,
    imports::{AdDetail, AdSpendRow},
};

use super::{
    draw::{Draw, Stream},
    rows::money,
};

/// What a purchase is worth by the platforms' counting, in cents.
const ORDER_CENTS: (i64, i64) = (2_400, 8_600);

#[derive(Debug, Clone, Copy)]
pub(super) struct Ad {
    set: &'static str,
    name: &'static str,
    creative: &'static str,
    format: Format,
    headline: &'static str,
    /// Its part of the clicks, in thousandths; those of a campaign are a thousand together.
    share: i64,
    /// Purchases of 10,000 clicks.
    buying: i64,
    /// Impressions a click, in thousandths of the campaign's.
    shown: i64,
}

const fn ad(set: &'static str, name: &'static str, creative: &'static str, format: Format, figures: [i64; 3]) -> Ad {
    let [share, buying, shown] = figures;
    Ad { set, name, creative, format, headline: name, share, buying, shown }
}

/// The ads of the campaigns that are split, by name.
pub(super) fn of(campaign: &str) -> &'static [Ad] {
    match campaign {
        "Brand search" => {
            const {
                &[
                    ad("Brand", "Official shop", "Official shop", Format::Text, [620, 520, 980]),
                    ad("Brand", "Free delivery", "Free delivery", Format::Text, [380, 500, 1_030]),
                ]
            }
        }
        "Shopping - all products" => {
            const {
                &[
                    ad("All products", "Best sellers", "Best sellers", Format::Image, [560, 190, 1_000]),
                    ad("All products", "New arrivals", "New arrivals", Format::Image, [440, 185, 1_000]),
                ]
            }
        }
        "Prospecting - lookalike" => {
            const {
                &[
                    ad("Lookalike 1 %", "How it is made", "99001", Format::Video, [270, 410, 900]),
                    ad("Lookalike 1 %", "Five ways to use it", "99002", Format::Video, [260, 160, 1_000]),
                    ad("Lookalike 1 %", "On the table", "3f9a", Format::Image, [240, 150, 1_050]),
                    ad("Lookalike 1 %", "The collection", "carousel-7", Format::Carousel, [230, 155, 1_060]),
                ]
            }
        }
        "Retargeting - cart" => {
            const {
                &[
                    ad("Cart, 7 days", "Still yours", "77a1", Format::Image, [520, 330, 1_000]),
                    ad("Cart, 7 days", "Ten per cent off", "77a2", Format::Image, [480, 350, 1_000]),
                ]
            }
        }
        "Seasonal video" => {
            const {
                &[
                    ad("Broad", "Morning", "99101", Format::Video, [350, 120, 1_000]),
                    ad("Broad", "Evening", "99102", Format::Video, [330, 115, 1_000]),
                    ad("Broad", "Gift", "99103", Format::Video, [320, 118, 1_000]),
                ]
            }
        }
        _ => &[],
    }
}

/// The rows of the ads of a campaign on a day: together they have its spend, clicks and about its impressions.
pub(super) fn split(row: &AdSpendRow, ads: &[Ad], place: u64) -> Vec<AdSpendRow> {
    let (clicks, cents) = (row.clicks.unwrap_or_default(), cents(row));
    let impressions = row.impressions.unwrap_or_default();
    let (mut before, mut rows) = (0, Vec::new());
    for (ad, no) in ads.iter().zip(0_u64..) {
        let (first, last) = (before, before + ad.share);
        // What is rounded off one goes to the next.
        let part = |whole: i64| whole * last / 1_000 - whole * first / 1_000;
        before = last;
        let mut draw = Draw::new(Stream::Ad, place << 4 | no);
        let clicks = part(clicks);
        // The part of a purchase is one as often as it says.
        let purchases = (clicks * ad.buying + draw.between(0, 9_999)) / 10_000;
        let revenue: i64 = (0..purchases).map(|_| draw.between(ORDER_CENTS.0, ORDER_CENTS.1)).sum();
        let impressions = part(impressions) * ad.shown / 1_000;
        let is_meta = row.platform == "meta_ads";
        let watched = (ad.format == Format::Video).then(|| impressions * draw.between(270, 350) / 1_000);
        rows.push(AdSpendRow {
            spend: money(part(cents)),
            impressions: Some(impressions.max(clicks)),
            clicks: Some(clicks),
            detail: AdDetail {
                ad_set: ad.set.to_owned(),
                ad: ad.name.to_owned(),
                creative: Some(ad.creative.to_owned()),
                format: Some(ad.format),
                headline: Some(ad.headline.to_owned()),
                purchases: Some(purchases.into()),
                revenue: Some(money(revenue)),
                video_3s: watched,
                attribution: Some(if is_meta { "7d_click,1d_view" } else { "30d_click" }.to_owned()),
                ..AdDetail::default()
            },
            ..row.clone()
        });
    }
    rows
}

fn cents(row: &AdSpendRow) -> i64 {
    use rust_decimal::prelude::ToPrimitive;
    (row.spend * rust_decimal::Decimal::ONE_HUNDRED).to_i64().unwrap_or_default()
}
