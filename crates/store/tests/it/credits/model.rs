//! The ledger against a model of a few lines: random operations, repetitions of earlier ones under the same key, and
//! calls that die half-way and are made again.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use domain::{
    AccountId,
    credits::{Adjust, CreditAmount, CreditLedger, DebitError, Grant, PostError, RefundError},
};
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::Map;
use tokio_postgres::Client;

use super::books::{account, books, debit, key, refund};
use crate::{
    database::{Database, fresh},
    webhook_fixture::START,
};

/// What is done. Keys are small numbers, so that they are used again: for the same operation and for others.
#[derive(Debug, Clone)]
enum Step {
    Debit {
        key: u8,
        amount: i64,
    },
    Refund {
        debit: u8,
        key: u8,
    },
    Grant {
        key: u8,
        amount: i64,
    },
    Adjust {
        key: u8,
        amount: i64,
        take: bool,
    },
    /// A debit that is given up after some polls, and made again.
    Killed {
        key: u8,
        amount: i64,
        polls: u8,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (key, amount) = (0..24u8, 1..60i64);
    prop_oneof![
        4 => (key.clone(), amount.clone()).prop_map(|(key, amount)| Step::Debit { key, amount }),
        3 => (key.clone(), key.clone()).prop_map(|(debit, key)| Step::Refund { debit, key }),
        1 => (key.clone(), amount.clone()).prop_map(|(key, amount)| Step::Grant { key, amount }),
        1 => (key.clone(), amount.clone(), any::<bool>())
            .prop_map(|(key, amount, take)| Step::Adjust { key, amount, take }),
        2 => (key, amount, 0..12u8).prop_map(|(key, amount, polls)| Step::Killed { key, amount, polls }),
    ]
}

/// What was done under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Debit(i64),
    Refund(u8),
    Grant(i64),
    Adjust(i64),
}

/// What a step must have led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Posted { balance_after: i64 },
    Insufficient(i64),
    KeyReused,
    UnknownDebit,
    AlreadyRefunded,
}

#[derive(Default)]
struct Model {
    balance: i64,
    spent: i64,
    done: BTreeMap<u8, (Done, i64)>,
}

impl Model {
    fn write(&mut self, key: u8, done: Done, change: i64) -> Outcome {
        match self.done.get(&key) {
            Some((same, balance_after)) if *same == done => Outcome::Posted { balance_after: *balance_after },
            Some(_) => Outcome::KeyReused,
            None if self.balance + change < 0 => Outcome::Insufficient(self.balance),
            None => {
                self.balance += change;
                self.done.insert(key, (done, self.balance));
                Outcome::Posted { balance_after: self.balance }
            }
        }
    }

    fn take(&mut self, step: &Step) -> Outcome {
        match *step {
            Step::Debit { key, amount } | Step::Killed { key, amount, .. } => {
                let outcome = self.write(key, Done::Debit(amount), -amount);
                self.spent = self.spent();
                outcome
            }
            Step::Grant { key, amount } => self.write(key, Done::Grant(amount), amount),
            Step::Adjust { key, amount, take } => {
                let amount = if take { -amount } else { amount };
                self.write(key, Done::Adjust(amount), amount)
            }
            Step::Refund { debit, key } => {
                let Some((Done::Debit(amount), _)) = self.done.get(&debit).copied() else {
                    return Outcome::UnknownDebit;
                };
                let by = self.done.iter().find(|(_, (done, _))| *done == Done::Refund(debit)).map(|(by, _)| *by);
                if by.is_some_and(|by| by != key) && !self.done.contains_key(&key) {
                    return Outcome::AlreadyRefunded;
                }
                let outcome = self.write(key, Done::Refund(debit), amount);
                self.spent = self.spent();
                outcome
            }
        }
    }

    fn spent(&self) -> i64 {
        let of = |done: &Done| match done {
            Done::Debit(amount) => *amount,
            Done::Refund(debit) => match self.done.get(debit) {
                Some((Done::Debit(amount), _)) => -amount,
                _ => 0,
            },
            Done::Grant(_) | Done::Adjust(_) => 0,
        };
        self.done.values().map(|(done, _)| of(done)).sum()
    }
}

/// Drives the future for some polls and drops it, as a process that dies does.
async fn killed(future: impl Future<Output = ()>, polls: u8) {
    let mut future = pin!(future);
    for _ in 0..polls {
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(()) {
            return;
        }
        // The connection's own task has to get somewhere in between.
        tokio::time::sleep(std::time::Duration::from_micros(300)).await;
    }
}

async fn take(db: &Database, payer: AccountId, step: &Step) -> Outcome {
    let amount = |amount: i64| CreditAmount::new(amount).unwrap();
    let named = |key: u8| format!("op-{key}");
    match *step {
        Step::Killed { key, amount, polls } => {
            let dying = async {
                let _lost = db.store.debit(debit(payer, amount, &named(key)), START).await;
            };
            killed(dying, polls).await;
            debited(db.store.debit(debit(payer, amount, &named(key)), START).await)
        }
        Step::Debit { key, amount } => debited(db.store.debit(debit(payer, amount, &named(key)), START).await),
        Step::Refund { debit, key } => match db.store.refund(refund(payer, &named(debit), &named(key)), START).await {
            Ok(written) => Outcome::Posted { balance_after: written.balance_after },
            Err(RefundError::UnknownDebit) => Outcome::UnknownDebit,
            Err(RefundError::AlreadyRefunded { .. }) => Outcome::AlreadyRefunded,
            Err(RefundError::KeyReused) => Outcome::KeyReused,
            Err(RefundError::Store(error)) => panic!("{error}"),
        },
        Step::Grant { key: number, amount: credits } => {
            let (amount, key) = (amount(credits), key(named(number)));
            posted(db.store.grant(Grant { account: payer, amount, key, meta: Map::new() }, START).await)
        }
        Step::Adjust { key: number, amount: credits, take } => {
            let (amount, key) = (amount(credits), key(named(number)));
            posted(db.store.adjust(Adjust { account: payer, amount, take, key, meta: Map::new() }, START).await)
        }
    }
}

fn debited(result: Result<domain::credits::Transaction, DebitError>) -> Outcome {
    match result {
        Ok(written) => Outcome::Posted { balance_after: written.balance_after },
        Err(DebitError::Insufficient { balance }) => Outcome::Insufficient(balance),
        Err(DebitError::KeyReused) => Outcome::KeyReused,
        Err(error) => panic!("{error}"),
    }
}

fn posted(result: Result<domain::credits::Transaction, PostError>) -> Outcome {
    match result {
        Ok(written) => Outcome::Posted { balance_after: written.balance_after },
        Err(PostError::Insufficient { balance }) => Outcome::Insufficient(balance),
        Err(PostError::KeyReused) => Outcome::KeyReused,
        Err(error) => panic!("{error}"),
    }
}

async fn agrees(sql: &Client, payer: AccountId, model: &Model) {
    let books = books(sql, payer).await;
    let rows = i64::try_from(model.done.len()).unwrap();
    assert_eq!((books.balance, books.spent, books.rows), (model.balance, model.spent, rows));
}

#[test]
fn the_ledger_does_what_the_model_does() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let db = runtime.block_on(fresh());
    let mut runner = TestRunner::new(ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() });
    let cases = runner.run(&prop::collection::vec(step(), 1..40), |steps| {
        runtime.block_on(async {
            let (payer, mut model) = (account(&db.sql, 0).await, Model::default());
            for step in steps {
                let outcome = take(&db, payer, &step).await;
                prop_assert_eq!(outcome, model.take(&step), "{:?}", step);
            }
            agrees(&db.sql, payer, &model).await;
            Ok(())
        })
    });
    // The database is dropped by a client that needs the runtime.
    runtime.block_on(async { drop(db) });
    cases.unwrap();
}
