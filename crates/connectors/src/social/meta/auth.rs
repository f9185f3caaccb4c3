//! Who connects a profile: a person [logs in](crate::graph::login), and the tokens of the pages that the person moderates are
//! what is kept. A page's token that was got by one of sixty days does not end
//! (<https://developers.facebook.com/docs/facebook-login/guides/access-tokens/get-long-lived>).

use async_trait::async_trait;
use domain::{
    shops::{Authorization, AuthorizeError, Callback, CompleteError, Secret},
    social::{
        Channel,
        profiles::{Granted, ProfileAuth, Reached, is_number},
    },
};
use time::OffsetDateTime;

use super::wire::{WireInstagram, WirePage};
use crate::{graph::login::Login, shops::wire::clean};

/// Characters of a profile's name that are kept.
const MAX_NAME: usize = 100;
/// What a person has to be allowed to do on a page, for its comments to be answered.
const MODERATE: &str = "MODERATE";
/// Without it no page is listed.
const LIST: &str = "pages_show_list";
const PAGE_FIELDS: &str = "id,name,access_token,tasks,instagram_business_account{id,username}";

/// Permissions of a channel: those without which no comment is read, and those without which none is answered, or told of
/// by hooks.
struct Scopes {
    read: &'static [&'static str],
    act: &'static [&'static str],
}

/// Unverified: that nothing else is needed of people whose role on the page comes by a business; Meta names `ads_read` and
/// `ads_management` for some of them. Sources: <https://developers.facebook.com/docs/instagram-platform/comment-moderation> and
/// <https://developers.facebook.com/docs/pages-api/comments-mentions>.
const fn scopes(channel: Channel) -> Scopes {
    match channel {
        Channel::Facebook => Scopes {
            read: &[LIST, "pages_read_engagement", "pages_read_user_content"],
            act: &["pages_manage_engagement", "pages_manage_metadata"],
        },
        _ => Scopes {
            read: &[LIST, "pages_read_engagement", "instagram_basic", "instagram_manage_comments"],
            act: &["pages_manage_metadata"],
        },
    }
}

fn missing(needed: &[&str], granted: &[String]) -> Vec<String> {
    let is_missing = |scope: &&&str| !granted.iter().any(|known| known == **scope);
    needed.iter().filter(is_missing).map(|scope| (*scope).to_owned()).collect()
}

/// The profile of a channel that belongs to a page, if there is one and the person may moderate it.
fn reached(channel: Channel, page: WirePage) -> Option<Reached> {
    let WirePage { id: page_id, name, access_token, tasks, instagram_business_account } = page;
    let token = Secret::new(access_token.filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()))?);
    let (external_id, handle) = match (channel, instagram_business_account) {
        (Channel::Facebook, _) => (page_id.clone(), name),
        (_, Some(WireInstagram { id, username })) => (id, username),
        (_, None) => return None,
    };
    let may_moderate = tasks.iter().any(|task| task == MODERATE);
    let handle = handle.and_then(|name| clean(&name, MAX_NAME));
    let is_sound = may_moderate && is_number(&external_id) && is_number(&page_id);
    is_sound.then_some(Reached { external_id, handle, page_id, token })
}

#[async_trait]
impl ProfileAuth for Login {
    fn authorize_url(&self, channel: Channel, authorization: &Authorization) -> Result<String, AuthorizeError> {
        let Scopes { read, act } = scopes(channel);
        Ok(self.dialog(authorization, &[read, act].concat(), true))
    }

    async fn complete(
        &self,
        channel: Channel,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Granted, CompleteError> {
        let person = self.logged_in(callback, authorization, now).await?;
        let Scopes { read, act } = scopes(channel);
        let lacking = missing(read, &person.scopes);
        if !lacking.is_empty() {
            let said =
                format!("these permissions were not granted, and no comment is read without: {}", lacking.join(", "));
            return Err(CompleteError::Denied(said));
        }
        let pages: Vec<WirePage> = self.all(&person.token, &["me", "accounts"], PAGE_FIELDS, LIST).await?;
        let profiles = pages.into_iter().filter_map(|page| reached(channel, page)).collect();
        let missing_scopes = missing(act, &person.scopes);
        Ok(Granted { profiles, missing_scopes, scopes: person.scopes })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(change: impl FnOnce(&mut serde_json::Value)) -> WirePage {
        let mut page = json!({
            "id": "101", "name": "My shop", "access_token": "EAAB1", "tasks": ["ANALYZE", "MODERATE"],
            "instagram_business_account": { "id": "178", "username": "shop" },
        });
        change(&mut page);
        serde_json::from_value(page).unwrap()
    }

    #[test]
    fn a_page_is_a_profile_on_facebook_and_its_account_one_on_instagram() {
        let of = |channel| {
            let found = reached(channel, page(|_| ())).unwrap();
            (found.external_id, found.handle.unwrap(), found.page_id)
        };
        assert_eq!(of(Channel::Facebook), ("101".into(), "My shop".into(), "101".into()));
        assert_eq!(of(Channel::Instagram), ("178".into(), "shop".into(), "101".into()));
    }

    #[test]
    fn what_cannot_be_answered_is_not_offered() {
        let changes: [fn(&mut serde_json::Value); 4] = [
            |page| page["tasks"] = json!(["ANALYZE"]),
            |page| page["access_token"] = json!(null),
            |page| page["instagram_business_account"] = json!(null),
            |page| page["instagram_business_account"]["id"] = json!("../1"),
        ];
        for change in changes {
            assert_eq!(reached(Channel::Instagram, page(change)), None);
        }
    }

    #[test]
    fn each_channel_asks_for_its_own_permissions() {
        let granted = ["pages_show_list".to_owned(), "pages_read_engagement".to_owned()];
        assert_eq!(missing(scopes(Channel::Facebook).read, &granted), ["pages_read_user_content"]);
        assert_eq!(missing(scopes(Channel::Instagram).act, &granted), ["pages_manage_metadata"]);
    }
}
