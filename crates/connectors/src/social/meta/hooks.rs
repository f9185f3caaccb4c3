//! Hooks of Meta: the handshake, the signature over the bytes as they came, and the changes that they tell of.

use domain::social::{
    Channel,
    channels::{Batch, Change, Comment, HookRefused, ParsedHook, SocialInbox},
};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;

use super::wire::{Node, Person};

/// The app as it receives hooks.
#[derive(Debug, Clone)]
pub struct MetaHooks {
    key: hmac::Key,
    /// The token's tag under a key of its own: comparing tags takes the same time whatever the token.
    verify_tag: Vec<u8>,
}

impl MetaHooks {
    pub fn new(app_secret: &SecretString, verify_token: &SecretString) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, app_secret.expose_secret().as_bytes());
        let verify_tag = hmac::sign(&key, verify_token.expose_secret().as_bytes()).as_ref().to_vec();
        Self { key, verify_tag }
    }
}

impl SocialInbox for MetaHooks {
    fn confirms(&self, verify_token: &str) -> bool {
        hmac::verify(&self.key, verify_token.as_bytes(), &self.verify_tag).is_ok()
    }

    fn verify(&self, body: &[u8], signature: Option<&str>) -> Result<(), HookRefused> {
        let hex = signature.and_then(|text| text.strip_prefix("sha256=")).ok_or(HookRefused::Unsigned)?;
        let tag = hex::decode(hex).ok().filter(|tag| tag.len() == 32).ok_or(HookRefused::Unsigned)?;
        hmac::verify(&self.key, body, &tag).map_err(|_| HookRefused::Forged)
    }

    fn parse(&self, body: &[u8]) -> ParsedHook {
        let Ok(hook) = serde_json::from_slice::<Hook>(body) else {
            return ParsedHook { batches: Vec::new(), unread: 1 };
        };
        let channel = match hook.object.as_str() {
            "instagram" => Channel::Instagram,
            "page" => Channel::Facebook,
            _ => return ParsedHook::default(),
        };
        let mut parsed = ParsedHook::default();
        for entry in hook.entry {
            let Ok(Entry { id, time, changes, field, value }) = serde_json::from_str::<Entry>(entry.get()) else {
                parsed.unread += 1;
                continue;
            };
            let at = time.and_then(|time| OffsetDateTime::from_unix_timestamp(time.get().parse().ok()?).ok());
            let mut batch = Batch { channel, profile: id, changes: Vec::new() };
            // With Instagram Login the one change stands on the entry itself.
            let own = field.zip(value).map(|(field, value)| Ok(WireChange { field, value }));
            let nested = changes.iter().map(|change| serde_json::from_str::<WireChange>(change.get()));
            for change in nested.chain(own) {
                match change.and_then(|change| read(channel, &change, at)) {
                    Ok(change) => batch.changes.extend(change),
                    Err(_) => parsed.unread += 1,
                }
            }
            if !batch.changes.is_empty() {
                parsed.batches.push(batch);
            }
        }
        parsed
    }
}

/// The change of a comment, told at `at`; `None`: it is about something else.
fn read(channel: Channel, change: &WireChange, at: Option<OffsetDateTime>) -> serde_json::Result<Option<Change>> {
    match (channel, change.field.as_str()) {
        (Channel::Instagram, "comments") => instagram(&change.value, at),
        (Channel::Facebook, "feed") => facebook(&change.value, at),
        _ => Ok(None),
    }
}

// Read part by part: a part that cannot be read, such as a text with half a surrogate pair, costs no other.
#[derive(Deserialize)]
struct Hook {
    object: String,
    #[serde(default)]
    entry: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    /// When it was sent, in seconds.
    time: Option<Box<RawValue>>,
    #[serde(default)]
    changes: Vec<Box<RawValue>>,
    field: Option<String>,
    value: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct WireChange {
    field: String,
    value: Box<RawValue>,
}

#[derive(Deserialize)]
struct Media {
    id: String,
    ad_id: Option<String>,
    original_media_id: Option<String>,
}

#[derive(Deserialize)]
struct InstagramComment {
    #[serde(alias = "comment_id")]
    id: String,
    text: Option<String>,
    from: Option<Person>,
    media: Option<Media>,
    parent_id: Option<String>,
}

/// The change does not say when somebody commented: at the latest when the hook was sent. Unverified: that no hook tells of an edit
/// or a deletion; none is documented. What is answered is read again before.
fn instagram(value: &RawValue, at: Option<OffsetDateTime>) -> serde_json::Result<Option<Change>> {
    let InstagramComment { id, text, from, media, parent_id } = serde_json::from_str(value.get())?;
    let Some(text) = text else { return Ok(None) };
    let (author_id, username) = from.map_or((None, None), |from| (from.id, from.username));
    // A boosted post has another number than the post itself.
    let ad_id = media.as_ref().and_then(|media| media.ad_id.clone());
    let post_id = media.map(|media| media.original_media_id.unwrap_or(media.id));
    Ok(Some(Change::Posted(Comment {
        external_id: id,
        post_id,
        ad_id,
        parent_id,
        author_id,
        username,
        text,
        is_hidden: false,
        posted_at: at,
    })))
}

#[derive(Deserialize)]
struct FeedChange {
    item: Option<String>,
    verb: Option<String>,
    comment_id: Option<String>,
    post_id: Option<String>,
    parent_id: Option<String>,
    from: Option<Person>,
    message: Option<String>,
    created_time: Option<i64>,
    post: Option<Node>,
}

/// Reactions to comments carry `comment_id` too, so `item` decides. Unverified: that of two edits the later one is told with the
/// later `time`, which is when the hook was sent: an edit says no other.
fn facebook(value: &RawValue, at: Option<OffsetDateTime>) -> serde_json::Result<Option<Change>> {
    let change: FeedChange = serde_json::from_str(value.get())?;
    let Some(id) = change.comment_id.filter(|_| change.item.as_deref() == Some("comment")) else { return Ok(None) };
    let post_id = change.post_id.or_else(|| change.post.map(|post| post.id));
    // The parent of a comment that begins a thread is the post.
    let parent_id = change.parent_id.filter(|parent| Some(parent) != post_id.as_ref());
    let (author_id, username) = change.from.map_or((None, None), |from| (from.id, from.name));
    let posted_at = change.created_time.and_then(|at| OffsetDateTime::from_unix_timestamp(at).ok());
    let comment = |text| Comment {
        external_id: id.clone(),
        post_id,
        ad_id: None,
        parent_id,
        author_id,
        username,
        text,
        is_hidden: false,
        posted_at,
    };
    Ok(match change.verb.as_deref() {
        Some("add") => Some(Change::Posted(comment(change.message.unwrap_or_default()))),
        Some("edited") => Some(Change::Edited { comment: comment(change.message.unwrap_or_default()), at }),
        Some("remove") => Some(Change::Removed(id)),
        Some("hide") => Some(Change::Hidden(id)),
        Some("unhide") => Some(Change::Unhidden(id)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Test data: the signature was made with another implementation of HMAC.
    const BODY: &str = r#"{"entry": [{"id": "17841400000000001", "time": 1777636800, "changes": [{"value": {"from": {"id": "1000001", "username": "ana"}, "media": {"id": "18000000000000001", "media_product_type": "FEED"}, "id": "17890001112223334", "text": "\u00bfPrecio y env\u00edo a C\u00f3rdoba? \ud83d\ude0d"}, "field": "comments"}]}], "object": "instagram"}"#;
    const SIGNATURE: &str = "sha256=2973232adc98b4640577bf2a462580622ef1c9a8050b2fce81647a93aaa3f713";

    fn app() -> MetaHooks {
        MetaHooks::new(&"test_app_secret".to_owned().into(), &"verify me".to_owned().into())
    }

    #[test]
    fn the_signature_is_over_the_bytes_as_they_came() {
        assert_eq!(BODY.len(), 337);
        assert_eq!(app().verify(BODY.as_bytes(), Some(SIGNATURE)), Ok(()));
        let again = serde_json::to_string(&serde_json::from_str::<Value>(BODY).unwrap()).unwrap();
        assert_eq!(app().verify(again.as_bytes(), Some(SIGNATURE)), Err(HookRefused::Forged));
        assert_eq!(app().verify(format!("{BODY}\n").as_bytes(), Some(SIGNATURE)), Err(HookRefused::Forged));
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        let short = SIGNATURE.get(..70);
        let bare = SIGNATURE.strip_prefix("sha256=");
        for signature in [None, Some(""), Some("sha256="), Some("sha1=00"), short, bare] {
            assert_eq!(app().verify(BODY.as_bytes(), signature), Err(HookRefused::Unsigned), "{signature:?}");
        }
    }

    #[test]
    fn the_token_is_the_apps() {
        assert!(app().confirms("verify me"));
        assert!(!app().confirms("verify me ") && !app().confirms(""));
    }

    #[test]
    fn a_comment_is_read_nested_or_on_the_entry() {
        let batches = app().parse(BODY.as_bytes()).batches;
        let [Batch { channel: Channel::Instagram, profile, changes }] = batches.as_slice() else {
            panic!("{batches:?}")
        };
        let [Change::Posted(comment)] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!((profile.as_str(), comment.external_id.as_str()), ("17841400000000001", "17890001112223334"));
        assert_eq!(comment.text, "¿Precio y envío a Córdoba? 😍");
        assert_eq!((comment.author_id.as_deref(), comment.username.as_deref()), (Some("1000001"), Some("ana")));
        assert_eq!(comment.posted_at, Some(OffsetDateTime::from_unix_timestamp(1_777_636_800).unwrap()));
        let flat = json!({"object": "instagram", "entry": [{"id": "1", "field": "comments",
            "value": {"comment_id": "2", "text": "hola"}}]});
        assert!(matches!(app().parse(flat.to_string().as_bytes()).batches[0].changes[0], Change::Posted(_)));
    }

    #[test]
    fn a_page_tells_of_edits_and_deletions() {
        let feed = |verb: &str, item: &str| {
            let value = json!({"item": item, "verb": verb, "comment_id": "9_2", "post_id": "9", "parent_id": "9",
                "from": {"id": "5", "name": "Ana"}, "message": "hola", "created_time": 1_777_636_800});
            let changes = [json!({"field": "feed", "value": value})];
            let hook = json!({"object": "page", "entry": [{"id": "1", "time": 1_777_636_860, "changes": changes}]});
            app().parse(hook.to_string().as_bytes()).batches.into_iter().flat_map(|batch| batch.changes).next()
        };
        let Some(Change::Posted(comment)) = feed("add", "comment") else { panic!() };
        assert_eq!((comment.parent_id, comment.post_id.as_deref()), (None, Some("9")));
        let Some(Change::Edited { at, .. }) = feed("edited", "comment") else { panic!() };
        assert_eq!(at, Some(OffsetDateTime::from_unix_timestamp(1_777_636_860).unwrap()));
        assert_eq!(feed("remove", "comment"), Some(Change::Removed("9_2".into())));
        assert_eq!(feed("hide", "comment"), Some(Change::Hidden("9_2".into())));
        assert_eq!(feed("unhide", "comment"), Some(Change::Unhidden("9_2".into())));
        assert_eq!((feed("add", "reaction"), feed("like", "comment")), (None, None));
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        for body in [r#"{"object":"user","entry":[]}"#, r#"{"object":"page","entry":[{"id":"1"}]}"#] {
            assert_eq!(app().parse(body.as_bytes()), ParsedHook::default());
        }
        for body in ["", "[]", "{}"] {
            assert_eq!(app().parse(body.as_bytes()), ParsedHook { batches: Vec::new(), unread: 1 });
        }
    }

    #[test]
    fn what_cannot_be_read_costs_nothing_else() {
        let change = |value: &str| format!(r#"{{"field":"comments","value":{value}}}"#);
        let good = change(r#"{"id":"7","text":"hola"}"#);
        let unreadable = [
            change(r#"{"id":"8","text":"\ud800"}"#),
            change("null"),
            change(r#""x""#),
            change(r#"{"id":{},"text":"hola"}"#),
            "null".to_owned(),
            r#"{"value":{}}"#.to_owned(),
        ];
        let changes = unreadable.join(",");
        let body = format!(
            r#"{{"object":"instagram","entry":["x",null,{{"id":5}},{{"id":"1","changes":[{changes},{good}]}},{{"id":"2","changes":[{good}]}}]}}"#
        );
        let parsed = app().parse(body.as_bytes());
        assert_eq!(parsed.unread, 3 + 6);
        let read: Vec<_> = parsed.batches.iter().map(|batch| (batch.profile.as_str(), batch.changes.len())).collect();
        assert_eq!(read, [("1", 1), ("2", 1)]);
    }
}
