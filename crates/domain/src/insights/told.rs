//! What an insight tells, as data. Its texts are written from it, in the language that is asked for, when it is read.

use std::cmp::Ordering;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use time::Date;

use super::{
    Wording,
    grounding::{Fact, Grounds, quoted},
};
use crate::{
    anomalies::Direction,
    money::Currency,
    stories::Action,
    texts::{Message, Texts},
};

text_enum!(
    /// What kind of situation an insight is about: the template that tells it.
    Kind {
        Story = "story",
        WeeklyDigest = "weekly_digest",
        RecordDay = "record_day",
        ProductTookOff = "product_took_off",
        CampaignPays = "campaign_pays",
        Loss = "loss",
        ProfitFell = "profit_fell",
        ProfitRose = "profit_rose",
        AdsReturnLess = "ads_return_less",
        NewCustomersCostMore = "new_customers_cost_more",
        SoldOut = "sold_out",
        RunningOut = "running_out",
        Reorders = "reorders",
        CustomersAtRisk = "customers_at_risk",
        CommentsWaiting = "comments_waiting",
        StaleShop = "stale_shop",
    }
);

/// The facts of an insight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub kind: Kind,
    pub figures: Vec<Figure>,
    /// What it sums up: the stories of a week.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Told>,
}

/// A figure with the name that it has in the template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub name: String,
    #[serde(flatten)]
    pub value: Value,
}

/// A value in its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", content = "value", rename_all = "snake_case")]
pub enum Value {
    /// In the account's currency.
    #[serde(with = "number")]
    Money(Decimal),
    #[serde(with = "number")]
    Count(Decimal),
    /// Money per money.
    #[serde(with = "number")]
    Ratio(Decimal),
    /// A part of a whole; 1 is all of it.
    #[serde(with = "number")]
    Share(Decimal),
    /// The difference of two shares.
    #[serde(with = "number")]
    Points(Decimal),
    Days(i64),
    #[serde(with = "iso")]
    Date(Date),
    /// Which way something went that is told.
    Moved(Direction),
    /// Names from outside, such as SKUs.
    Names(Vec<String>),
    /// One of an enumeration of the API.
    Code(String),
}

/// A decimal as a JSON number.
mod number {
    use rust_decimal::{
        Decimal,
        prelude::{FromPrimitive, ToPrimitive},
    };
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
        match value.to_i64().filter(|_| value.is_integer()) {
            Some(whole) => whole.serialize(serializer),
            None => value.to_f64().serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Decimal::from_f64(value).ok_or_else(|| D::Error::custom("a number beyond all amounts"))
    }
}

time::serde::format_description!(iso, Date, "[year]-[month]-[day]");

impl Value {
    /// The name of the unit.
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Money(_) => "money",
            Self::Count(_) => "count",
            Self::Ratio(_) => "ratio",
            Self::Share(_) => "share",
            Self::Points(_) => "points",
            Self::Days(_) => "days",
            Self::Date(_) => "date",
            Self::Moved(_) => "moved",
            Self::Names(_) => "names",
            Self::Code(_) => "code",
        }
    }

    /// Every unit.
    pub const UNITS: &'static [&'static str] =
        &["money", "count", "ratio", "share", "points", "days", "date", "moved", "names", "code"];
}

/// Decimals of a share in percent: small ones differ by tenths.
fn percent_decimals(share: Decimal) -> u32 {
    u32::from(share.abs() < Decimal::new(1, 1))
}

impl Told {
    pub const fn new(kind: Kind) -> Self {
        Self { kind, figures: Vec::new(), parts: Vec::new() }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.figures.push(Figure { name: name.to_owned(), value: value.kept() });
        self
    }

    /// Which way it went from `was` to `is`, if any.
    #[must_use]
    pub fn with_moved(self, name: &str, was: Decimal, is: Decimal) -> Self {
        match is.cmp(&was) {
            Ordering::Less => self.with(name, Value::Moved(Direction::Down)),
            Ordering::Equal => self,
            Ordering::Greater => self.with(name, Value::Moved(Direction::Up)),
        }
    }

    /// The figure of that name.
    pub fn figure(&self, name: &str) -> Option<&Value> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| &figure.value)
    }

    /// The texts.
    pub fn wording(&self, texts: &Texts, currency: Currency) -> Wording {
        let message = texts.message(format!("insight-{}", self.kind.as_str().replace('_', "-")));
        let filled = self.figures.iter().fold(message, |message, figure| match &figure.value {
            Value::Names(names) if self.is_of_country() => message.country(&figure.name, &names.concat()),
            _ => figure.fill(message, currency),
        });
        let parts: Vec<Wording> = self.parts.iter().map(|part| part.wording(texts, currency)).collect();
        let filled = if parts.is_empty() {
            filled
        } else {
            let titles: Vec<&str> = parts.iter().map(|part| part.title.as_str()).collect();
            filled.text("stories", titles.join("; "))
        };
        let filled = match self.todo(&parts) {
            Some(todo) => filled.text("has_todo", "yes").text("todo", todo),
            None => filled.text("has_todo", "no"),
        };
        Wording {
            title: filled.attribute("title"),
            body: filled.attribute("body"),
            suggested_action: filled.attribute("action"),
            impact_estimate: filled.attribute("impact"),
        }
    }

    /// What to do about what it sums up, worded as `parts`: about what goes on, else about what is over where that calls for more
    /// than that it does not happen again.
    fn todo<'a>(&self, parts: &'a [Wording]) -> Option<&'a str> {
        let is_one = |part: &Told, name: &str, codes: &[&str]| match part.figure(name) {
            Some(Value::Code(code)) => codes.contains(&code.as_str()),
            _ => false,
        };
        let worded = || self.parts.iter().zip(parts);
        let open = worded().find(|(part, _)| !is_one(part, "state", &["over", "usual"]));
        let told = open.or_else(|| worded().find(|(part, _)| !is_one(part, "action", &[Action::PreventIt.as_str()])));
        told.map(|(_, wording)| wording.suggested_action.as_str())
    }

    /// Whether the part that a story is of is a country: its name then is a code.
    fn is_of_country(&self) -> bool {
        self.figures.iter().any(|figure| figure.name == "what" && figure.value == Value::Code("country".to_owned()))
    }

    /// What a text about it may rest on.
    pub fn grounds(&self, currency: Currency) -> Grounds {
        let mut grounds = Grounds::default();
        for Figure { name: _, value } in &self.figures {
            grounds.facts.extend(value.fact(currency));
            if let Value::Names(names) = value {
                grounds.names.extend(names.iter().map(|name| quoted(name)));
            }
        }
        for part in self.parts.iter().map(|part| part.grounds(currency)) {
            grounds.facts.extend(part.facts);
            grounds.names.extend(part.names);
        }
        grounds
    }
}

impl Value {
    /// With as many decimals as come back from JSON, which no text goes beyond.
    fn kept(self) -> Self {
        let rounded = |value| crate::money::round(value, 6).normalize();
        match self {
            Self::Money(value) => Self::Money(rounded(value)),
            Self::Count(value) => Self::Count(rounded(value)),
            Self::Ratio(value) => Self::Ratio(rounded(value)),
            Self::Share(value) => Self::Share(rounded(value)),
            Self::Points(value) => Self::Points(rounded(value)),
            other => other,
        }
    }

    fn fact(&self, currency: Currency) -> Option<Fact> {
        Some(match self {
            Self::Money(amount) => Fact::money(*amount, currency),
            Self::Count(count) => Fact::count(*count),
            Self::Ratio(ratio) => Fact::ratio(*ratio),
            Self::Share(share) => Fact::percent(share.saturating_mul(Decimal::ONE_HUNDRED), percent_decimals(*share)),
            Self::Points(points) => Fact::points(points.saturating_mul(Decimal::ONE_HUNDRED), 1),
            Self::Days(days) => Fact::days(*days),
            Self::Date(day) => Fact::Day(*day),
            Self::Moved(direction) => Fact::Moved(*direction),
            Self::Names(_) | Self::Code(_) => return None,
        })
    }
}

impl Figure {
    fn fill<'a>(&self, message: Message<'a>, currency: Currency) -> Message<'a> {
        let name = &self.name;
        match &self.value {
            Value::Money(amount) => message.money(name, *amount, currency),
            Value::Count(count) => message.count(name, *count),
            Value::Ratio(ratio) => message.number(name, *ratio, 2),
            Value::Share(share) => message.percent(name, *share, percent_decimals(*share)),
            Value::Points(points) => message.points(name, *points, 1),
            Value::Days(days) => message.count(name, *days),
            Value::Date(day) => message.day(name, *day),
            Value::Moved(direction) => message.text(name, direction),
            Value::Names(names) => message.list(name, &names.iter().map(|name| quoted(name)).collect::<Vec<_>>()),
            Value::Code(code) => message.text(name, code),
        }
    }
}
