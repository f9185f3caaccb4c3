//! What to buy again, and how much.

mod reason;

#[cfg(test)]
pub(crate) use reason::tests::{PLAIN, say_all};
pub use reason::{Basis, Reason, SeasonOf, is_recommended, sells_at_a_loss};

use async_trait::async_trait;
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::{Date, Duration, OffsetDateTime};

use crate::{
    AccountId, InventoryItemId, ProductId, StoreError, SuggestionId,
    audit::Entry,
    freshness::Freshness,
    jobs::{Claim, WriteOutcome},
    money::Currency,
    page::{Page, PageRequest},
    texts::Texts,
    zone::Zone,
};

text_enum!(
    /// Where a suggestion stands.
    Status { Pending = "pending", Ordered = "ordered", Dismissed = "dismissed" }
);

impl Status {
    /// Whether a suggestion that stands here may be put to `to`. A decision is made on what is pending and taken back to
    /// pending; one decision does not turn into the other, so that what was ordered by mistake shows as pending in between.
    /// To stay is allowed: a change that is sent again has been made already.
    pub const fn may_become(self, to: Self) -> bool {
        match (self, to) {
            (Self::Ordered, Self::Dismissed) | (Self::Dismissed, Self::Ordered) => false,
            (Self::Pending, _)
            | (_, Self::Pending)
            | (Self::Ordered, Self::Ordered)
            | (Self::Dismissed, Self::Dismissed) => true,
        }
    }
}

/// Why a suggestion was not put to another status.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error("the account has no such suggestion")]
    NotFound,
    /// Not from where it stands, which is told.
    #[error("a suggestion does not go from {0} to the other decision")]
    Refused(Status),
    /// Another suggestion for the item is pending, and an item has one at most.
    #[error("the item has another pending suggestion")]
    OtherPending,
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub id: SuggestionId,
    pub inventory_item_id: InventoryItemId,
    pub sku: String,
    /// As it was when the suggestion was made; `None` where that was not kept.
    pub product_name: Option<String>,
    pub qty_suggested: i64,
    /// In English, as it was when the suggestion was made.
    pub reason: String,
    /// 0 to 1.
    pub confidence: Decimal,
    pub forecast_days: i64,
    /// `None` for suggestions from before it was kept.
    pub basis: Option<Basis>,
    pub computed_at: OffsetDateTime,
    pub status: Status,
}

impl Suggestion {
    /// Whether to follow it.
    pub fn is_recommended(&self) -> bool {
        is_recommended(self.basis.as_ref())
    }

    /// By when to order, as [`Basis::order_by`] has it on the day on which it was computed, or on that of `now` where it was
    /// computed as of a past day; `None` for one from before its numbers were kept.
    pub fn order_by(&self, zone: &Zone, now: OffsetDateTime) -> Option<Date> {
        self.basis.as_ref()?.order_by(zone.day_of(self.computed_at.min(now)))
    }

    /// Why, with the numbers used; one from before they were kept is told in English.
    pub fn reason_in(&self, texts: &Texts, currency: Currency) -> String {
        self.basis.as_ref().map_or_else(
            || self.reason.clone(),
            |basis| {
                let confidence = self.confidence.to_f64().unwrap_or_default();
                Reason { quantity: self.qty_suggested, confidence, basis, currency }.say(texts)
            },
        )
    }
}

/// A page of suggestions and how fresh they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    pub page: Page<Suggestion>,
    pub freshness: Freshness,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReorderStore: Send + Sync {
    /// The pending suggestion for an item, if there is one.
    async fn pending_of(&self, account: AccountId, item: InventoryItemId) -> Result<Option<Suggestion>, StoreError>;
    /// Newest first (id descending).
    async fn list(&self, account: AccountId, status: Option<Status>, page: PageRequest) -> Result<Listing, StoreError>;
    /// Puts a suggestion to `to`, as [`Status::may_become`] allows, and gives it as it is then. `note` goes into the audit log
    /// with the product and both statuses, where it changes anything.
    async fn change(
        &self,
        account: AccountId,
        id: SuggestionId,
        to: Status,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Suggestion, ChangeError>;
}

/// What the job `smart_reorder` suggests for a product.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub product_id: ProductId,
    /// Above 0.
    pub qty_suggested: i64,
    pub reason: String,
    /// 0 to 1 with at most 4 decimals.
    pub confidence: Decimal,
    /// Above 0.
    pub forecast_days: i64,
    pub basis: Basis,
    /// Days for which a decision on an earlier suggestion for the product stands: what was ordered has not arrived, and
    /// what was declined is not brought up again at once.
    pub decision_stands_days: i64,
}

impl Draft {
    /// Whether the newest decision on an earlier suggestion for the product, made at `decided_at`, still stands on the day
    /// that began at `day_began`: there is no suggestion then.
    pub fn is_held_back(&self, decided_at: Option<OffsetDateTime>, day_began: OffsetDateTime) -> bool {
        decided_at.is_some_and(|at| day_began - at < Duration::days(self.decision_stands_days))
    }
}

/// Where the job `smart_reorder` puts its result.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait ReorderWriter: Send + Sync {
    /// Stands for the decisions on suggestions and the inventory that there are: it changes with either.
    async fn decisions_fingerprint(&self, account: AccountId) -> Result<String, StoreError>;
    /// Makes `drafts` the account's pending suggestions and ends the run at `now`. A pending suggestion keeps its id while
    /// its item has one; suggestions that were ordered or dismissed stay as they are, and while such a decision stands
    /// there is no pending one for the item. How long it stands is counted back from `day_began`, so that all runs of a day
    /// agree.
    async fn replace(
        &self,
        claim: &Claim,
        drafts: Vec<Draft>,
        day_began: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::datetime;

    use super::{
        Status::{Dismissed, Ordered, Pending},
        *,
    };

    #[rstest]
    #[case::never_decided(None, false)]
    #[case::as_long_ago_as_it_stands(Some(datetime!(2026-05-01 00:00 UTC)), false)]
    #[case::a_second_later(Some(datetime!(2026-05-01 00:00:01 UTC)), true)]
    #[case::today(Some(datetime!(2026-05-15 09:00 UTC)), true)]
    fn a_decision_holds_suggestions_back_for_as_long_as_it_stands(
        #[case] decided_at: Option<OffsetDateTime>,
        #[case] is_held_back: bool,
    ) {
        let draft = Draft {
            product_id: ProductId(1),
            qty_suggested: 25,
            reason: String::new(),
            confidence: Decimal::ONE,
            forecast_days: 21,
            basis: PLAIN,
            decision_stands_days: 14,
        };
        assert_eq!(draft.is_held_back(decided_at, datetime!(2026-05-15 00:00 UTC)), is_held_back);
    }

    #[test]
    fn decisions_are_made_and_taken_back_but_not_swapped() {
        let refused: Vec<(Status, Status)> = Status::ALL
            .iter()
            .flat_map(|from| Status::ALL.iter().map(move |to| (*from, *to)))
            .filter(|(from, to)| !from.may_become(*to))
            .collect();
        assert_eq!(refused, [(Ordered, Dismissed), (Dismissed, Ordered)]);
        assert!(Pending.may_become(Pending));
    }
}
