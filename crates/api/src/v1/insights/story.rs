//! The story that an insight tells.

use domain::{
    anomalies::Direction,
    money::Currency,
    stories::{
        Action, Band, Gauge, Lever, LeverKind, Measure, Money, Normal, Phase, Seen, StoredStory, StoryMember, Subject,
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    names,
    respond::{JsonDecimal, date, estimated_money, round4},
};

/// One event, told once.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Story)]
pub(super) struct StoryBody {
    #[schema(example = 12)]
    id: i64,
    /// What it is about.
    #[schema(schema_with = names::story_subject)]
    subject: Subject,
    #[schema(format = Date, example = "2026-05-01")]
    first_day: String,
    /// The last day on which it showed.
    #[schema(format = Date, example = "2026-05-01")]
    last_day: String,
    /// The day that departed most.
    #[schema(format = Date, example = "2026-05-01")]
    peak_day: String,
    /// Which way the subject went.
    #[schema(schema_with = names::direction)]
    direction: Direction,
    /// What moved it, as far as is known; null when nothing known accounts for it.
    lever: Option<LeverBody>,
    /// What it brought (above zero) or cost (below); null where it moves no money.
    money: Option<MoneyBody>,
    seen: SeenBody,
    /// What was as usual beside it; null when nothing stands out as such.
    #[schema(schema_with = names::story_normal)]
    normal: Option<Normal>,
    /// What to do about it.
    #[schema(schema_with = names::story_action)]
    action: Action,
    /// `open`, `over`, or `usual` for what has lasted so long that it is what is expected now.
    #[schema(value_type = String, schema_with = names::story_phase)]
    phase: &'static str,
    /// From when on all was as expected; null unless it is over.
    #[schema(format = Date)]
    over_since: Option<String>,
    /// Its anomalies, by day and metric.
    members: Vec<MemberBody>,
}

/// What moved it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StoryLever)]
struct LeverBody {
    #[schema(schema_with = names::story_lever)]
    kind: LeverKind,
    /// The platform, country, product or campaign; null where the lever has none.
    #[schema(example = "shopify")]
    part: Option<String>,
    /// The part of the deviation that it accounts for.
    #[schema(minimum = 0, maximum = 1, example = 0.97)]
    share: f64,
    /// Probability that it is the right one.
    #[schema(minimum = 0, maximum = 1, example = 0.9)]
    confidence: f64,
}

/// What an event brought or cost, in the account's currency.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StoryMoney)]
struct MoneyBody {
    /// 10 % of outcomes lie below.
    #[schema(value_type = f64, example = -1700.0)]
    low: JsonDecimal,
    #[schema(value_type = f64, example = -1450.0)]
    expected: JsonDecimal,
    /// 10 % of outcomes lie above.
    #[schema(value_type = f64, example = -1200.0)]
    high: JsonDecimal,
    /// Profit where costs are known, else revenue.
    #[schema(schema_with = names::story_measure)]
    measure: Measure,
}

/// The figure that shows the event, on the day that departed most.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StorySeen)]
struct SeenBody {
    #[schema(schema_with = names::story_gauge)]
    gauge: Gauge,
    /// Of this platform, country, product or campaign; null for the whole shop.
    #[schema(example = "shopify")]
    part: Option<String>,
    #[schema(example = 0.0)]
    observed: f64,
    #[schema(example = 44.2)]
    expected: f64,
    /// Between this and `high` lie about 95 % of usual days: where the figure is back, the event is over.
    #[schema(example = 31.0)]
    low: f64,
    #[schema(example = 58.0)]
    high: f64,
}

/// An anomaly of the event.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StoryMember)]
struct MemberBody {
    #[schema(example = 77)]
    anomaly_id: i64,
    #[schema(example = "gross_revenue")]
    metric: String,
    #[schema(format = Date, example = "2026-05-01")]
    day: String,
    #[schema(schema_with = names::direction)]
    direction: Direction,
}

impl StoryBody {
    pub fn new(kept: StoredStory, currency: Currency) -> Self {
        let StoredStory { id, story, members } = kept;
        let action = story.action();
        let (phase, over_since) = match story.phase {
            Phase::Open => ("open", None),
            Phase::Over { since } => ("over", Some(date(since))),
            Phase::Usual => ("usual", None),
        };
        Self {
            id: id.0,
            subject: story.subject,
            first_day: date(story.span.first),
            last_day: date(story.span.last),
            peak_day: date(story.peak),
            direction: story.direction,
            lever: story.lever.map(Into::into),
            money: story.money.map(|money| MoneyBody::new(money, currency)),
            seen: SeenBody::new(story.seen, currency),
            normal: story.normal,
            action,
            phase,
            over_since,
            members: members.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Lever> for LeverBody {
    fn from(lever: Lever) -> Self {
        let Lever { kind, part, share, confidence } = lever;
        Self { kind, part, share: round4(share), confidence: round4(confidence) }
    }
}

impl MoneyBody {
    fn new(money: Money, currency: Currency) -> Self {
        let Money { low, expected, high, measure } = money;
        let [low, expected, high] = [low, expected, high].map(|amount| estimated_money(amount, currency));
        Self { low, expected, high, measure }
    }
}

impl SeenBody {
    fn new(seen: Seen, currency: Currency) -> Self {
        let Seen { gauge, part, band: Band { observed, expected, low, high } } = seen;
        let shown = |value| gauge.unit().rounded(value, currency);
        let [observed, expected, low, high] = [observed, expected, low, high].map(shown);
        Self { gauge, part, observed, expected, low, high }
    }
}

impl From<StoryMember> for MemberBody {
    fn from(member: StoryMember) -> Self {
        let StoryMember { anomaly, metric, day, direction } = member;
        Self { anomaly_id: anomaly.0, metric, day: date(day), direction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_decimals_of_what_it_counts() {
        let expected = |gauge, currency: &str| {
            let band = Band { observed: 315.23, expected: 111.348_14, low: 95.294_1, high: 128.905_9 };
            SeenBody::new(Seen { gauge, part: None, band }, currency.parse().unwrap()).expected
        };
        let amounts = [expected(Gauge::AdSpend, "USD"), expected(Gauge::AdSpend, "JPY")];
        assert_eq!((amounts, expected(Gauge::Orders, "USD")), ([111.35, 111.0], 111.3481));
    }
}
