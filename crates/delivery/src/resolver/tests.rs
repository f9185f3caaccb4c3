use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::timeout;

use super::*;

/// Counts look-ups; names that start with `hang` are never answered, the first of `fail` fails, and of `panic` panics.
#[derive(Default)]
struct Counting {
    started: AtomicUsize,
}

#[async_trait]
impl Resolver for Counting {
    async fn resolve(&self, _: AccountId, name: &str) -> io::Result<Vec<IpAddr>> {
        let before = self.started.fetch_add(1, Ordering::SeqCst);
        tokio::task::yield_now().await;
        if name.starts_with("hang") {
            std::future::pending::<()>().await;
        }
        if name.starts_with("fail") && before == 0 {
            return Err(io::ErrorKind::NotFound.into());
        }
        assert!(!name.starts_with("panic") || before > 0, "made to panic by a test");
        Ok(vec![IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8))])
    }
}

const ONE: AccountId = AccountId(1);

fn bounded() -> (Arc<Counting>, BoundedResolver) {
    let counting = Arc::new(Counting::default());
    (counting.clone(), BoundedResolver::new(counting))
}

#[tokio::test(start_paused = true)]
async fn those_who_ask_at_once_share_a_look_up_and_its_answer_for_a_while() {
    let (counting, resolver) = bounded();
    let (first, second) = tokio::join!(resolver.resolve(ONE, "a.example"), resolver.resolve(ONE, "a.example"));
    assert_eq!(first.unwrap(), second.unwrap());
    resolver.resolve(ONE, "a.example").await.unwrap();
    assert_eq!(counting.started.load(Ordering::SeqCst), 1);
    tokio::time::advance(REUSE).await;
    resolver.resolve(ONE, "a.example").await.unwrap();
    assert_eq!(counting.started.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failure_is_not_remembered() {
    let (_, resolver) = bounded();
    assert_eq!(resolver.resolve(ONE, "fail.example").await.unwrap_err().kind(), io::ErrorKind::NotFound);
    assert!(resolver.resolve(ONE, "fail.example").await.is_ok());
}

#[tokio::test]
async fn a_name_whose_look_up_panicked_is_looked_up_again() {
    let (_, resolver) = bounded();
    assert!(resolver.resolve(ONE, "panic.example").await.is_err());
    assert!(resolver.resolve(ONE, "panic.example").await.is_ok());
}

/// Asks for that number of names that hang, for one account each or for one.
async fn ask_for_hanging(resolver: &BoundedResolver, names: usize, account: impl Fn(usize) -> AccountId) {
    for i in 0..names {
        let name = format!("hang-{i}.example");
        assert!(timeout(Duration::from_millis(10), resolver.resolve(account(i), &name)).await.is_err());
        assert!(timeout(Duration::from_millis(10), resolver.resolve(account(i), &name)).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn look_ups_that_hang_keep_their_places_and_are_no_more_than_those() {
    let (counting, resolver) = bounded();
    ask_for_hanging(&resolver, MAX_LOOKUPS + 20, |i| AccountId(i as i64)).await;
    assert_eq!(counting.started.load(Ordering::SeqCst), MAX_LOOKUPS);
}

#[tokio::test(start_paused = true)]
async fn an_account_has_a_share_of_the_places_and_holds_nobody_else_up() {
    let (counting, resolver) = bounded();
    ask_for_hanging(&resolver, MAX_LOOKUPS + 20, |_| ONE).await;
    assert_eq!(counting.started.load(Ordering::SeqCst), MAX_LOOKUPS_PER_ACCOUNT);
    // A name that waits for a place of the one is looked up for the other.
    assert!(timeout(Duration::from_millis(10), resolver.resolve(ONE, "a.example")).await.is_err());
    let other = timeout(Duration::from_millis(10), resolver.resolve(AccountId(2), "a.example")).await.unwrap();
    assert_eq!(other.unwrap().len(), 1);
    assert_eq!(lock(&resolver.known).places_of.keys().collect::<Vec<_>>(), [&ONE]);
}
