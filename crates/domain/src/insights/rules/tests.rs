use rust_decimal::dec;
use time::{
    Duration,
    macros::{date, datetime},
};

use super::{
    super::{
        ProductWeeks, Wording,
        facts::{CommentsWaiting, CriticalItem, PendingReorder, SegmentFact, Stored, StoryFact},
        grounding,
    },
    *,
};
use crate::{
    AdEntityId, StoryId,
    accounts::Platform,
    ads::CampaignSums,
    anomalies::Direction,
    metrics::returns::OrderValue,
    profit::{self, DayRange},
    reorder::{Basis, PLAIN},
    stories::{Band, Gauge, Lever, LeverKind, Measure, Money, Normal, Phase, Seen, Story, Subject},
    texts::{Locale, Texts, tests::locale},
};

fn facts(stored: Stored) -> Facts {
    Facts { last: date!(2026 - 03 - 01), zone: Zone::utc(), days: vec![], stored }
}

fn usd() -> crate::money::Currency {
    "USD".parse().unwrap()
}

fn told(facts: &Facts) -> Vec<Wording> {
    let texts = Texts::of(Locale::ENGLISH).as_of(date!(2026 - 03 - 01));
    draft(facts).iter().map(|draft| draft.told.wording(&texts, usd())).collect()
}

/// Sixty days of the same sums, then changed in the last thirty.
fn days(change: impl Fn(&mut DayTotals)) -> Vec<DayTotals> {
    let first = date!(2026 - 01 - 01);
    (0..60)
        .map(|at| {
            let mut day = DayTotals {
                gross_revenue: dec!(100),
                cogs: dec!(40),
                ad_spend: dec!(10),
                new_customers: 2,
                basis: profit::Basis {
                    goods_revenue: dec!(100),
                    cogs_covered_revenue: dec!(100),
                    ..profit::Basis::default()
                },
                ..DayTotals::quiet(first + Duration::days(at))
            };
            if at >= 30 {
                change(&mut day);
            }
            day
        })
        .collect()
}

fn fingerprints(facts: &Facts) -> Vec<String> {
    draft(facts).into_iter().map(|draft| draft.fingerprint).collect()
}

/// An outage of a platform, told two days later, with the given lever in the place of its own.
fn story(kind: Option<LeverKind>, part: Option<&str>) -> Story {
    let subject = match kind {
        Some(LeverKind::Refund) => Subject::Refunds,
        Some(LeverKind::Campaign) => Subject::Ads,
        Some(LeverKind::Cost | LeverKind::Expense) => Subject::Costs,
        Some(LeverKind::Tracking) => Subject::Tracking,
        _ => Subject::Sales,
    };
    let gauge = match kind {
        Some(LeverKind::Platform | LeverKind::Country | LeverKind::ClosedDay | LeverKind::Conversion) => Gauge::Orders,
        Some(LeverKind::Traffic | LeverKind::Tracking) => Gauge::Visitors,
        Some(LeverKind::Price) => Gauge::PricePerUnit,
        Some(LeverKind::Cost) => Gauge::CostPerUnit,
        Some(LeverKind::Expense) => Gauge::ExtraExpenses,
        _ => subject.gauge(),
    };
    let day = date!(2026 - 02 - 20);
    let money = Money { low: -1_700.0, expected: -1_450.0, high: -1_200.0, measure: Measure::Profit };
    Story {
        subject,
        span: DayRange { first: day, last: day },
        peak: day,
        direction: Direction::Down,
        seen: Seen {
            gauge,
            part: part.map(str::to_owned),
            band: Band { observed: 0.0, expected: 44.2, low: 31.0, high: 58.0 },
        },
        normal: Some(Normal::Others),
        severity: Severity::High,
        lever: kind.map(|kind| Lever { kind, part: part.map(str::to_owned), share: 0.97, confidence: 0.9 }),
        money: (subject != Subject::Tracking).then_some(money),
        usual_day: 2_000.0,
        returned: 0.0,
        is_on_order: false,
        members: Vec::new(),
        phase: Phase::Open,
    }
}

fn outage() -> Story {
    story(Some(LeverKind::Platform), Some("shopify"))
}

fn of_stories(stories: impl IntoIterator<Item = Story>) -> Facts {
    let stories = (12..).zip(stories).map(|(id, story)| StoryFact { id: StoryId(id), story }).collect();
    facts(Stored { stories, ..Stored::default() })
}

#[test]
fn a_shop_without_results_has_no_insights() {
    assert_eq!(draft(&facts(Stored::default())), []);
}

#[test]
fn a_story_says_what_happened_what_it_cost_what_was_normal_and_what_to_do() {
    let facts = of_stories([outage()]);
    let found = told(&facts);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].title, "Shopify sold far less than normal on Friday 20 February");
    assert_eq!(
        found[0].body,
        "Shopify sold nothing on Friday 20 February; about 44 orders would be normal. That is 97% of the difference \
         (confidence: 90%). All others together were at their normal level. That is about 1,450 USD less profit than \
         normal (1,200 USD to 1,700 USD). It is over when the daily figure is 31 or more again."
    );
    assert_eq!(found[0].suggested_action, "Place a test order on Shopify, and check its checkout and payments.");
    assert_eq!(found[0].impact_estimate, "1,450 USD less profit than normal");
    let draft = &draft(&facts)[0];
    assert_eq!(
        (draft.fingerprint.as_str(), draft.stake, draft.story),
        ("story:12", Some(dec!(1450)), Some(StoryId(12)))
    );
    assert!(draft.earns_place && !draft.is_over);
}

#[test]
fn a_story_that_is_over_says_so() {
    let facts = of_stories([Story { phase: Phase::Over { since: date!(2026 - 02 - 21) }, ..outage() }]);
    let Wording { body, suggested_action, .. } = &told(&facts)[0];
    assert!(body.ends_with("It is over: on Saturday 21 February this was normal again."), "{body}");
    assert_eq!(suggested_action, "It is back to normal. Make sure that it does not happen again.");
    assert!(draft(&facts)[0].is_over);
}

#[test]
fn an_amount_of_many_days_says_of_how_many() {
    let mut story = story(Some(LeverKind::StockOut), Some("MUG-BLUE"));
    story.span.last = date!(2026 - 02 - 25);
    let Wording { title, body, suggested_action, .. } = &told(&of_stories([story.clone()]))[0];
    assert_eq!(title, "\"MUG-BLUE\" is out of stock");
    let said = "Over 6 days that is about 1,450 USD less profit than normal (1,200 USD to 1,700 USD). It has gone on since \
                Friday 20 February, and is over when \"MUG-BLUE\" is in stock again.";
    assert!(body.ends_with(said), "{body}");
    assert!(suggested_action.starts_with("Reorder \"MUG-BLUE\" today"), "{suggested_action}");
    story.is_on_order = true;
    let action = &told(&of_stories([story]))[0].suggested_action;
    assert!(action.starts_with("Units of \"MUG-BLUE\" are on order"), "{action}");
}

#[test]
fn what_a_story_tells_is_told_once() {
    let critical =
        |sku: &str| CriticalItem { sku: sku.into(), current_stock: 0, units_sold_30d: 3, ..CriticalItem::default() };
    let told = |story: &Story| {
        let mut facts = of_stories([story.clone()]);
        facts.stored.critical = vec![critical("MUG-BLUE")];
        // 50 a day before, 20 a day after: 900 less.
        facts.days = days(|day| day.cogs = dec!(70));
        fingerprints(&facts)
    };
    let out = Story { usual_day: 60.0, ..story(Some(LeverKind::StockOut), Some("MUG-BLUE")) };
    assert_eq!(told(&out), ["story:12"]);
    // A trifle is not told, nor what is over.
    let trifle = Story { usual_day: 60_000.0, ..out.clone() };
    assert_eq!(told(&trifle), ["story:12", "profit:fall", "inventory:sold_out"]);
    let over = Story { phase: Phase::Over { since: date!(2026 - 02 - 25) }, ..out };
    assert_eq!(told(&over), ["story:12", "profit:fall", "inventory:sold_out"]);
}

#[test]
fn a_record_day_is_a_part_of_the_story_of_its_day() {
    let mut shop = record(dec!(250));
    let money = Money { low: 60.0, expected: 90.0, high: 120.0, measure: Measure::Profit };
    let story = Story {
        peak: date!(2026 - 02 - 27),
        direction: Direction::Up,
        money: Some(money),
        usual_day: 60.0,
        ..story(Some(LeverKind::Conversion), None)
    };
    let over = Story { phase: Phase::Over { since: date!(2026 - 02 - 28) }, ..story.clone() };
    for story in [over, story] {
        shop.stored = of_stories([story]).stored;
        assert!(!fingerprints(&shop).contains(&"record:day".to_owned()));
    }
    let bodies: Vec<String> = told(&shop).into_iter().map(|told| told.body).collect();
    assert!(bodies.iter().any(|body| body.contains("It was the best day so far.")), "{bodies:?}");
}

#[test]
fn what_is_on_order_is_not_to_be_ordered_again() {
    let item = |sku: &str, current_stock, is_on_order| CriticalItem {
        sku: sku.into(),
        current_stock,
        units_sold_30d: 3,
        is_on_order,
        ..CriticalItem::default()
    };
    let action = |first, second| {
        let critical = vec![item("A", 1, first), item("B", 1, second)];
        told(&facts(Stored { critical, ..Stored::default() }))[0].suggested_action.clone()
    };
    assert_eq!(action(false, false), "Reorder them now.");
    assert_eq!(action(true, false), "Reorder what is not on order yet, and ask the suppliers when the rest comes.");
    assert_eq!(action(true, true), "All is on order: ask the suppliers when it comes.");
}

#[test]
fn the_first_week_of_a_shop_is_not_compared_with_the_days_before() {
    let has_digest = |days_known: usize| {
        let mut facts = record(dec!(100));
        let quiet = facts.days.len() - days_known;
        facts.days.iter_mut().take(quiet).for_each(|day| *day = DayTotals::quiet(day.day));
        fingerprints(&facts).iter().any(|name| name.starts_with("digest:"))
    };
    // Five days of this week, seven of the one that is told, and of the one before six, and seven.
    assert_eq!((has_digest(18), has_digest(19)), (false, true));
}

#[test]
fn a_trifle_earns_no_place() {
    assert!(!draft(&of_stories([Story { usual_day: 20_000.0, ..outage() }]))[0].earns_place);
}

#[test]
fn what_costs_most_is_told_first() {
    let money = Money { low: 2_000.0, expected: 2_500.0, high: 3_000.0, measure: Measure::Profit };
    let facts = of_stories([outage(), Story { money: Some(money), ..outage() }]);
    assert_eq!(fingerprints(&facts), ["story:13", "story:12"]);
}

#[test]
fn what_has_no_amount_counts_as_a_part_of_what_a_day_leaves() {
    let stale = unsynced(Platform::Shopify, "a.example.com", false);
    let of = |profit: f64| {
        let money = Money { low: profit - 1.0, expected: profit, high: profit + 1.0, measure: Measure::Profit };
        let story = Story { money: Some(money), usual_day: 60.0, ..outage() };
        let stored = Stored { stale_shops: vec![stale.clone()], ..of_stories([story]).stored };
        // Of 100 a day 60 are left: high is half of that.
        fingerprints(&Facts { days: days(|_| ()), ..facts(stored) })
    };
    assert_eq!(of(-31.0), ["story:12", "integrations:stale:shopify:a.example.com"]);
    assert_eq!(of(-29.0), ["integrations:stale:shopify:a.example.com", "story:12"]);
}

#[test]
fn profit_that_falls_by_a_fifth_is_told_as_one_that_rises_by_it() {
    // 50 a day before.
    let of = |cogs| fingerprints(&Facts { days: days(|day| day.cogs = cogs), ..facts(Stored::default()) });
    assert_eq!((of(dec!(50)), of(dec!(30))), (vec!["profit:fall".to_owned()], vec!["profit:rise".to_owned()]));
    assert_eq!((of(dec!(49.99)), of(dec!(30.01))), (vec![], vec![]));
    // Nothing before and nothing after is no fall.
    let nothing = Facts { days: days(|_| ()), ..facts(Stored::default()) };
    let days = nothing.days.iter().map(|day| DayTotals { cogs: dec!(90), ..*day }).collect();
    assert_eq!(fingerprints(&Facts { days, ..nothing }), Vec::<String>::new());
}

#[test]
fn a_rise_of_profit_is_good_news() {
    // 50 a day before (1,500), 65 a day after (1,950).
    let rose = Facts { days: days(|day| day.cogs = dec!(25)), ..facts(Stored::default()) };
    assert_eq!(fingerprints(&rose), ["profit:rise"]);
    assert_eq!(told(&rose)[0].impact_estimate, "450 USD more profit in 30 days");
}

/// Days of even sales, a hundred of them, the last of which sold so much.
fn record(last: Decimal) -> Facts {
    let first = date!(2025 - 11 - 20);
    let mut days: Vec<DayTotals> = (0..100)
        .map(|at| DayTotals {
            gross_revenue: dec!(100),
            orders: 5,
            units: 9,
            ..DayTotals::quiet(first + Duration::days(at))
        })
        .collect();
    days[40].gross_revenue = dec!(180);
    days[99].gross_revenue = last;
    Facts { days, ..facts(Stored::default()) }
}

#[test]
fn a_product_that_took_off_is_told_but_for_what_a_story_tells() {
    let mut shop = record(dec!(100));
    shop.stored.products = vec![surging("MUG", Some(60))];
    let all = told(&shop);
    let said = all.iter().find(|told| told.title.contains("took off")).unwrap();
    assert_eq!(said.title, "\"MUG\" took off: 40 purchases in 7 days");
    assert_eq!(
        said.body,
        "The last 7 days brought 40 purchases of \"MUG\", 84 units in all. In the 56 days before, 7 days brought 10 on average \
         and 12 at most. That is about 1,260 USD more in sales. At this pace the stock of 60 lasts 5 days."
    );
    assert_eq!(said.suggested_action, "Reorder \"MUG\" before it sells out.");
    let money = Money { low: 60.0, expected: 90.0, high: 120.0, measure: Measure::Profit };
    let story = Story {
        direction: Direction::Up,
        money: Some(money),
        usual_day: 60.0,
        ..story(Some(LeverKind::Product), Some("MUG"))
    };
    shop.stored.stories = of_stories([story]).stored.stories;
    assert!(!fingerprints(&shop).contains(&"product:took_off:MUG".to_owned()));
}

#[test]
fn a_product_that_took_off_and_is_gone_is_not_to_be_shown() {
    let action = |is_on_order| {
        let mut shop = record(dec!(100));
        shop.stored.products = vec![ProductWeeks { is_on_order, ..surging("MUG", Some(0)) }];
        let said = told(&shop).into_iter().find(|told| told.title.contains("took off")).unwrap();
        assert!(said.body.ends_with("more in sales. There is no stock left of it."), "{}", said.body);
        said.suggested_action
    };
    assert_eq!(action(false), "Reorder \"MUG\", or take it off the shop until it is back.");
    assert_eq!(action(true), "Units of \"MUG\" are on order: ask the supplier when they come, and say so in the shop.");
}

#[test]
fn a_campaign_that_pays_is_told_but_for_what_a_story_tells() {
    let mut shop = Facts { days: days(|_| ()), ..facts(Stored::default()) };
    shop.stored.campaigns = vec![campaign("Spring", 4_000), campaign("Sale", 900)];
    shop.stored.order_value = OrderValue { mean: 50.0, spread: 0.5 };
    let said = &told(&shop)[0];
    assert_eq!(said.title, "\"Spring\" brings in 10.00 times what it costs");
    assert_eq!(
        said.body,
        "Over 30 days 400 USD went into \"Spring\". By the platform's own count it brought in 4,000 USD in sales. It pays for \
         itself from 1.67 times its cost on. Your other campaigns bring in 2.25 times what they cost."
    );
    // Of (10 - 2.25) times 400, 60 % are left.
    assert_eq!(said.impact_estimate, "About 1,860 USD more profit than the same money brings in your other campaigns");
    // Half of the goods' costs are known, and then less.
    let pays = |shop: &Facts| fingerprints(shop).iter().any(|name| name.starts_with("ads:pays"));
    shop.days.iter_mut().for_each(|day| day.basis.cogs_covered_revenue = dec!(50));
    assert!(pays(&shop));
    shop.days.iter_mut().for_each(|day| day.basis.cogs_covered_revenue = dec!(49));
    assert!(!pays(&shop));
    shop.days = days(|_| ());
    let more = Story { usual_day: 60.0, ..story(Some(LeverKind::Campaign), Some("meta/Spring")) };
    shop.stored.stories = of_stories([more]).stored.stories;
    assert!(!pays(&shop));
}

#[test]
fn the_best_day_so_far_is_told_beside_the_best_before() {
    let body = |facts: &Facts| {
        let drafts = draft(facts);
        drafts
            .iter()
            .find(|draft| draft.told.kind == Kind::RecordDay)
            .map(|draft| draft.told.wording(&Texts::of(Locale::ENGLISH).as_of(date!(2026 - 03 - 01)), usd()).body)
    };
    let said = "You sold 250 USD on Friday 27 February, in 5 orders. The best day before that was Tuesday 30 December, \
                with 180 USD.";
    assert_eq!(body(&record(dec!(250))).as_deref(), Some(said));
    assert_eq!(body(&record(dec!(180))), None);
    let mut young = record(dec!(250));
    young.days.drain(..10);
    assert_eq!(body(&young), None);
}

#[test]
fn a_best_day_is_the_best_of_the_days_that_are_looked_at() {
    let title = |facts: &Facts| told(facts).into_iter().map(|told| told.title).find(|title| title.contains("best day"));
    let mut shop = record(dec!(250));
    assert_eq!(title(&shop).as_deref(), Some("Your best day so far was Friday 27 February"));
    // A year is known, and what was before it is not.
    let first = shop.days[0].day;
    let year = (1..=265).rev().map(|at| DayTotals { day: first - Duration::days(at), ..shop.days[0] });
    shop.days = year.chain(shop.days.iter().copied()).collect();
    assert_eq!(title(&shop).as_deref(), Some("Your best day in a year was Friday 27 February"));
}

#[test]
fn the_one_thing_to_do_of_a_week_is_about_what_goes_on() {
    let money = Money { low: -900.0, expected: -800.0, high: -700.0, measure: Measure::Profit };
    let less = Story { money: Some(money), ..story(Some(LeverKind::Traffic), None) };
    for phase in [Phase::Over { since: date!(2026 - 02 - 22) }, Phase::Usual] {
        let mut facts = of_stories([Story { phase, ..outage() }, less.clone()]);
        facts.days = record(dec!(100)).days;
        assert_eq!(told(&facts)[0].suggested_action, "Check where visits come from: ads, searches and mailings.");
    }
}

#[test]
fn a_week_whose_events_are_back_to_normal_leads_to_what_is_open() {
    let over = Story { phase: Phase::Over { since: date!(2026 - 02 - 22) }, ..outage() };
    let todo = |stories: Vec<Story>, tag: &str| {
        let facts = Facts { days: record(dec!(100)).days, ..of_stories(stories) };
        let texts = Texts::of(locale(tag)).as_of(date!(2026 - 03 - 01));
        draft(&facts)[0].told.wording(&texts, usd()).suggested_action
    };
    for (tag, expected) in [
        ("en", "Go through the open insights."),
        ("es", "Revisa lo que está pendiente."),
        ("pt-BR", "Veja o que está pendente."),
    ] {
        assert_eq!(todo(vec![over.clone()], tag), expected);
    }
    // What is to be looked at afterwards as well.
    let price = Story { lever: story(Some(LeverKind::Price), None).lever, ..over.clone() };
    assert_eq!(todo(vec![over, price], "en"), "Check the prices that were changed last.");
}

#[test]
fn a_week_is_told_by_five_figures_its_stories_and_one_thing_to_do() {
    // The last day is a Friday: the week is the one before.
    let of_days = |first, last| Story { span: DayRange { first, last }, peak: first, ..outage() };
    let friday = date!(2026 - 02 - 20);
    let mut facts = of_stories([of_days(friday, friday)]);
    facts.days = record(dec!(100)).days;
    let digest = &draft(&facts)[0];
    assert_eq!((digest.fingerprint.as_str(), digest.comes_first, digest.stake), ("digest:2026-02-16", true, None));
    let Wording { title, body, suggested_action, .. } = &told(&facts)[0];
    assert_eq!(title, "Your week from Monday 16 February to Sunday 22 February");
    assert_eq!(
        body,
        "Sales after refunds: 700 USD (the week before: 700 USD). Orders: 35 (35). Profit: 700 USD (700 USD). Ads: 0.00 USD \
         (0.00 USD). New customers: 0 (0). What stood out: Shopify sold far less than normal on Friday 20 February."
    );
    assert_eq!(suggested_action, "Place a test order on Shopify, and check its checkout and payments.");
    // What began before and goes on is of the week as well; what was over before, or began after it, is not.
    for (first, last, is_told) in [
        (date!(2026 - 02 - 12), date!(2026 - 02 - 16), true),
        (date!(2026 - 02 - 12), date!(2026 - 02 - 15), false),
        (date!(2026 - 02 - 23), date!(2026 - 02 - 24), false),
    ] {
        facts.stored = of_stories([of_days(first, last)]).stored;
        assert_eq!(told(&facts)[0].body.contains("What stood out"), is_told, "{first} to {last}");
    }
}

#[test]
fn even_periods_and_short_histories_are_no_news() {
    let even = Facts { days: days(|_| ()), ..facts(Stored::default()) };
    assert_eq!(fingerprints(&even), [""; 0]);
    let mut short = Facts { days: days(|day| day.cogs = dec!(99)), ..facts(Stored::default()) };
    short.days.remove(0);
    assert_eq!(fingerprints(&short), [""; 0]);
}

#[test]
fn a_fall_of_profit_is_told_with_both_periods() {
    // 50 a day before (1,500), 30 a day after (900).
    let fell = Facts { days: days(|day| day.cogs = dec!(60)), ..facts(Stored::default()) };
    let found = told(&fell);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].body,
        "Over the last 30 days profit was 900 USD, after 1,500 USD in the 30 days before. Net revenue went from 3,000 USD \
         to 3,000 USD, all costs together from 1,500 USD to 2,100 USD."
    );
    assert_eq!(found[0].impact_estimate, "600 USD less profit in 30 days");
    assert_eq!(draft(&fell)[0].severity, Severity::Medium);
}

#[test]
fn what_is_estimated_of_goods_that_came_back_is_said() {
    let fell = days(|day| {
        day.cogs = dec!(60);
        day.basis = profit::Basis {
            returned_units: 2,
            returned_cogs: dec!(1.5),
            returned_fees: dec!(0.25),
            ..profit::Basis::default()
        };
    });
    let found = told(&Facts { days: fell, ..facts(Stored::default()) });
    // 30 × 1.75.
    let said = " An estimated 52.50 USD is taken off these costs for goods that came back.";
    assert!(found[0].body.ends_with(said), "{}", found[0].body);
}

/// More was refunded than was sold: there is a loss to tell of, and no margin.
#[test]
fn without_net_revenue_no_text_has_a_margin() {
    let refunded = days(|day| day.refunds = dec!(250));
    let sums = Sums::of_days(&refunded[30..]);
    assert_eq!((sums.components.net_revenue(), Metric::Margin.of(&sums)), (dec!(-4500), None));
    let refunded = Facts { days: refunded, ..facts(Stored::default()) };
    let [loss] = &*draft(&refunded) else { panic!("one insight") };
    assert_eq!(loss.fingerprint, "profit:loss");
    let Wording { title, body, suggested_action, impact_estimate } = &told(&refunded)[0];
    for text in [title, body, suggested_action, impact_estimate] {
        assert!(!text.contains("margin") && !text.contains('%'), "{text}");
    }
}

#[test]
fn a_loss_weighs_more_than_a_fall() {
    let loss = Facts { days: days(|day| day.cogs = dec!(95)), ..facts(Stored::default()) };
    let found = &draft(&loss)[0];
    assert_eq!((found.fingerprint.as_str(), found.severity), ("profit:loss", Severity::High));
    assert_eq!(told(&loss)[0].impact_estimate, "A loss of 150 USD in 30 days");
}

#[test]
fn dearer_ads_are_told_by_their_return_and_by_customer() {
    let dear = Facts { days: days(|day| day.ad_spend = dec!(19)), ..facts(Stored::default()) };
    // Profit falls from 50 to 41 a day, by less than a fifth.
    assert_eq!(fingerprints(&dear), ["ads:cac", "ads:roas"]);
}

#[test]
fn nothing_after_nothing_is_no_news() {
    let of = |spent: Decimal| {
        let first = date!(2026 - 01 - 01);
        let day = |at| DayTotals { ad_spend: spent, visitors: 9, ..DayTotals::quiet(first + Duration::days(at)) };
        fingerprints(&Facts { days: (0..60).map(day).collect(), ..facts(Stored::default()) })
    };
    assert_eq!(of(Decimal::ZERO), [""; 0]);
    // Ads that bring nothing, as before: a loss, and no return that fell.
    assert_eq!(of(dec!(10)), ["profit:loss"]);
}

#[test]
fn a_profit_that_was_to_be_a_loss_is_told_as_one() {
    let band = Band { observed: -700.0, expected: -200.0, low: -400.0, high: -50.0 };
    let story = Story { seen: Seen { gauge: Gauge::Profit, part: None, band }, ..outage() };
    let told = draft(&of_stories([story])).remove(0).told;
    let figures = ["observed", "expected", "low"].map(|name| told.figure(name).cloned());
    assert_eq!(figures, [dec!(-700), dec!(-200), dec!(-400)].map(|amount| Some(Value::Money(amount))));
}

#[test]
fn the_pace_of_a_few_days_tells_nothing_of_a_stock() {
    let item =
        |stock| CriticalItem { sku: "MUG".into(), current_stock: stock, units_sold_30d: 6, ..CriticalItem::default() };
    let told = |stock, sold_for: usize| {
        let mut facts = facts(Stored { critical: vec![item(stock)], ..Stored::default() });
        facts.days = days(|_| {});
        facts.days.iter_mut().rev().skip(sold_for).for_each(|day| *day = DayTotals::quiet(day.day));
        fingerprints(&facts).iter().any(|fingerprint| fingerprint.starts_with("inventory:"))
    };
    assert!(!told(5, 6) && told(5, 7));
    assert!(told(0, 1), "nothing left of what sells is a fact");
}

#[test]
fn stock_that_is_gone_or_going_is_told_with_its_skus() {
    let item = |sku: &str, current_stock, units_sold_30d| CriticalItem {
        sku: sku.into(),
        current_stock,
        units_sold_30d,
        ..CriticalItem::default()
    };
    let mut critical = vec![item("little", 0, 1), item("never", 0, 0), item("owed", -2, 9)];
    critical.extend((0..7).map(|at| item(&format!("S{at}"), 1, 0)));
    // Nobody is told to buy more of what costs more than it brings.
    critical.extend([0, 1].map(|stock| CriticalItem { unit_contribution: Some(-0.5), ..item("loss", stock, 99) }));
    let found = told(&facts(Stored { critical, reorders: vec![pending("S9", 20, 1.0)], ..Stored::default() }));
    assert_eq!(found[0].title, "2 products that sell are out of stock");
    assert_eq!(
        found[0].body,
        "There is no stock left of \"owed\" and \"little\". Each of them sold in the last 30 days."
    );
    assert_eq!(
        found[1].body,
        "At the present pace the stock of \"S0\", \"S1\", \"S2\", \"S3\", \"S4\" and 2 more lasts 7 days at most."
    );
    assert_eq!(found[2].title, "1 item to reorder before it runs out");
}

/// A suggestion to reorder an item by what is in stock and what sells a day; delivery takes ten days.
fn pending(sku: &str, on_hand: i64, daily_demand: f64) -> PendingReorder {
    let basis = Basis { on_hand, daily_demand, lead_time_days: 10, unit_contribution: None, ..PLAIN };
    PendingReorder { sku: sku.into(), basis: Some(basis) }
}

#[test]
fn what_is_out_of_stock_is_worth_the_sales_that_it_loses() {
    // What is left of 100 a day is 60.
    let item = |sku: &str, current_stock, missed: f64, runs_out_on| CriticalItem {
        sku: sku.into(),
        current_stock,
        units_sold_30d: 3,
        price: Some(dec!(10)),
        velocity: Some(dec!(1.25)),
        missed_units: Some(missed),
        runs_out_on,
        ..CriticalItem::default()
    };
    let critical = vec![
        item("SOON", 2, 25.0, Some(date!(2026 - 03 - 04))),
        CriticalItem { unit_contribution: Some(2.5), ..item("LATER", 5, 14.0, Some(date!(2026 - 03 - 08))) },
        item("GONE", 0, 30.0, None),
        CriticalItem { unit_contribution: Some(2.5), ..item("WENT", 0, 20.0, None) },
        CriticalItem { velocity: None, missed_units: None, ..item("UNTOLD", 0, 0.0, None) },
    ];
    let shop = Facts { days: days(|_| ()), ..facts(Stored { critical, ..Stored::default() }) };
    let mut drafts = draft(&shop);
    drafts.retain(|draft| draft.category == Category::Inventory);
    let stakes: Vec<_> = drafts.iter().filter_map(|draft| draft.stake).map(|stake| stake.round_dp(2)).collect();
    // A unit leaves what is known of it, else 6 of 10: 30 times 6 and 20 times 2.50; and 25 and 14 times.
    assert_eq!(stakes, [dec!(230), dec!(185)]);
    let texts = Texts::of(Locale::ENGLISH).as_of(date!(2026 - 03 - 01));
    let found: Vec<Wording> = drafts.iter().map(|draft| draft.told.wording(&texts, usd())).collect();
    assert_eq!(found[0].impact_estimate, "About 25.00 USD in sales are lost every day");
    assert_eq!(
        found[1].body,
        "At the present pace the stock of \"SOON\" and \"LATER\" lasts 7 days at most, that of \"SOON\" only until \
         Wednesday 4 March."
    );
}

#[test]
fn what_is_to_be_ordered_is_told_once_and_by_when() {
    let item = CriticalItem { sku: "GONE".into(), current_stock: 0, units_sold_30d: 3, ..CriticalItem::default() };
    let body = |reorders: Vec<PendingReorder>| {
        let facts = facts(Stored { critical: vec![item.clone()], reorders, ..Stored::default() });
        let is_of_them = |draft: &Draft| draft.told.kind == Kind::Reorders;
        let draft = draft(&facts).into_iter().find(is_of_them)?;
        Some(draft.told.wording(&Texts::of(Locale::ENGLISH).as_of(date!(2026 - 03 - 01)), usd()).body)
    };
    assert_eq!(body(vec![pending("GONE", 0, 2.0)]), None);
    let mut lossy = pending("LOSS", 20, 2.0);
    lossy.basis.as_mut().unwrap().unit_contribution = Some(-0.5);
    assert_eq!(body(vec![lossy.clone()]), None);
    let all = vec![pending("GONE", 0, 2.0), lossy, pending("B", 44, 2.0), pending("A", 25, 2.0)];
    assert_eq!(
        body(all).unwrap(),
        "\"A\" and \"B\" could run out if you ordered them later. \"A\" should be ordered by Wednesday 4 March."
    );
    assert_eq!(body(vec![pending("A", 19, 2.0)]).unwrap(), "\"A\" will run out before a new order arrives.");
    let unknown = PendingReorder { sku: "OLD".into(), basis: None };
    assert_eq!(
        body(vec![unknown]).unwrap(),
        "1 item could run out if you ordered it later. The suggestion shows its figures."
    );
}

#[test]
fn customers_at_risk_are_weighed_by_what_they_spent() {
    let segment = |segment, customers, revenue| SegmentFact { segment, customers, revenue };
    let segments = vec![segment(Segment::Vip, 10, dec!(750)), segment(Segment::AtRisk, 4, dec!(250))];
    let facts = facts(Stored { segments, ..Stored::default() });
    let found = &draft(&facts)[0];
    assert_eq!((found.category, found.severity), (Category::ChurnRisk, Severity::High));
    let body = &told(&facts)[0].body;
    assert!(body.starts_with("They have spent 250 USD so far, 25% of"), "{body}");
}

#[test]
fn nobody_is_long_gone_from_a_shop_of_a_few_weeks() {
    let segments = vec![SegmentFact { segment: Segment::AtRisk, customers: 4, revenue: dec!(250) }];
    let told = |known: usize| {
        let mut days = days(|_| ());
        days.drain(..60 - known);
        fingerprints(&Facts { days, ..facts(Stored { segments: segments.clone(), ..Stored::default() }) })
    };
    assert_eq!((told(59), told(60)), (vec![], vec!["churn:at_risk".to_owned()]));
}

#[test]
fn complaints_that_wait_weigh_more_than_questions() {
    let since = datetime!(2026-02-26 10:00 UTC);
    let of = |complaints| {
        let waiting = Some(CommentsWaiting { comments: 3, complaints, since });
        draft(&facts(Stored { waiting, ..Stored::default() }))[0].clone()
    };
    assert_eq!((of(0).category, of(0).severity, of(1).severity), (Category::Social, Severity::Medium, Severity::High));
    assert_eq!(fingerprints(&facts(Stored::default())), Vec::<String>::new());
}

#[test]
fn what_waits_is_told_of_the_day_on_the_shops_clock() {
    // Two o'clock in Greenwich is eleven in the evening before in São Paulo.
    let at = datetime!(2026-02-26 02:00 UTC);
    let stale =
        StaleShop { provider: Platform::Shopify, shop: "a.example.com".into(), last_sync_at: at, has_ended: false };
    let stored = Stored {
        stale_shops: vec![stale],
        waiting: Some(CommentsWaiting { comments: 1, complaints: 0, since: at }),
        ..Stored::default()
    };
    let drafts = draft(&Facts { zone: "America/Sao_Paulo".parse().unwrap(), ..facts(stored) });
    let days: Vec<Option<&Value>> = drafts.iter().map(|draft| draft.told.figure("day")).collect();
    let day = Value::Date(date!(2026 - 02 - 25));
    assert_eq!(days, [Some(&day), Some(&day)]);
}

#[test]
fn every_stale_shop_is_a_situation_of_its_own() {
    let stale_shops = ["a.example.com", "b.example.com"].map(|name| unsynced(Platform::Shopify, name, false)).into();
    let found = fingerprints(&facts(Stored { stale_shops, ..Stored::default() }));
    assert_eq!(found, ["integrations:stale:shopify:a.example.com", "integrations:stale:shopify:b.example.com"]);
}

#[test]
fn a_connection_that_the_platform_ended_is_to_be_made_again_and_an_ad_account_is_no_shop() {
    let of = |provider, has_ended| {
        let stale_shops = vec![unsynced(provider, "a.example.com", has_ended)];
        let Wording { body, suggested_action, .. } =
            told(&facts(Stored { stale_shops, ..Stored::default() })).remove(0);
        format!("{body} {suggested_action}")
    };
    assert_eq!(
        of(Platform::Shopify, true),
        "The Shopify shop \"a.example.com\" was last synced on Sunday 1 February. Shopify no longer accepts the \
         connection. Connect it again."
    );
    assert_eq!(
        of(Platform::Meta, false),
        "The Meta ad account \"a.example.com\" was last synced on Sunday 1 February. Check the connection, and \
         connect the account again if need be."
    );
}

fn unsynced(provider: Platform, shop: &str, has_ended: bool) -> StaleShop {
    StaleShop { provider, shop: shop.into(), last_sync_at: datetime!(2026-02-01 10:00 UTC), has_ended }
}

/// What is seen of a lever on a day, what is usual, and what that is worth in profit, in a shop of about 44 orders and 2,010 USD
/// a day, of which two fifths are left.
fn example(kind: Option<LeverKind>) -> (Band, Money) {
    let (observed, expected, profit): (f64, f64, f64) = match kind {
        Some(LeverKind::Platform | LeverKind::ClosedDay) => (0.0, 44.2, -804.0),
        Some(LeverKind::Country | LeverKind::Conversion) => (12.0, 44.2, -586.0),
        Some(LeverKind::Product) => (85.0, 410.0, -130.0),
        Some(LeverKind::StockOut) => (0.0, 410.0, -164.0),
        Some(LeverKind::Campaign) => (320.0, 80.0, -240.0),
        Some(LeverKind::Price) => (4.55, 45.5, -1_810.0),
        Some(LeverKind::BulkOrder) => (6_300.0, 2_010.0, 1_720.0),
        Some(LeverKind::Traffic) => (510.0, 1_480.0, -527.0),
        Some(LeverKind::Tracking) => (96.0, 1_480.0, 0.0),
        Some(LeverKind::Refund) => (760.0, 55.0, -705.0),
        Some(LeverKind::Cost) => (38.4, 24.9, -278.0),
        Some(LeverKind::Expense) => (900.0, 30.0, -870.0),
        None => (880.0, 2_010.0, -452.0),
    };
    let band = Band { observed, expected, low: expected * 0.7, high: expected * 1.3 };
    let spread = profit.abs() * 0.15;
    (band, Money { low: profit - spread, expected: profit, high: profit + spread, measure: Measure::Profit })
}

/// Sales that came with more spent on a campaign, or on ads.
fn more_ads(campaign: Option<&str>, profit: f64) -> Story {
    let day = Story { direction: Direction::Up, normal: None, ..story(Some(LeverKind::Campaign), campaign) };
    Story {
        subject: Subject::Sales,
        seen: Seen {
            gauge: Gauge::GrossRevenue,
            part: None,
            band: Band { observed: 3_100.0, expected: 2_010.0, low: 1_400.0, high: 2_600.0 },
        },
        money: Some(Money { low: profit - 80.0, expected: profit, high: profit + 80.0, measure: Measure::Profit }),
        ..day
    }
}

/// Every lever up and down, in every phase, with every kind of money and of what was normal.
fn every_story() -> Vec<StoryFact> {
    let phases = [Phase::Open, Phase::Over { since: date!(2026 - 02 - 23) }, Phase::Usual, Phase::Open];
    let normal = [Some(Normal::Others), Some(Normal::Visitors), Some(Normal::Orders), None];
    let mut stories = Vec::new();
    let kinds = LeverKind::ALL.iter().copied().map(Some).chain([None]);
    for kind in kinds.flat_map(|kind| std::iter::repeat_n(kind, 4)) {
        let at = stories.len();
        let is_cost =
            matches!(kind, Some(LeverKind::Refund | LeverKind::Campaign | LeverKind::Cost | LeverKind::Expense));
        // Nothing is sold too much of when the shop is closed, and no bulk order makes a day a bad one.
        let is_up = match kind {
            Some(LeverKind::ClosedDay | LeverKind::StockOut) => false,
            Some(LeverKind::BulkOrder) => true,
            _ => (at % 2 == 1) != is_cost,
        };
        let part = match kind {
            Some(LeverKind::Platform) => Some("mercadolibre"),
            Some(LeverKind::Campaign) if at % 4 > 1 => None,
            Some(LeverKind::Country) => Some("BR"),
            Some(LeverKind::Product | LeverKind::StockOut) if at % 4 == 0 => Some("MUG-BLUE"),
            Some(LeverKind::Campaign) if at % 4 == 0 => Some("meta/Summer"),
            Some(LeverKind::Refund) if at % 4 < 2 => Some("MUG-BLUE"),
            Some(LeverKind::Product | LeverKind::StockOut | LeverKind::Campaign) => Some("S-7 % off"),
            _ => None,
        };
        // The first of each kind is as days are.
        let normal = match kind {
            _ if at % 4 > 0 => normal[(at / 4 + at) % 4],
            Some(LeverKind::Conversion) => Some(Normal::Visitors),
            Some(LeverKind::ClosedDay | LeverKind::Traffic) | None => None,
            Some(LeverKind::Campaign | LeverKind::Refund) => Some(Normal::Orders),
            _ if part.is_some() => Some(Normal::Others),
            _ => Some(Normal::Orders),
        };
        let mut story = Story { phase: phases[at % 4], normal, ..story(kind, part) };
        if at % 4 == 3 {
            story.span.last = date!(2026 - 02 - 24);
            story.is_on_order = true;
        }
        if kind == Some(LeverKind::Refund) && at % 2 == 1 {
            story.returned = 7.5;
        }
        if is_up {
            (story.seen.band.observed, story.direction) = (94.5, Direction::Up);
        }
        if is_up != is_cost {
            story.money = story.money.map(|_| Money { low: 7.0, expected: 9.5, high: 14.2, measure: Measure::Revenue });
        }
        let (band, money) = example(kind);
        if at % 4 == 0 || is_cost && is_up {
            story.seen.band = band;
        }
        if at % 4 == 0 || is_up == is_cost {
            story.money = story.money.map(|_| money);
        }
        stories.push(StoryFact { id: StoryId(stories.len() as i64), story });
    }
    let ads = [(Some("meta/Summer"), 290.0), (None, -120.0), (None, 290.0), (Some("S-7 % off"), -120.0)];
    for story in ads.map(|(campaign, profit)| more_ads(campaign, profit)) {
        stories.push(StoryFact { id: StoryId(stories.len() as i64), story });
    }
    stories
}

/// A campaign that cost 400.
fn campaign(name: &str, revenue: i64) -> CampaignSums {
    CampaignSums {
        id: AdEntityId(revenue),
        platform: "meta".into(),
        name: name.into(),
        is_active: true,
        last_spent: Some(date!(2026 - 02 - 28)),
        spend: Some(dec!(400)),
        purchases: Some(revenue / 50),
        revenue: Some(revenue.into()),
    }
}

/// A product that was bought ten times a week, and 40 times in the last.
fn surging(sku: &str, stock: Option<i64>) -> ProductWeeks {
    ProductWeeks {
        sku: sku.into(),
        purchases: 40,
        units: 84,
        revenue: dec!(1680),
        before: [10, 12, 8, 10, 11, 9, 10, 10],
        stock,
        is_on_order: false,
    }
}

/// Shops in which every rule has something to tell: of one and of several, up and down, with a cause and without.
fn shops_with_everything() -> [Facts; 6] {
    let segment = |segment, customers, revenue| SegmentFact { segment, customers, revenue };
    let item = |at: i64| CriticalItem {
        sku: format!("S-{at} 99 % off"),
        current_stock: at % 9,
        units_sold_30d: 3,
        price: Some(dec!(13.685)),
        velocity: Some(dec!(1)),
        missed_units: Some(if at % 9 > 0 { 28.0 } else { 30.0 }),
        runs_out_on: (at % 9 > 0).then_some(date!(2026 - 03 - 04)),
        ..CriticalItem::default()
    };
    let shop = |many: i64, change: fn(&mut DayTotals)| Facts {
        last: date!(2026 - 03 - 01),
        zone: Zone::utc(),
        days: days(change),
        stored: Stored {
            stories: every_story(),
            critical: (0..many).flat_map(|at| [item(9 * at), item(9 * at + 1)]).collect(),
            reorders: (0..many).map(|at| pending(&format!("R-{at} 99 % off"), 30 + at - many, 2.0)).collect(),
            segments: vec![segment(Segment::Vip, 10, dec!(750)), segment(Segment::AtRisk, many, dec!(250.55))],
            stale_shops: vec![
                unsynced(Platform::Shopify, "a.example.com", false),
                unsynced(Platform::Shopify, "b.example.com", true),
            ],
            waiting: (many > 0).then(|| CommentsWaiting {
                comments: many,
                complaints: (many - 1) / 3,
                since: datetime!(2026-02-26 10:00 UTC),
            }),
            products: vec![],
            campaigns: vec![campaign("C-0 99 % off", 4_000), campaign("C-1", 900)],
            order_value: OrderValue { mean: 50.0, spread: 0.5 },
        },
    };
    let dear = |day: &mut DayTotals| {
        day.ad_spend = dec!(33.335);
        day.cogs = dec!(60);
        day.new_customers = i64::from(day.day.day() == 5);
    };
    let loss = |day: &mut DayTotals| {
        day.ad_spend = dec!(33.335);
        day.cogs = dec!(95);
        day.basis.returned_cogs = dec!(1.115);
    };
    let products = vec![surging("MUG 99 % off", Some(60)), surging("LAMP", Some(12)), surging("VASE", Some(0))];
    let good = Facts { stored: Stored { products, ..of_stories([outage()]).stored }, ..record(dec!(250)) };
    let alone = Stored {
        campaigns: vec![campaign("C-0 99 % off", 4_000)],
        order_value: OrderValue { mean: 50.0, spread: 0.5 },
        ..Stored::default()
    };
    let rise = Facts { days: days(|day| day.cogs = dec!(25)), ..facts(alone) };
    let of_ads = vec![unsynced(Platform::Meta, "Ads", false)];
    let fall = Facts { days: days(dear), ..facts(Stored { stale_shops: of_ads, ..Stored::default() }) };
    [shop(1, dear), shop(8, loss), shop(0, loss), good, rise, fall]
}

/// Every template with every fact.
pub(crate) fn say_all(texts: &Texts) {
    for facts in shops_with_everything() {
        for draft in draft(&facts) {
            draft.told.wording(texts, usd());
        }
    }
}

#[test]
fn the_texts_of_the_catalogue_pass_the_check_of_models_texts() {
    let mut refused = Vec::new();
    for tag in ["en", "en-IN", "es", "es-MX", "es-AR", "pt-BR"] {
        let texts = Texts::of(locale(tag)).as_of(date!(2026 - 03 - 01));
        let mut told = 0;
        for draft in shops_with_everything().iter().flat_map(draft) {
            let wording = draft.told.wording(&texts, usd());
            if let Err((field, refusal)) =
                grounding::check(&wording, &wording, &draft.told.grounds(usd()), texts.writing())
            {
                refused.push(format!("{tag}: {}.{field}: {refusal}: {wording:?}", draft.fingerprint));
            }
            told += 1;
        }
        // The stories, three of the periods (but for a fall that stories tell), two stale shops; the stock, the customers and
        // the comments of two shops, and the campaign of one; a record, a story, three products and their week; a rise and a
        // campaign; and a fall with its ads and their account.
        assert_eq!(told, 3 * (15 * 4 + 4 + 3 + 2) - 1 + 2 * 5 + 1 + 6 + 2 + 4);
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn facts_come_back_from_json_as_they_were() {
    for draft in shops_with_everything().iter().flat_map(draft) {
        let json = serde_json::to_value(&draft.told).unwrap();
        assert_eq!(serde_json::from_value::<Told>(json).unwrap(), draft.told);
    }
}

/// The examples of docs/insights-texts.md.
fn catalogue() -> String {
    let [one, several, _, good, rise, _] = shops_with_everything();
    let mut told: Vec<Told> = Vec::new();
    for draft in [several, one, good, rise].iter().flat_map(draft) {
        let is_new = |known: &Told| known.kind != draft.told.kind || known.figure("what") != draft.told.figure("what");
        if told.iter().all(is_new) {
            told.push(draft.told);
        }
    }
    let mut rows = String::new();
    for told in &told {
        let what = match told.figure("what") {
            Some(Value::Code(what)) => format!("`: `{what}"),
            _ => String::new(),
        };
        let said = [Locale::ENGLISH, locale("es-MX"), locale("pt-BR")].map(|locale| {
            let texts = Texts::of(locale).as_of(date!(2026 - 03 - 01));
            let Wording { title, body, suggested_action, impact_estimate } = told.wording(&texts, usd());
            format!("**{title}.** {body} *{suggested_action}* ({impact_estimate})")
        });
        rows.push_str(&format!("| `{}{what}` | {} |\n", told.kind, said.join(" | ")));
    }
    // A name that tries the check is no example.
    rows.replace(" 99 % off", "")
}

#[test]
fn the_docs_show_the_catalogue() {
    let docs = include_str!("../../../../../docs/insights-texts.md");
    let rows = catalogue();
    assert!(docs.contains(&rows), "docs/insights-texts.md should have these rows:\n{rows}");
}
