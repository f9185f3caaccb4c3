//! [`CustomerStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    deserialize::{self, FromSqlRow},
    pg::Pg,
    prelude::*,
    row::Row,
    sql_types::{Array, BigInt, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, CustomerId, OrderId, StoreError,
    accounts::Platform,
    customers::{Customer, CustomerOrder, CustomerStore, Filter, OrderBy, Segment, SegmentFigures},
    freshness::{Dated, Freshness, Newest, Source},
    jobs::JobName,
    page::{Page, PageRequest},
    search::{MOST_FOUND, Prefix},
};
use futures_util::stream::BoxStream;
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    Store,
    analytics::freshness::{self, Found, WithFreshness, newest},
    database::{
        decode::{Amount, InOrder, Named},
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::{self, Condition, Scalar},
        streams::{self, STREAM_BATCH},
    },
    schema::orders,
};

type Instant = Nullable<Timestamptz>;

/// What comes after an order, whose number follows, in a list; `$1` is the account.
const AFTER_ORDER: &str = "(placed_at, id) < (
    SELECT last.placed_at, last.id FROM orders AS last WHERE last.account_id = $1 AND last.id = ";

macro_rules! page_statement {
    ($(#[$meta:meta])* $name:ident($($field:ident: $rust:ty => $sql:ty),*), $filter:literal) => {
        statement!($(#[$meta])* $name($($field: $rust => $sql),*) -> CustomerRow = concat!("
    SELECT id, email, name, source, external_id, city, country, orders_count,
        revenue_total, ltv_estimate, aov, segment, churn_score, last_purchase_at, first_purchase_at, created_at,
        ", newest!(job, "customer_metrics"), " AS as_of,
        ", newest!(orders.placed_at), " AS newest_order,
        ", newest!(refunds.refunded_at), " AS newest_refund
    FROM customers WHERE account_id = $1 AND id < $2 ", $filter, " ORDER BY id DESC LIMIT $3"));
    };
}

page_statement!(
    /// A page of all customers, and how fresh it is.
    PageOfAll(account: i64 => BigInt, before: i64 => BigInt, limit: i64 => BigInt), ""
);
page_statement!(
    /// A page of the customers of one platform.
    PageOfSource(account: i64 => BigInt, before: i64 => BigInt, limit: i64 => BigInt, source: &'static str => Text),
    "AND source = $4"
);
page_statement!(
    /// A page of the customers of one segment.
    PageOfSegment(account: i64 => BigInt, before: i64 => BigInt, limit: i64 => BigInt, segment: &'static str => Text),
    "AND segment = $4"
);
page_statement!(
    /// A page of those that are of one platform as well.
    PageOfBoth(
        account: i64 => BigInt,
        before: i64 => BigInt,
        limit: i64 => BigInt,
        segment: &'static str => Text,
        source: &'static str => Text
    ),
    "AND segment = $4 AND source = $5"
);

page_statement!(
    /// A page of customers that were found.
    PageOfFound(account: i64 => BigInt, before: i64 => BigInt, limit: i64 => BigInt, ids: Vec<i64> => Array<BigInt>),
    "AND id = ANY ($4)"
);

/// A page in an order. Each segment of each platform is a range of an index, which ends with as many rows as a page has; what
/// these ranges give together is put in order once more. So a page costs the same however few of the customers it is of, and
/// two indexes are enough for every filter. It comes behind the customer `$2`, who is at the place `$6`, which is looked up where it
/// is null.
macro_rules! ordered_statement {
    ($(#[$meta:meta])* $name:ident, $place:literal) => {
        statement!($(#[$meta])* $name(
            account: i64 => BigInt,
            before: i64 => BigInt,
            limit: i64 => BigInt,
            segments: Vec<&'static str> => Array<Text>,
            sources: Vec<&'static str> => Array<Text>,
            place: Option<Decimal> => Nullable<Numeric>,
        ) -> CustomerRow = concat!("
    SELECT c.id, c.email, c.name, c.source, c.external_id, c.city, c.country, c.orders_count,
        c.revenue_total, c.ltv_estimate, c.aov, c.segment, c.churn_score, c.last_purchase_at, c.first_purchase_at, c.created_at,
        ", newest!(job, "customer_metrics"), " AS as_of,
        ", newest!(orders.placed_at), " AS newest_order,
        ", newest!(refunds.refunded_at), " AS newest_refund
    FROM unnest($4) AS wanted (segment) CROSS JOIN unnest($5) AS shop (source) CROSS JOIN LATERAL (
        SELECT *, ", $place, " AS place FROM customers
        WHERE account_id = $1 AND segment = wanted.segment AND source = shop.source
            AND (", $place, ", id) < (coalesce($6, (SELECT ", $place, " FROM customers WHERE account_id = $1 AND id = $2)), $2)
        ORDER BY ", $place, " DESC, id DESC LIMIT $3
    ) AS c ORDER BY c.place DESC, c.id DESC LIMIT $3"));
    };
}

ordered_statement!(
    /// A page by the churn score: what is null comes last.
    PageByChurn, "coalesce(churn_score, -1)"
);
ordered_statement!(
    /// A page by the lifetime value.
    PageByValue, "ltv_estimate"
);

statement!(
    /// Two ranges, each of an index of its own.
    BeginWith<'a>(
        account: i64 => BigInt,
        from: &'a str => Text,
        to: &'a str => Text,
        limit: i64 => BigInt,
    ) -> Scalar<BigInt> = concat!(
        "
    (SELECT id FROM customers WHERE account_id = $1 AND ",
        lower_case!("name"),
        " >= $2 AND ",
        lower_case!("name"),
        " < $3 LIMIT $4)
    UNION
    (SELECT id FROM customers WHERE account_id = $1 AND ",
        lower_case!("email"),
        " >= $2 AND ",
        lower_case!("email"),
        " < $3 LIMIT $4)"
    )
);

#[derive(Queryable, Selectable)]
#[diesel(table_name = orders, check_for_backend(diesel::pg::Pg))]
struct OrderRow {
    id: i64,
    external_id: String,
    placed_at: OffsetDateTime,
    gross: Decimal,
    units: i64,
}

/// A customer, when the metrics were computed, and the newest order and refund; the latter the same in every row.
struct CustomerRow {
    customer: Customer,
    reach: [Option<OffsetDateTime>; 3],
}

columns!(CustomerRow {
    id: BigInt,
    email: Nullable<Text>,
    name: Nullable<Text>,
    source: Text,
    external_id: Text,
    city: Nullable<Text>,
    country: Nullable<Text>,
    orders_count: BigInt,
    revenue_total: Numeric,
    ltv_estimate: Numeric,
    aov: Numeric,
    segment: Text,
    churn_score: Nullable<Numeric>,
    last_purchase_at: Instant,
    first_purchase_at: Instant,
    created_at: Timestamptz,
    as_of: Instant,
    newest_order: Instant,
    newest_refund: Instant,
});

/// By hand: it is read into the customer itself, without a row in between that would be moved.
impl FromSqlRow<<CustomerRow as statement::Row>::SqlType, Pg> for CustomerRow {
    fn build_from_row<'a>(row: &impl Row<'a, Pg>) -> deserialize::Result<Self> {
        let mut row = InOrder::of(row);
        let customer = Customer {
            id: CustomerId(row.next::<BigInt, _>()?),
            email: row.next::<Nullable<Text>, _>()?,
            name: row.next::<Nullable<Text>, _>()?,
            source: row.next::<Text, Named<_>>()?.0,
            external_id: row.next::<Text, _>()?,
            city: row.next::<Nullable<Text>, _>()?,
            country: row.next::<Nullable<Text>, _>()?,
            orders_count: row.next::<BigInt, _>()?,
            revenue_total: row.next::<Numeric, Amount>()?.into(),
            ltv_estimate: row.next::<Numeric, Amount>()?.into(),
            aov: row.next::<Numeric, Amount>()?.into(),
            segment: row.next::<Text, Named<_>>()?.0,
            churn_score: row.next::<Nullable<Numeric>, Option<Amount>>()?.map(Into::into),
            last_purchase_at: row.next::<Instant, _>()?,
            first_purchase_at: row.next::<Instant, _>()?,
            created_at: row.next::<Timestamptz, _>()?,
        };
        let reach = [row.next::<Instant, _>()?, row.next::<Instant, _>()?, row.next::<Instant, _>()?];
        Ok(Self { customer, reach })
    }
}

#[async_trait]
impl CustomerStore for Store {
    async fn page(
        &self,
        account: AccountId,
        filter: Filter,
        page: PageRequest,
    ) -> Result<Dated<Page<Customer>>, StoreError> {
        Ok(self.read_pipelined(account, async |connection| dated(connection, account, filter, page).await).await?)
    }

    async fn search(
        &self,
        account: AccountId,
        text: &Prefix,
        page: PageRequest,
    ) -> Result<Dated<Page<Customer>>, StoreError> {
        let end = text.end();
        let found = self
            .read(account, async |connection| {
                let begin = BeginWith { account: account.0, from: text.as_str(), to: &end, limit: MOST_FOUND };
                let ids: Vec<i64> = begin.load(connection).await?;
                let (account_id, before) = (account.0, page.cursor.unwrap_or(i64::MAX));
                let found = PageOfFound { account: account_id, before, limit: page.limit + 1, ids };
                let rows: Vec<CustomerRow> = found.load(connection).await?;
                with_freshness(connection, account, rows, page).await
            })
            .await?;
        Ok(found)
    }

    async fn orders(
        &self,
        account: AccountId,
        id: CustomerId,
        page: PageRequest,
    ) -> Result<Page<CustomerOrder>, StoreError> {
        let rows: Vec<OrderRow> = self
            .read(account, async |connection| {
                let mut found = orders::table
                    .filter(orders::account_id.eq(account.0))
                    .filter(orders::customer_id.eq(id.0))
                    .order((orders::placed_at.desc(), orders::id.desc()))
                    .limit(page.limit + 1)
                    .select(OrderRow::as_select())
                    .into_boxed();
                if let Some(cursor) = page.cursor {
                    found = found.filter(Condition { before: AFTER_ORDER, value: cursor });
                }
                Ok(found.load(connection).await?)
            })
            .await?;
        let order = |OrderRow { id, external_id, placed_at, gross, units }| CustomerOrder {
            id: OrderId(id),
            external_id,
            placed_at,
            gross,
            units,
        };
        Ok(Page::cut(rows.into_iter().map(order).collect(), page.limit, |order: &CustomerOrder| order.id.0))
    }

    async fn stream(
        &self,
        account: AccountId,
        filter: Filter,
        cursor: Option<i64>,
    ) -> Result<Dated<BoxStream<'static, Result<Customer, StoreError>>>, StoreError> {
        let first = PageRequest { limit: STREAM_BATCH, cursor };
        let Dated { found: first, freshness } = {
            let _turn = self.first_turn().await?;
            // Too many rows for others to wait behind them.
            self.read(account, async |connection| dated(connection, account, filter, first).await).await?
        };
        let store = self.clone();
        let batch = move |after| {
            let store = store.clone();
            async move { store.batch(account, filter, after).await }
        };
        Ok(Dated { found: streams::rows_behind(first, After::of(filter.order_by), batch), freshness })
    }

    async fn segments(
        &self,
        account: AccountId,
        active_since: OffsetDateTime,
    ) -> Result<Dated<Vec<SegmentFigures>>, StoreError> {
        const JOB: JobName = JobName::CustomerMetrics;
        let found = self
            .read(account, async |connection| {
                let segments = Segments { account: account.0, active_since };
                Ok(WithFreshness::new(JOB, segments).load::<Found<SegmentRow>>(connection).await?)
            })
            .await?;
        let (freshness, _, rows) = freshness::apart(JOB, found);
        let mut figures = rows.into_iter().map(figures_of).collect::<Result<Vec<_>, StoreError>>()?;
        let absent = Segment::ALL.iter().filter(|segment| figures.iter().all(|known| known.segment != **segment));
        figures.extend(absent.map(|segment| SegmentFigures::empty(*segment)).collect::<Vec<_>>());
        figures.sort_unstable_by_key(|figures| figures.segment);
        Ok(Dated { found: figures, freshness })
    }
}

/// Behind which customer rows are wanted.
#[derive(Clone, Copy)]
struct After {
    id: i64,
    /// Where it stands in an order; `None` where that has to be looked up.
    place: Option<Decimal>,
}

impl After {
    /// Before all: no score and no amount is as high.
    const NOBODY: Self = Self { id: i64::MAX, place: Some(Decimal::MAX) };

    fn cursor(cursor: Option<i64>) -> Self {
        cursor.map_or(Self::NOBODY, |id| Self { id, place: None })
    }

    /// Behind a customer that was read, in an order.
    fn of(order_by: Option<OrderBy>) -> fn(&Customer) -> Self {
        match order_by {
            None => |last| Self { id: last.id.0, place: None },
            Some(OrderBy::ChurnScore) => {
                |last| Self { id: last.id.0, place: Some(last.churn_score.unwrap_or(Decimal::NEGATIVE_ONE)) }
            }
            Some(OrderBy::LtvEstimate) => |last| Self { id: last.id.0, place: Some(last.ltv_estimate) },
        }
    }
}

impl Store {
    /// The next rows of a stream.
    async fn batch(&self, account: AccountId, filter: Filter, after: After) -> Result<Page<Customer>, StoreError> {
        let _turn = self.turn().await?;
        let rows = self
            .read(account, async |connection| Ok(rows(connection, account, filter, after, STREAM_BATCH).await?))
            .await?;
        Ok(cut(rows, STREAM_BATCH))
    }
}

/// A page, and how fresh its figures are.
async fn dated(
    connection: &AsyncPgConnection,
    account: AccountId,
    filter: Filter,
    page: PageRequest,
) -> Result<Dated<Page<Customer>>, Failure> {
    let rows = rows(connection, account, filter, After::cursor(page.cursor), page.limit).await?;
    with_freshness(connection, account, rows, page).await
}

/// Every row tells how fresh it is; without any it is looked up.
async fn with_freshness(
    connection: &AsyncPgConnection,
    account: AccountId,
    rows: Vec<CustomerRow>,
    page: PageRequest,
) -> Result<Dated<Page<Customer>>, Failure> {
    let freshness = match rows.as_slice() {
        [CustomerRow { reach, .. }, ..] => freshness_of(*reach),
        [] => freshness::of(connection, account, JobName::CustomerMetrics).await?,
    };
    Ok(Dated { found: cut(rows, page.limit), freshness })
}

/// One row more than the page has, to see whether it is the last.
async fn rows(
    connection: &AsyncPgConnection,
    account: AccountId,
    filter: Filter,
    After { id: before, place }: After,
    limit: i64,
) -> QueryResult<Vec<CustomerRow>> {
    let (account, limit) = (account.0, limit + 1);
    let (segment, source) = (filter.segment.map(Segment::as_str), filter.source.map(Platform::as_str));
    if let Some(order_by) = filter.order_by {
        let segments = segment.map_or_else(|| Segment::NAMES.to_vec(), |one| vec![one]);
        let sources = source.map_or_else(|| Platform::SHOP_NAMES.to_vec(), |one| vec![one]);
        return match order_by {
            OrderBy::ChurnScore => {
                PageByChurn { account, before, limit, segments, sources, place }.load(connection).await
            }
            OrderBy::LtvEstimate => {
                PageByValue { account, before, limit, segments, sources, place }.load(connection).await
            }
        };
    }
    match (segment, source) {
        (None, None) => PageOfAll { account, before, limit }.load(connection).await,
        (None, Some(source)) => PageOfSource { account, before, limit, source }.load(connection).await,
        (Some(segment), None) => PageOfSegment { account, before, limit, segment }.load(connection).await,
        (Some(segment), Some(source)) => PageOfBoth { account, before, limit, segment, source }.load(connection).await,
    }
}

fn cut(rows: Vec<CustomerRow>, limit: i64) -> Page<Customer> {
    Page::cut(rows.into_iter().map(|row| row.customer).collect(), limit, |customer: &Customer| customer.id.0)
}

/// The sources that the statement looks at are all of the job's: one more does not compile without a column of its own.
const _: () = assert!(matches!(JobName::CustomerMetrics.sources(), [Source::Orders, Source::Refunds]));

fn freshness_of([as_of, orders, refunds]: [Option<OffsetDateTime>; 3]) -> Freshness {
    freshness::assemble(JobName::CustomerMetrics, as_of, |source| match source {
        Source::Orders => orders.map(Newest::At),
        Source::Refunds => refunds.map(Newest::At),
        _ => None,
    })
}

statement!(
    /// The customers of each segment, summed up, and how many of them are in which part of the scale of the churn score.
    /// Segments without any are not there.
    Segments(account: i64 => BigInt, active_since: OffsetDateTime => Timestamptz)
        -> SegmentRow = "
    SELECT segment, sum(customers)::bigint AS customers, sum(active)::bigint AS active,
        sum(orders_count)::bigint AS orders_count, sum(revenue_total) AS revenue_total, sum(ltv_estimate) AS ltv_estimate,
        coalesce(sum(customers) FILTER (WHERE part IS NOT NULL), 0)::bigint AS scored,
        coalesce(sum(churn_score), 0) AS churn_score,
        coalesce(array_agg(part) FILTER (WHERE part IS NOT NULL), '{}') AS parts,
        coalesce(array_agg(customers) FILTER (WHERE part IS NOT NULL), '{}') AS of_parts
    FROM (
        SELECT segment, CASE WHEN churn_score IS NOT NULL THEN least(trunc(churn_score * 10), 9)::bigint END AS part,
            count(*) AS customers,
            count(*) FILTER (WHERE last_purchase_at >= $2) AS active, sum(orders_count) AS orders_count,
            sum(revenue_total) AS revenue_total, sum(ltv_estimate) AS ltv_estimate, sum(churn_score) AS churn_score
        FROM customers WHERE account_id = $1 GROUP BY segment, part
    ) AS parts GROUP BY segment"
);

row!(
    struct SegmentRow {
        segment: String => Text,
        customers: i64 => BigInt,
        active: i64 => BigInt,
        orders_count: i64 => BigInt,
        revenue_total: Decimal => Numeric,
        ltv_estimate: Decimal => Numeric,
        scored: i64 => BigInt,
        churn_score: Decimal => Numeric,
        parts: Vec<i64> => Array<BigInt>,
        of_parts: Vec<i64> => Array<BigInt>,
    }
);

fn figures_of(row: SegmentRow) -> Result<SegmentFigures, StoreError> {
    let SegmentRow {
        segment,
        customers,
        active,
        orders_count,
        revenue_total,
        ltv_estimate,
        scored,
        churn_score,
        parts,
        of_parts,
    } = row;
    let in_part = |part: usize| parts.iter().zip(&of_parts).find(|(one, _)| usize::try_from(**one) == Ok(part));
    Ok(SegmentFigures {
        segment: parse(&segment, "segment")?,
        customers,
        active,
        orders_count,
        revenue_total,
        ltv_estimate,
        scored,
        churn_score,
        churn_parts: std::array::from_fn(|part| in_part(part).map_or(0, |(_, customers)| *customers)),
    })
}
