//! Whether ads run, how they are called, and what they show.

use std::collections::{BTreeSet, HashMap};

use domain::{
    ads::{Format, Status},
    shops::{Refused, ShopError},
};
use ring::digest::{SHA256, digest};

use super::{
    super::rows::{Asking, Shape, text_of},
    api::{Api, Caller},
    figures::status,
    wire::{Ad, AdRow, Asset, Assets, Text},
};

/// Ads that are asked for at a time.
const AT_ONCE: usize = 500;
/// Unverified: that each of these can be asked for beside the others, also where no ad is of that type, and that ads which were
/// removed are told.
const FIELDS: &str = "campaign.id, campaign.status, ad_group.id, ad_group.name, ad_group.status, ad_group_ad.status, \
                      ad_group_ad.ad.id, ad_group_ad.ad.name, ad_group_ad.ad.type, \
                      ad_group_ad.ad.responsive_search_ad.headlines, ad_group_ad.ad.responsive_search_ad.descriptions, \
                      ad_group_ad.ad.responsive_display_ad.headlines, \
                      ad_group_ad.ad.responsive_display_ad.descriptions, \
                      ad_group_ad.ad.responsive_display_ad.marketing_images, \
                      ad_group_ad.ad.video_responsive_ad.headlines, \
                      ad_group_ad.ad.video_responsive_ad.descriptions, ad_group_ad.ad.video_responsive_ad.videos, \
                      ad_group_ad.ad.demand_gen_multi_asset_ad.headlines, \
                      ad_group_ad.ad.demand_gen_multi_asset_ad.descriptions, \
                      ad_group_ad.ad.demand_gen_multi_asset_ad.marketing_images, \
                      ad_group_ad.ad.demand_gen_video_responsive_ad.headlines, \
                      ad_group_ad.ad.demand_gen_video_responsive_ad.descriptions, \
                      ad_group_ad.ad.demand_gen_video_responsive_ad.videos, \
                      ad_group_ad.ad.image_ad.image_asset.asset, ad_group_ad.ad.video_ad.video.asset";

/// An ad as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub status: Status,
    pub ad_group: Option<String>,
    /// Its own name, else its first headline.
    pub name: Option<String>,
    pub creative: Shape,
}

/// Ads by their ad group and number.
type ByNumber = HashMap<(String, String), Shown>;

/// The ads with these numbers, and what is said where they are not shown; those that are gone are left out.
pub(super) async fn of_ads(
    api: &Api,
    caller: &Caller<'_>,
    ads: &BTreeSet<String>,
) -> Result<(ByNumber, Vec<Refused>), ShopError> {
    let numbers = ads.iter().map(String::as_str).collect::<Vec<_>>();
    let (mut found, mut asking) = (HashMap::new(), Asking::new(&numbers, AT_ONCE));
    while let Some(some) = asking.take() {
        let query = format!("SELECT {FIELDS} FROM ad_group_ad WHERE ad_group_ad.ad.id IN ({})", some.join(", "));
        match api.search::<AdRow>(caller, &query).await {
            Ok(all) => {
                asking.answered(some);
                found.extend(all.into_iter().map(shown));
            }
            Err(error) => asking.failed(some, error)?,
        }
    }
    Ok((found, asking.end()?))
}

fn shown(row: AdRow) -> ((String, String), Shown) {
    let AdRow { campaign, ad_group, ad_group_ad } = row;
    let states = [campaign.status, ad_group.status, ad_group_ad.status];
    let states: Vec<&str> = states.iter().flatten().map(String::as_str).collect();
    let (number, name) = (ad_group_ad.ad.id.0.clone(), ad_group_ad.ad.name.clone());
    let creative = shape(ad_group_ad.ad);
    let shown = Shown {
        status: status(&states),
        ad_group: ad_group.name,
        name: name.filter(|name| !name.trim().is_empty()).or_else(|| creative.headline.clone()),
        creative,
    };
    ((ad_group.id.0, number), shown)
}

/// The last part of an asset's name: its number.
fn number(asset: &Asset) -> Option<String> {
    let name = asset.asset.as_deref()?;
    text_of(name.rsplit('/').next()?)
}

/// What an image or a video alone makes is known by it; what Google puts together, by all that it does so from. The others are
/// made for one ad.
fn shape(ad: Ad) -> Shape {
    let Ad {
        id,
        name: _,
        kind,
        responsive_search_ad,
        responsive_display_ad,
        video_responsive_ad,
        demand_gen_multi_asset_ad,
        demand_gen_video_responsive_ad,
        image_ad,
        video_ad,
    } = ad;
    let plain = |format, key| Shape { format, key, headline: None, body: None };
    if let Some(video) = video_ad.and_then(|ad| ad.video).as_ref().and_then(number) {
        return plain(Format::Video, video);
    }
    if let Some(image) = image_ad.and_then(|ad| ad.image_asset).as_ref().and_then(number) {
        return plain(Format::Image, image);
    }
    let assets = responsive_search_ad
        .or(responsive_display_ad)
        .or(video_responsive_ad)
        .or(demand_gen_multi_asset_ad)
        .or(demand_gen_video_responsive_ad);
    assets.and_then(put_together).unwrap_or_else(|| {
        let is_carousel = kind.is_some_and(|kind| kind.contains("CAROUSEL"));
        plain(if is_carousel { Format::Carousel } else { Format::Unknown }, id.0)
    })
}

/// `None` where nothing is known that it is put together from.
fn put_together(assets: Assets) -> Option<Shape> {
    let Assets { headlines, descriptions, marketing_images, videos } = assets;
    let texts =
        |texts: &[Text]| -> Vec<String> { texts.iter().filter_map(|text| text_of(text.text.as_deref()?)).collect() };
    let (headlines, descriptions) = (texts(&headlines), texts(&descriptions));
    let (images, videos): (Vec<_>, Vec<_>) =
        (marketing_images.iter().filter_map(number).collect(), videos.iter().filter_map(number).collect());
    let format = match (videos.is_empty(), images.is_empty(), headlines.is_empty() && descriptions.is_empty()) {
        (false, _, _) => Format::Video,
        (true, false, _) => Format::Image,
        (true, true, false) => Format::Text,
        (true, true, true) => return None,
    };
    let parts = [&videos, &images, &headlines, &descriptions].map(|parts| parts.join("\n").to_lowercase());
    Some(Shape {
        format,
        key: hex::encode(digest(&SHA256, parts.join("\n\n").as_bytes())),
        headline: headlines.into_iter().next(),
        body: descriptions.into_iter().next(),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn of(json: &str) -> Shape {
        shape(serde_json::from_str(json).unwrap())
    }

    #[rstest]
    #[case(r#"{"id":"1","videoAd":{"video":{"asset":"customers/5/assets/42"}}}"#, Format::Video, "42")]
    #[case(r#"{"id":"1","imageAd":{"imageAsset":{"asset":"customers/5/assets/43"}}}"#, Format::Image, "43")]
    #[case(r#"{"id":"1","type":"DEMAND_GEN_CAROUSEL_AD"}"#, Format::Carousel, "1")]
    #[case(r#"{"id":"1","type":"SHOPPING_PRODUCT_AD","responsiveSearchAd":{}}"#, Format::Unknown, "1")]
    fn a_creative_is_known_by_what_it_shows(#[case] json: &str, #[case] format: Format, #[case] key: &str) {
        let shape = of(json);
        assert_eq!((shape.format, shape.key.as_str()), (format, key));
    }

    #[test]
    fn the_same_parts_are_the_same_creative_in_every_ad() {
        let search = |id: u8, body: &str| {
            let parts = format!(r#""headlines":[{{"text":"Kettles"}}],"descriptions":[{{"text":"{body}"}}]"#);
            of(&format!(r#"{{"id":"{id}","responsiveSearchAd":{{{parts}}}}}"#))
        };
        let (first, again, other) = (search(1, "Free shipping"), search(2, "FREE SHIPPING"), search(3, "New"));
        assert_eq!((first.format, first.headline.as_deref()), (Format::Text, Some("Kettles")));
        assert_eq!(first.key, again.key);
        assert_ne!(first.key, other.key);
        let video = of(r#"{"id":"1","videoResponsiveAd":{"videos":[{"asset":"a/1"}],"headlines":[{"text":"K"}]}}"#);
        assert_eq!((video.format, video.body), (Format::Video, None));
    }
}
