//! A suggestion in words.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use time::{Date, Duration};

use crate::{
    metrics::stock::FARTHEST_DAYS,
    money::{Currency, estimate},
    texts::Texts,
};

text_enum!(
    /// Whose sales of a year ago tell the season of an item.
    SeasonOf { Item = "item", Category = "category", Shop = "shop" }
);

/// The numbers that a suggestion came from. Units are those of the item, days whole ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    pub on_hand: i64,
    pub on_order: i64,
    pub lead_time_days: i64,
    pub review_days: i64,
    /// Units expected to sell per day over lead time and review period.
    pub daily_demand: f64,
    /// Units expected to sell over lead time and review period.
    pub expected_demand: f64,
    /// What the order-up-to level holds beyond the expected demand; below 0 where no more than half of the cases are covered.
    pub safety_stock: f64,
    /// Order when what is on hand and on order falls to this.
    pub reorder_point: i64,
    /// Units to have on hand and on order after ordering.
    pub order_up_to: i64,
    /// Probability, 0 to 1, that `order_up_to` covers lead time and review period by the forecast.
    pub service_level: f64,
    pub pack_size: i64,
    pub min_order_qty: i64,
    /// Days since the first sale, at most 365; none of a suggestion from before it was kept.
    #[serde(default)]
    pub history_days: Option<i64>,
    /// What selling a unit brings, in the account's currency: the price of the last 90 days less unit cost, fees and
    /// shipping. None without a price or a unit cost.
    #[serde(default)]
    pub unit_contribution: Option<f64>,
    /// Units expected from this day until 120 days after an order arrives by what was sold on these days a year ago: by the
    /// item, as many more or fewer as the shop sells since; in its first 13 months by its category or the shop, in parts of
    /// what it sells now. None with less than 13 months of all of them.
    #[serde(default)]
    pub sold_last_year: Option<f64>,
    /// Those of them that are expected from the day of its arrival on; none of a suggestion from before it was kept.
    #[serde(default)]
    pub sold_after_arrival: Option<f64>,
    /// Whose sales those were; none without any, and of a suggestion from before it was kept, when they were the item's.
    #[serde(default)]
    pub season_of: Option<SeasonOf>,
    /// That fewer are to be ordered than the demand of the last weeks would take, and the season was ending then.
    #[serde(default)]
    pub season_ends: bool,
}

/// Whether each sale costs more than it brings: more stock would only make the loss larger. Not known without a contribution.
pub fn sells_at_a_loss(unit_contribution: Option<f64>) -> bool {
    unit_contribution.is_some_and(|unit| unit < 0.0)
}

/// Whether to follow a suggestion that came from these numbers, where they are known; not where each sale costs more than it
/// brings.
pub fn is_recommended(basis: Option<&Basis>) -> bool {
    !basis.is_some_and(Basis::sells_at_a_loss)
}

impl Basis {
    /// [The same](sells_at_a_loss) of its product.
    pub fn sells_at_a_loss(&self) -> bool {
        sells_at_a_loss(self.unit_contribution)
    }

    /// Days for which what is on hand and on order lasts beyond the lead time; below 0 where it runs out before an order of
    /// today arrives. Infinite without demand.
    pub fn days_to_spare(&self) -> f64 {
        let cover = if self.daily_demand > 0.0 {
            (self.on_hand + self.on_order).max(0) as f64 / self.daily_demand
        } else {
            f64::INFINITY
        };
        cover - self.lead_time_days as f64
    }

    /// The last day on which an order arrives before what is on hand and on order on `day` runs out, at the expected demand;
    /// before `day` where it is too late for that. `None` without demand, and further away than [`FARTHEST_DAYS`].
    pub fn order_by(&self, day: Date) -> Option<Date> {
        let spare = self.days_to_spare().floor();
        (spare.abs() <= f64::from(FARTHEST_DAYS)).then(|| day.checked_add(Duration::days(spare as i64)))?
    }
}

/// A suggestion in words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason<'a> {
    pub quantity: i64,
    /// Probability, 0 to 1, that `order_up_to` covers the demand, as measured.
    pub confidence: f64,
    pub basis: &'a Basis,
    pub currency: Currency,
}

impl Reason<'_> {
    /// The suggestion, with the numbers used.
    pub fn say(&self, texts: &Texts) -> String {
        let Self { quantity, confidence, basis, currency } = *self;
        let Basis {
            on_hand,
            on_order,
            lead_time_days,
            review_days,
            daily_demand,
            order_up_to,
            pack_size,
            min_order_qty,
            ..
        } = *basis;
        let [daily_demand, expected_demand, confidence] =
            [daily_demand, basis.expected_demand, confidence].map(|figure| estimate(figure, 4));
        let packed = match (pack_size > 1, min_order_qty > 1) {
            (true, true) => "packs_and_least",
            (true, false) => "packs",
            (false, true) => "least",
            (false, false) => "no",
        };
        let loss = basis.unit_contribution.map_or(0.0, |unit| (-unit).max(0.0));
        texts
            .message("reorder-reason")
            .text("season", if basis.season_ends { "ends" } else { "goes_on" })
            .text("season_of", basis.season_of.unwrap_or(SeasonOf::Item).as_str())
            .count("sold_last_year", estimate(basis.sold_last_year.unwrap_or_default(), 0))
            .text("after_arrival", if basis.sold_after_arrival.is_some() { "known" } else { "unknown" })
            .count("sold_after_arrival", estimate(basis.sold_after_arrival.unwrap_or_default(), 0))
            .text("recommended", if basis.sells_at_a_loss() { "no" } else { "yes" })
            .money("loss", estimate(loss, 4), currency)
            .number("daily_demand", daily_demand, u32::from(daily_demand < Decimal::TEN))
            .count("on_hand", on_hand.max(0))
            .count("owed", on_hand.min(0).saturating_neg())
            .count("on_order", on_order.max(0))
            .count("review_days", review_days)
            .count("lead_time_days", lead_time_days)
            .count("expected_demand", expected_demand)
            .count("order_up_to", order_up_to)
            .percent("confidence", confidence, 0)
            .count("quantity", quantity)
            .count("pack_size", pack_size)
            .count("min_order_qty", min_order_qty)
            .text("packed", packed)
            .say()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use rust_decimal::Decimal;
    use time::macros::date;

    use super::{Basis, Reason, SeasonOf};
    use crate::{
        insights::grounding::{Fact, Grounds, Said, Unit, known},
        money::{Currency, estimate},
        texts::{Locale, Texts},
    };

    pub(crate) const PLAIN: Basis = Basis {
        daily_demand: 3.42,
        on_hand: 20,
        on_order: 0,
        lead_time_days: 14,
        review_days: 7,
        expected_demand: 71.8,
        safety_stock: 24.2,
        reorder_point: 70,
        order_up_to: 96,
        service_level: 0.95,
        pack_size: 1,
        min_order_qty: 1,
        history_days: Some(365),
        unit_contribution: Some(4.0),
        sold_last_year: None,
        sold_after_arrival: None,
        season_of: None,
        season_ends: false,
    };

    fn dollars() -> Currency {
        "USD".parse().unwrap()
    }

    fn reason(basis: &Basis) -> String {
        Reason { quantity: 76, confidence: 0.92, basis, currency: dollars() }.say(&Texts::of(Locale::ENGLISH))
    }

    #[test]
    fn stock_lasts_beyond_the_lead_time_or_not() {
        let of = |on_hand, daily_demand| Basis { on_hand, on_order: 10, daily_demand, lead_time_days: 14, ..PLAIN };
        assert_eq!(of(20, 2.0).days_to_spare(), 1.0);
        assert_eq!(of(-10, 2.0).days_to_spare(), -14.0);
        assert_eq!(of(20, 0.0).days_to_spare(), f64::INFINITY);
        let order_by = |on_hand, daily_demand| of(on_hand, daily_demand).order_by(date!(2026 - 05 - 10));
        assert_eq!(order_by(21, 2.0), Some(date!(2026 - 05 - 11)), "a day and a half to spare is a day");
        assert_eq!(order_by(-10, 2.0), Some(date!(2026 - 04 - 26)));
        assert_eq!((order_by(20, 0.0), order_by(20, 0.01)), (None, None));
    }

    #[test]
    fn a_reason_names_the_numbers_it_used() {
        assert_eq!(
            reason(&PLAIN),
            "Sells about 3.4 a day; 20 in stock. About 72 are expected to sell before an order placed in 7 days could \
             arrive (14 days of delivery), and 96 cover it with a probability of 92%. Order 76."
        );
    }

    #[test]
    fn what_is_on_order_and_how_it_is_packed_is_said() {
        let reason = reason(&Basis { on_order: 10, pack_size: 12, min_order_qty: 24, daily_demand: 12.6, ..PLAIN });
        assert!(reason.starts_with("Sells about 13 a day; 20 in stock and 10 on order."), "{reason}");
        assert!(reason.ends_with("Order 76 (packs of 12, at least 24)."), "{reason}");
    }

    #[test]
    fn what_was_sold_beyond_the_stock_is_said() {
        let owed = reason(&Basis { on_hand: -30, on_order: 10, ..PLAIN });
        assert!(
            owed.starts_with("Sells about 3.4 a day; none in stock, 30 sold already and 10 on order. About"),
            "{owed}"
        );
    }

    #[test]
    fn what_sells_at_a_loss_is_not_recommended() {
        let reason = reason(&Basis { unit_contribution: Some(-2.156), ..PLAIN });
        assert!(
            reason.ends_with(
                "with a probability of 92%. But each unit sold loses about 2.16 USD after its cost, fees and shipping: \
                 raise the price or lower the cost before you order 76."
            ),
            "{reason}"
        );
    }

    #[test]
    fn an_order_that_arrives_after_the_season_says_so() {
        for (season_of, of) in
            [(None, ""), (Some(SeasonOf::Category), " of its category"), (Some(SeasonOf::Shop), " of the shop")]
        {
            let reason = reason(&Basis { sold_last_year: Some(88.4), season_of, season_ends: true, ..PLAIN });
            let ends = format!(
                "could arrive (14 days of delivery), but the season will be ending: by last year's sales{of} about 88 are \
                 expected from this day until four months after such an order would arrive. Order 76."
            );
            assert!(reason.ends_with(&ends), "{reason}");
        }
        let over = Basis { sold_last_year: Some(88.4), sold_after_arrival: Some(12.2), season_ends: true, ..PLAIN };
        let ends = "about 88 are expected from this day until four months after such an order would arrive, 12 of them after \
                    its arrival. Order 76.";
        assert!(reason(&over).ends_with(ends), "{}", reason(&over));
    }

    /// Every figure of a suggestion.
    fn grounds(reason: &Reason<'_>, texts: &Texts) -> Grounds {
        let Reason { quantity, confidence, basis, currency } = *reason;
        let number = |figure: f64, decimals| Fact::Number { value: estimate(figure, 4), unit: Unit::Plain, decimals };
        let counts =
            [basis.on_hand.abs(), basis.on_order, basis.order_up_to, basis.pack_size, basis.min_order_qty, quantity];
        let mut facts: Vec<Fact> = counts.into_iter().map(Fact::count).collect();
        facts.extend([
            number(basis.daily_demand, u32::from(basis.daily_demand < 10.0)),
            number(basis.expected_demand, 0),
            Fact::days(basis.lead_time_days),
            Fact::days(basis.review_days),
            Fact::percent(estimate(confidence, 4) * Decimal::ONE_HUNDRED, 0),
        ]);
        facts.extend(
            [basis.sold_last_year, basis.sold_after_arrival].into_iter().flatten().map(|units| number(units, 0)),
        );
        let loss = basis.unit_contribution.filter(|unit| *unit < 0.0);
        facts.extend(loss.map(|unit| Fact::money(estimate(-unit, 4), currency)));
        // What `sold_last_year` is of: a year ago, until 120 days after an order arrives.
        let words = [
            ["", "del año pasado", "pelas vendas do ano passado"],
            [
                "four months",
                "desde este día hasta cuatro meses después de la llegada",
                "quatro meses depois da chegada",
            ],
        ];
        Grounds { facts, names: known(texts.locale().language, &words), cause: None }
    }

    /// Every form of a reason, and what it may rest on.
    pub(crate) fn say_all(texts: &Texts) -> Vec<Said> {
        let mut said = Vec::new();
        for (days, on_order, pack_size, min_order_qty) in [(1, 0, 1, 1), (7, 10, 12, 1), (14, 0, 1, 24), (2, 3, 12, 24)]
        {
            let expected_demand = 0.9 + 300.0 * f64::from(u8::from(pack_size > 1));
            let basis = Basis {
                on_order,
                lead_time_days: days,
                review_days: days,
                expected_demand,
                pack_size,
                min_order_qty,
                ..PLAIN
            };
            let loss = Basis { unit_contribution: Some(-2.156), ..basis };
            let over = Basis { sold_last_year: Some(8.0), season_ends: true, ..basis };
            let [of_category, of_shop] =
                [SeasonOf::Category, SeasonOf::Shop].map(|of| Basis { season_of: Some(of), ..over });
            let owed = Basis { on_hand: -30, ..basis };
            let arrived = Basis { sold_after_arrival: Some(3.0), ..over };
            for basis in [&basis, &loss, &over, &arrived, &of_category, &of_shop, &owed] {
                let reason = Reason { quantity: 76, confidence: 0.92, basis, currency: dollars() };
                said.push((reason.say(texts), grounds(&reason, texts)));
            }
        }
        said
    }
}
