//! Figures and findings: what the jobs sum up and compute ([`daily`] and [`results`]), and what endpoints read of it, one
//! file per port.

/// Sums of the figures of ads by day. What a source does not tell is left out, and unknown where none tells; an amount without
/// a rate makes the whole unknown.
macro_rules! ad_sums {
    () => {
        concat!(
            "
        CASE WHEN bool_and(spend IS NOT NULL) THEN sum(spend) END AS spend,
        CASE WHEN bool_and(native_revenue IS NULL OR revenue IS NOT NULL) THEN sum(revenue) END AS revenue,",
            ad_counts!()
        )
    };
}

/// The rest of them, to which nothing is unknown: counts, and what ratios are made of.
macro_rules! ad_counts {
    () => {
        "
        CASE WHEN count(impressions) > 0 THEN least(sum(impressions), 9223372036854775807)::bigint END AS impressions,
        CASE WHEN count(clicks) > 0 THEN least(sum(clicks), 9223372036854775807)::bigint END AS clicks,
        CASE WHEN count(purchases) > 0 THEN least(sum(coalesce(purchases_exact, purchases)), 9223372036854775807)::bigint END
            AS purchases,
        least(coalesce(sum(clicks) FILTER (WHERE impressions IS NOT NULL), 0), 9223372036854775807)::bigint AS clicks_of_shown,
        least(coalesce(sum(impressions) FILTER (WHERE clicks IS NOT NULL), 0), 9223372036854775807)::bigint AS shown_of_clicked,
        coalesce(sum(spend) FILTER (WHERE impressions IS NOT NULL), 0) AS spend_of_shown,
        coalesce(sum(spend) FILTER (WHERE clicks IS NOT NULL), 0) AS spend_of_clicked,
        coalesce(sum(spend) FILTER (WHERE purchases IS NOT NULL), 0) AS spend_of_purchased,
        coalesce(sum(spend) FILTER (WHERE revenue IS NOT NULL), 0) AS spend_of_returned,
        least(coalesce(sum(impressions) FILTER (WHERE spend IS NOT NULL), 0), 9223372036854775807)::bigint AS shown_of_spent,
        least(coalesce(sum(clicks) FILTER (WHERE spend IS NOT NULL), 0), 9223372036854775807)::bigint AS clicks_of_spent,
        least(coalesce(sum(coalesce(purchases_exact, purchases)) FILTER (WHERE spend IS NOT NULL), 0), 9223372036854775807)::bigint
            AS purchases_of_spent"
    };
}

/// A column in lower case, as the indexes of how texts begin have it: where the locale of the database is C, `lower` leaves
/// letters with accents as they are.
macro_rules! lower_case {
    ($column:literal) => {
        concat!(
            "translate(lower(",
            $column,
            "),
        'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ') COLLATE \"C\""
        )
    };
}

mod ads;
mod anomalies;
mod as_of;
mod creatives;
mod customers;
pub(crate) mod daily;
mod demand;
pub(crate) mod freshness;
mod insights;
mod inventory;
mod metric_days;
pub(crate) mod places;
pub(crate) mod profit;
mod reorder;
pub(crate) mod results;
mod risks;
