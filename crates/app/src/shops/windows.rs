//! Which part of a shop's history is read next.

use domain::shops::{Timing, Window};
use time::{Duration, OffsetDateTime};

/// Windows are not made shorter than this, however much they hold.
const SHORTEST: Duration = Duration::MINUTE;

/// Windows that are read one after the other, and cut in half where one holds more than the platform gives at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    /// The next one is the last.
    waiting: Vec<Window>,
    order: Order,
}

/// Which half of a window comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    OldestFirst,
    NewestFirst,
}

impl Windows {
    /// What may have changed since `cursor`, as of `present` by the platform's clock; empty while that is too short ago.
    /// The upper bound is fixed here, so that reading ends however fast a shop changes.
    pub fn of_changes(cursor: OffsetDateTime, present: OffsetDateTime, timing: &Timing) -> Self {
        let (from, until) = (whole_second(cursor - timing.overlap), whole_second(present - timing.lag));
        let waiting = if from < until && cursor < until { vec![Window { from, until }] } else { Vec::new() };
        Self { waiting, order: Order::OldestFirst }
    }

    /// The next window of the back-fill, which began at `begun`, has come down to `filled_from` and ends at `floor`; empty at
    /// the end. It is as long as what was read by then.
    pub fn of_back_fill(
        (begun, filled_from): (OffsetDateTime, OffsetDateTime),
        floor: OffsetDateTime,
        timing: &Timing,
    ) -> Self {
        let until = whole_second(filled_from);
        let length = (begun - filled_from).max(timing.window).min(timing.longest_window);
        let from = (until - length).max(whole_second(floor));
        let waiting = if from < until { vec![Window { from, until }] } else { Vec::new() };
        Self { waiting, order: Order::NewestFirst }
    }

    /// The window to read now.
    pub fn current(&self) -> Option<Window> {
        self.waiting.last().copied()
    }

    /// Whether nothing follows the current window.
    pub fn is_last(&self) -> bool {
        self.waiting.len() <= 1
    }

    /// The current window is read and stored.
    pub fn advance(&mut self) {
        self.waiting.pop();
    }

    /// The current window holds too much: its halves take its place. False when it is as short as one may be.
    pub fn halve(&mut self) -> bool {
        let Some(Window { from, until }) = self.current().filter(|window| window.until - window.from >= SHORTEST * 2)
        else {
            return false;
        };
        let middle = whole_second(from + (until - from) / 2);
        let (older, newer) = (Window { from, until: middle }, Window { from: middle, until });
        self.waiting.pop();
        match self.order {
            Order::OldestFirst => self.waiting.extend([newer, older]),
            Order::NewestFirst => self.waiting.extend([older, newer]),
        }
        true
    }
}

/// Bounds lie on whole seconds: platforms that cut fractions off would leave what lies between two windows out.
fn whole_second(instant: OffsetDateTime) -> OffsetDateTime {
    instant.replace_nanosecond(0).unwrap_or(instant)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    const TIMING: Timing = Timing {
        overlap: Duration::minutes(10),
        lag: Duration::minutes(2),
        window: Duration::days(30),
        longest_window: Duration::days(30),
        history: Duration::days(730),
        reread: None,
        ads: None,
        token_lifetime: Duration::HOUR,
    };

    fn read_all(mut windows: Windows, mut holds_too_much: impl FnMut(Window) -> bool) -> Vec<Window> {
        let mut read = Vec::new();
        while let Some(window) = windows.current() {
            if holds_too_much(window) && windows.halve() {
                continue;
            }
            read.push(window);
            windows.advance();
        }
        read
    }

    #[test]
    fn changes_are_read_from_before_the_cursor_to_a_little_before_now() {
        let windows =
            Windows::of_changes(datetime!(2026-05-02 12:00:00.7 UTC), datetime!(2026-05-02 12:10:00.3 UTC), &TIMING);
        let window = Window { from: datetime!(2026-05-02 11:50 UTC), until: datetime!(2026-05-02 12:08 UTC) };
        assert_eq!(read_all(windows, |_| false), [window]);
    }

    #[test]
    fn nothing_is_read_twice_within_the_lag() {
        let cursor = datetime!(2026-05-02 12:00 UTC);
        assert_eq!(Windows::of_changes(cursor, cursor + Duration::minutes(2), &TIMING).current(), None);
    }

    #[test]
    fn the_back_fill_goes_backwards_to_its_end() {
        let floor = datetime!(2026-04-10 08:30 UTC);
        let begun = datetime!(2026-05-20 00:00:00.9 UTC);
        let first = Windows::of_back_fill((begun, begun), floor, &TIMING).current().unwrap();
        assert_eq!(first, Window { from: datetime!(2026-04-20 0:00 UTC), until: datetime!(2026-05-20 00:00 UTC) });
        let second = Windows::of_back_fill((begun, first.from), floor, &TIMING).current().unwrap();
        assert_eq!(second, Window { from: floor, until: first.from });
        assert_eq!(Windows::of_back_fill((begun, floor), floor, &TIMING).current(), None);
    }

    #[test]
    fn windows_of_the_back_fill_grow_to_the_longest() {
        let timing = Timing { longest_window: Duration::days(90), ..TIMING };
        let begun = datetime!(2026-05-20 00:00 UTC);
        let (mut filled_from, mut days) = (begun, Vec::new());
        while let Some(window) =
            Windows::of_back_fill((begun, filled_from), begun - Duration::days(300), &timing).current()
        {
            days.push((window.until - window.from).whole_days());
            filled_from = window.from;
        }
        assert_eq!(days, [30, 30, 60, 90, 90]);
    }

    #[test]
    fn a_window_that_holds_too_much_is_halved_and_the_newer_half_of_a_back_fill_comes_first() {
        let until = datetime!(2026-05-20 00:00 UTC);
        let windows = Windows::of_back_fill((until, until), until - Duration::days(8), &TIMING);
        let read = read_all(windows, |window| window.until - window.from > Duration::days(2));
        let days: Vec<_> = read.iter().map(|window| (until - window.until).whole_days()).collect();
        assert_eq!(days, [0, 2, 4, 6]);
    }

    #[test]
    fn what_a_minute_holds_is_not_halved() {
        let from = datetime!(2026-05-20 00:00 UTC);
        let mut windows =
            Windows { waiting: vec![Window { from, until: from + Duration::seconds(119) }], order: Order::OldestFirst };
        assert!(!windows.halve());
    }

    proptest! {
        /// However windows are cut, they follow each other without a gap, in one direction.
        #[test]
        fn halves_leave_nothing_out(
            seconds in 1i64..10_000_000, cuts in proptest::collection::vec(any::<bool>(), 0..200), backwards: bool,
        ) {
            let until = datetime!(2026-05-20 00:00 UTC);
            let whole = Window { from: until - Duration::seconds(seconds), until };
            let order = if backwards { Order::NewestFirst } else { Order::OldestFirst };
            let mut cuts = cuts.into_iter();
            let windows = Windows { waiting: vec![whole], order };
            let mut read = read_all(windows, |_| cuts.next().unwrap_or(false));
            if backwards {
                read.reverse();
            }
            prop_assert_eq!(read[0].from, whole.from);
            prop_assert_eq!(read[read.len() - 1].until, whole.until);
            prop_assert!(read.iter().all(|window| window.from < window.until));
            prop_assert!(read.windows(2).all(|pair| pair[0].until == pair[1].from));
        }
    }
}
