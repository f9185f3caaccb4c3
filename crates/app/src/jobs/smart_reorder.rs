//! The job `smart_reorder`: which products to buy again now, and how much.

use analytics::{
    demand::{self, DemandModel},
    reorder::{self, Calibration, ServiceGoal, SupplyTerms},
};
use domain::{
    StoreError,
    demand::StockedProduct,
    jobs::WriteOutcome,
    money::{Currency, estimate},
    reorder::{Basis, Draft, Reason, SeasonOf},
    texts::{Locale, Texts},
};

use rust_decimal::{Decimal, prelude::ToPrimitive};

use super::{
    Work,
    demand::{Stocked, lead_time, number},
    off_thread,
};

/// A shop looks at its suggestions once a week.
const REVIEW_DAYS: i32 = 7;
/// Standard deviation of a lead time as a share of it: one figure a product does not show how much it varies.
const LEAD_TIME_VARIATION: f64 = 0.2;
/// The largest quantity that is suggested: beyond any order, within what can be stored.
const LARGEST_ORDER: u64 = 1_000_000_000;

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let stocked = Stocked::load(work).await?;
    let currency = work.account.currency;
    let drafts = off_thread(move || {
        let calibration = calibrate(&stocked);
        stocked.each(|product, _, model| draft(product, model?, &stocked, &calibration, currency))
    })
    .await?;
    let (drafts, now) = (drafts.into_iter().flatten().collect(), (work.clock)());
    let zone = &work.account.timezone;
    work.deps.reorder.replace(work.claim, drafts, zone.start_of(zone.day_of(now)), now).await
}

/// How often the shop's own demand would have outrun what was ordered by these forecasts. Days without stock hide what was
/// demanded, so that stretches with one are passed over.
fn calibrate(stocked: &Stocked) -> Calibration {
    let mut calibration = Calibration::default();
    stocked.back_test(|product, model, after| {
        let terms = terms(product, stocked);
        let demanded: Option<f64> =
            after.get(..terms.protection_days()).and_then(|days| days.iter().copied().sum::<Option<f64>>());
        if let Some(demanded) = demanded {
            calibration.record(model, &terms, demanded);
        }
    });
    calibration
}

fn terms(product: &StockedProduct, stocked: &Stocked) -> SupplyTerms {
    let lead_time = lead_time(product);
    SupplyTerms {
        lead_time_days: f64::from(lead_time),
        lead_time_sd: LEAD_TIME_VARIATION * f64::from(lead_time),
        review_days: f64::from(REVIEW_DAYS),
        pack_size: positive(product.pack_size),
        minimum_order: positive(product.min_order_qty),
        service: service_goal(product, stocked),
    }
}

/// What covers the demand often enough: by what a unit earns over its cost, where that is known.
fn service_goal(product: &StockedProduct, stocked: &Stocked) -> ServiceGoal {
    let number = |amount: Option<Decimal>| amount.and_then(|amount| amount.to_f64());
    match (number(product.mean_price(stocked.last)), number(product.unit_cost)) {
        (Some(price), Some(cost)) => ServiceGoal::by_margin(price, cost, f64::from(REVIEW_DAYS)),
        _ => ServiceGoal::ByClass,
    }
}

/// A suggestion, if the stock would not last until a later order arrives.
fn draft(
    product: &StockedProduct,
    model: &DemandModel<'_>,
    stocked: &Stocked,
    calibration: &Calibration,
    currency: Currency,
) -> Option<Draft> {
    if !model.is_evident() {
        return None;
    }
    let (lead_time, terms) = (lead_time(product), terms(product, stocked));
    let found = reorder::suggest(model, number(product.stock), number(product.on_order), &terms);
    let quantity = i64::try_from(found.quantity.min(LARGEST_ORDER)).ok().filter(|quantity| *quantity > 0)?;
    if !found.due {
        return None;
    }
    let confidence = calibration.confidence(&found);
    let basis = Basis {
        daily_demand: found.daily_demand,
        on_hand: product.stock,
        on_order: product.on_order,
        lead_time_days: i64::from(lead_time),
        review_days: i64::from(REVIEW_DAYS),
        expected_demand: found.expected_demand,
        safety_stock: found.safety_stock,
        reorder_point: units(found.reorder_point),
        order_up_to: units(found.order_up_to),
        service_level: found.service_level,
        pack_size: i64::from(terms.pack_size),
        min_order_qty: i64::from(terms.minimum_order),
        history_days: i64::try_from(model.history_days()).ok(),
        unit_contribution: stocked.unit_contribution(product),
        sold_last_year: found.by_last_year,
        sold_after_arrival: found.after_arrival,
        season_of: found.season_of.map(season_of),
        season_ends: found.season_ends,
    };
    Some(Draft {
        product_id: product.product_id,
        qty_suggested: quantity,
        reason: Reason { quantity, confidence, basis: &basis, currency }.say(&Texts::of(Locale::ENGLISH)),
        confidence: estimate(confidence.min(1.0), 4),
        forecast_days: i64::from(found.forecast_days.max(1)),
        basis,
        decision_stands_days: i64::from(lead_time.max(REVIEW_DAYS)),
    })
}

const fn season_of(of: demand::SeasonOf) -> SeasonOf {
    match of {
        demand::SeasonOf::Item => SeasonOf::Item,
        demand::SeasonOf::Category => SeasonOf::Category,
        demand::SeasonOf::Shop => SeasonOf::Shop,
    }
}

fn units(units: u64) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX)
}

fn positive(quantity: Option<i32>) -> u32 {
    quantity.and_then(|quantity| u32::try_from(quantity).ok()).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::{
        super::demand::tests::{steady, stocked},
        *,
    };

    fn drafts(products: Vec<StockedProduct>) -> Vec<Draft> {
        let stocked = stocked(products);
        let calibration = calibrate(&stocked);
        let dollars = "USD".parse().unwrap();
        let drafts = stocked.each(|product, _, model| draft(product, model?, &stocked, &calibration, dollars));
        drafts.into_iter().flatten().collect()
    }

    #[test]
    fn what_runs_out_within_its_lead_time_is_ordered_in_packs() {
        let product = StockedProduct { lead_time_days: Some(10), pack_size: Some(12), ..steady(1, 30, 5, 180) };
        let found = &drafts(vec![product])[0];
        // 17 days at 5 a day are 85; with a margin for chance and less the 30 in stock that is more than 55.
        assert!(found.qty_suggested > 55 && found.qty_suggested % 12 == 0, "{found:?}");
        assert_eq!((found.forecast_days, found.decision_stands_days), (17, 10));
        assert!(found.confidence > dec!(0.8) && found.confidence < dec!(1));
        assert!(found.reason.starts_with("Sells about 5.0 a day; 30 in stock."), "{}", found.reason);
    }

    #[test]
    fn what_earns_more_is_kept_ready_more_surely() {
        let level = |price: Option<Decimal>, unit_cost| {
            let revenue_90d = price.unwrap_or_default() * dec!(450);
            let product = StockedProduct { price, unit_cost, revenue_90d, ..steady(1, 0, 5, 180) };
            let found = drafts(vec![product]).remove(0);
            (found.basis.service_level, found.qty_suggested)
        };
        let (plain, quantity) = level(Some(dec!(4)), None);
        assert_eq!(plain, 0.95, "by class");
        assert_eq!(level(Some(dec!(4)), Some(dec!(5))).0, 0.95, "sold below cost");
        let (thin, fewer) = level(Some(dec!(4.10)), Some(dec!(4)));
        let (thick, more) = level(Some(dec!(12)), Some(dec!(4)));
        // 0.10 / (0.10 + 4 · 0.25 · 7 / 365) = 0.84, which is held at 0.9.
        assert!((thin - 0.9).abs() < 1e-9 && thick == 0.98, "{thin} {thick}");
        assert!(fewer < quantity && quantity < more, "{fewer} {quantity} {more}");
    }

    #[test]
    fn what_sells_at_a_loss_says_so() {
        let product = |unit_cost| StockedProduct { price: Some(dec!(12)), unit_cost, ..steady(1, 0, 5, 180) };
        let sold_at = |revenue_90d, unit_cost| StockedProduct { revenue_90d, ..product(unit_cost) };
        // 450 units in 90 days, at 10 each.
        let found = drafts(vec![sold_at(dec!(4500), Some(dec!(11))), sold_at(dec!(4500), Some(dec!(8)))]);
        let bases: Vec<_> = found.iter().map(|draft| draft.basis).collect();
        assert_eq!(bases[0].unit_contribution, Some(-1.0));
        assert!(bases[0].sells_at_a_loss() && !bases[1].sells_at_a_loss());
        assert_eq!(drafts(vec![product(None)])[0].basis.unit_contribution, None);
    }

    #[test]
    fn what_was_over_by_then_last_year_is_not_ordered_again() {
        // Five a day for eight weeks, now and a year ago, and one a week after that.
        let sells = |back: i64| {
            let in_season = back < 56 || (364..420).contains(&back);
            if in_season { 5 } else { i64::from(back % 7 == 0) }
        };
        let mut product = steady(1, 0, 5, 420);
        for (back, sale) in (0..).zip(product.sales.iter_mut().rev()) {
            sale.sold = sells(back);
        }
        let draft = &drafts(vec![product])[0];
        let without = &drafts(vec![steady(1, 0, 5, 56)])[0];
        // About 120 days of one a week: what is asked for before finds no stock.
        assert!(draft.basis.season_ends && (17..=18).contains(&draft.qty_suggested), "{draft:?}");
        assert!(draft.reason.contains("the season will be ending"), "{}", draft.reason);
        assert!(!without.basis.season_ends && without.qty_suggested > 100, "{without:?}");
    }

    #[test]
    fn a_product_that_has_just_begun_to_sell_is_not_ordered() {
        assert_eq!(drafts(vec![steady(1, 0, 51, 1), steady(2, 0, 9, 6)]), []);
        let draft = &drafts(vec![steady(1, 0, 9, 30)])[0];
        assert_eq!(draft.basis.history_days, Some(30));
    }

    #[test]
    fn what_lasts_or_is_on_its_way_is_not_ordered() {
        let on_its_way = StockedProduct { on_order: 400, ..steady(2, 10, 5, 180) };
        assert_eq!(drafts(vec![steady(1, 400, 5, 180), on_its_way, steady(3, 0, 0, 0)]), []);
    }

    #[test]
    fn a_shop_whose_demand_outran_its_forecasts_is_told_a_lower_confidence() {
        let confidence = |sold: fn(i64) -> i64| {
            let mut product = steady(1, 0, 1, 300);
            // `back` is 0 for the last day.
            for (back, sale) in (0..).zip(product.sales.iter_mut().rev()) {
                sale.sold = sold(back);
            }
            drafts(vec![product])[0].confidence
        };
        // Four times as much every four weeks.
        let (even, surging) =
            (confidence(|_| 5), confidence(|back| 4_i64.pow(u32::try_from(10 - back / 28).unwrap_or_default())));
        // Five back-tests without a shortfall where 0.08 each were expected: 1 − 0.08 · 20 / 20.4.
        assert!(even > dec!(0.92) && even < dec!(0.925), "{even}");
        assert!(surging < even, "{surging} is not below {even}");
    }

    #[test]
    fn absurd_numbers_stay_within_bounds() {
        for found in drafts(vec![steady(1, i64::MIN, 1_000_000_000, 365), steady(2, -1, 1, 1)]) {
            assert!(found.qty_suggested > 0 && found.forecast_days > 0 && found.confidence <= dec!(1), "{found:?}");
        }
    }
}
