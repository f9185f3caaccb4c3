//! Segments from recency, frequency and monetary value (RFM).
//!
//! Scores run from 1 to 5 and come from the account's own customers. Every rank is by value, so
//! equal customers score equally and neither ties nor the order of the input can change a result.

use serde::{Deserialize, Serialize};

/// What a customer has done so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Activity {
    /// Orders ever placed; 0 makes a prospect.
    pub orders: u32,
    /// Whole days since the last order; ignored without orders.
    pub days_since_last: u32,
    /// Money spent in all orders, any currency that the account keeps to. Not-a-number and
    /// negative sums count as 0, infinity as more than anybody else.
    pub spend: f64,
}

/// One of nine groups; every customer is in exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// Bought lately, often and for much.
    Vip,
    /// Often and for much, last order not long ago.
    Loyal,
    /// Came back lately, not yet often.
    Promising,
    /// First and only order lately.
    New,
    /// Middling recency and nothing that stands out.
    NeedsAttention,
    /// Used to buy often or for much, long silent.
    AtRisk,
    /// Long silent, never important.
    Dormant,
    /// Silent the longest, never important.
    Lost,
    /// Has not ordered yet.
    Prospect,
}

impl Segment {
    /// All segments, best first, prospects last.
    pub const ALL: [Self; 9] = [
        Self::Vip,
        Self::Loyal,
        Self::Promising,
        Self::New,
        Self::NeedsAttention,
        Self::AtRisk,
        Self::Dormant,
        Self::Lost,
        Self::Prospect,
    ];

    /// The name used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Vip => "vip",
            Self::Loyal => "loyal",
            Self::Promising => "promising",
            Self::New => "new",
            Self::NeedsAttention => "needs_attention",
            Self::AtRisk => "at_risk",
            Self::Dormant => "dormant",
            Self::Lost => "lost",
            Self::Prospect => "prospect",
        }
    }

    /// The grid: recency against the mean of frequency and monetary score, rounded half up.
    #[must_use]
    pub const fn of(scores: Scores) -> Self {
        let importance = scores.importance();
        let repeats = scores.frequency > 1;
        match (scores.recency, importance) {
            (5, 4..) | (4, 5) => Self::Vip,
            (4, 4) | (3, 4..) => Self::Loyal,
            (4.., _) if repeats => Self::Promising,
            (4.., _) => Self::New,
            (3, _) => Self::NeedsAttention,
            (_, 3..) => Self::AtRisk,
            (2, _) => Self::Dormant,
            _ => Self::Lost,
        }
    }
}

/// Scores of one customer with orders, each 1 (worst) to 5 (best).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scores {
    pub recency: u8,
    pub frequency: u8,
    pub monetary: u8,
}

impl Scores {
    /// Mean of frequency and monetary score, rounded half up.
    #[must_use]
    pub const fn importance(self) -> u8 {
        (self.frequency + self.monetary).div_ceil(2)
    }
}

/// A customer's place in the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    pub segment: Segment,
    /// `None` for a prospect.
    pub scores: Option<Scores>,
}

/// Below this many customers a fifth of them is too few to speak of, and fixed bins apply.
const ENOUGH_FOR_RANKS: usize = 20;
/// Last order at most this many days ago: never below a recency score of 4.
const FRESH_DAYS: u32 = 14;
/// Last order at most this many days ago: never below 3, so never at risk, dormant or lost.
const WARM_DAYS: u32 = 30;
/// Last order more than this many days ago: never above 2, however the others fare.
const COLD_DAYS: u32 = 365;
/// Last order more than this many days ago: never above 3, so neither promising nor new; not as long: never below 2, so not
/// lost, as nobody of a young shop is.
const STALE_DAYS: u32 = 90;
/// Last order more than this many days ago: lost, however important.
const GONE_DAYS: u32 = 730;

/// Places every customer, in the order given. Sorting dominates: n log n.
#[must_use]
pub fn place(customers: &[Activity]) -> Vec<Placement> {
    let buyers = || customers.iter().filter(|c| c.orders > 0);
    let recency = Ranks::new(buyers().map(|c| f64::from(c.days_since_last)));
    let frequency = Ranks::new(buyers().filter(|c| c.orders > 1).map(|c| f64::from(c.orders)));
    let monetary = Ranks::new(buyers().map(|c| usable_spend(c.spend)));
    customers
        .iter()
        .map(|customer| {
            if customer.orders == 0 {
                return Placement { segment: Segment::Prospect, scores: None };
            }
            let scores = Scores {
                recency: recency_score(&recency, customer.days_since_last),
                frequency: frequency_score(&frequency, customer.orders),
                monetary: 1 + monetary.bin(usable_spend(customer.spend), 5),
            };
            let gone = customer.days_since_last > GONE_DAYS;
            Placement { segment: if gone { Segment::Lost } else { Segment::of(scores) }, scores: Some(scores) }
        })
        .collect()
}

/// Number of customers per segment, in the order of [`Segment::ALL`], empty segments included.
#[must_use]
pub fn count(placements: &[Placement]) -> [(Segment, usize); 9] {
    Segment::ALL.map(|segment| (segment, placements.iter().filter(|p| p.segment == segment).count()))
}

/// Fifth of the silence among all buyers, held within what the calendar allows: a shop's oldest
/// customer of last week is not lost, and the best of a dead shop is not active.
fn recency_score(ranks: &Ranks, days: u32) -> u8 {
    let score = if ranks.len() < ENOUGH_FOR_RANKS {
        match days {
            0..=30 => 5,
            31..=90 => 4,
            91..=180 => 3,
            181..=365 => 2,
            _ => 1,
        }
    } else {
        5 - ranks.bin(f64::from(days), 5)
    };
    if days <= FRESH_DAYS {
        score.max(4)
    } else if days <= WARM_DAYS {
        score.max(3)
    } else if days > GONE_DAYS {
        1
    } else if days > COLD_DAYS {
        score.min(2)
    } else if days > STALE_DAYS {
        score.min(3)
    } else {
        score.max(2)
    }
}

/// 1 for a single order; repeat buyers share 2 to 5 by quarters among themselves, never above
/// their number of orders (most shops have so many customers with one order that fifths of all
/// buyers would fall together).
fn frequency_score(repeat_buyers: &Ranks, orders: u32) -> u8 {
    let score = match orders {
        0 | 1 => return 1,
        _ if repeat_buyers.len() >= ENOUGH_FOR_RANKS => 2 + repeat_buyers.bin(f64::from(orders), 4),
        2 => 2,
        3..=4 => 3,
        5..=8 => 4,
        _ => 5,
    };
    score.min(u8::try_from(orders).unwrap_or(u8::MAX))
}

fn usable_spend(spend: f64) -> f64 {
    if spend.is_nan() { 0.0 } else { spend.max(0.0) }
}

/// Sorted values, to rank by value.
struct Ranks(Vec<f64>);

impl Ranks {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self(sorted)
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    /// Which of `bins` equal parts (0 = smallest values) the middle of all equal values falls in.
    fn bin(&self, value: f64, bins: u8) -> u8 {
        let below = self.0.partition_point(|v| *v < value);
        let up_to = self.0.partition_point(|v| *v <= value);
        let doubled_middle = below + up_to;
        let doubled_total = (2 * self.0.len()).max(1);
        let bin = doubled_middle * usize::from(bins) / doubled_total;
        u8::try_from(bin).unwrap_or(u8::MAX).min(bins - 1)
    }
}
