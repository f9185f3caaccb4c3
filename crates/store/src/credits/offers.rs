//! What was for sale, and until when: a checkout that was open when the price list changed is honoured.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Numeric, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    credits::{CreditAmount, RechargeSource},
    payments::{Entitlement, Offer, Price, PriceList},
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::price_offers,
};

statement!(
    /// The list is read by every process at its start, so most often nothing has changed.
    Put(
        item: String => Text,
        currency: String => Text,
        amount: Decimal => Numeric,
        credits: i64 => BigInt,
        plan: Option<String> => Nullable<Text>,
        plan_interval: Option<String> => Nullable<Text>,
    ) -> Scalar<Text> = "
    INSERT INTO price_offers (item, currency, amount, credits, plan, plan_interval) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (item, currency, amount, credits)
        DO UPDATE SET plan = excluded.plan, plan_interval = excluded.plan_interval, withdrawn_at = NULL
    RETURNING item"
);

statement!(
    /// Two processes that start with different lists take turns.
    Lock() -> Scalar<Nullable<Text>> = "SELECT pg_advisory_xact_lock(726302)::text"
);

pub(super) async fn publish(
    connection: &mut AsyncPgConnection,
    prices: &PriceList,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    Lock {}.execute(connection).await?;
    let on_sale = price_offers::table.filter(price_offers::withdrawn_at.is_null());
    diesel::update(on_sale).set(price_offers::withdrawn_at.eq(now)).execute(connection).await?;
    for (item, Offer { entitlement, price }) in prices.offers() {
        let put = Put {
            item,
            currency: price.currency.to_string(),
            amount: price.amount,
            credits: entitlement.credits.get(),
            plan: entitlement.plan.map(|(plan, _)| plan.to_string()),
            plan_interval: entitlement.plan.map(|(_, interval)| interval.to_string()),
        };
        put.execute(connection).await?;
    }
    Ok(())
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = price_offers, check_for_backend(diesel::pg::Pg))]
struct OfferRow {
    currency: String,
    amount: Decimal,
    credits: i64,
    plan: Option<String>,
    plan_interval: Option<String>,
}

pub(super) async fn published(
    connection: &mut AsyncPgConnection,
    item: &str,
    since: OffsetDateTime,
) -> Result<Vec<Offer>, Failure> {
    let rows: Vec<OfferRow> = price_offers::table
        .filter(price_offers::item.eq(item))
        .filter(price_offers::withdrawn_at.is_null().or(price_offers::withdrawn_at.ge(since)))
        .select(OfferRow::as_select())
        .load(connection)
        .await?;
    rows.into_iter().map(offer).collect()
}

fn offer(row: OfferRow) -> Result<Offer, Failure> {
    let OfferRow { currency, amount, credits, plan, plan_interval } = row;
    let plan = match (plan, plan_interval) {
        (Some(plan), Some(interval)) => Some((parse(&plan, "plan")?, parse(&interval, "interval")?)),
        _ => None,
    };
    let credits = CreditAmount::new(credits).map_err(|_| corrupt("offer"))?;
    let entitlement = Entitlement { credits, source: RechargeSource::Manual, plan };
    Ok(Offer { entitlement, price: Price { amount, currency: parse(&currency, "currency")? } })
}
