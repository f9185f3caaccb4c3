//! The texts of risks, and what their measures count.

use rust_decimal::{Decimal, prelude::FromPrimitive};

use super::{Finding, Kind, Measure};
use crate::texts::{Message, Texts};

impl Finding {
    /// What may go wrong, in one sentence.
    pub fn title(&self, texts: &Texts) -> String {
        let first = self.evidence.first().and_then(|evidence| evidence.value);
        let id = match self.kind {
            Kind::Stockout if first.is_none_or(|days| days <= 0.0) => "risk-sold_out".to_owned(),
            kind => format!("risk-{kind}"),
        };
        let message = texts.message(id).text("label", platform_or(&self.label, texts)).text("subject", &self.subject);
        self.filled(message).say()
    }

    /// What the amounts take for granted, a sentence each.
    pub fn assumed(&self, texts: &Texts) -> Vec<String> {
        self.assumptions.iter().map(|assumption| texts.message(format!("assumption-{assumption}")).say()).collect()
    }

    fn filled<'a>(&self, mut message: Message<'a>) -> Message<'a> {
        for evidence in &self.evidence {
            let name = evidence.metric.as_str();
            let [value, threshold] = [evidence.value, evidence.threshold].map(|figure| Decimal::from_f64(figure?));
            if let Some(value) = value {
                message = evidence.metric.unit().fill(message, name, value);
            }
            if let Some(threshold) = threshold {
                message = evidence.metric.unit().fill(message, &format!("{name}_threshold"), threshold);
            }
            if let (Some(value), Some(threshold)) = (value, threshold) {
                message = message.points(&format!("{name}_lost"), threshold.saturating_sub(value), 0);
            }
        }
        message
    }
}

/// A platform by the name that its owners give it, and any other label as it is.
fn platform_or(label: &str, texts: &Texts) -> String {
    texts.message("platform").text("platform", label).say()
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
        Purchases = "purchases",
        Conversations = "conversations",
        /// Money per money.
        Ratio = "ratio",
    }
);

impl Unit {
    /// Puts a figure in this unit into a text. What is not over is never said to take no time at all.
    fn fill<'a>(self, message: Message<'a>, name: &str, figure: Decimal) -> Message<'a> {
        match self {
            Self::Share => message.percent(name, figure, 0),
            Self::Ratio => message.number(name, figure, 2),
            Self::Days | Self::Hours if figure > Decimal::ZERO => message.count(name, figure.max(Decimal::ONE)),
            _ => message.count(name, figure),
        }
    }
}

impl Measure {
    pub const fn unit(self) -> Unit {
        match self {
            Self::DaysOfStock | Self::DaysLeft => Unit::Days,
            Self::HoursSinceSync | Self::HoursFailing | Self::HoursToDisable | Self::HoursWaiting => Unit::Hours,
            Self::Stock | Self::ExcessUnits | Self::UnitsSold90d => Unit::Units,
            Self::Customers => Unit::Customers,
            Self::Refunds7d | Self::RefundsUsual => Unit::Refunds,
            Self::WaitingDeliveries => Unit::Deliveries,
            Self::CreditsUsed14d => Unit::Credits,
            Self::Purchases30d => Unit::Purchases,
            Self::WaitingConversations => Unit::Conversations,
            Self::Roas30d => Unit::Ratio,
            Self::MeanChurn
            | Self::Share90d
            | Self::Margin14d
            | Self::CogsChange
            | Self::FeesChange
            | Self::ShippingChange
            | Self::AdsChange
            | Self::RefundsChange
            | Self::BlindShare
            | Self::CtrDrop => Unit::Share,
            Self::Hhi => Unit::Index,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]
pub(crate) mod tests {
    use rstest::rstest;

    use super::*;
    use crate::{
        anomalies::Direction,
        credits::runway::USE_DAYS,
        insights::{
            Severity,
            grounding::{Fact, Grounds, Said, in_language, known},
        },
        language::Language,
        money::estimate,
        risks::{Assumption, Evidence, HORIZON_DAYS, LONGEST_COVER_DAYS, Links, rules::CARRYING_PER_YEAR},
        texts::Locale,
    };

    fn finding(kind: Kind, evidence: &[(Measure, f64, f64)]) -> Finding {
        let evidence = evidence.iter().map(|&(metric, value, threshold)| Evidence {
            metric,
            value: Some(value),
            threshold: Some(threshold),
        });
        Finding {
            kind,
            subject: "S-1".into(),
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
    #[case(Kind::Stockout, &[(Measure::DaysOfStock, 0.2, 14.0)], "Mug {x} runs out in about 1 day")]
    #[case(Kind::Stockout, &[(Measure::DaysOfStock, 0.0, 14.0)], "Mug {x} is out of stock")]
    #[case(
        Kind::MarginDrop,
        &[(Measure::Margin14d, 0.213, 0.347)],
        "The margin fell by 13 percentage points, from 35% to 21%"
    )]
    #[case(
        Kind::RefundSpike,
        &[(Measure::Refunds7d, 24.0, 18.0), (Measure::RefundsUsual, 10.06, 0.0)],
        "24 refunds in a week, where 10 would be usual"
    )]
    #[case(Kind::Churn, &[(Measure::Customers, 1.0, 0.0)], "1 regular customer is unlikely to come back")]
    #[case(Kind::DeadStock, &[(Measure::ExcessUnits, 1234.0, 0.0)], "Mug {x} has 1,234 units more in stock than it sells in half a year")]
    fn titles_are_filled_from_the_evidence(
        #[case] kind: Kind,
        #[case] evidence: &[(Measure, f64, f64)],
        #[case] title: &str,
    ) {
        assert_eq!(finding(kind, evidence).title(&Texts::of(Locale::ENGLISH)), title);
    }

    #[test]
    fn a_platform_has_the_name_that_it_has_in_the_country() {
        let finding = Finding {
            label: "tiendanube".into(),
            ..finding(Kind::ChannelConcentration, &[(Measure::Share90d, 0.8, 0.5)])
        };
        let title = |language| finding.title(&Texts::of(Locale { language, region: None }));
        assert_eq!(title(Language::Spanish), "Tiendanube aporta el 80\u{a0}% de los ingresos");
        assert_eq!(title(Language::BrazilianPortuguese), "Nuvemshop traz 80% da receita");
    }

    /// What the rules measure of a risk, in their order.
    const fn measures(kind: Kind) -> &'static [Measure] {
        match kind {
            Kind::Stockout => &[Measure::DaysOfStock, Measure::Stock],
            Kind::DeadStock => &[Measure::ExcessUnits, Measure::Stock, Measure::UnitsSold90d],
            Kind::Churn => &[Measure::Customers, Measure::MeanChurn],
            Kind::CustomerConcentration | Kind::SkuConcentration | Kind::ChannelConcentration => {
                &[Measure::Share90d, Measure::Hhi]
            }
            Kind::RefundSpike => &[Measure::Refunds7d, Measure::RefundsUsual],
            Kind::MarginDrop => &[
                Measure::Margin14d,
                Measure::CogsChange,
                Measure::FeesChange,
                Measure::ShippingChange,
                Measure::AdsChange,
                Measure::RefundsChange,
            ],
            Kind::AdWaste => &[Measure::Roas30d, Measure::Purchases30d],
            Kind::AdFatigue => &[Measure::CtrDrop],
            Kind::IntegrationStale => &[Measure::HoursSinceSync, Measure::BlindShare],
            Kind::LowCredits => &[Measure::DaysLeft, Measure::CreditsUsed14d],
            Kind::WebhooksFailing => &[Measure::HoursToDisable, Measure::HoursFailing, Measure::WaitingDeliveries],
            Kind::UnansweredConversations => &[Measure::WaitingConversations, Measure::HoursWaiting],
        }
    }

    /// The evidence of a risk, as it is told, and what its kind says.
    fn grounds(finding: &Finding, texts: &Texts) -> Grounds {
        let language = texts.locale().language;
        let mut facts: Vec<Fact> = Vec::new();
        let mut names = vec![finding.label.clone(), finding.subject.clone()];
        for Evidence { metric, value, threshold } in &finding.evidence {
            let [value, threshold] = [value, threshold].map(|figure| Decimal::from_f64(figure.unwrap()).unwrap());
            for figure in [value, threshold] {
                // As a unit fills it in.
                let not_over = if figure > Decimal::ZERO { figure.max(Decimal::ONE) } else { figure };
                match metric.unit() {
                    Unit::Share => facts.push(Fact::percent(figure * Decimal::ONE_HUNDRED, 0)),
                    Unit::Ratio => facts.push(Fact::ratio(figure)),
                    // "2 days", and "2 more days".
                    Unit::Days => facts.extend([Fact::days(not_over), Fact::count(not_over)]),
                    Unit::Hours => {
                        let words: &[[&str; 3]] = match metric {
                            Measure::HoursWaiting => &[["h", "h", "h"]],
                            _ => &[["hour", "hora", "hora"], ["hours", "horas", "horas"]],
                        };
                        let number = texts.number(not_over, 0);
                        names.extend(known(language, words).iter().map(|hours| format!("{number} {hours}")));
                    }
                    _ => facts.push(Fact::count(figure)),
                }
            }
            if metric.unit() == Unit::Share {
                facts.push(Fact::points((threshold - value) * Decimal::ONE_HUNDRED, 0));
            }
            if metric.unit() == Unit::Ratio {
                let times = in_language(language, ["times to pay for itself", "veces", "vezes"]);
                names.push(format!("{} {times}", texts.number(threshold, 2)));
            }
        }
        facts.extend(match finding.kind {
            Kind::CustomerConcentration => Some(Fact::count(1)),
            Kind::MarginDrop | Kind::AdFatigue => Some(Fact::Moved(Direction::Down)),
            _ => None,
        });
        let words: &[[&str; 3]] = match finding.kind {
            // LONGEST_COVER_DAYS.
            Kind::DeadStock => &[["half a year", "", ""]],
            // From LIKELY_CHURN on: a forecast, and no guess at a cause.
            Kind::Churn => &[["", "probablemente", "provavelmente"]],
            _ => &[],
        };
        names.extend(known(language, words));
        Grounds { facts, names, cause: None }
    }

    /// What the rules know that take it for granted, by their constants; of those that are no part of this crate, the value.
    fn taken_for_granted(assumption: Assumption, language: Language) -> Grounds {
        let fact = match assumption {
            Assumption::LeadTimeUnknown => Some(Fact::days(14)),
            Assumption::CarryingCost => Some(Fact::percent(estimate(CARRYING_PER_YEAR * 100.0, 0), 0)),
            Assumption::RevenueAsLastMonth | Assumption::SpendAsLately => Some(Fact::days(HORIZON_DAYS)),
            Assumption::UseAsLately => Some(Fact::days(USE_DAYS)),
            Assumption::MarginRecovers => Some(Fact::Moved(Direction::Down)),
            _ => None,
        };
        let words: &[[&str; 3]] = match assumption {
            Assumption::BuyersSwitch => &[["half of", "la mitad de", "metade da"]],
            Assumption::OnOrderArrives => {
                &[["half-way", "a mitad del", "na metade do"], ["ordered today", "pida hoy", "pedido hoje"]]
            }
            // Of 365 days.
            Assumption::BuyAsLastYear => &[["last year", "último año", "último ano"]],
            Assumption::SpikeFades | Assumption::MarginRecovers => &[["a fifth", "una quinta parte", "um quinto"]],
            _ => &[],
        };
        let unknown =
            ["no lead time is known", "no se conoce su plazo de entrega", "não se conhece o prazo de entrega"];
        let cause = (assumption == Assumption::LeadTimeUnknown).then(|| in_language(language, unknown).to_owned());
        Grounds { facts: fact.into_iter().collect(), names: known(language, words), cause }
    }

    /// Every risk and assumption, with one and with several of what is counted, and what each may rest on.
    pub(crate) fn say_all(texts: &Texts) -> Vec<Said> {
        assert_eq!(LONGEST_COVER_DAYS, 180, "half a year");
        let mut said = Vec::new();
        for (kind, count) in Kind::ALL.iter().flat_map(|kind| [(kind, 1.0), (kind, 1234.0), (kind, 0.0)]) {
            // Each its own figure: one that is told in the place of another is refused.
            let measured = |(metric, at): (&Measure, u8)| match metric.unit() {
                Unit::Share => (*metric, 0.42, 0.55),
                Unit::Ratio => (*metric, 1.5, 2.5),
                _ => (*metric, count + f64::from(at), 30.0),
            };
            let evidence: Vec<_> = measures(*kind).iter().zip(0..).map(measured).collect();
            let found = finding(*kind, &evidence);
            said.push((found.title(texts), grounds(&found, texts)));
        }
        let assumed = finding(Kind::Churn, &[]).assumed(texts);
        let of = |assumption: &Assumption| taken_for_granted(*assumption, texts.locale().language);
        said.extend(assumed.into_iter().zip(Assumption::ALL.iter().map(of)));
        said
    }
}
