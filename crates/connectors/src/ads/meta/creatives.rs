//! Whether ads run, and what they show.

use std::collections::{BTreeSet, HashMap};

use domain::{
    ads::{Format, Status},
    shops::{Refused, ShopError},
};
use serde_json::json;

use super::{
    super::rows::{Asking, Shape, text_of},
    act,
    api::{Api, Caller},
    insights::STATES,
    wire::{Ad, Creative},
};

/// Ads that are asked for at a time.
const AT_ONCE: usize = 50;
const FIELDS: &str = "id,effective_status,creative{id,title,body,image_hash,video_id,object_story_spec}";

/// An ad as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub status: Status,
    pub creative: Option<Shape>,
}

/// The ads with these numbers, by number, and what is said where they are not shown; those that are not listed are gone.
///
/// Unverified: that the list of ads is filtered by `ad.id`, and gives deleted ones when their state is asked for.
pub(super) async fn of_ads(
    api: &Api,
    caller: &Caller<'_>,
    ads: &BTreeSet<&str>,
) -> Result<(HashMap<String, Shown>, Vec<Refused>), ShopError> {
    let numbers = ads.iter().copied().collect::<Vec<_>>();
    let (mut found, mut asking) = (HashMap::new(), Asking::new(&numbers, AT_ONCE));
    while let Some(some) = asking.take() {
        let filter = json!([
            { "field": "ad.id", "operator": "IN", "value": some },
            { "field": "ad.effective_status", "operator": "IN", "value": STATES },
        ])
        .to_string();
        let limit = AT_ONCE.to_string();
        let query = [("fields", FIELDS), ("filtering", filter.as_str())];
        match api.pages::<Ad>(caller, &[&act(caller.account), "ads"], &query, &limit).await {
            Ok(all) => {
                asking.answered(some);
                let gone = || Shown { status: Status::Archived, creative: None };
                found.extend(some.iter().map(|ad| ((*ad).to_owned(), gone())));
                found.extend(all.into_iter().map(|ad| (ad.id.0.clone(), shown(ad))));
            }
            Err(error) => asking.failed(some, error)?,
        }
    }
    Ok((found, asking.end()?))
}

fn shown(ad: Ad) -> Shown {
    let status = match ad.effective_status.as_str() {
        "ACTIVE" => Status::Active,
        "ARCHIVED" | "DELETED" => Status::Archived,
        _ => Status::Paused,
    };
    Shown { status, creative: ad.creative.map(shape) }
}

/// A video and an image are the same in every ad; a carousel is made for one.
fn shape(creative: Creative) -> Shape {
    let Creative { id, title, body, image_hash, video_id, object_story_spec } = creative;
    let text = |text: Option<String>| text.as_deref().and_then(text_of);
    let (headline, body) = (text(title), text(body));
    let cards = object_story_spec.and_then(|spec| spec.link_data).map_or(0, |link| link.child_attachments.len());
    let image = image_hash.as_deref().and_then(text_of);
    let (format, key) = match (video_id, image, &body) {
        (Some(video), _, _) => (Format::Video, video.0),
        _ if cards > 1 => (Format::Carousel, id.0),
        (None, Some(image), _) => (Format::Image, image),
        (None, None, Some(body)) => (Format::Text, body.to_lowercase()),
        (None, None, None) => (Format::Unknown, id.0),
    };
    Shape { format, key, headline, body }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"id":"1","video_id":"99","image_hash":"ab"}"#, Format::Video, "99")]
    #[case(r#"{"id":"1","image_hash":"ab","body":"Hi"}"#, Format::Image, "ab")]
    #[case(
        r#"{"id":"1","image_hash":"ab","object_story_spec":{"link_data":{"child_attachments":[{},{}]}}}"#,
        Format::Carousel,
        "1"
    )]
    #[case(r#"{"id":"1","body":" Free Shipping "}"#, Format::Text, "free shipping")]
    #[case(r#"{"id":"1"}"#, Format::Unknown, "1")]
    fn a_creative_is_known_by_what_it_shows(#[case] json: &str, #[case] format: Format, #[case] key: &str) {
        let shape = shape(serde_json::from_str(json).unwrap());
        assert_eq!((shape.format, shape.key.as_str()), (format, key));
    }

    #[rstest]
    #[case("ACTIVE", Status::Active)]
    #[case("CAMPAIGN_PAUSED", Status::Paused)]
    #[case("DELETED", Status::Archived)]
    #[case("A_STATE_OF_TOMORROW", Status::Paused)]
    fn what_does_not_run_is_paused_or_archived(#[case] state: &str, #[case] status: Status) {
        let ad = serde_json::from_value(json!({ "id": 5, "effective_status": state })).unwrap();
        assert_eq!(shown(ad), Shown { status, creative: None });
    }
}
