//! Charts as SVG. An SVG is as wide as its place and of fixed height: curves are in an inner one that stretches without its
//! strokes; text, dots and marks are outside of that, at x in percent, so that text never shrinks.

mod line;
mod part;
mod phases;
mod range;
mod scale;

use std::fmt::Write as _;

pub use line::{Line, Mark, Name, Remark, Series, line};
use maud::{Markup, html};
pub use part::{Part, part_bar};
pub use phases::{Phases, phase_bar};
pub use range::{RangeBar, axis, range_bar};
pub use scale::Scale;

/// A coordinate in percent.
fn percent(value: f64) -> String {
    format!("{}%", short(value, 2))
}

/// A coordinate without needless digits.
fn short(value: f64, decimals: usize) -> String {
    let written = format!("{value:.decimals$}");
    let short = if written.contains('.') { written.trim_end_matches('0').trim_end_matches('.') } else { &written };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// A path through points.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        // Writing into a String cannot fail.
        let _ = write!(path, "{command}{} {}", short(x, 1), short(y, 1));
    }
    path
}

/// The frame of a chart that has no figures yet.
pub fn ghost() -> Markup {
    const PATH: &str = "M0 112L60 96 120 104 180 80 240 92 300 64 360 84 420 72 480 88 540 60 600 76 660 52 720 70 780 48 840 62 900 40 1000 52";
    html! {
        svg width="100%" height="148" aria-hidden="true" {
            @for y in [8, 52, 96, 140] { line.grid x2="100%" y1=(y) y2=(y) {} }
            svg.thin width="100%" height="148" viewBox="0 0 1000 148" preserveAspectRatio="none" {
                path.prev.open d=(PATH) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!(percent(11.290_32), "11.29%");
        assert_eq!(
            (short(100.0, 1), short(0.5, 1), short(-0.01, 1), short(1000.0, 0)),
            ("100".into(), "0.5".into(), "0".into(), "1000".into())
        );
        assert_eq!(path([(0.0, 1.25), (10.0, 2.0)].into_iter()), "M0 1.2L10 2");
    }
}
