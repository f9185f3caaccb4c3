//! The days that a page looks at, and what they are compared with.

use actix_web::HttpRequest;
use domain::{
    periods::{Comparison, Period, days, shifted},
    profit::DayRange,
};
use time::Date;

use super::query;
use crate::{
    error::PageError,
    text::Writer,
    views::layout::{Choice, Periods},
};

/// Days that a call of the API gives at most.
const MOST_DAYS: i64 = 365;

/// The days that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub period: Period,
    /// The last of them, where it is not yesterday, the last one that is over.
    pub until: Option<Date>,
}

impl Window {
    pub const USUAL: Self = Self { period: Period::Month, until: None };

    /// # Errors
    /// When the last day is not over.
    pub fn of(request: &HttpRequest, today: Date) -> Result<Self, PageError> {
        let until = query::day(request, "until")?;
        if until.is_some_and(|day| day >= today) {
            return Err(PageError::Invalid("until"));
        }
        let period = query::one(request, "period")?.unwrap_or(Self::USUAL.period);
        Ok(Self { period, until: until.filter(|day| *day != shifted(today, -1)) })
    }

    /// The days that are added up: those that are over.
    pub fn complete(self, today: Date) -> DayRange {
        self.period.before(self.until.map_or(today, |last| shifted(last, 1)))
    }

    /// Those with today, where they end the day before.
    pub fn with_today(self, today: Date) -> DayRange {
        let complete = self.complete(today);
        DayRange { last: if self.until.is_none() { today } else { complete.last }, ..complete }
    }

    /// Those of them that are listed and drawn: the newest, as many as a call of the API gives.
    pub fn listed(self, today: Date) -> DayRange {
        let all = self.with_today(today);
        DayRange { first: all.first.max(shifted(all.last, 1 - MOST_DAYS)), ..all }
    }

    /// The window that ends where this one begins.
    fn earlier(self, today: Date) -> Self {
        Self { until: Some(shifted(self.complete(today).first, -1)), ..self }
    }

    /// The one that begins where this one ends, as far as days are over.
    fn later(self, today: Date) -> Option<Self> {
        let last = shifted(self.until?, self.period.days());
        Some(Self { until: (last < shifted(today, -1)).then_some(last), ..self })
    }

    /// Its parameters in an address; what is as usual is left out.
    pub fn pairs(self) -> [Option<String>; 2] {
        let Self { period, until } = self;
        [(period != Self::USUAL.period).then(|| format!("period={period}")), until.map(|day| format!("until={day}"))]
    }

    /// What the API is asked for so many days of it by.
    pub fn api(self, days: i64) -> String {
        match self.until {
            Some(day) => format!("days={days}&until={day}"),
            None => format!("days={days}"),
        }
    }

    /// The call of the API that adds up the same days. The page adds up a day as soon as it is over, and says so where it was
    /// computed before; for the API it is complete only then.
    pub fn call(self, complete: DayRange, last_complete: Option<Date>) -> String {
        let length = days(complete);
        match last_complete.filter(|last| *last < complete.last) {
            Some(_) => format!("/api/v1/profit?days={length}&until={}", complete.last),
            None => format!("/api/v1/profit?{}&complete=1", self.api(length)),
        }
    }
}

/// The days, with the zone they are of and the currency of the amounts.
pub fn window(writer: &Writer, range: DayRange) -> String {
    writer.message("page-window").text("days", writer.days(range.first, range.last)).text("place", place(writer)).say()
}

/// The zone of the days, and the currency of the amounts.
pub fn place(writer: &Writer) -> String {
    let code = writer.zone.name().rsplit('/').next().unwrap_or_default();
    let zone = writer.message("city").text("code", code).text("name", code.replace('_', " ")).say();
    writer.message("page-place").text("zone", zone).text("currency", writer.currency).say()
}

/// The choice of a period, and the ways to its days one by one and to the windows beside it.
pub fn periods(writer: &Writer, chosen: Window, address: impl Fn(Window) -> String) -> Periods {
    let today = writer.today();
    let choice = |period: &Period| Choice {
        address: address(Window { period: *period, ..chosen }),
        text: writer.say(&format!("period-{period}")),
        is_chosen: *period == chosen.period,
    };
    let way = |id: &'static str, window: Window| {
        let DayRange { first, last } = window.complete(today);
        (address(window), writer.message(id).text("days", writer.days(first, last)).say())
    };
    let day = Choice {
        address: format!("/profit/{}", chosen.complete(today).last),
        text: writer.say("period-day"),
        is_chosen: false,
    };
    Periods {
        label: writer.say("period"),
        choices: std::iter::once(day).chain(Period::ALL.iter().map(choice)).collect(),
        shift: writer.say("window-other"),
        earlier: way("window-earlier", chosen.earlier(today)),
        later: chosen.later(today).map(|later| way("window-later", later)),
        newest: writer.say("window-newest"),
    }
}

pub fn comparisons(
    writer: &Writer,
    chosen: Comparison,
    range: DayRange,
    address: impl Fn(Comparison) -> String,
) -> (String, Vec<Choice>) {
    let name = writer.message(format!("compare-{chosen}")).count("days", days(range)).say();
    let choice = |compare: &Comparison| {
        let text = match compare.of(range) {
            Some(before) => writer
                .message(format!("compare-{compare}-window"))
                .count("count", days(range))
                .text("days", writer.days(before.first, before.last))
                .say(),
            None => writer.say("compare-nothing"),
        };
        Choice { address: address(*compare), text, is_chosen: *compare == chosen }
    };
    let summary = writer.message("compare-with").text("with", name).say();
    (summary, Comparison::ALL.iter().map(choice).collect())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use time::macros::date;

    use super::*;

    const TODAY: Date = date!(2026 - 11 - 22);

    fn read(uri: &str) -> Result<Window, PageError> {
        Window::of(&TestRequest::with_uri(uri).to_http_request(), TODAY)
    }

    #[test]
    fn windows_stand_side_by_side_up_to_the_last_day_that_is_over() {
        let newest = read("/?period=7d").unwrap();
        assert_eq!(newest.with_today(TODAY), DayRange { first: date!(2026 - 11 - 15), last: TODAY });
        assert_eq!(newest.later(TODAY), None);
        let earlier = newest.earlier(TODAY);
        assert_eq!(earlier, read("/?period=7d&until=2026-11-14").unwrap());
        let week = DayRange { first: date!(2026 - 11 - 08), last: date!(2026 - 11 - 14) };
        assert_eq!((earlier.complete(TODAY), earlier.with_today(TODAY)), (week, week));
        assert_eq!(earlier.later(TODAY), Some(newest));
        // One that begins between two of them is followed by the newest.
        assert_eq!(read("/?period=7d&until=2026-11-18").unwrap().later(TODAY), Some(newest));
    }

    #[test]
    fn the_call_for_what_is_added_up_gives_the_same_days_at_any_time() {
        let week = read("/?period=7d").unwrap();
        let complete = week.complete(TODAY);
        let usual = "/api/v1/profit?days=7&complete=1";
        assert_eq!(week.call(complete, None), usual);
        assert_eq!(week.call(complete, Some(date!(2026 - 11 - 21))), usual);
        // The jobs of this night have not run: to the API yesterday is not complete.
        assert_eq!(week.call(complete, Some(date!(2026 - 11 - 20))), "/api/v1/profit?days=7&until=2026-11-21");
        let past = read("/?period=7d&until=2026-11-14").unwrap();
        let call = past.call(past.complete(TODAY), Some(date!(2026 - 11 - 20)));
        assert_eq!(call, "/api/v1/profit?days=7&until=2026-11-14&complete=1");
    }

    #[test]
    fn no_more_days_are_listed_than_the_api_gives() {
        let year = read("/?period=12m").unwrap();
        assert_eq!((days(year.complete(TODAY)), days(year.with_today(TODAY))), (365, 366));
        assert_eq!(year.listed(TODAY), DayRange { first: date!(2025 - 11 - 23), last: TODAY });
        let past = read("/?period=12m&until=2026-10-31").unwrap();
        assert_eq!(past.listed(TODAY), past.complete(TODAY));
        assert_eq!(Window::USUAL.listed(TODAY), Window::USUAL.with_today(TODAY));
    }

    #[test]
    fn a_window_of_days_that_are_not_over_is_refused() {
        assert_eq!(read("/?until=2026-11-21").unwrap(), Window::USUAL);
        for until in ["2026-11-22", "2027-01-01", "yesterday", "2026-1-1"] {
            assert!(matches!(read(&format!("/?until={until}")), Err(PageError::Invalid("until"))), "{until}");
        }
    }
}
