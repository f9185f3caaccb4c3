//! The chart: every bound as a line at 1, every value as its share of the bound, so that one picture holds ratios,
//! memory and growth alike.

use svg::{
    Document,
    node::element::{Line, Rectangle, Text, Title},
};

use super::{Report, Target, page::figure};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 330.0;
const BAR: f64 = 16.0;
const STEP: f64 = 26.0;
/// Width of a value that just meets its bound.
const UNIT: f64 = 160.0;
const REACHED: &str = "#2f7d4f";
const MISSED: &str = "#b5483a";

pub fn draw(report: &Report) -> Document {
    let bars: Vec<(&str, &Target)> =
        report.rows.iter().flat_map(|row| row.targets.iter().map(|target| (row.row.as_str(), target))).collect();
    let count = u32::try_from(bars.len()).unwrap_or(u32::MAX);
    let height = f64::from(count).mul_add(STEP, 56.0);
    let mut document = Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, height))
        .set("font-family", "system-ui, sans-serif")
        .set("font-size", 12)
        .set("role", "img")
        .add(Title::new("Values as shares of their bounds"))
        .add(Rectangle::new().set("width", WIDTH).set("height", height).set("fill", "#ffffff"))
        .add(text(
            "Value ÷ what is to be reached (memory, growth and latency: bound ÷ value); the line is 1",
            12.0,
            20.0,
        ));
    for (index, (row, target)) in (0u32..).zip(bars) {
        document = bar(document, row, target, f64::from(index).mul_add(STEP, 36.0));
    }
    let at = LEFT + UNIT;
    document
        .add(Line::new().set("x1", at).set("x2", at).set("y1", 28.0).set("y2", height - 12.0).set("stroke", "#222222"))
}

fn bar(document: Document, row: &str, target: &Target, top: f64) -> Document {
    let share = if target.at_least { target.value / target.bound } else { target.bound / target.value };
    let share = if share.is_finite() { share.max(0.0) } else { 0.0 };
    let width = (share * UNIT).min(WIDTH - LEFT - 110.0);
    let colour = if target.reached() { REACHED } else { MISSED };
    let sign = if target.at_least { "≥" } else { "≤" };
    let bound = format!("{} ({sign} {})", figure(target.value), figure(target.bound));
    document
        .add(text(&format!("{row}: {}", target.what), 12.0, top + 12.0))
        .add(Rectangle::new().set("x", LEFT).set("y", top).set("width", width).set("height", BAR).set("fill", colour))
        .add(text(&bound, LEFT + width + 6.0, top + 12.0))
}

fn text(content: &str, x: f64, y: f64) -> Text {
    Text::new(content).set("x", x).set("y", y).set("fill", "#222222")
}
