//! The cause of an anomaly in words, from its drivers alone.

use super::{
    Cause, Direction, Driver,
    drivers::{OTHER, chain},
};
use crate::{daily::Dimension, money::estimate, texts::Texts};

/// From this many times what was expected on, a ratio says more than percent.
const MANY_TIMES: f64 = 3.0;
/// From this many times on, the figure says more of how little was expected than of what came.
const BEYOND_COMPARISON: f64 = 100.0;

/// Why a metric was not what was expected, in one sentence. `expected` is that of the metric.
pub fn cause(cause: Cause, expected: f64, drivers: &[Driver], texts: &Texts) -> String {
    if cause == Cause::ClosedDay {
        return texts.message("cause-closed-day").count("orders", estimate(expected, 0)).say();
    }
    let way: Vec<&Driver> = chain(drivers).collect();
    // That a part sold nothing because it had no orders says one thing twice.
    let is_again = |next: Option<&&Driver>, driver: &Driver| {
        next.is_some_and(|next| {
            SUMS.contains(&next.metric.as_str())
                && driver.part.is_some()
                && (next.dimension, &next.part) == (driver.dimension, &driver.part)
        })
    };
    let told = way.iter().enumerate().filter(|(at, driver)| !is_again(way.get(at + 1), driver));
    let told: Vec<String> = told.map(|(_, driver)| said(driver, texts)).collect();
    let share: f64 = chain(drivers).map(|driver| driver.share).product();
    let because = texts.message("cause-because").say();
    capitalised(
        &texts.message("cause").text("drivers", told.join(&because)).percent("share", estimate(share, 4), 0).say(),
    )
}

/// Sums and counts, which say of a part no more than those that they make up.
const SUMS: [&str; 6] = ["gross_revenue", "net_revenue", "orders", "units", "customers", "new_customers"];

/// Drivers that are a part of a whole, of which a change is told in percentage points.
const SHARES: [&str; 3] = ["conversion", "refund_rate", "share_of_visitors"];
/// From this difference on, half of what is shown.
const SHOWN_POINTS: f64 = 0.000_5;

/// "sales on Shopify were 60% below normal".
fn said(driver: &Driver, texts: &Texts) -> String {
    let Driver { observed, expected, direction, .. } = driver;
    let (ratio, difference) = (observed / expected, (observed - expected).abs());
    let is_share = SHARES.contains(&driver.metric.as_str()) && *expected > 0.0 && difference >= SHOWN_POINTS;
    let compared = match direction {
        _ if *observed == 0.0 && *expected > 0.0 => "nothing",
        Direction::Down if is_share => "points_below",
        Direction::Up if is_share => "points_above",
        Direction::Down if *expected <= 0.0 || !ratio.is_finite() => "far_below",
        Direction::Up if *expected <= 0.0 || !ratio.is_finite() || ratio >= BEYOND_COMPARISON => "far_above",
        _ if ratio >= MANY_TIMES => "times",
        Direction::Down => "below",
        Direction::Up => "above",
    };
    texts
        .message("cause-driver")
        .text("place", place(driver, texts))
        .text("metric", &driver.metric)
        .text("compared", compared)
        .number("times", estimate(ratio, 4), 1)
        .percent("percent", estimate((ratio - 1.0).abs(), 4), 0)
        .percent("observed", estimate(*observed, 6), 1)
        .points("points", estimate(difference, 6), 1)
        .say()
}

/// Which part of the shop a driver is of: " on Shopify"; nothing of one of the whole.
fn place(driver: &Driver, texts: &Texts) -> String {
    let Some((by, part)) = driver.dimension.zip(driver.part.as_deref()) else { return String::new() };
    if part == OTHER {
        return texts.message("cause-others").text("by", by).say();
    }
    let (part, platform) = match by {
        Dimension::Platform => ("", part),
        Dimension::Product | Dimension::Country => (part, ""),
        Dimension::Campaign => part.split_once('/').map_or((part, ""), |(platform, campaign)| (campaign, platform)),
        Dimension::CountryPlatform => part.split_once('/').unwrap_or((part, "")),
    };
    let message = texts.message("cause-place").text("by", by).text("platform", platform);
    match by {
        Dimension::Country | Dimension::CountryPlatform => message.country("part", part),
        Dimension::Platform | Dimension::Product | Dimension::Campaign => message.text("part", part),
    }
    .say()
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use rstest::rstest;
    use rust_decimal::Decimal;

    use super::*;
    use crate::{
        insights::grounding::{Fact, Grounds, Said, in_language},
        texts::Locale,
    };

    fn driver(level: u8, metric: &str, part: Option<(Dimension, &str)>, share: f64, was: (f64, f64)) -> Driver {
        let (observed, expected) = was;
        Driver {
            level,
            metric: metric.into(),
            dimension: part.map(|(dimension, _)| dimension),
            part: part.map(|(_, part)| part.into()),
            effect: -100.0 * share,
            share,
            observed,
            expected,
            direction: if observed < expected { Direction::Down } else { Direction::Up },
        }
    }

    #[rstest]
    #[case(&[driver(1, "conversion", None, 0.97, (0.012, 0.03)), driver(1, "visitors", None, 0.03, (9.0, 10.0))],
        "The part of visits that became orders was at 1.2%, 1.8 percentage points below normal (97% of the difference).")]
    #[case(&[driver(1, "refund_rate", None, 0.9, (0.31, 0.04))],
        "The part of sales that was refunded was at 31.0%, 27.0 percentage points above normal (90% of the difference).")]
    #[case(&[driver(1, "conversion", None, 0.9, (0.001_2, 0.001_6))],
        "The part of visits that became orders was 25% below normal (90% of the difference).")]
    #[case(&[driver(1, "visitors", None, 0.8, (50.0, 100.0)), driver(2, "ad_clicks", None, 1.0, (10.0, 40.0))],
        "Visits were 50% below normal, because clicks on ads were 75% below normal (80% of the difference).")]
    #[case(&[driver(1, "orders", Some((Dimension::CountryPlatform, "BR/shopify")), 0.95, (0.0, 40.0))],
        "Orders in Brazil on Shopify were zero (95% of the difference).")]
    #[case(&[
        driver(1, "gross_revenue", Some((Dimension::Platform, "shopify")), 0.85, (0.0, 900.0)),
        driver(2, "orders", Some((Dimension::Platform, "shopify")), 1.0, (0.0, 40.0)),
    ], "Orders on Shopify were zero (85% of the difference).")]
    #[case(&[driver(1, "gross_revenue", Some((Dimension::Platform, OTHER)), 0.95, (30.0, 40.0))],
        "Sales on all other platforms together were 25% below normal (95% of the difference).")]
    #[case(&[driver(1, "ad_spend", Some((Dimension::Campaign, "google/Shopping")), 1.0, (400.0, 100.0))],
        "Spending on ads for the campaign Shopping on Google was at 4.0 times the normal level (100% of the difference).")]
    #[case(&[driver(1, "refunds", None, 1.0, (8_509_000.0, 0.1))],
        "Refunds were far above normal (100% of the difference).")]
    fn a_cause_is_the_way_to_it(#[case] drivers: &[Driver], #[case] said: &str) {
        assert_eq!(cause(Cause::Traffic, 100.0, drivers, &Texts::of(Locale::ENGLISH)), said);
    }

    #[test]
    fn a_platform_in_a_country_parts_no_verb_from_its_subject() {
        let way = [driver(1, "orders", Some((Dimension::CountryPlatform, "BR/shopify")), 0.95, (0.0, 40.0))];
        let said = |tag: &str| cause(Cause::Platform, 100.0, &way, &Texts::of(crate::texts::tests::locale(tag)));
        assert_eq!(said("es-MX"), "Los pedidos en Brasil, en Shopify, estuvieron en cero (95% de la diferencia).");
        assert_eq!(said("pt-BR"), "Os pedidos no Brasil, na Shopify, ficaram em zero (95% da diferença).");
    }

    #[test]
    fn a_closed_day_is_said_to_be_one() {
        let said = "The shop sold nothing that day; about 44 orders would be normal.";
        assert_eq!(cause(Cause::ClosedDay, 44.2, &[], &Texts::of(Locale::ENGLISH)), said);
    }

    /// Every metric that is named as a driver.
    const METRICS: [&str; 31] = [
        "gross_revenue",
        "net_revenue",
        "orders",
        "units",
        "visitors",
        "ad_clicks",
        "visitors_per_click",
        "clicks_per_spend",
        "share_of_visitors",
        "orders_per_visitor_of_all",
        "conversion",
        "customers",
        "new_customers",
        "returning_customers",
        "orders_per_customer",
        "units_per_order",
        "price_per_unit",
        "aov",
        "refunds",
        "refund_rate",
        "cogs",
        "fees",
        "shipping",
        "ad_spend",
        "extra_expenses",
        "cogs_per_unit",
        "shipping_per_order",
        "cogs_per_gross_revenue",
        "fees_per_gross_revenue",
        "shipping_per_gross_revenue",
        "another",
    ];

    /// What is known of the drivers of a way. That each comes from the next is what makes them one, so the word that joins them
    /// tells no more than is known; another cause is refused.
    fn grounds(way: &[Driver], texts: &Texts) -> Grounds {
        let language = texts.locale().language;
        let percent = |part: f64, decimals| Fact::percent(estimate(part, 6) * Decimal::ONE_HUNDRED, decimals);
        let mut facts = vec![percent(way.iter().map(|driver| driver.share).product(), 0)];
        let mut names = vec![texts.message("cause-because").say()];
        for Driver { observed, expected, direction, part, .. } in way {
            let (ratio, difference) = (observed / expected, (observed - expected).abs());
            facts.extend([
                Fact::Moved(*direction),
                percent((ratio - 1.0).abs(), 0),
                percent(*observed, 1),
                Fact::points(estimate(difference, 6) * Decimal::ONE_HUNDRED, 1),
            ]);
            if *observed == 0.0 {
                facts.push(Fact::count(0));
            }
            let times = ["times the normal level", "veces el nivel normal", "vezes o nível normal"];
            names.push(format!("{} {}", texts.number(estimate(ratio, 4), 1), in_language(language, times)));
            names.extend(part.iter().filter_map(|part| part.rsplit('/').next()).map(str::to_owned));
        }
        Grounds { facts, names, cause: None }
    }

    /// Every form of a cause, and what it may rest on.
    pub(crate) fn say_all(texts: &Texts) -> Vec<Said> {
        let parts = [
            (Dimension::Platform, "shopify"),
            (Dimension::Product, "MUG-BLUE"),
            (Dimension::Country, "BR"),
            (Dimension::Country, "ZZ"),
            (Dimension::Campaign, "google/Shopping"),
            (Dimension::CountryPlatform, "BR/shopify"),
        ];
        let all_others = Dimension::ALL.iter().map(|by| (*by, OTHER));
        let parts: Vec<_> = parts.into_iter().chain(all_others).collect();
        let of_shares = [(0.012, 0.03), (0.31, 0.04), (0.01, 0.02)];
        let others = [(0.0, 40.0), (10.0, 40.0), (50.0, 40.0), (200.0, 40.0), (-5.0, 0.0), (5.0, 0.0)];
        let seen: Vec<(f64, f64)> = of_shares.into_iter().chain(others).collect();
        let mut ways: Vec<Vec<Driver>> = Vec::new();
        for metric in METRICS {
            ways.extend(seen.iter().map(|was| vec![driver(1, metric, None, 0.8, *was)]));
            ways.extend(parts.iter().map(|part| vec![driver(1, metric, Some(*part), 0.8, (10.0, 40.0))]));
        }
        // Both went the same way: the wrong one of either is refused.
        ways.extend(
            seen.iter().map(|was| vec![driver(1, "orders", None, 0.8, *was), driver(2, "visitors", None, 0.95, *was)]),
        );
        let told = ways.iter().map(|way| (cause(Cause::Traffic, 100.0, way, texts), grounds(way, texts)));
        let closed = [1.0, 44.2].map(|expected| {
            let facts = vec![Fact::count(0), Fact::count(estimate(expected, 0))];
            (cause(Cause::ClosedDay, expected, &[], texts), Grounds { facts, ..Grounds::default() })
        });
        told.chain(closed).collect()
    }
}
