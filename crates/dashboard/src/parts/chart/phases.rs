//! Where the time of an attempt went: its phases one after the other, on a scale that all attempts share.

use maud::{Markup, html};

use super::percent;

/// Phases as parts of the scale: 1 is its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    /// Name service, connecting, TLS, and until the first byte; what did not take place is 0.
    pub parts: [f64; 4],
    /// What was waited for in vain.
    pub vain: f64,
}

/// The class of each phase, in their order.
const CLASSES: [&str; 5] = ["p1", "p2", "p3", "p4", "p5"];

/// The bar. What lies beyond the scale is cut, and its end is an arrow then.
pub fn phase_bar(phases: &Phases) -> Markup {
    let [first, second, third, fourth] = phases.parts;
    let mut at = 0.0;
    let parts = [first, second, third, fourth, phases.vain].map(|part| {
        let start = at;
        at += part;
        (start.min(1.0), (at.min(1.0) - start).max(0.0))
    });
    html! {
        svg.bar width="100%" height="12" aria-hidden="true" {
            rect.track y="5" width="100%" height="2" {}
            @for (class, (start, width)) in CLASSES.iter().zip(parts) {
                @if width > 0.0 {
                    rect class=(class) x=(percent(start * 100.0)) y="1" width=(percent(width * 100.0)) height="10" {}
                }
            }
            @if at > 1.0 { svg x="100%" overflow="visible" { path.cut d="M-6 0H1V12H-6L0 6z" {} } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_follow_each_other_and_end_with_the_scale() {
        let drawn = phase_bar(&Phases { parts: [0.25, 0.0, 0.25, 0.0], vain: 2.0 }).into_string();
        assert!(drawn.contains(r#"class="p3" x="25%" y="1" width="25%""#), "{drawn}");
        assert!(
            drawn.contains(r#"class="p5" x="50%" y="1" width="50%""#) && drawn.contains("class=\"cut\""),
            "{drawn}"
        );
        assert!(!drawn.contains("p2"), "{drawn}");
    }
}
