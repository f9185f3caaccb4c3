use rstest::rstest;
use time::macros::datetime;

use super::*;

/// A question in the form of the documentation's sample, with an answer or none.
fn question(status: &str, answer: &str) -> Question {
    let sample = r#"{"date_created":"2021-02-16T14:50:27.938-04:00","item_id":"MLA903218023","seller_id":189394110,
        "status":"STATUS","text":"¿Tienen stock?","id":11764931832,"deleted_from_listing":false,"hold":false,
        "suspected_spam":false,"answer":ANSWER,"from":{"id":162981404}}"#;
    serde_json::from_str(&sample.replace("ANSWER", answer).replace("STATUS", status)).unwrap()
}

const ACTIVE: &str = r#"{"text":"Sí, hay.","status":"ACTIVE","date_created":"2021-02-16T14:52:13.580-04:00"}"#;
const BANNED: &str = r#"{"text":"","status":"BANNED","date_created":"2021-02-16T14:52:13.580-04:00"}"#;

#[test]
fn a_question_is_a_comment_on_its_listing() {
    let changes = changes(&question("UNANSWERED", "null"));
    let expected = Comment {
        external_id: "11764931832".to_owned(),
        post_id: Some("MLA903218023".to_owned()),
        ad_id: None,
        parent_id: None,
        author_id: Some("162981404".to_owned()),
        username: None,
        text: "¿Tienen stock?".to_owned(),
        is_hidden: false,
        posted_at: Some(datetime!(2021-02-16 18:50:27 UTC)),
    };
    assert_eq!(changes, [Change::Posted(expected)]);
}

#[rstest]
#[case(ACTIVE, "Sí, hay.", false)]
#[case(BANNED, "", true)]
fn an_answer_is_the_sellers_and_comes_after_its_question(
    #[case] answer: &str,
    #[case] text: &str,
    #[case] is_hidden: bool,
) {
    let found = changes(&question("ANSWERED", answer));
    let [Change::Posted(asked), Change::Posted(answered)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(answered.parent_id.as_ref(), Some(&asked.external_id));
    assert_eq!(
        (answered.external_id.as_str(), answered.author_id.as_deref()),
        ("answer/11764931832", Some("189394110"))
    );
    assert_eq!((answered.text.as_str(), answered.is_hidden), (text, is_hidden));
    let shown = shown(&question("ANSWERED", answer)).unwrap();
    assert_eq!((&shown.external_id, &shown.author_id), (&answered.external_id, &answered.author_id));
    assert_eq!(shown.posted_at, Some(datetime!(2021-02-16 18:52:13 UTC)));
}

#[rstest]
#[case("BANNED", Some(Change::Hidden("11764931832".into())))]
#[case("CLOSED_UNANSWERED", Some(Change::Hidden("11764931832".into())))]
#[case("DISABLED", Some(Change::Hidden("11764931832".into())))]
#[case("DELETED", Some(Change::Removed("11764931832".into())))]
#[case::may_be_shown_again("UNDER_REVIEW", None)]
#[case::no_page_names_it("SOMETHING_NEW", None)]
fn what_is_not_shown_is_answered_by_nobody(#[case] status: &str, #[case] change: Option<Change>) {
    let question = question(status, "null");
    assert_eq!(changes(&question), Vec::from_iter(change));
    assert!(comment(&question).is_hidden);
}

#[rstest]
#[case(ShopError::Unauthorized, ChannelError::TokenDead)]
#[case(ShopError::Rejected("400: not_unanswered_question".into()), ChannelError::Answered)]
#[case(ShopError::Rejected("403: forbidden".into()), ChannelError::Forbidden)]
#[case(ShopError::Rejected("400: not_active_item".into()), ChannelError::Rejected("400: not_active_item".into()))]
#[case(ShopError::NotFound, ChannelError::NotFound)]
#[case(ShopError::Suspended, ChannelError::Unavailable(ShopError::Suspended.to_string()))]
fn a_failure_says_whether_sending_again_may_help(#[case] error: ShopError, #[case] expected: ChannelError) {
    let may_pass = matches!(error, ShopError::Suspended);
    assert_eq!((failed(error), expected.may_pass()), (expected, may_pass));
}

#[test]
fn a_page_is_the_sellers_and_ends_at_what_is_old() {
    let record = |id: u32, seller: u32, at: &str| {
        RawValue::from_string(format!(
            r#"{{"id":{id},"seller_id":{seller},"status":"UNANSWERED","date_created":"{at}"}}"#
        ))
        .unwrap()
    };
    let bad = RawValue::from_string(r#"{"id":9,"seller_id":5}"#.to_owned()).unwrap();
    let (new, old) = ("2026-11-20T10:00:00Z", "2026-11-12T10:00:00Z");
    let oldest = datetime!(2026-11-13 10:00 UTC);
    let ids = |records: &[Box<RawValue>]| {
        let (questions, had_old) = recent(records, "5", oldest);
        (questions.into_iter().map(|question| question.id.0).collect::<Vec<_>>(), had_old)
    };
    assert_eq!(ids(&[record(1, 5, new), bad, record(2, 6, new)]), (vec!["1".to_owned()], false));
    assert_eq!(ids(&[record(1, 5, new), record(2, 5, old)]), (vec!["1".to_owned()], true));
}
