//! Evaluates the alert rules that are due.

use std::{collections::BTreeSet, panic::AssertUnwindSafe, sync::Arc};

use domain::{
    AccountId, StoreError,
    accounts::AccountStore,
    alerts::{AlertEvaluator, Evaluated},
    daily::DailyStore,
    error::Chain,
};
use futures_util::FutureExt;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

/// Accounts that are looked up at a time.
const ACCOUNTS: i64 = 100;

/// The ports that evaluation goes by.
#[derive(Clone)]
pub struct Deps {
    pub accounts: Arc<dyn AccountStore>,
    pub daily: Arc<dyn DailyStore>,
    pub rules: Arc<dyn AlertEvaluator>,
}

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Round {
    pub evaluated: u64,
    pub fired: u64,
    /// Accounts whose rules could not all be evaluated; the rest of them is due in the next round.
    pub failed_accounts: u64,
}

/// Evaluates every rule that is due at `now`; each is due again after `interval`. Any number of processes may do this
/// side by side: a rule is taken by one of them.
///
/// # Errors
/// When the rules cannot be looked up. What fails for one account is logged, and the others go on.
pub async fn evaluate_due(deps: &Deps, interval: Duration, now: OffsetDateTime) -> Result<Round, StoreError> {
    let mut round = Round::default();
    let mut seen = BTreeSet::new();
    loop {
        let due = deps.rules.due(now, ACCOUNTS).await?;
        let new: Vec<AccountId> = due.into_iter().filter(|account| seen.insert(*account)).collect();
        if new.is_empty() {
            return Ok(round);
        }
        for account in new {
            // A panic over the figures of one account keeps no other from its turn.
            let span = tracing::error_span!("alerts", account_id = account.0);
            let evaluated = AssertUnwindSafe(evaluate_account(deps, account, interval, now, &mut round));
            let error = match evaluated.catch_unwind().instrument(span.clone()).await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => Chain(&error).to_string(),
                Err(_) => "the evaluation panicked".to_owned(),
            };
            span.in_scope(|| tracing::error!(error, "alert rules could not be evaluated"));
            round.failed_accounts += 1;
        }
    }
}

async fn evaluate_account(
    deps: &Deps,
    account: AccountId,
    interval: Duration,
    now: OffsetDateTime,
    round: &mut Round,
) -> Result<(), StoreError> {
    // Rules on days read the daily sums, which an import may have left behind. Where somebody else is bringing them up to
    // date, the rules stay due, and it is their turn again in the next round.
    if let Some(found) = deps.accounts.find(account).await?
        && deps.daily.roll_up(account, &found.timezone, now).await?.is_none()
    {
        tracing::debug!("alert rules wait for a roll-up that is under way");
        return Ok(());
    }
    let mut first_failure = None;
    loop {
        match deps.rules.evaluate_one(account, now, interval).await {
            Ok(None) => return first_failure.map_or(Ok(()), Err),
            Ok(Some(Evaluated { rule, observed, fired, .. })) => {
                round.evaluated += 1;
                round.fired += u64::from(fired);
                if fired {
                    tracing::info!(rule, observed = observed.map(tracing::field::display), "alert fired");
                }
            }
            Err(error @ StoreError::Unavailable(_)) => return Err(error),
            // The rule has been pushed on: it does not keep the others from their turn.
            Err(error) => {
                first_failure.get_or_insert(error);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use domain::{
        accounts::MockAccountStore,
        alerts::MockAlertEvaluator,
        daily::{MockDailyStore, RollUp},
    };
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-03-02 02:30 UTC);

    fn account(id: i64) -> domain::accounts::Account {
        domain::accounts::Account {
            id: AccountId(id),
            user_id: "user_000000000000000000000000".parse().unwrap(),
            mode: domain::accounts::Mode::Live,
            name: "shop".into(),
            plan: domain::accounts::Plan::Free,
            currency: "BRL".parse().unwrap(),
            timezone: "America/Sao_Paulo".parse().unwrap(),
            holiday_country: None,
            created_at: NOW,
        }
    }

    fn deps(rules: MockAlertEvaluator) -> Deps {
        let mut accounts = MockAccountStore::new();
        accounts.expect_find().returning(|id| Ok(Some(account(id.0))));
        let mut daily = MockDailyStore::new();
        daily.expect_roll_up().returning(|_, _, _| Ok(Some(RollUp::default())));
        Deps { accounts: Arc::new(accounts), daily: Arc::new(daily), rules: Arc::new(rules) }
    }

    fn seen(account: AccountId, rule: i64, fired: bool) -> Evaluated {
        Evaluated { account, rule, observed: None, fired }
    }

    #[tokio::test]
    async fn a_rule_that_fails_keeps_neither_its_account_nor_others_from_theirs() {
        let mut rules = MockAlertEvaluator::new();
        rules.expect_due().returning(|_, _| Ok(vec![AccountId(1), AccountId(2)]));
        let mut calls = 0;
        rules.expect_evaluate_one().times(5).returning(move |account, _, _| {
            calls += 1;
            match calls {
                1 => Err(StoreError::Internal("broken".into())),
                2 | 4 => Ok(Some(seen(account, calls, calls == 4))),
                _ => Ok(None),
            }
        });
        let round = evaluate_due(&deps(rules), Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round, Round { evaluated: 2, fired: 1, failed_accounts: 1 });
    }

    #[tokio::test]
    async fn an_account_that_is_rolled_up_elsewhere_is_left_to_the_next_round_and_the_others_go_on() {
        let mut rules = MockAlertEvaluator::new();
        rules.expect_due().returning(|_, _| Ok(vec![AccountId(1), AccountId(2)]));
        let mut calls = 0;
        rules.expect_evaluate_one().withf(|account, _, _| *account == AccountId(2)).times(2).returning(
            move |account, _, _| {
                calls += 1;
                Ok((calls == 1).then(|| seen(account, 1, false)))
            },
        );
        let mut daily = MockDailyStore::new();
        daily.expect_roll_up().returning(|account, _, _| Ok((account != AccountId(1)).then(RollUp::default)));
        let deps = Deps { daily: Arc::new(daily), ..deps(rules) };
        let round = evaluate_due(&deps, Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round, Round { evaluated: 1, fired: 0, failed_accounts: 0 });
    }

    #[tokio::test]
    async fn a_panic_over_one_account_keeps_no_other_from_its_turn() {
        let mut rules = MockAlertEvaluator::new();
        rules.expect_due().returning(|_, _| Ok(vec![AccountId(1), AccountId(2)]));
        let of = |id| move |account: &AccountId, _: &OffsetDateTime, _: &Duration| *account == AccountId(id);
        rules.expect_evaluate_one().withf(of(1)).returning(|_, _, _| panic!("a defect that its figures meet"));
        let mut evaluated = false;
        rules.expect_evaluate_one().withf(of(2)).returning(move |account, _, _| {
            Ok((!std::mem::replace(&mut evaluated, true)).then(|| seen(account, 1, false)))
        });
        let round = evaluate_due(&deps(rules), Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round, Round { evaluated: 1, fired: 0, failed_accounts: 1 });
    }

    #[tokio::test]
    async fn without_a_database_an_account_is_left_at_once() {
        let mut rules = MockAlertEvaluator::new();
        rules.expect_due().returning(|_, _| Ok(vec![AccountId(1)]));
        rules.expect_evaluate_one().times(1).returning(|_, _, _| Err(StoreError::Unavailable("gone".into())));
        let round = evaluate_due(&deps(rules), Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round.failed_accounts, 1);
    }
}
