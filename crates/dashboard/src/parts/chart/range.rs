//! When something will happen: a bar from the earliest to the latest day, with a stroke at the likely one.

use maud::{Markup, html};

use super::percent;

/// Days from today, as parts of the axis: 1 is its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RangeBar {
    /// It has happened.
    Now,
    Between {
        early: f64,
        likely: f64,
        late: f64,
    },
}

/// The bar. What lies beyond the axis is cut, and its end is an arrow then.
pub fn range_bar(bar: RangeBar) -> Markup {
    html! {
        svg.bar width="100%" height="12" aria-hidden="true" {
            rect.track y="5" width="100%" height="2" {}
            rect.track x="50%" width="1" height="12" {}
            @match bar {
                RangeBar::Now => svg.mark x="6" y="6" overflow="visible" { path d="M0-6 6 0 0 6-6 0z" {} },
                RangeBar::Between { early, likely, late } => {
                    @let (start, end) = (early.clamp(0.0, 1.0), late.clamp(0.0, 1.0));
                    rect.fill x=(percent(start * 100.0)) y="2" width=(percent((end - start).max(0.01) * 100.0)) height="8" rx="1" {}
                    @if late > 1.0 { svg x="100%" overflow="visible" { path.cut d="M-6 0H1V12H-6L0 6z" {} } }
                    @if likely <= 1.0 { rect.tickmark x=(percent(likely.max(0.0) * 100.0)) width="2" height="12" {} }
                }
            }
        }
    }
}

/// The axis above such bars: its beginning, its middle and its end.
pub fn axis(words: &[String; 3]) -> Markup {
    let [first, middle, last] = words;
    html! {
        svg.axis width="100%" height="16" aria-hidden="true" {
            text x="0%" y="12" text-anchor="start" { (first) }
            text x="50%" y="12" text-anchor="middle" { (middle) }
            text x="100%" y="12" text-anchor="end" { (last) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beyond_the_axis_is_cut() {
        let drawn = range_bar(RangeBar::Between { early: 0.5, likely: 1.2, late: 3.0 }).into_string();
        assert!(drawn.contains(r#"x="50%""#) && drawn.contains(r#"width="50%""#));
        assert!(drawn.contains("class=\"cut\"") && !drawn.contains("tickmark"), "{drawn}");
    }
}
