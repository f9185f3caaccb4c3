//! A part of a whole, as a bar.

use maud::{Markup, html};

use super::percent;

/// From where to where it goes; 0 and 1 are the ends of the whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    pub from: f64,
    pub to: f64,
    /// Whether it takes away.
    pub is_against: bool,
}

impl Part {
    /// From the beginning on.
    pub const fn of(share: f64) -> Self {
        Self { from: 0.0, to: share, is_against: false }
    }
}

pub fn part_bar(part: Part) -> Markup {
    let (from, to) = (part.from.clamp(0.0, 1.0), part.to.clamp(0.0, 1.0));
    let (start, width) = (from.min(to), (to - from).abs());
    html! {
        svg.bar width="100%" height="8" aria-hidden="true" {
            rect.track width="100%" height="8" rx="1" {}
            rect class=(if part.is_against { "fill neg" } else { "fill" }) x=(percent(start * 100.0)) width=(percent(width * 100.0)) height="8" rx="1" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_stays_within_the_whole() {
        let drawn = part_bar(Part { from: 0.75, to: -0.5, is_against: true }).into_string();
        assert!(drawn.contains(r#"class="fill neg" x="0%" width="75%""#), "{drawn}");
    }
}
