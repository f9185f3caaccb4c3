//! Evaluates the alert rules that are due.

use std::{collections::BTreeSet, panic::AssertUnwindSafe, sync::Arc};

use domain::{
    AccountId, StoreError,
    accounts::{Account, AccountStore},
    alerts::{AlertEvaluator, ClaimedRule, evaluate},
    daily::DailyStore,
};
use futures_util::FutureExt;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::outage;

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
/// side by side: a rule is claimed by one of them.
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
            match evaluated.catch_unwind().instrument(span.clone()).await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => span.in_scope(|| outage::warn(&error, "alert rules could not be evaluated")),
                Err(_) => span.in_scope(|| tracing::error!("the evaluation of alert rules panicked")),
            }
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
    let Some(account) = deps.accounts.find(account).await? else { return Ok(()) };
    // Rules on days read the daily sums, which an import may have left behind. Where another process is bringing them up to
    // date, the rules stay due, and it is their turn again in the next round.
    if deps.daily.roll_up(account.id, &account.timezone, now).await?.is_none() {
        tracing::debug!("alert rules wait for a roll-up that is under way");
        return Ok(());
    }
    let mut first_failure = None;
    while let Some(claimed) = deps.rules.take(account.id, now, interval).await? {
        match evaluate_rule(deps, &account, &claimed, now, round).await {
            Ok(()) => {}
            Err(error @ StoreError::Unavailable(_)) => return Err(error),
            // The rule has been pushed on: it does not keep the others from their turn.
            Err(error) => {
                first_failure.get_or_insert(error);
            }
        }
    }
    first_failure.map_or(Ok(()), Err)
}

async fn evaluate_rule(
    deps: &Deps,
    account: &Account,
    claimed: &ClaimedRule,
    now: OffsetDateTime,
    round: &mut Round,
) -> Result<(), StoreError> {
    let rule = &claimed.rule;
    let facts = deps.rules.facts(account.id, rule.terms.window(&account.timezone, now)).await?;
    let evaluation = evaluate(rule, &facts, account.currency, now);
    let (observed, fired) = (evaluation.observed, evaluation.fired.is_some());
    if !deps.rules.settle(account.id, claimed, evaluation, now).await? {
        return Ok(());
    }
    round.evaluated += 1;
    round.fired += u64::from(fired);
    if fired {
        let observed = observed.map(tracing::field::display);
        tracing::info!(rule = rule.id.0, observed, "alert fired");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::{
        accounts::MockAccountStore,
        alerts::{Comparator, Facts, MockAlertEvaluator, Rule, RuleState, Terms, UncheckedTerms, Window},
        daily::{MockDailyStore, RollUp},
        insights::Severity,
    };
    use rust_decimal::{Decimal, dec};
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
            locale: domain::texts::Locale::ENGLISH,
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

    /// A rule that fires from the first order of the hour on.
    fn claimed(id: i64) -> ClaimedRule {
        let terms = Terms::new(UncheckedTerms {
            name: "orders".into(),
            metric: "orders".parse().unwrap(),
            comparator: Comparator::Gte,
            threshold: dec!(1),
            window_hours: 1,
            severity: Severity::Low,
            cooldown_hours: 0,
        })
        .unwrap();
        let (state, at) = (RuleState::NEW, NOW - Duration::DAY);
        let rule = Rule {
            id: domain::RuleId(id),
            terms,
            active: true,
            state,
            last_evaluated_at: None,
            created_at: at,
            updated_at: at,
        };
        ClaimedRule { rule, due_at: NOW + Duration::minutes(5) }
    }

    fn orders(orders: i64) -> Facts {
        Facts::Orders { gross_revenue: Decimal::from(orders), orders, refunds: dec!(0), any_order: true }
    }

    /// Accounts with their numbers of rules, which no other process takes.
    fn rules(of: &'static [(i64, i64)]) -> MockAlertEvaluator {
        let mut rules = MockAlertEvaluator::new();
        rules.expect_due().returning(|_, _| Ok(of.iter().map(|(account, _)| AccountId(*account)).collect()));
        let mut left: std::collections::BTreeMap<i64, i64> = of.iter().copied().collect();
        rules.expect_take().returning(move |account, _, _| {
            let left = left.get_mut(&account.0).unwrap();
            *left -= 1;
            Ok((*left >= 0).then(|| claimed(*left)))
        });
        rules
    }

    #[tokio::test]
    async fn a_rule_fires_by_the_facts_of_its_window_unless_it_was_settled_elsewhere() {
        let mut rules = rules(&[(1, 3)]);
        let mut counts = [0, 1, 1].into_iter();
        rules.expect_facts().returning(move |_, _| Ok(orders(counts.next().unwrap())));
        rules
            .expect_settle()
            .withf(|account, claimed, evaluation, now| {
                let fired = evaluation.fired.as_ref().map(|event| event.rule_id);
                let expected = if claimed.rule.id.0 == 2 {
                    (Some(dec!(0)), None)
                } else {
                    (Some(dec!(1)), Some(claimed.rule.id.0))
                };
                *account == AccountId(1) && *now == NOW && (evaluation.observed, fired) == expected
            })
            .times(3)
            .returning(|_, claimed, _, _| Ok(claimed.rule.id.0 != 0));
        let round = evaluate_due(&deps(rules), Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round, Round { evaluated: 2, fired: 1, failed_accounts: 0 });
    }

    #[tokio::test]
    async fn a_rule_that_fails_keeps_neither_its_account_nor_others_from_theirs() {
        let mut rules = rules(&[(1, 2), (2, 1)]);
        let mut first = true;
        rules.expect_facts().times(3).returning(move |_, _| {
            if std::mem::take(&mut first) { Err(StoreError::Internal("broken".into())) } else { Ok(orders(1)) }
        });
        rules.expect_settle().times(2).returning(|_, _, _, _| Ok(true));
        let round = evaluate_due(&deps(rules), Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round, Round { evaluated: 2, fired: 2, failed_accounts: 1 });
    }

    #[tokio::test]
    async fn an_account_that_is_rolled_up_elsewhere_is_left_to_the_next_round_and_the_others_go_on() {
        let mut rules = rules(&[(1, 1), (2, 1)]);
        rules.expect_facts().withf(|account, _| *account == AccountId(2)).times(1).returning(|_, _| Ok(orders(0)));
        rules.expect_settle().times(1).returning(|_, _, _, _| Ok(true));
        let mut daily = MockDailyStore::new();
        daily.expect_roll_up().returning(|account, _, _| Ok((account != AccountId(1)).then(RollUp::default)));
        let deps = Deps { daily: Arc::new(daily), ..deps(rules) };
        let round = evaluate_due(&deps, Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round, Round { evaluated: 1, fired: 0, failed_accounts: 0 });
    }

    #[tokio::test]
    async fn a_panic_over_one_account_keeps_no_other_from_its_turn() {
        let mut rules = rules(&[(1, 1), (2, 1)]);
        let of = |id| move |account: &AccountId, _: &Window| *account == AccountId(id);
        rules.expect_facts().withf(of(1)).returning(|_, _| panic!("a defect that its figures meet"));
        rules.expect_facts().withf(of(2)).returning(|_, _| Ok(orders(0)));
        rules.expect_settle().times(1).returning(|_, _, _, _| Ok(true));
        let round = evaluate_due(&deps(rules), Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round, Round { evaluated: 1, fired: 0, failed_accounts: 1 });
    }

    #[tokio::test]
    async fn without_a_database_an_account_is_left_at_once() {
        let mut rules = rules(&[(1, 2)]);
        rules.expect_facts().times(1).returning(|_, _| Err(StoreError::Unavailable("gone".into())));
        let round = evaluate_due(&deps(rules), Duration::minutes(5), NOW).await.unwrap();
        assert_eq!(round.failed_accounts, 1);
    }
}
