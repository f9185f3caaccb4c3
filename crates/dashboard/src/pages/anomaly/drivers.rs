//! What a deviation is made of, as a tree.

use domain::{
    anomalies::{Driver, drivers::OTHER},
    daily::Dimension,
};

use super::Source;
use crate::{
    pages::{
        anomalies::{name, told},
        days::decimal,
        panel::foot,
    },
    parts::chart::Part,
    text::Writer,
    views::{anomaly::Node, panel::Panel},
};

pub fn panel(source: &Source<'_>) -> Panel<Node> {
    let Source { writer, found, freshness, api } = *source;
    let amount = told(writer, &found.anomaly.metric, source.difference().abs());
    Panel {
        id: "h-cause",
        title: writer.message("explains").text("amount", amount).say(),
        items: tree(source),
        nothing: writer.say("explains-none"),
        all: None,
        next: None,
        foot: foot(writer, freshness, vec![writer.say("how-drivers")], &source.api_path(), false, api),
    }
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
    let one = |value: f64| told(writer, &driver.metric, value);
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
