//! A metric by day: what was expected, what it is compared with, the line, the day that is not over, marks of anomalies.

use maud::{Markup, html};

use super::{Scale, path, percent, short};

/// Pixels above the plot, of it, and below it.
const TOP: f64 = 8.0;
const PLOT: f64 = 232.0;
const BOTTOM: f64 = 24.0;
/// Pixels that two names at the end of lines are apart at least.
const APART: f64 = 16.0;
/// The part of the width that the words of a mark take at most, where it is narrow.
const WORDS: f64 = 0.4;
/// Width of the inner drawing, in its own units.
const WIDTH: f64 = 1000.0;

/// A value for each slot; where there is none the line has a gap.
pub type Series = Vec<Option<f64>>;

/// An anomaly on a slot.
#[derive(Debug, Clone)]
pub struct Mark {
    pub slot: usize,
    pub value: f64,
    pub address: String,
    /// What a screen reader says; begins with the text.
    pub label: String,
    pub text: String,
}

/// What people wrote about a slot's day.
#[derive(Debug, Clone)]
pub struct Remark {
    pub slot: usize,
    pub address: String,
    /// What a screen reader says; begins with the text.
    pub label: String,
    pub text: String,
}

/// What stands at the end of a line.
#[derive(Debug, Clone)]
pub struct Name {
    pub value: f64,
    pub text: String,
    /// Whether it is the line that the chart is about.
    pub is_main: bool,
}

/// What to draw. Every text is finished.
#[derive(Debug, Clone)]
pub struct Line {
    /// Of the page's elements.
    pub id: String,
    /// What the chart shows, in a sentence or more.
    pub summary: String,
    pub scale: Scale,
    /// A text for each tick.
    pub ticks: Vec<String>,
    /// Slots with the text below them.
    pub days: Vec<(usize, String)>,
    pub values: Series,
    /// Whether the last slot is a day that is not over.
    pub is_open: bool,
    pub low: Series,
    pub high: Series,
    pub before: Series,
    pub marks: Vec<Mark>,
    pub remarks: Vec<Remark>,
    pub names: Vec<Name>,
    /// What each line is called, where there is no room at its end: the line, the open day, the band, the comparison.
    pub key: [Option<String>; 4],
}

impl Line {
    fn x(&self, slot: usize) -> f64 {
        // The middle of the slot; a chart has hundreds of them at most.
        (slot as f64 + 0.5) / self.values.len().max(1) as f64
    }

    fn y(&self, value: f64) -> f64 {
        let height = self.scale.high() - self.scale.low();
        TOP + (self.scale.high() - value) / if height == 0.0 { 1.0 } else { height } * PLOT
    }

    fn point(&self, slot: usize, value: f64) -> (f64, f64) {
        (self.x(slot) * WIDTH, self.y(value))
    }

    /// The class of the room that the texts of the ticks need.
    fn room(&self) -> &'static str {
        match self.ticks.iter().map(|text| text.chars().count()).max().unwrap_or_default() {
            ..8 => "",
            8..12 => " far",
            _ => " farther",
        }
    }

    /// A path for each stretch without gaps.
    fn paths(&self, series: &[Option<f64>]) -> Vec<String> {
        let slots: Vec<(usize, Option<f64>)> = series.iter().copied().enumerate().collect();
        let stretches = slots.split(|(_, value)| value.is_none()).filter(|stretch| !stretch.is_empty());
        let points = |stretch: &[(usize, Option<f64>)]| {
            path(stretch.iter().filter_map(|(slot, value)| Some(self.point(*slot, (*value)?))))
        };
        stretches.map(points).collect()
    }

    /// The band as areas: there along the upper edge, back along the lower.
    fn areas(&self) -> Vec<String> {
        let edges: Vec<(usize, Option<(f64, f64)>)> =
            self.low.iter().zip(&self.high).map(|(low, high)| low.zip(*high)).enumerate().collect();
        let stretches = edges.split(|(_, edge)| edge.is_none()).filter(|stretch| !stretch.is_empty());
        let area = |stretch: &[(usize, Option<(f64, f64)>)]| {
            let upper = stretch.iter().filter_map(|(slot, edge)| Some(self.point(*slot, edge.as_ref()?.1)));
            let lower = stretch.iter().rev().filter_map(|(slot, edge)| Some(self.point(*slot, edge.as_ref()?.0)));
            format!("{}Z", path(upper.chain(lower)))
        };
        stretches.map(area).collect()
    }

    /// The line without the day that is not over, and the way to that.
    fn split(&self) -> (&[Option<f64>], Option<String>) {
        match (self.is_open, self.values.split_last()) {
            (true, Some((Some(last), rest))) => {
                let slot = rest.len();
                let before = slot.checked_sub(1).zip(rest.last().copied().flatten());
                let points = before.map(|(slot, value)| self.point(slot, value)).into_iter();
                (rest, Some(path(points.chain([self.point(slot, *last)]))))
            }
            (true, Some((None, rest))) => (rest, None),
            _ => (&self.values, None),
        }
    }

    /// Where names stand: in the order of their values, and apart.
    fn placed(&self) -> Vec<(f64, &Name)> {
        let mut names: Vec<_> = self.names.iter().map(|name| (self.y(name.value), name)).collect();
        names.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut least = f64::MIN;
        for (y, _) in &mut names {
            *y = y.max(least);
            least = *y + APART;
        }
        names
    }

    /// Whether there is room for the words beside each of some slots, by their height, in the order of time: those of later
    /// slots come first.
    fn room_for(&self, places: impl DoubleEndedIterator<Item = (usize, f64)>) -> Vec<bool> {
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        let mut rooms = Vec::new();
        for (slot, y) in places.rev() {
            let x = self.x(slot);
            let (from, to) = if is_in_right_half(x) { (x - WORDS, x) } else { (x, x + WORDS) };
            let is_free =
                taken.iter().all(|(start, end, height)| *end <= from || to <= *start || (height - y).abs() >= APART);
            if is_free {
                taken.push((from, to, y));
            }
            rooms.push(is_free);
        }
        rooms.reverse();
        rooms
    }
}

/// There words stand to the left of what they are of.
fn is_in_right_half(x: f64) -> bool {
    x > 0.5
}

/// The chart.
pub fn line(chart: &Line) -> Markup {
    let height = TOP + PLOT + BOTTOM;
    let summary = format!("{}-sum", chart.id);
    let remarks = chart.room_for(chart.remarks.iter().map(|remark| (remark.slot, TOP)));
    let marks = chart.room_for(chart.marks.iter().map(|mark| (mark.slot, chart.y(mark.value))));
    html! {
        figure.chart {
            figcaption id=(summary) { (chart.summary) }
            svg class={"plot wide" (chart.room())} height=(short(height, 0)) role="group" aria-labelledby=(summary) {
                g aria-hidden="true" {
                    (grid(chart))
                    g.xlab {
                        @for (slot, text) in &chart.days {
                            // At the right edge the middle of a text would push its end out of the page.
                            text class=[(chart.x(*slot) > 0.94).then_some("end")] x=(percent(chart.x(*slot) * 100.0)) y=(short(height - 4.0, 0)) { (text) }
                        }
                    }
                    (curves(chart, height))
                    @for (y, name) in chart.placed() {
                        text class=(if name.is_main { "lbl s1" } else { "lbl" }) x="100%" dx="4" y=(short(y, 1)) dy=".35em" { (name.text) }
                    }
                }
                @for (one, has_room) in chart.remarks.iter().zip(remarks) { (remark(chart, one, has_room)) }
                @for (mark, has_room) in chart.marks.iter().zip(marks) { (anomaly(chart, mark, has_room)) }
            }
            (key(&chart.key))
        }
    }
}

fn grid(chart: &Line) -> Markup {
    let ticks: Vec<_> = chart
        .scale
        .ticks
        .iter()
        .zip(&chart.ticks)
        .map(|(tick, text)| (*tick, short(chart.y(*tick), 1), text))
        .collect();
    html! {
        @for (tick, y, _) in &ticks {
            line class=(if *tick == 0.0 { "zero" } else { "grid" }) x2="100%" y1=(y) y2=(y) {}
        }
        g.ylab {
            @for (_, y, text) in &ticks { text x="-8" y=(y) dy=".35em" { (text) } }
        }
    }
}

fn curves(chart: &Line, height: f64) -> Markup {
    let (closed, open) = chart.split();
    html! {
        svg width="100%" height=(short(height, 0)) viewBox={"0 0 1000 " (short(height, 0))} preserveAspectRatio="none" {
            @for area in chart.areas() { path.band d=(area) {} }
            @for line in chart.paths(&chart.before) { path.prev d=(line) {} }
            @for line in chart.paths(closed) { path.line d=(line) {} }
            @if let Some(line) = &open { path.line.open d=(line) {} }
        }
        @if open.is_some() && let Some(Some(value)) = chart.values.last() {
            circle.dot cx=(percent(chart.x(chart.values.len().saturating_sub(1)) * 100.0)) cy=(short(chart.y(*value), 1)) r="3.5" {}
        }
    }
}

fn anomaly(chart: &Line, mark: &Mark, has_room: bool) -> Markup {
    let (at, y) = (chart.x(mark.slot), short(chart.y(mark.value), 1));
    let (class, dx) = if is_in_right_half(at) { ("ink halo end", "-14") } else { ("ink halo", "14") };
    let x = at * 100.0;
    html! {
        a href=(mark.address) aria-label=(mark.label) {
            circle.hit cx=(percent(x)) cy=(y) r="14" {}
            svg.mark x=(percent(x)) y=(y) overflow="visible" { path d="M0-7 7 0 0 7-7 0z" {} }
            @if has_room { text class=(class) x=(percent(x)) dx=(dx) y=(y) dy=".35em" { (mark.text) } }
        }
    }
}

/// A dotted upright with its words at the top.
fn remark(chart: &Line, remark: &Remark, has_room: bool) -> Markup {
    let at = chart.x(remark.slot);
    let (class, dx) = if is_in_right_half(at) { ("halo end", "-6") } else { ("halo", "6") };
    let x = at * 100.0;
    html! {
        a href=(remark.address) aria-label=(remark.label) {
            line.rule x1=(percent(x)) x2=(percent(x)) y1=(short(TOP + 18.0, 0)) y2=(short(TOP + PLOT, 0)) {}
            @if has_room { text class=(class) x=(percent(x)) dx=(dx) y=(short(TOP + 10.0, 0)) { (remark.text) } }
        }
    }
}

fn key(key: &[Option<String>; 4]) -> Markup {
    const SAMPLES: [(&str, &str); 4] =
        [("line", "M0 5h18"), ("line open", "M0 5h18"), ("band", "M0 0h18v10H0z"), ("prev", "M0 5h18")];
    html! {
        p.key aria-hidden="true" {
            @for ((class, path), text) in SAMPLES.iter().zip(key) {
                @if let Some(text) = text {
                    span { svg width="18" height="10" { path class=(class) d=(path) {} } (text) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: Series) -> Line {
        let nothing: Series = values.iter().map(|_| None).collect();
        Line {
            id: "profit".into(),
            summary: "Profit was 3 USD.".into(),
            scale: Scale::covering(0.0, 10.0),
            ticks: vec!["0".into(), "2".into(), "4".into(), "6".into(), "8".into(), "10".into()],
            days: vec![(0, "2 Nov".into())],
            values,
            is_open: false,
            low: nothing.clone(),
            high: nothing.clone(),
            before: nothing,
            marks: vec![],
            remarks: vec![],
            names: vec![],
            key: [Some("profit".into()), None, None, None],
        }
    }

    #[test]
    fn a_day_is_the_middle_of_its_slot() {
        let chart = chart(vec![Some(0.0), Some(10.0)]);
        assert_eq!(chart.paths(&chart.values), ["M250 240L750 8"]);
    }

    #[test]
    fn a_day_without_a_value_is_a_gap() {
        let chart = chart(vec![Some(0.0), None, Some(10.0), Some(5.0)]);
        assert_eq!(chart.paths(&chart.values), ["M125 240", "M625 8L875 124"]);
    }

    #[test]
    fn the_day_that_is_not_over_hangs_on_the_line() {
        let open = Line { is_open: true, ..chart(vec![Some(0.0), Some(10.0)]) };
        let (closed, way) = open.split();
        assert_eq!((open.paths(closed), way.as_deref()), (vec!["M250 240".to_owned()], Some("M250 240L750 8")));
        let unknown = Line { is_open: true, ..chart(vec![Some(0.0), None]) };
        assert_eq!(unknown.split().1, None);
    }

    #[test]
    fn names_at_the_end_are_apart_and_in_order() {
        let name = |value: f64, text: &str| Name { value, text: text.into(), is_main: false };
        let chart = Line { names: vec![name(5.0, "b"), name(5.1, "a")], ..chart(vec![Some(1.0)]) };
        let placed: Vec<_> = chart.placed().into_iter().map(|(y, name)| (short(y, 2), name.text.clone())).collect();
        assert_eq!(placed, [("121.68".to_owned(), "a".to_owned()), ("137.68".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn long_amounts_have_room_beside_the_plot() {
        let class = |tick: &str| {
            let drawn = line(&Line { ticks: vec![tick.into()], ..chart(vec![Some(1.0)]) }).into_string();
            drawn.split("<svg class=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
        };
        let amounts = ["250.000", "\u{2212}50.000.000", "\u{2212}1.000.000.000"];
        assert_eq!(amounts.map(class), ["plot wide", "plot wide far", "plot wide farther"]);
    }

    #[test]
    fn words_that_would_cover_those_of_a_later_day_are_left_out() {
        let ten = chart(vec![Some(1.0); 10]);
        let room = |places: &[(usize, f64)]| ten.room_for(places.iter().copied());
        assert_eq!(room(&[(0, 100.0), (1, 100.0), (6, 100.0)]), [false, false, true]);
        // Far apart, and one above the other.
        assert_eq!((room(&[(0, 100.0), (9, 100.0)]), room(&[(0, 100.0), (1, 116.0)])), (vec![true; 2], vec![true; 2]));
        let mark = |slot| Mark {
            slot,
            value: 1.0,
            address: format!("/anomalies/{slot}"),
            label: format!("day {slot}, see why"),
            text: format!("day {slot}"),
        };
        let drawn = line(&Line { marks: vec![mark(0), mark(1)], ..ten.clone() }).into_string();
        assert!(!drawn.contains(">day 0<") && drawn.contains(">day 1<"), "{drawn}");
        assert!(drawn.contains("aria-label=\"day 0, see why\""), "{drawn}");
    }

    #[test]
    fn what_was_written_about_a_day_stands_at_its_top_and_leads_there() {
        let remark = Remark {
            slot: 1,
            address: "/profit/2026-11-03".into(),
            label: "Ads <off>".into(),
            text: "Ads <off>".into(),
        };
        let drawn = line(&Line { remarks: vec![remark], ..chart(vec![Some(0.0), Some(10.0)]) }).into_string();
        assert!(drawn.contains(r#"<line class="rule" x1="75%" x2="75%""#) && drawn.contains("halo end"), "{drawn}");
        assert!(drawn.contains("Ads &lt;off&gt;") && drawn.contains(r#"href="/profit/2026-11-03""#), "{drawn}");
    }

    #[test]
    fn what_comes_from_outside_is_text() {
        let chart = Line { summary: "<script>alert(1)</script>".into(), ..chart(vec![Some(1.0)]) };
        let drawn = line(&chart).into_string();
        assert!(!drawn.contains("<script>") && drawn.contains("&lt;script&gt;"));
    }
}
