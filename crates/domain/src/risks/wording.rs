//! The texts of risks: a template for each kind and language. `{label}` is what the risk is about, `{x}` the value of the
//! measure x among its evidence and `{x.threshold}` its threshold, written as their unit asks for.

use super::{Assumption, Finding, Kind, Measure};

/// A language that texts are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
}

impl Finding {
    /// What may go wrong, in one sentence.
    pub fn title(&self, language: Language) -> String {
        let mut text = String::new();
        let mut rest = title(self, language);
        while let Some((before, (name, after))) =
            rest.split_once('{').and_then(|(before, inner)| Some((before, inner.split_once('}')?)))
        {
            text.push_str(before);
            text.push_str(&self.filled(name));
            rest = after;
        }
        text + rest
    }

    /// What the amounts take for granted, a sentence each.
    pub fn assumed(&self, language: Language) -> impl Iterator<Item = &'static str> {
        self.assumptions.iter().map(move |assumption| assumed(*assumption, language))
    }

    fn filled(&self, name: &str) -> String {
        if name == "label" {
            return self.label.clone();
        }
        let (metric, is_threshold) = name.strip_suffix(".threshold").map_or((name, false), |metric| (metric, true));
        let evidence = self.evidence.iter().find(|evidence| evidence.metric.as_str() == metric);
        let figure = evidence.and_then(|found| if is_threshold { found.threshold } else { found.value });
        figure.zip(evidence).map_or_else(String::new, |(figure, found)| found.metric.unit().written(figure))
    }
}

const fn is_zero(figure: Option<f64>) -> bool {
    matches!(figure, Some(figure) if figure <= 0.0)
}

fn title(finding: &Finding, Language::English: Language) -> &'static str {
    let first = finding.evidence.first().and_then(|evidence| evidence.value);
    match finding.kind {
        Kind::Stockout if is_zero(first) => "{label} is out of stock",
        Kind::Stockout => "{label} runs out in about {days_of_stock}",
        Kind::DeadStock => "{label} has {excess_units} more in stock than it sells in half a year",
        Kind::Churn => "Regular customers are likely not to come back: {customers}",
        Kind::CustomerConcentration => "One customer brings {share_90d} of net revenue",
        Kind::SkuConcentration => "{label} brings {share_90d} of revenue",
        Kind::ChannelConcentration => "{label} brings {share_90d} of revenue",
        Kind::RefundSpike => "{refunds_7d} in a week, where {refunds_usual} are usual",
        Kind::MarginDrop => "The margin fell from {margin_14d.threshold} to {margin_14d}",
        Kind::AdWaste => "{label} costs more than it earns",
        Kind::AdFatigue => "{label} is clicked on less than it was",
        Kind::IntegrationStale => "{label} has not been synced for {hours_since_sync}",
        Kind::LowCredits => "The credits last for about {days_left}",
        Kind::WebhooksFailing => "{label} has been failing for {hours_failing}",
        Kind::UnansweredConversations => "{label} waits for an answer",
    }
}

const fn assumed(assumption: Assumption, Language::English: Language) -> &'static str {
    match assumption {
        Assumption::BuyersSwitch => "half of the lost demand may move to another product in the low case",
        Assumption::OnOrderArrives => {
            "what is on order arrives half-way through the lead time, and what is ordered today at its end"
        }
        Assumption::LeadTimeUnknown => "the supplier takes 14 days, as no lead time is known",
        Assumption::CarryingCost => {
            "stock costs 20 % of its value a year; in the high case the excess has to be written off"
        }
        Assumption::LeaveByScore => "customers stay away as often as their churn scores say",
        Assumption::BuyAsLastYear => "a customer who stays brings as much as in the last year",
        Assumption::ChurnUncalibrated => "no amount, as too few customers have bought for their churn to be calibrated",
        Assumption::WholeShareLost => "the whole share is lost in the high case, and nothing of it in the low case",
        Assumption::SpikeFades => "a fifth of what is beyond the usual number lasts, as seen in past weeks",
        Assumption::GoodsNotBack => "goods that came back are fit for sale, other refunded goods are lost",
        Assumption::RevenueAsLastMonth => "net revenue is as in the last 30 days",
        Assumption::MarginRecovers => "a fifth of the fall lasts, as seen in past falls",
        Assumption::UseAsLately => "as many credits are used as in the last 14 days",
        Assumption::CostsUnknown => "no amount, as unit costs are not known",
    }
}

text_enum!(
    /// What a measure counts.
    Unit {
        Days = "days",
        Hours = "hours",
        Units = "units",
        Customers = "customers",
        Refunds = "refunds",
        Deliveries = "deliveries",
        Credits = "credits",
        /// A part of a whole, 0 to 1.
        Share = "share",
        /// 0 to 10,000.
        Index = "index",
    }
);

impl Unit {
    /// A figure in this unit, as it stands in an English sentence.
    fn written(self, figure: f64) -> String {
        match self {
            Self::Share => format!("{:.0} %", 100.0 * figure),
            Self::Index => format!("{figure:.0}"),
            counted => {
                let (number, name) = (format!("{figure:.0}"), counted.as_str());
                let name = if number == "1" {
                    match counted {
                        Self::Deliveries => "delivery",
                        _ => name.strip_suffix('s').unwrap_or(name),
                    }
                } else {
                    name
                };
                format!("{number} {name}")
            }
        }
    }
}

impl Measure {
    pub const fn unit(self) -> Unit {
        match self {
            Self::DaysOfStock | Self::DaysLeft => Unit::Days,
            Self::HoursSinceSync | Self::HoursFailing | Self::HoursToDisable => Unit::Hours,
            Self::Stock | Self::ExcessUnits | Self::UnitsSold90d => Unit::Units,
            Self::Customers => Unit::Customers,
            Self::Refunds7d | Self::RefundsUsual => Unit::Refunds,
            Self::WaitingDeliveries => Unit::Deliveries,
            Self::CreditsUsed14d => Unit::Credits,
            Self::MeanChurn
            | Self::Share90d
            | Self::Margin14d
            | Self::CogsChange
            | Self::FeesChange
            | Self::ShippingChange
            | Self::AdsChange
            | Self::RefundsChange
            | Self::BlindShare => Unit::Share,
            Self::Hhi => Unit::Index,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{
        insights::Severity,
        risks::{Evidence, Links},
    };

    fn finding(kind: Kind, evidence: &[(Measure, f64, f64)]) -> Finding {
        let evidence = evidence.iter().map(|&(metric, value, threshold)| Evidence {
            metric,
            value: Some(value),
            threshold: Some(threshold),
        });
        Finding {
            kind,
            subject: "S".into(),
            label: "Mug {x}".into(),
            severity: Severity::Low,
            likelihood: None,
            exposure: None,
            lacks_costs: false,
            evidence: evidence.collect(),
            assumptions: Assumption::ALL.to_vec(),
            action: None,
            links: Links::default(),
        }
    }

    #[rstest]
    #[case(Kind::Stockout, &[(Measure::DaysOfStock, 4.1, 14.0)], "Mug {x} runs out in about 4 days")]
    #[case(Kind::Stockout, &[(Measure::DaysOfStock, 1.2, 14.0)], "Mug {x} runs out in about 1 day")]
    #[case(Kind::Stockout, &[(Measure::DaysOfStock, 0.0, 14.0)], "Mug {x} is out of stock")]
    #[case(Kind::MarginDrop, &[(Measure::Margin14d, 0.213, 0.347)], "The margin fell from 35 % to 21 %")]
    #[case(
        Kind::RefundSpike,
        &[(Measure::Refunds7d, 24.0, 18.0), (Measure::RefundsUsual, 10.06, 0.0)],
        "24 refunds in a week, where 10 refunds are usual"
    )]
    #[case(Kind::Churn, &[(Measure::Customers, 1.0, 0.0)], "Regular customers are likely not to come back: 1 customer")]
    fn titles_are_filled_from_the_evidence(
        #[case] kind: Kind,
        #[case] evidence: &[(Measure, f64, f64)],
        #[case] title: &str,
    ) {
        assert_eq!(finding(kind, evidence).title(Language::English), title);
    }

    #[test]
    fn every_kind_and_assumption_has_its_words() {
        for kind in Kind::ALL {
            let text = finding(*kind, &[]).title(Language::English);
            assert!(text.len() > 10 && !text.replace("Mug {x}", "").contains(['{', '}']), "{kind}: {text}");
        }
        let all = finding(Kind::Churn, &[]);
        assert!(all.assumed(Language::English).all(|text| text.len() > 10 && !text.ends_with('.')));
        assert_eq!(all.assumed(Language::English).count(), Assumption::ALL.len());
    }
}
