//! Public holidays by country: days on which a shop is not itself, so that they are neither judged nor learned from.

use std::{collections::BTreeSet, ops::RangeInclusive};

use time::{Date, Month};

/// A line per country and year: `BR 2026 0101 0421 …`, months and days. See `scripts/public-holidays.py`.
const CALENDAR: &str = include_str!("../data/public_holidays.txt");

/// The public holidays of a country, given as ISO 3166-1 alpha-2, that all of it keeps, within `days`. Empty for a country
/// or a year that the calendar does not hold.
pub fn of(country: &str, days: RangeInclusive<Date>) -> BTreeSet<Date> {
    let mut found = BTreeSet::new();
    for (_, year, rest) in lines().filter(|(known, ..)| *known == country) {
        found.extend(rest.split(' ').filter_map(|text| date(year, text)).filter(|date| days.contains(date)));
    }
    found
}

/// The countries of the calendar, in alphabetical order.
pub fn countries() -> Vec<&'static str> {
    let mut countries: Vec<&str> = lines().map(|(country, ..)| country).collect();
    countries.dedup();
    countries
}

fn lines() -> impl Iterator<Item = (&'static str, i32, &'static str)> {
    CALENDAR.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (country, rest) = line.split_once(' ')?;
        let (year, days) = rest.split_once(' ')?;
        Some((country, year.parse().ok()?, days))
    })
}

fn date(year: i32, month_and_day: &str) -> Option<Date> {
    let (month, day) = month_and_day.split_at_checked(2)?;
    let month: u8 = month.parse().ok()?;
    Date::from_calendar_date(year, Month::try_from(month).ok()?, day.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use time::macros::date;

    use super::*;

    /// From the governments' own lists: gov.uk bank holidays 2011 (England and Wales), Lei 662/1949 and Lei 14.759/2023.
    #[test]
    fn holidays_are_those_that_the_governments_print() {
        let england = of("GB", date!(2011 - 04 - 01)..=date!(2011 - 06 - 01));
        let printed = [date!(2011 - 04 - 22), date!(2011 - 04 - 25), date!(2011 - 04 - 29), date!(2011 - 05 - 02)];
        assert!(printed.iter().all(|day| england.contains(day)), "{england:?}");
        assert!(england.contains(&date!(2011 - 05 - 30)) && england.len() == 5, "{england:?}");
        let brazil = of("BR", date!(2026 - 11 - 01)..=date!(2026 - 12 - 31));
        let printed = [date!(2026 - 11 - 02), date!(2026 - 11 - 15), date!(2026 - 11 - 20), date!(2026 - 12 - 25)];
        assert_eq!(brazil, BTreeSet::from(printed));
    }

    #[test]
    fn every_line_of_the_calendar_is_read_whole() {
        let written: usize =
            CALENDAR.lines().filter(|line| !line.starts_with('#')).map(|l| l.split(' ').count() - 2).sum();
        let everything = date!(2000 - 01 - 01)..=date!(2100 - 01 - 01);
        let read: usize = countries().iter().map(|country| of(country, everything.clone()).len()).sum();
        assert_eq!((written, countries().len()), (read, 51));
        assert!(countries().is_sorted());
    }

    #[test]
    fn what_is_not_in_the_calendar_has_no_holidays() {
        let day = date!(2026 - 12 - 25);
        assert_eq!(of("XX", day..=day), BTreeSet::new());
        assert_eq!(of("BR", date!(1999 - 12 - 25)..=date!(1999 - 12 - 25)), BTreeSet::new());
    }
}
