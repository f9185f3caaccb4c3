//! Questions as the connector reads and answers them.

use devtools::shops::{Stub as _, mercadolibre::Deed};
use domain::social::{
    Channel,
    channels::{Change, ChannelError, Profile, SocialReplies as _},
};
use serde_json::json;
use time::Duration;

use super::shop::{NOW, Shop};

fn profile(shop: &Shop) -> Profile {
    Profile {
        channel: Channel::Mercadolibre,
        external_id: shop.access.shop_id.clone(),
        app_scoped_id: None,
        handle: None,
        token: shop.access.token.clone(),
    }
}

#[tokio::test]
async fn a_question_is_read_answered_once_and_read_with_its_answer() {
    let shop = Shop::open(31, 0, 1).await;
    let profile = profile(&shop);
    let id = shop.stub.ask("¿Tienen stock?").to_string();
    let read = shop.app.read(&profile, &id).await.unwrap();
    assert_eq!((read.text.as_str(), read.is_hidden, read.posted_at), ("¿Tienen stock?", false, Some(NOW)));
    assert_eq!(shop.app.replies(&profile, &id).await, Ok(vec![]));
    assert_eq!(shop.app.reply(&profile, &id, "Sí, hay.").await, Ok(format!("answer/{id}")));
    assert_eq!(shop.app.reply(&profile, &id, "Sí, hay.").await, Err(ChannelError::Answered));
    let shown = shop.app.replies(&profile, &id).await.unwrap();
    let [answer] = shown.as_slice() else { panic!("{shown:?}") };
    assert_eq!((answer.external_id.as_str(), answer.text.as_str()), (format!("answer/{id}").as_str(), "Sí, hay."));
    assert!(profile.is_own(answer.author_id.as_deref(), None) && !profile.is_own(read.author_id.as_deref(), None));
    let changes = shop.app.changes(&profile, NOW - Duration::HOUR).await.unwrap();
    let [Change::Posted(asked), Change::Posted(answered)] = changes.as_slice() else { panic!("{changes:?}") };
    assert_eq!((&asked.external_id, answered.parent_id.as_ref()), (&id, Some(&id)));
    assert_eq!(shop.app.read(&profile, "1").await, Err(ChannelError::NotFound));
}

#[tokio::test]
async fn more_than_a_page_is_read_in_the_order_of_asking() {
    let shop = Shop::open(32, 0, 1).await;
    let asked: Vec<_> = (0..120).map(|number| shop.stub.ask(&format!("¿{number}?")).to_string()).collect();
    for (id, deed) in
        [(&asked[0], Deed::Ban), (&asked[1], Deed::Delete), (&asked[2], Deed::Close), (&asked[3], Deed::Review)]
    {
        assert!(shop.stub.happen(id.parse().unwrap(), deed));
    }
    let changes = shop.app.changes(&profile(&shop), NOW).await.unwrap();
    let gone = [Change::Hidden(asked[0].clone()), Change::Removed(asked[1].clone()), Change::Hidden(asked[2].clone())];
    assert_eq!(changes[..3], gone);
    let posted: Vec<_> = changes[3..]
        .iter()
        .map(|change| match change {
            Change::Posted(comment) => comment.external_id.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(posted, asked[4..]);
    assert_eq!(shop.calls("/questions/search"), 3);
}

/// A write is never sent twice by itself, whatever was answered.
#[tokio::test]
async fn an_answer_is_sent_once_whatever_comes_back() {
    let shop = Shop::open(33, 0, 1).await;
    let profile = profile(&shop);
    for (fault, is_written) in [("answer_lost", true), ("answer_error", true), ("answer_unwritten", false)] {
        let number = shop.stub.ask("¿Hay?");
        let id = number.to_string();
        let before = shop.calls("/answers");
        shop.stub.common().faults.set(fault, 1, 503);
        let failed = shop.app.reply(&profile, &id, "Sí").await.unwrap_err();
        assert!(failed.may_pass(), "{fault}: {failed}");
        assert_eq!(shop.calls("/answers") - before, 1, "{fault}");
        let asked = shop.stub.asked();
        let really = asked.as_array().unwrap().iter().find(|question| question["id"] == number).unwrap();
        assert_eq!(really["answer"], if is_written { json!("Sí") } else { json!(null) }, "{fault}");
    }
    shop.stub.act("expire", 0);
    let id = shop.stub.ask("¿Hay?").to_string();
    assert_eq!(shop.app.reply(&profile, &id, "Sí").await, Err(ChannelError::TokenDead));
}
