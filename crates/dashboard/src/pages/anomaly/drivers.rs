//! What a deviation is made of, as a tree.

use domain::{
    anomalies::{
        Driver,
        drivers::{OTHER, unit},
    },
    daily::Dimension,
    metrics::Unit,
};

use super::Source;
use crate::{
    pages::{
        anomalies::{name, told},
        days::decimal,
    },
    parts::chart::Part,
    text::Writer,
    views::{anomaly::Node, panel::Panel},
};

pub fn panel(source: &Source<'_>) -> Panel<Node> {
    let writer = source.writer;
    Panel {
        id: "h-cause",
        title: title(source),
        items: tree(source),
        nothing: writer.say("explains-none"),
        all: None,
        next: None,
        foot: source.foot(vec![writer.say("how-drivers")]),
    }
}

/// The difference of two shares is told in points, not in percent.
fn title(source: &Source<'_>) -> String {
    let (message, difference) = (source.writer.message("explains"), source.difference().abs());
    let metric = &source.found.anomaly.metric;
    match unit(metric) {
        Unit::Share => message.points("amount", decimal(difference), 1),
        Unit::Money | Unit::Ratio | Unit::Count => message.text("amount", told(source.writer, metric, difference)),
    }
    .say()
}

/// The drivers of the first level; the first of each level has those of the next as its parts.
pub fn tree(source: &Source<'_>) -> Vec<Node> {
    let Source { writer, found, .. } = *source;
    let deepest = found.anomaly.drivers.iter().map(|driver| driver.level).max().unwrap_or_default();
    let is_down = source.difference() < 0.0;
    let mut parts = Vec::new();
    for level in (1..=deepest).rev() {
        let of_level = found.anomaly.drivers.iter().filter(|driver| driver.level == level);
        let mut nodes: Vec<Node> =
            of_level.map(|driver| node(writer, driver, &found.anomaly.metric, is_down)).collect();
        if let Some(first) = nodes.first_mut() {
            first.parts = parts;
        }
        parts = nodes;
    }
    parts
}

fn node(writer: &Writer, driver: &Driver, metric: &str, is_down: bool) -> Node {
    // Amounts stand among each other: all of them to the cent.
    let one = |value: f64| match unit(&driver.metric) {
        Unit::Money => {
            let amount = writer.exact(decimal(value));
            writer.message("money").text("number", amount).text("currency", writer.currency).say()
        }
        Unit::Share | Unit::Ratio | Unit::Count => told(writer, &driver.metric, value),
    };
    let is_against = driver.effect != 0.0 && (driver.effect < 0.0) != is_down;
    // Of a part of the shop, which of its figures it is.
    let of_part = driver.dimension.is_some() && driver.metric != metric;
    let notes: Vec<String> = [
        of_part.then(|| name(writer, &driver.metric).to_lowercase()),
        is_against.then(|| writer.say("worked-against")),
    ]
    .into_iter()
    .flatten()
    .collect();
    Node {
        name: called(writer, driver),
        note: (!notes.is_empty()).then(|| notes.join(", ")),
        bar: Part { is_against, ..Part::of(driver.share) },
        share: writer.percent(decimal(driver.share), 0),
        value: decimal(driver.share).round_dp(4).normalize().to_string(),
        seen: writer
            .message("instead-of")
            .text("observed", one(driver.observed))
            .text("expected", one(driver.expected))
            .say(),
        parts: Vec::new(),
    }
}

/// The part of the shop that it is, else the figure.
fn called(writer: &Writer, driver: &Driver) -> String {
    let Some((by, part)) = driver.dimension.zip(driver.part.as_deref()) else { return name(writer, &driver.metric) };
    let named = |part: &str| if part == OTHER { writer.say("all-others") } else { part.to_owned() };
    let platform = |platform: &str| writer.message("platform").text("platform", named(platform)).say();
    let on =
        |part: &str, of: &str| writer.message("part-on").text("part", named(part)).text("platform", platform(of)).say();
    match by {
        Dimension::Platform => platform(part),
        Dimension::Product => named(part),
        Dimension::Country => writer.country(&named(part)),
        Dimension::Campaign => part.split_once('/').map_or_else(|| named(part), |(of, campaign)| on(campaign, of)),
        Dimension::CountryPlatform => {
            part.split_once('/').map_or_else(|| named(part), |(part, of)| on(&writer.country(part), of))
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        anomalies::{Direction, Kind, OnItsDay},
        freshness::Freshness,
        jobs::JobName,
    };
    use url::Url;

    use super::*;
    use crate::{pages::anomalies::tests::anomaly, text::tests::writer};

    /// The panel of a metric that was so far from what was expected, with these drivers.
    fn panel_of(language: &str, metric: &str, (observed, expected): (f64, f64), drivers: &[&str]) -> Panel<Node> {
        let (writer, api) = (writer(language), Url::parse("http://localhost").unwrap());
        let freshness = Freshness { job: JobName::AnomalyDetection, as_of: None, sources: vec![] };
        let mut found = OnItsDay { anomaly: anomaly(7, Kind::Univariate, metric), others: vec![] };
        (found.anomaly.observed_value, found.anomaly.expected_value) = (observed, expected);
        let driver = |metric: &&str| Driver {
            level: 1,
            metric: (*metric).to_owned(),
            dimension: None,
            part: None,
            effect: 1.0,
            share: 0.5,
            observed: 1234.5,
            expected: 20.0,
            direction: Direction::Up,
        };
        found.anomaly.drivers = drivers.iter().map(driver).collect();
        panel(&Source { writer: &writer, found: &found, freshness: &freshness, api: &api })
    }

    #[test]
    fn the_difference_of_two_shares_is_told_in_points() {
        let title = |language| panel_of(language, "margin", (0.125, 0.25), &[]).title;
        assert_eq!(title("en"), "What explains the difference of 12.5 percentage points");
        assert_eq!(title("pt-BR"), "O que explica a diferença de 12,5 pontos percentuais");
        let of_money = panel_of("en", "profit", (100.0, 1300.0), &[]).title;
        assert_eq!(of_money, "What explains the difference of 1,200 USD");
    }

    #[test]
    fn amounts_are_all_told_to_the_cent() {
        let panel = panel_of("en", "profit", (100.0, 1300.0), &["ad_spend", "shipping", "aov"]);
        assert!(panel.items.iter().all(|node| node.seen == "1,234.50 USD instead of 20.00 USD"));
    }

    #[test]
    fn every_figure_that_a_margin_is_made_of_has_a_name() {
        let figures = [
            "costs_per_net_revenue",
            "costs_per_gross_revenue",
            "net_per_gross_revenue",
            "ad_spend_per_gross_revenue",
            "extra_expenses_per_gross_revenue",
        ];
        for language in ["en", "es", "pt-BR"] {
            let mut names: Vec<_> =
                panel_of(language, "margin", (0.1, 0.2), &figures).items.into_iter().map(|node| node.name).collect();
            names.push(writer(language).message("driver").text("metric", "").say());
            names.sort();
            names.dedup();
            assert_eq!(names.len(), figures.len() + 1, "{names:?}");
        }
    }

    #[test]
    fn a_platform_has_the_name_that_it_gives_itself() {
        let on = |part: &str| {
            let driver = Driver {
                level: 1,
                metric: "ad_spend".to_owned(),
                dimension: Some(Dimension::Campaign),
                part: Some(part.to_owned()),
                effect: 1.0,
                share: 1.0,
                observed: 1.0,
                expected: 2.0,
                direction: Direction::Down,
            };
            called(&writer("en"), &driver)
        };
        assert_eq!(on("mercadolibre_ads/Product ads"), "Product ads on Mercado Ads");
        assert_eq!(on("google_ads/Brand"), "Brand on Google Ads");
    }
}
