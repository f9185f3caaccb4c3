//! The connected profiles, and the channels that one can be connected on: parts of the page of connections.

use app::shops::NotConfigured;
use domain::{
    page::PageRequest,
    people::Act,
    social::{
        Channel,
        profiles::{EndReason, ProfileChannel, ProfileStatus, SocialProfile},
    },
};
use url::Url;

use super::{integrations::not_offered, panel, query};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        connect::{Form, Shop},
        integrations::{Missing, Offer},
        panel::Panel,
        rows::{Badge, Cell, Head, Row},
    },
};

/// Profiles that are listed: an account has a handful.
const LIMIT: i64 = 100;
/// Where the form that begins goes.
const CONNECT: &str = "/integrations/profiles/connect";

/// What profiles are connected on by granting access.
pub fn channels() -> impl Iterator<Item = Channel> {
    ProfileChannel::ALL.iter().map(|channel| Channel::from(*channel))
}

/// Where the network sends people back to, which has to be registered with its app.
pub fn redirect_uri(site: &Url) -> String {
    format!("{}/integrations/profiles/callback", site.as_str().trim_end_matches('/'))
}

pub fn channel_name(writer: &Writer, channel: Channel) -> String {
    writer.say(&format!("channel-{channel}"))
}

/// The channels, each with the form that begins, or what has to be done before.
pub fn offers(writer: &Writer, viewer: &Viewer, state: &State) -> Vec<Offer> {
    let offer = |channel| {
        let usable = state.profiles.usable(channel, viewer.session().account.mode);
        let (form, missing) = match usable {
            Ok(()) if viewer.may(Act::Change) => (Some(form(writer, channel)), None),
            Ok(()) => (None, Some(Missing { text: writer.say("profiles-viewer"), operator: None })),
            Err(error) => {
                let told = not_configured(writer, channel, error, &state.settings.public_url);
                (None, Some(not_offered(writer, error, told)))
            }
        };
        Offer {
            name: channel_name(writer, channel),
            reads: writer.say(&format!("profiles-reads-{channel}")),
            form,
            missing,
        }
    };
    channels().map(offer).collect()
}

/// Why a channel cannot be used, and what the operator of the service has to do about it.
pub fn not_configured(writer: &Writer, channel: Channel, error: NotConfigured, site: &Url) -> String {
    match error {
        NotConfigured::NoApp => writer
            .message("profiles-no-app")
            .text("channel", channel_name(writer, channel))
            .text("settings", "BAS_META_APP_ID, BAS_META_APP_SECRET, BAS_META_VERIFY_TOKEN".to_owned())
            .text("redirect", redirect_uri(site))
            .say(),
        NotConfigured::Sandbox => writer.say("profiles-sandbox"),
    }
}

/// What begins to connect a profile of a channel.
pub fn form(writer: &Writer, channel: Channel) -> Form {
    let profile = Shop {
        id: format!("profile-{channel}"),
        name: "profile",
        label: writer.say("profile-number"),
        help: writer.say("profile-number-help"),
        example: "17841400000000001",
        value: String::new(),
        is_needed: false,
        error: None,
    };
    let go = writer.message("connect-on").text("platform", channel_name(writer, channel)).say();
    let fixed = vec![("channel", channel.to_string())];
    Form { address: CONNECT.to_owned(), fixed, shop: Some(profile), go }
}

/// What begins to connect one profile that is named.
pub fn form_of(channel: Channel, external_id: String, go: String) -> Form {
    let fixed = vec![("channel", channel.to_string()), ("profile", external_id)];
    Form { address: CONNECT.to_owned(), fixed, shop: None, go }
}

/// The state of a profile.
pub fn badge(writer: &Writer, profile: &SocialProfile) -> Badge {
    let status = profile.status(writer.now);
    let (class, sign) = match status {
        ProfileStatus::Connected => ("good", "✓"),
        ProfileStatus::Stale => ("warn", "!"),
        ProfileStatus::Revoked => ("bad", "✕"),
    };
    Badge { class, text: format!("{sign} {}", writer.say(&format!("profile-status-{status}"))) }
}

/// What keeps a profile from being whole, a sentence each.
pub fn missing(writer: &Writer, profile: &SocialProfile) -> Vec<String> {
    let is_there = profile.ended_at.is_none();
    let is_known = !profile.scopes.is_empty() || !profile.missing_scopes.is_empty();
    let said = [
        profile.end_reason.map(|reason: EndReason| writer.say(&format!("profile-ended-{reason}"))),
        (profile.status(writer.now) == ProfileStatus::Stale).then(|| writer.say("profile-unread")),
        (is_there && !profile.missing_scopes.is_empty())
            .then(|| writer.message("profile-scopes").text("scopes", profile.missing_scopes.join(", ")).say()),
        (is_there && is_known && profile.subscribed_at.is_none()).then(|| writer.say("profile-unsubscribed")),
        (is_there && !is_known).then(|| writer.say("profile-by-hand")),
    ];
    said.into_iter().flatten().collect()
}

/// How a profile is called.
pub fn name(profile: &SocialProfile) -> &str {
    profile.handle.as_deref().unwrap_or(&profile.external_id)
}

pub fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("profile")),
        Head::Text(writer.say("state")),
        Head::Text(writer.say("profile-last-poll")),
        Head::Text(writer.say("profile-last-event")),
        Head::Text(writer.say("attention")),
    ]
}

pub async fn list(writer: &Writer, viewer: &Viewer, state: &State) -> Result<Panel<Row>, PageError> {
    let page = PageRequest { limit: LIMIT, cursor: None };
    let found = state.profiles.connections.page(viewer.account(), page).await?;
    let call = query::call("/api/v1/social/profiles", LIMIT, None);
    Ok(Panel {
        id: "h-profiles",
        title: writer.say("profiles-title"),
        items: found.items.iter().map(|profile| row(writer, profile)).collect(),
        nothing: writer.say("profiles-none"),
        all: None,
        next: None,
        foot: panel::current(writer, vec![writer.say("how-profiles")], &call, &state.settings.api_url),
    })
}

fn row(writer: &Writer, profile: &SocialProfile) -> Row {
    let moment =
        |at: Option<time::OffsetDateTime>| Cell::Text(at.map_or_else(|| writer.say("not-yet"), |at| writer.moment(at)));
    let attention = match i64::try_from(missing(writer, profile).len()).unwrap_or(i64::MAX) {
        0 => "–".to_owned(),
        count => writer.message("attention-count").count("count", count).say(),
    };
    Row {
        name: name(profile).to_owned(),
        address: Some(format!("/integrations/profiles/{}", profile.id)),
        below: Some(channel_name(writer, profile.channel).into()),
        cells: vec![
            Cell::Badge(Some(badge(writer, profile))),
            moment(profile.last_poll_at),
            moment(profile.last_event_at),
            Cell::Text(attention),
        ],
    }
}

#[cfg(test)]
pub mod tests {
    use domain::SocialAccountId;
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    pub fn example() -> SocialProfile {
        SocialProfile {
            id: SocialAccountId(3),
            channel: Channel::Instagram,
            external_id: "17841400000000001".into(),
            handle: Some("shop".into()),
            scopes: vec!["instagram_basic".into()],
            missing_scopes: vec![],
            connected_at: datetime!(2026-11-22 20:00 UTC),
            ended_at: None,
            end_reason: None,
            last_event_at: None,
            last_poll_at: Some(datetime!(2026-11-22 22:00 UTC)),
            subscribed_at: Some(datetime!(2026-11-22 20:00 UTC)),
        }
    }

    #[test]
    fn a_profile_without_trouble_asks_for_nothing() {
        let row = row(&writer("en"), &example());
        assert_eq!((row.name.as_str(), row.address.as_deref()), ("shop", Some("/integrations/profiles/3")));
        assert!(matches!(&row.cells[3], Cell::Text(text) if text == "–"));
    }

    #[test]
    fn what_is_missing_is_said_in_each_language() {
        let lacking = SocialProfile {
            missing_scopes: vec!["pages_manage_metadata".into()],
            subscribed_at: None,
            connected_at: datetime!(2026-11-20 20:00 UTC),
            last_poll_at: None,
            ..example()
        };
        let by_hand = SocialProfile { scopes: vec![], ..example() };
        for tag in ["en", "es-AR", "pt-BR"] {
            let said = missing(&writer(tag), &lacking);
            assert_eq!(said.len(), 3, "{said:?}");
            assert!(said[1].contains("pages_manage_metadata"), "{said:?}");
            for reason in EndReason::ALL {
                let ended = SocialProfile {
                    ended_at: Some(datetime!(2026-11-22 21:00 UTC)),
                    end_reason: Some(*reason),
                    ..lacking.clone()
                };
                let said = missing(&writer(tag), &ended);
                assert!(said.len() == 1 && !said[0].starts_with("profile-"), "{said:?}");
            }
            assert_eq!(missing(&writer(tag), &by_hand).len(), 1);
        }
    }

    #[test]
    fn an_operator_is_told_what_to_set_and_to_register() {
        let site = Url::parse("https://shop.example.com").unwrap();
        let said = not_configured(&writer("en"), Channel::Facebook, NotConfigured::NoApp, &site);
        for wanted in ["BAS_META_APP_ID", "https://shop.example.com/integrations/profiles/callback", "Facebook"] {
            assert!(said.contains(wanted), "{said}");
        }
    }
}
