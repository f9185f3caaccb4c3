//! The lists of the overview.

use domain::{
    freshness::{Dated, Freshness, Newest},
    insights::Insight,
    integrations::Integration,
    inventory::{self, Item},
    page::Page,
    risks::{self, Action, Kind, Links},
};
use rust_decimal::Decimal;
use url::Url;

use crate::{
    pages::{
        insights::{as_answered, at_stake, ranked, why},
        integrations::{badge, name},
        panel::foot,
        query::{address, text_pair},
        stock::{axis, stock_row},
    },
    text::Writer,
    views::{
        layout::Here,
        overview::Story,
        panel::{Panel, Way},
        rows::{Badge, Cell, Head, Row},
    },
};

/// Stories that are shown; the others are on a page of their own.
const STORIES: usize = 5;
/// Days that the axis of stock-outs spans.
const AXIS_DAYS: i64 = 14;

pub fn stories(writer: &Writer, found: &Dated<Page<Insight>>, api: &Url) -> Panel<Story> {
    let story = |insight: &Insight| {
        let (wording, _) = insight.wording(writer.texts(), writer.currency);
        let amount = at_stake(writer, insight);
        Story {
            title: wording.title,
            address: Some(format!("/insights#insight-{}", insight.id)),
            text: wording.body,
            act: Some(wording.suggested_action).filter(|act| !act.is_empty()),
            amount: amount.map(|amount| (writer.whole(amount), as_answered(amount), writer.say("at-stake"))),
            why: why(writer, insight),
        }
    };
    let how = vec![writer.say("how-stories")];
    let all = &found.found.items;
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    Panel {
        id: "h-stories",
        title: writer.say("happened"),
        items: ranked(all).into_iter().take(STORIES).map(story).collect(),
        nothing: writer.say(if found.freshness.as_of.is_some() { "happened-none" } else { "happened-not-yet" }),
        all: (count > 0).then(|| Way {
            text: writer.message("all-of").count("count", count).say(),
            address: "/insights".to_owned(),
        }),
        next: None,
        foot: foot(writer, &found.freshness, how, "/api/v1/insights?status=open", false, api),
    }
}

pub fn stock_head(writer: &Writer) -> Vec<Head> {
    vec![Head::Text(writer.say("product")), Head::Axis(axis(writer, AXIS_DAYS)), Head::Text(writer.say("likely-on"))]
}

/// Of the first of the list, which begins with what runs out soonest.
pub fn stockouts(writer: &Writer, listing: &inventory::Listing, api: &Url) -> Panel<Row> {
    let within = |item: &&Item| {
        item.current_stock <= 0 && item.velocity.is_some_and(|velocity| velocity > Decimal::ZERO)
            || item.days_of_stock.is_some_and(|days| days <= AXIS_DAYS.into())
    };
    let how = vec![writer.say("how-stockouts")];
    Panel {
        id: "h-stock",
        title: writer.say("stockouts"),
        items: listing
            .page
            .items
            .iter()
            .filter(within)
            .take(8)
            .map(|item| stock_row(writer, item, AXIS_DAYS))
            .collect(),
        nothing: writer.say(if listing.summary.total == 0 { "stock-unknown" } else { "stockouts-none" }),
        all: Some(Way { text: writer.say("all-products"), address: "/inventory".to_owned() }),
        next: None,
        foot: foot(writer, &listing.freshness, how, "/api/v1/inventory", false, api),
    }
}

pub fn risks(writer: &Writer, listing: &risks::Listing, stock: &inventory::Listing, api: &Url) -> Panel<Story> {
    let story = |risk: &risks::Risk| {
        let address = about(&risk.found, stock);
        let exposure = risk.found.exposure;
        let expected = exposure.and_then(|exposure| exposure.expected);
        let likely = risk
            .found
            .likelihood
            .map(|share| writer.message("risk-likely").text("share", writer.percent(share, 0)).say());
        let range = exposure.and_then(|exposure| exposure.low.zip(exposure.high));
        Story {
            title: risk.found.title(writer.texts()),
            text: [likely, range.and_then(|(low, high)| cost(writer, low, high))]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            act: None,
            amount: expected.filter(|amount| !amount.is_zero()).map(|amount| {
                let text = if amount < Decimal::ONE { writer.exact(-amount) } else { writer.whole(-amount) };
                (text, amount.normalize().to_string(), writer.say("likely-loss"))
            }),
            why: risk.found.action.map(|action| act(writer, action, &address)),
            address: Some(address),
        }
    };
    let how = vec![writer.say("how-risks")];
    let (shown, total) = (listing.page.items.len(), listing.summary.total());
    let shown = i64::try_from(shown).unwrap_or(i64::MAX);
    let of_all = writer.message("risks-first").count("shown", shown).count("count", total);
    Panel {
        id: "h-risks",
        title: if shown < total { of_all.say() } else { writer.say("risks") },
        items: listing.page.items.iter().map(story).collect(),
        nothing: writer.say(if listing.freshness.as_of.is_some() { "risks-none" } else { "risks-not-yet" }),
        all: None,
        next: None,
        foot: foot(writer, &listing.freshness, how, "/api/v1/risks", false, api),
    }
}

/// What a risk may cost, in words; nothing where that is nothing.
fn cost(writer: &Writer, low: Decimal, high: Decimal) -> Option<String> {
    let in_money = |id: &str| writer.message(id).money("high", high, writer.currency);
    match (high.is_zero(), low == high) {
        (true, _) => None,
        (false, true) => Some(in_money("risk-amount").say()),
        (false, false) => Some(in_money("risk-range").money("low", low, writer.currency).say()),
    }
}

/// Where that is which a risk is about. A product that is not among those that are listed is looked for.
fn about(risk: &risks::Finding, stock: &inventory::Listing) -> String {
    let Links { sku, customer_id, integration_id, webhook_id: _, insight_id: _ } = &risk.links;
    let item = stock.page.items.iter().find(|item| sku.as_ref() == Some(&item.sku));
    let one = |of: Here, id: Option<i64>| id.map(|id| format!("{}/{id}", of.address()));
    let (place, found) = match risk.kind {
        Kind::Stockout | Kind::DeadStock | Kind::SkuConcentration => (Here::Stock, item.map(|item| item.id.0)),
        Kind::Churn | Kind::CustomerConcentration => (Here::Customers, customer_id.map(|id| id.0)),
        Kind::ChannelConcentration | Kind::IntegrationStale => (Here::Integrations, integration_id.map(|id| id.0)),
        Kind::RefundSpike | Kind::MarginDrop => (Here::Profit, None),
        Kind::AdWaste => (Here::Ads, None),
        Kind::AdFatigue => (Here::Creatives, None),
        Kind::LowCredits => (Here::Credits, None),
        Kind::WebhooksFailing => (Here::Webhooks, None),
        Kind::UnansweredConversations => (Here::Conversations, None),
    };
    let searched = || sku.as_ref().filter(|_| place == Here::Stock).map(|sku| text_pair(sku));
    one(place, found).unwrap_or_else(|| address(place.address(), [searched()]))
}

/// What to do about a risk, and where: at what it is about, but for what is ordered and for ads.
fn act(writer: &Writer, action: Action, about: &str) -> Way {
    let address = match action {
        Action::Reorder => Here::Reorder.address(),
        Action::PauseAd => Here::Ads.address(),
        Action::Discount
        | Action::Contact
        | Action::Reconnect
        | Action::TopUp
        | Action::FixEndpoint
        | Action::Reply
        | Action::Review => about,
    };
    Way { text: writer.say(&format!("risk-act-{action}")), address: address.to_owned() }
}

pub fn source_head(writer: &Writer) -> Vec<Head> {
    vec![Head::Text(writer.say("source")), Head::Text(writer.say("state")), Head::Number(writer.say("newest"))]
}

pub fn sources(writer: &Writer, connections: &[Integration], freshness: &Freshness, api: &Url) -> Panel<Row> {
    let row = |name: String, state: Option<Badge>, newest: Option<String>| Row {
        name,
        address: None,
        below: None,
        cells: vec![Cell::Badge(state), Cell::Number { text: newest.unwrap_or_else(|| "–".to_owned()), value: None }],
    };
    let connection = |integration: &Integration| {
        let last = integration.last_sync_at.map(|at| writer.moment(at));
        let mut row = row(name(writer, integration.provider), Some(badge(writer, integration)), last);
        row.address = Some(format!("/integrations/{}", integration.id));
        row
    };
    let source = |(source, newest): &(domain::freshness::Source, Option<Newest>)| {
        let newest = newest.map(|newest| match newest.until(writer.now, &writer.zone) {
            Newest::At(at) => writer.moment(at),
            Newest::Day(day) => writer.day(day),
        });
        row(writer.say(&format!("source-{source}")), None, newest)
    };
    Panel {
        id: "h-sources",
        title: writer.say("sources"),
        items: connections.iter().map(connection).chain(freshness.sources.iter().map(source)).collect(),
        nothing: String::new(),
        all: None,
        next: None,
        foot: foot(writer, freshness, vec![], "/api/v1/integrations", false, api),
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        CustomerId, RiskId, SubscriptionId,
        insights::Severity,
        jobs::JobName,
        risks::{Evidence, Exposure, Finding, Measure, Risk, Summary},
    };
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::*;
    use crate::{pages::stock::tests::item, text::tests::writer};

    const NOW: time::OffsetDateTime = datetime!(2026-11-22 4:00 UTC);

    fn freshness(job: JobName, is_computed: bool) -> Freshness {
        Freshness { job, as_of: is_computed.then_some(NOW), sources: vec![] }
    }

    fn risk(kind: Kind, links: Links, action: Action) -> Risk {
        let days = Evidence { metric: Measure::DaysOfStock, value: Some(4.0), threshold: None };
        let found = Finding {
            kind,
            subject: "s".into(),
            label: "Blue mug".into(),
            severity: Severity::High,
            likelihood: None,
            exposure: None,
            lacks_costs: false,
            evidence: vec![days],
            assumptions: vec![],
            action: Some(action),
            links,
        };
        Risk { number: RiskId(1), found, detected_at: NOW, last_seen_at: NOW }
    }

    fn panel(items: Vec<Risk>, high: i64, is_computed: bool) -> Panel<Story> {
        let stock = inventory::Listing {
            page: Page { items: vec![item(12, Some(dec!(4)))], next_cursor: None },
            summary: inventory::Summary::default(),
            freshness: freshness(JobName::InventoryVelocity, true),
        };
        let listing = risks::Listing {
            page: Page { items, next_cursor: None },
            summary: Summary { high, ..Summary::default() },
            freshness: freshness(JobName::RiskAssessment, is_computed),
        };
        risks(&writer("en"), &listing, &stock, &Url::parse("http://localhost").unwrap())
    }

    #[test]
    fn a_risk_leads_to_what_it_is_about_and_to_where_it_is_acted_on() {
        let sku = |sku: &str| Links { sku: Some(sku.to_owned()), ..Links::default() };
        let customer = Links { customer_id: Some(CustomerId(5)), ..Links::default() };
        let told = panel(
            vec![
                risk(Kind::Stockout, sku("MUG-BLUE"), Action::Reorder),
                risk(Kind::DeadStock, sku("MUG-RED"), Action::Discount),
                risk(Kind::CustomerConcentration, customer, Action::Contact),
                risk(Kind::AdFatigue, Links::default(), Action::PauseAd),
                risk(
                    Kind::WebhooksFailing,
                    Links { webhook_id: Some(SubscriptionId(7)), ..Links::default() },
                    Action::FixEndpoint,
                ),
            ],
            70,
            true,
        );
        assert_eq!(told.title, "Risks in the next 30 days: the gravest 5 of 70");
        let ways: Vec<_> = told
            .items
            .iter()
            .map(|story| (story.address.as_deref(), story.why.as_ref().map(|way| (&*way.text, &*way.address))))
            .collect();
        assert_eq!(
            ways,
            [
                (Some("/inventory/1"), Some(("Reorder", "/reorder"))),
                (Some("/inventory?q=MUG-RED"), Some(("Sell it off", "/inventory?q=MUG-RED"))),
                (Some("/customers/5"), Some(("Get in touch", "/customers/5"))),
                (Some("/creatives"), Some(("Pause the ad", "/ads"))),
                (Some("/webhooks"), Some(("Fix the receiver", "/webhooks"))),
            ]
        );
        assert!(told.items.iter().all(|story| !story.title.is_empty()));
    }

    #[test]
    fn what_a_risk_may_cost_is_told_in_cents_where_they_are_all_of_it_and_not_where_it_is_nothing() {
        let told = |low, expected, high| {
            let exposure = Some(Exposure { low: Some(low), expected: Some(expected), high: Some(high) });
            let mut risk = risk(Kind::RefundSpike, Links::default(), Action::Review);
            risk.found.exposure = exposure;
            let Story { text, amount, .. } = panel(vec![risk], 1, true).items.remove(0);
            (text, amount.map(|(written, ..)| written))
        };
        let none = dec!(0);
        assert_eq!(told(none, none, dec!(0.4)), ("It may cost 0.00 USD to 0.40 USD.".into(), None));
        assert_eq!(
            told(none, dec!(0.2), dec!(163.92)),
            ("It may cost 0.00 USD to 164 USD.".into(), Some("\u{2212}0.20".into()))
        );
        assert_eq!(told(dec!(5.2), dec!(5.2), dec!(5.2)), ("It may cost 5.20 USD.".into(), Some("\u{2212}5".into())));
        assert_eq!(told(none, none, none), (String::new(), None));
    }

    #[test]
    fn of_a_risk_whose_mean_is_unknown_no_loss_is_called_likely() {
        let mut dependence = risk(Kind::ChannelConcentration, Links::default(), Action::Review);
        dependence.found.exposure = Some(Exposure { low: Some(dec!(0)), expected: None, high: Some(dec!(28183.95)) });
        let Story { text, amount, .. } = panel(vec![dependence], 1, true).items.remove(0);
        assert_eq!((text.as_str(), amount), ("It may cost 0.00 USD to 28,184 USD.", None));
    }

    #[test]
    fn no_risk_is_told_apart_from_nothing_computed() {
        let nothing = |is_computed| panel(vec![], 0, is_computed).nothing;
        assert_eq!(nothing(true), "No risk stands out.");
        assert_eq!(nothing(false), "Risks are looked for every night, and right after an import.");
    }
}
