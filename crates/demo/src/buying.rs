//! Who wants to buy when. Customers come at a growing rate; each buys at their own rate, which is gamma distributed over
//! the customers, and may lose interest after every purchase: the buy-till-you-die model that the customer metrics fit.

use domain::accounts::Platform;

use super::{
    calendar::{self, Calendar},
    draw::{Draw, Stream},
    happenings::{LEAVERS, LEAVING_DAY, OUTAGE_DAY},
    people::{self, Person},
};

/// New customers on the first day, in thousandths.
const ARRIVALS: i64 = 2_300;
/// Days between two purchases of a customer with the average rate.
const USUAL_GAP_DAYS: f64 = 27.0;
/// Days after which the slowest customers come back, of an average season.
const LONGEST_GAP_DAYS: f64 = 3_650.0;
/// Customers who left have numbers from here on.
const FIRST_LEAVER: u64 = 900_000;

/// A customer wants to buy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// In Unix seconds.
    pub(super) at: i64,
    pub(super) day: usize,
    /// Place in the list of people.
    pub(super) person: usize,
    /// Decides what is bought.
    pub(super) seed: u64,
    /// A customer who spends more than others.
    pub(super) generous: bool,
}

/// All people, and their wishes in the order of time.
pub(super) fn wishes(calendar: &Calendar) -> (Vec<Person>, Vec<Wish>) {
    let mut crowd = Crowd { calendar, season: season(calendar), people: Vec::new(), wishes: Vec::new() };
    crowd.arrive();
    crowd.arrive_and_leave();
    let Crowd { people, mut wishes, .. } = crowd;
    wishes.retain(|wish| {
        let marketplace = people.get(wish.person).is_some_and(|person| person.platform == Platform::Mercadolibre);
        wish.at <= calendar.until && (wish.day != OUTAGE_DAY || marketplace)
    });
    wishes.sort_by_key(|wish| (wish.at, wish.person));
    (people, wishes)
}

struct Crowd<'a> {
    calendar: &'a Calendar,
    /// Running sums of how busy the days are, in thousandths of an average day.
    season: Vec<f64>,
    people: Vec<Person>,
    wishes: Vec<Wish>,
}

impl Crowd<'_> {
    /// A Poisson process in the time of a growing shop.
    fn arrive(&mut self) {
        let rates = (0..self.calendar.len())
            .map(|day| (ARRIVALS * calendar::growth(day) / 1_000 * self.calendar.weight(day)) as f64 / 1e6);
        let arrivals = running(rates);
        let mut position = 0.0;
        for ordinal in 0.. {
            position += Draw::new(Stream::Arrival, ordinal).exponential();
            let Some(day) = day_at(&arrivals, position) else { break };
            let mut draw = Draw::new(Stream::Customer, ordinal);
            let platform = people::platform(&mut draw);
            self.people.push(Person::draw(ordinal, platform, &mut draw));
            self.buy_till_the_end(day, draw);
        }
    }

    /// Purchases from the first one on, in the time of the season.
    fn buy_till_the_end(&mut self, first_day: usize, mut draw: Draw) {
        // Half the sum of two exponentials is gamma distributed with shape 2 and mean 1.
        let rate = (draw.exponential() + draw.exponential()) / 2.0;
        let mean_gap = (USUAL_GAP_DAYS / rate).min(LONGEST_GAP_DAYS);
        let leaves = (draw.below(400) + draw.below(400)) / 2 + 30;
        let mut day = first_day;
        let mut position = self.season.get(day).copied().unwrap_or_default();
        loop {
            self.wish(day, false, &mut draw);
            if draw.chance(leaves) {
                break;
            }
            position += draw.exponential() * mean_gap;
            let Some(next) = day_at(&self.season, position) else { break };
            day = next;
        }
    }

    /// Good customers who come every month or so, until they do not.
    fn arrive_and_leave(&mut self) {
        for number in 0..LEAVERS {
            let mut draw = Draw::new(Stream::LeavingCustomer, number);
            self.people.push(Person::draw(FIRST_LEAVER + number, Platform::Shopify, &mut draw));
            let gap = draw.between(22, 32);
            let mut day = LEAVING_DAY - draw.place(25);
            for _ in 0..draw.between(12, 18) {
                self.wish(day, true, &mut draw);
                let gap = usize::try_from(gap + draw.between(-4, 4)).unwrap_or_default();
                day = day.saturating_sub(gap);
            }
        }
    }

    fn wish(&mut self, day: usize, generous: bool, draw: &mut Draw) {
        let at = self.calendar.at(day, calendar::time_of_day(draw));
        let person = self.people.len().saturating_sub(1);
        self.wishes.push(Wish { at, day, person, seed: draw.next(), generous });
    }
}

fn season(calendar: &Calendar) -> Vec<f64> {
    running((0..calendar.len()).map(|day| calendar.weight(day) as f64 / 1e3))
}

/// The sums before each entry, and of all.
fn running(entries: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    for entry in entries {
        sum += entry;
        sums.push(sum);
    }
    sums
}

/// The day within which a position of the running sums lies; `None` past the end.
fn day_at(sums: &[f64], position: f64) -> Option<usize> {
    let after = sums.partition_point(|sum| *sum <= position);
    (after < sums.len()).then(|| after.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_lies_within_a_day() {
        let sums = running([2.0, 0.5].into_iter());
        assert_eq!(sums, [0.0, 2.0, 2.5]);
        let days = [0.0, 1.9, 2.0, 2.4, 2.5].map(|position| day_at(&sums, position));
        assert_eq!(days, [Some(0), Some(0), Some(1), Some(1), None]);
    }
}
