//! Evaluates the alert rules that are due.

use std::{collections::BTreeSet, panic::AssertUnwindSafe, sync::Arc};

use domain::{
    AccountId, StoreError,
    accounts::{Account, AccountStore},
    alerts::{AlertEvaluator, ClaimedRule, Facts, Window, evaluate},
    daily::DailyStore,
};
use futures_util::{FutureExt, StreamExt, stream};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::{deliveries::Clock, jobs::roll_up_for, outage};

/// Accounts that are looked up at a time.
const ACCOUNTS: usize = 100;

/// How long the daily sums of an account are brought up to date, and then its rules evaluated, before it is the next account's
/// turn: what is done stays done, and the rest is gone on with in the next round.
const TURN: Duration = Duration::seconds(10);
/// Days that are summed up at a time.
const DAYS: usize = 7;

/// The ports that evaluation goes by.
#[derive(Clone)]
pub struct Deps {
    pub accounts: Arc<dyn AccountStore>,
    pub daily: Arc<dyn DailyStore>,
    pub rules: Arc<dyn AlertEvaluator>,
    pub clock: Clock,
}

/// What a round did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Round {
    pub evaluated: u64,
    pub fired: u64,
    /// Accounts whose rules could not all be evaluated; the rest of them is due in the next round.
    pub failed_accounts: u64,
}

/// Evaluates the rules that are due, of at most `at_once` accounts side by side: each account has one turn. A rule is
/// due again after `interval`. Any number of processes may do this: a rule is claimed by one of them.
///
/// # Errors
/// When the rules cannot be looked up. What fails for one account is logged, and the others go on.
pub async fn evaluate_due(deps: &Deps, interval: Duration, at_once: usize) -> Result<Round, StoreError> {
    let mut round = Round::default();
    let mut seen = BTreeSet::new();
    loop {
        // Those that have had their turn may still be due, and come first: they must not hide the others.
        let at_most = i64::try_from(ACCOUNTS + seen.len()).unwrap_or(i64::MAX);
        let due = deps.rules.due((deps.clock)(), at_most).await?;
        let new: Vec<AccountId> = due.into_iter().filter(|account| seen.insert(*account)).collect();
        if new.is_empty() {
            return Ok(round);
        }
        let turns = stream::iter(new)
            .map(|account| turn(deps.clone(), account, interval))
            .buffer_unordered(at_once.max(1))
            .collect::<Vec<_>>()
            .await;
        for Round { evaluated, fired, failed_accounts } in turns {
            round.evaluated += evaluated;
            round.fired += fired;
            round.failed_accounts += failed_accounts;
        }
    }
}

/// The turn of an account. A panic over its figures keeps no other from its own.
async fn turn(deps: Deps, account: AccountId, interval: Duration) -> Round {
    let mut round = Round::default();
    let span = tracing::error_span!("alerts", account_id = account.0);
    let evaluating = AssertUnwindSafe(evaluate_account(&deps, account, interval, &mut round));
    let evaluated = evaluating.catch_unwind().instrument(span.clone()).await;
    match evaluated {
        Ok(Ok(())) => return round,
        Ok(Err(error)) => span.in_scope(|| outage::warn(&error, "alert rules could not be evaluated")),
        Err(_) => span.in_scope(|| tracing::error!("the evaluation of alert rules panicked")),
    }
    round.failed_accounts += 1;
    round
}

async fn evaluate_account(
    deps: &Deps,
    account: AccountId,
    interval: Duration,
    round: &mut Round,
) -> Result<(), StoreError> {
    let Some(account) = deps.accounts.find(account).await? else { return Ok(()) };
    // Rules on days read the daily sums, which an import may have left behind. Where another process is bringing them up to
    // date, or it takes long, the rules stay due, and it is their turn again in the next round.
    if !roll_up_for(&*deps.daily, &account, &*deps.clock, DAYS, TURN).await? {
        tracing::info!("alert rules wait for daily sums");
        return Ok(());
    }
    // All rules look at the same instant, so that those with the same window share its facts.
    let now = (deps.clock)();
    let (mut known, mut first_failure) = (Vec::new(), None);
    while let Some(claimed) = deps.rules.take(account.id, now, interval).await? {
        match evaluate_rule(deps, &account, &claimed, now, &mut known, round).await {
            Ok(()) => {}
            Err(error @ StoreError::Unavailable(_)) => return Err(error),
            // The rule has been pushed on: it does not keep the others from their turn.
            Err(error) => {
                first_failure.get_or_insert(error);
            }
        }
        if (deps.clock)() - now >= TURN {
            tracing::debug!("the other alert rules of the account wait for its next turn");
            break;
        }
    }
    first_failure.map_or(Ok(()), Err)
}

/// Evaluates a rule by the facts of its window, which are among the `known` ones afterwards.
async fn evaluate_rule(
    deps: &Deps,
    account: &Account,
    claimed: &ClaimedRule,
    now: OffsetDateTime,
    known: &mut Vec<(Window, Facts)>,
    round: &mut Round,
) -> Result<(), StoreError> {
    let rule = &claimed.rule;
    let window = rule.terms.window(&account.timezone, now);
    let found = known.iter().find(|(of, _)| *of == window).map(|(_, facts)| facts.clone());
    let facts = match found {
        Some(facts) => facts,
        None => {
            let facts = deps.rules.facts(account.id, window.clone()).await?;
            known.push((window, facts.clone()));
            facts
        }
    };
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
    use std::sync::Mutex;

    use async_trait::async_trait;
    use domain::{
        accounts::MockAccountStore,
        alerts::{Comparator, Evaluation, MockAlertEvaluator, Rule, RuleState, Terms, UncheckedTerms},
        daily::MockDailyStore,
        insights::Severity,
    };
    use rust_decimal::{Decimal, dec};
    use time::macros::datetime;
    use tokio::sync::Barrier;

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

    fn deps(rules: impl AlertEvaluator + 'static) -> Deps {
        let mut accounts = MockAccountStore::new();
        accounts.expect_find().returning(|id| Ok(Some(account(id.0))));
        let mut daily = MockDailyStore::new();
        daily.expect_roll_up_step().returning(|_, _, _, _, _| Ok(Some(true)));
        let clock: Clock = Arc::new(|| NOW);
        Deps { accounts: Arc::new(accounts), daily: Arc::new(daily), rules: Arc::new(rules), clock }
    }

    async fn round(deps: &Deps) -> Round {
        evaluate_due(deps, Duration::minutes(5), 1).await.unwrap()
    }

    /// A rule that fires from the first order on, of a window that no other has.
    fn claimed(id: i64) -> ClaimedRule {
        let terms = Terms::new(UncheckedTerms {
            name: "orders".into(),
            metric: "orders".parse().unwrap(),
            comparator: Comparator::Gte,
            threshold: dec!(1),
            window_hours: id + 1,
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
        let round = round(&deps(rules)).await;
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
        let round = round(&deps(rules)).await;
        assert_eq!(round, Round { evaluated: 2, fired: 2, failed_accounts: 1 });
    }

    #[tokio::test]
    async fn an_account_that_is_rolled_up_elsewhere_is_left_to_the_next_round_and_the_others_go_on() {
        let mut rules = rules(&[(1, 1), (2, 1)]);
        rules.expect_facts().withf(|account, _| *account == AccountId(2)).times(1).returning(|_, _| Ok(orders(0)));
        rules.expect_settle().times(1).returning(|_, _, _, _| Ok(true));
        let mut daily = MockDailyStore::new();
        daily.expect_roll_up_step().returning(|account, _, _, _, _| Ok((account != AccountId(1)).then_some(true)));
        let deps = Deps { daily: Arc::new(daily), ..deps(rules) };
        let round = round(&deps).await;
        assert_eq!(round, Round { evaluated: 1, fired: 0, failed_accounts: 0 });
    }

    #[tokio::test]
    async fn a_panic_over_one_account_keeps_no_other_from_its_turn() {
        let mut rules = rules(&[(1, 1), (2, 1)]);
        let of = |id| move |account: &AccountId, _: &Window| *account == AccountId(id);
        rules.expect_facts().withf(of(1)).returning(|_, _| panic!("a defect that its figures meet"));
        rules.expect_facts().withf(of(2)).returning(|_, _| Ok(orders(0)));
        rules.expect_settle().times(1).returning(|_, _, _, _| Ok(true));
        let round = round(&deps(rules)).await;
        assert_eq!(round, Round { evaluated: 1, fired: 0, failed_accounts: 1 });
    }

    #[tokio::test]
    async fn without_a_database_an_account_is_left_at_once() {
        let mut rules = rules(&[(1, 2)]);
        rules.expect_facts().times(1).returning(|_, _| Err(StoreError::Unavailable("gone".into())));
        let round = round(&deps(rules)).await;
        assert_eq!(round.failed_accounts, 1);
    }

    #[tokio::test]
    async fn an_account_has_a_turn_of_limited_length_and_the_rest_of_its_rules_stay_due() {
        let mut rules = rules(&[(1, 5), (2, 1)]);
        let time = Arc::new(Mutex::new(NOW));
        let passing = time.clone();
        rules.expect_facts().returning(move |account, _| {
            if account == AccountId(1) {
                *passing.lock().unwrap() += Duration::seconds(6);
            }
            Ok(orders(0))
        });
        rules.expect_settle().returning(|_, _, _, _| Ok(true));
        let deps = Deps { clock: Arc::new(move || *time.lock().unwrap()), ..deps(rules) };
        let rounds = [round(&deps).await, round(&deps).await, round(&deps).await, round(&deps).await];
        assert_eq!(rounds.map(|round| round.evaluated), [2 + 1, 2, 1, 0]);
    }

    #[tokio::test]
    async fn daily_sums_that_take_long_are_gone_on_with_in_the_next_round() {
        let mut rules = rules(&[(1, 1), (2, 1)]);
        rules.expect_facts().returning(|_, _| Ok(orders(0)));
        rules.expect_settle().returning(|_, _, _, _| Ok(true));
        let time = Arc::new(Mutex::new(NOW));
        let (passing, mut weeks) = (time.clone(), 3);
        let mut daily = MockDailyStore::new();
        daily.expect_roll_up_step().returning(move |account, _, _, days, _| {
            assert_eq!(days, 7);
            if account == AccountId(2) {
                return Ok(Some(true));
            }
            *passing.lock().unwrap() += Duration::seconds(6);
            weeks -= 1;
            Ok(Some(weeks == 0))
        });
        let deps = Deps { clock: Arc::new(move || *time.lock().unwrap()), daily: Arc::new(daily), ..deps(rules) };
        let rounds = [round(&deps).await, round(&deps).await, round(&deps).await];
        assert_eq!(rounds.map(|round| round.evaluated), [1, 1, 0]);
    }

    #[tokio::test]
    async fn rules_with_the_same_window_share_its_facts() {
        let mut rules = MockAlertEvaluator::new();
        rules.expect_due().returning(|_, _| Ok(vec![AccountId(1)]));
        let mut left = vec![claimed(7), claimed(3), claimed(3)];
        rules.expect_take().returning(move |_, _, _| Ok(left.pop()));
        let hours = |hours| {
            move |_: &AccountId, window: &Window| {
                *window == Window::Orders { since: NOW - Duration::hours(hours), until: NOW }
            }
        };
        rules.expect_facts().withf(hours(4)).times(1).returning(|_, _| Ok(orders(1)));
        rules.expect_facts().withf(hours(8)).times(1).returning(|_, _| Ok(orders(0)));
        rules.expect_settle().times(3).returning(|_, _, _, _| Ok(true));
        assert_eq!(round(&deps(rules)).await, Round { evaluated: 3, fired: 2, failed_accounts: 0 });
    }

    #[tokio::test]
    async fn accounts_that_stay_due_hide_no_others() {
        const LOCKED: i64 = 100;
        let mut rules = MockAlertEvaluator::new();
        rules.expect_due().returning(|_, limit| Ok((1..=limit.min(LOCKED + 3)).map(AccountId).collect()));
        let mut taken = BTreeSet::new();
        rules.expect_take().returning(move |account, _, _| Ok(taken.insert(account).then(|| claimed(1))));
        rules.expect_facts().returning(|_, _| Ok(orders(0)));
        rules.expect_settle().returning(|_, _, _, _| Ok(true));
        let mut daily = MockDailyStore::new();
        daily.expect_roll_up_step().returning(|account, _, _, _, _| Ok((account.0 > LOCKED).then_some(true)));
        let deps = Deps { daily: Arc::new(daily), ..deps(rules) };
        assert_eq!(round(&deps).await.evaluated, 3);
    }

    /// Rules whose facts are told to two accounts at a time.
    struct InPairs {
        rules: MockAlertEvaluator,
        pair: Barrier,
    }

    #[async_trait]
    impl AlertEvaluator for InPairs {
        async fn due(&self, now: OffsetDateTime, limit: i64) -> Result<Vec<AccountId>, StoreError> {
            self.rules.due(now, limit).await
        }

        async fn take(
            &self,
            account: AccountId,
            now: OffsetDateTime,
            interval: Duration,
        ) -> Result<Option<ClaimedRule>, StoreError> {
            self.rules.take(account, now, interval).await
        }

        async fn facts(&self, _: AccountId, _: Window) -> Result<Facts, StoreError> {
            self.pair.wait().await;
            Ok(orders(0))
        }

        async fn settle(
            &self,
            account: AccountId,
            claimed: &ClaimedRule,
            evaluation: Evaluation,
            now: OffsetDateTime,
        ) -> Result<bool, StoreError> {
            self.rules.settle(account, claimed, evaluation, now).await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn accounts_are_evaluated_side_by_side() {
        let mut rules = rules(&[(1, 1), (2, 1), (3, 1), (4, 1)]);
        rules.expect_settle().times(4).returning(|_, _, _, _| Ok(true));
        let deps = deps(InPairs { rules, pair: Barrier::new(2) });
        let evaluated = evaluate_due(&deps, Duration::minutes(5), 2);
        let round = tokio::time::timeout(std::time::Duration::from_mins(1), evaluated).await;
        assert_eq!(round.expect("two at a time").unwrap().evaluated, 4);
    }
}
