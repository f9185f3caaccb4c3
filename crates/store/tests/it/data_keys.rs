//! What the database remembers of its data keys, and which of them are in use.

use domain::data_keys::{DataKeyStore, KeyCheck, RecordedKey, SealedColumn};

use crate::{
    database::fresh,
    webhook_fixture::{Fixture, START},
};

fn check(id: &str, value: u8) -> KeyCheck {
    KeyCheck { id: id.to_owned(), value: vec![value; 32] }
}

#[tokio::test]
async fn of_processes_that_record_different_keys_under_an_id_at_once_the_first_stands() {
    let db = fresh().await;
    let recording = (1..=8).map(|value| {
        let store = db.store.clone();
        tokio::spawn(async move { store.record(&[check("a", value), check("b", value)], START).await.unwrap() })
    });
    futures_util::future::join_all(recording).await.into_iter().for_each(Result::unwrap);
    let recorded = db.store.recorded().await.unwrap();
    assert_eq!(recorded.iter().map(|key| key.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    db.store.record(&[check("a", 99)], START).await.unwrap();
    assert_eq!(db.store.recorded().await.unwrap(), recorded);
}

#[tokio::test]
async fn a_key_that_was_given_up_unseen_is_known_once_it_turns_up() {
    let db = fresh().await;
    db.store.give_up("a", START).await.unwrap();
    let lost = RecordedKey { id: "a".to_owned(), check: None, is_lost: true };
    assert_eq!(db.store.recorded().await.unwrap(), [lost]);
    db.store.record(&[check("a", 1)], START).await.unwrap();
    let known = RecordedKey { id: "a".to_owned(), check: Some(vec![1; 32]), is_lost: false };
    assert_eq!(db.store.recorded().await.unwrap(), std::slice::from_ref(&known));
    // Given up, it is still told from another one under its id.
    db.store.give_up("a", START).await.unwrap();
    assert_eq!(db.store.recorded().await.unwrap(), [RecordedKey { is_lost: true, ..known }]);
}

/// The head of a sealed value: version, length of the id, id.
fn sealed(id: &str) -> Vec<u8> {
    [&[1, u8::try_from(id.len()).unwrap()], id.as_bytes(), b"nonce and text"].concat()
}

#[tokio::test]
async fn the_keys_of_live_secrets_are_in_use_whoever_they_belong_to() {
    let fixture = Fixture::new().await;
    let mut ids = Vec::new();
    // The last one keeps the fixture's secret, which is none.
    for _ in 0..6 {
        let account = fixture.account().await;
        ids.push((account, fixture.subscription(account, &["*"]).await));
    }
    let set = async |index: usize, columns: &str, secret: &[u8]| {
        let (account, id) = ids[index];
        let update = format!("UPDATE webhook_subscriptions SET {columns} WHERE account_id = $1 AND id = $2");
        // The secret is always the last column.
        let done = fixture.sql.execute(&update.replace("SECRET", "$3"), &[&account.0, &id, &secret]).await;
        assert_eq!(done.unwrap(), 1);
    };
    set(0, "sealed_secret = SECRET", &sealed("first")).await;
    set(1, "sealed_secret = SECRET", &sealed("second")).await;
    set(2, "sealed_secret = SECRET, revoked_at = now()", &sealed("revoked")).await;
    let previous = "previous_sealed_secret = SECRET, previous_expires_at = now()";
    set(3, "sealed_secret = SECRET", &sealed("first")).await;
    set(3, &format!("{previous} + interval '1 hour'"), &sealed("replaced")).await;
    set(4, "sealed_secret = SECRET", &sealed("first")).await;
    set(4, &format!("{previous} - interval '1 hour'"), &sealed("expired")).await;
    assert_eq!(fixture.store.used().await.unwrap(), ["first", "replaced", "second"]);

    let found = fixture.store.sealed_under("replaced", 10).await.unwrap();
    let [secret] = found.as_slice() else { panic!("{found:?}") };
    let place = (SealedColumn::PreviousWebhookSecret, ids[3].0, ids[3].1);
    assert_eq!((secret.column, secret.account, secret.row), place);
    assert_eq!(secret.sealed, sealed("replaced"));
    assert_eq!(fixture.store.sealed_under("first", 2).await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_keys_of_tokens_and_verifiers_are_in_use_and_each_is_sealed_again_in_its_place() {
    let fixture = Fixture::new().await;
    let account = fixture.account().await;
    let insert =
        "INSERT INTO integration_tokens (account_id, integration_id, generation, sealed_access, sealed_refresh)
        VALUES ($1, 7, 1, $2, $3)";
    fixture.sql.execute(insert, &[&account.0, &sealed("access"), &sealed("refresh")]).await.unwrap();
    let insert =
        "INSERT INTO oauth_states (account_id, state_hash, id, user_id, provider, redirect_uri, sealed_verifier,
            expires_at)
        VALUES ($1, sha256($2), $3, 'user', 'shopify', '', $2, now() + $4::text::interval)";
    for (id, key, left) in [(-5_i64, "verifier", "1 minute"), (9, "expired", "-1 minute")] {
        fixture.sql.execute(insert, &[&account.0, &sealed(key), &id, &left]).await.unwrap();
    }
    let insert = "INSERT INTO social_accounts (account_id, id, channel, external_id, sealed_token, connected_at)
        OVERRIDING SYSTEM VALUE VALUES ($1, 5, 'instagram', '1', $2, now())";
    fixture.sql.execute(insert, &[&account.0, &sealed("social")]).await.unwrap();
    assert_eq!(fixture.store.used().await.unwrap(), ["access", "refresh", "social", "verifier"]);
    for (column, row, key) in [
        (SealedColumn::ShopAccessToken, 7, "access"),
        (SealedColumn::ShopRefreshToken, 7, "refresh"),
        (SealedColumn::OauthVerifier, -5, "verifier"),
        (SealedColumn::SocialToken, 5, "social"),
    ] {
        let found = fixture.store.sealed_under(key, 10).await.unwrap();
        let [secret] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((secret.column, secret.account, secret.row), (column, account, row));
        assert_eq!(fixture.store.sealed(column, i64::MIN, 1).await.unwrap(), found);
        assert!(fixture.store.reseal(secret, sealed("new")).await.unwrap());
        assert!(!fixture.store.reseal(secret, sealed("late")).await.unwrap());
    }
    assert_eq!(fixture.store.used().await.unwrap(), ["new"]);
}
