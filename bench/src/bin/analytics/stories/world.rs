//! A shop at the level of orders, so that an incident can be planted in it, and its daily sums as the service makes them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{
    daily::{DayTotals, Dimension, PartTotals},
    profit::DayRange,
};
use rust_decimal::{Decimal, prelude::FromPrimitive};
use time::{Date, Duration};

/// A product's line of an order.
#[derive(Clone)]
pub struct Line {
    /// `None` for postage and the like.
    pub sku: Option<u32>,
    pub units: i64,
    pub price: f64,
    pub unit_cost: f64,
}

#[derive(Clone)]
pub struct Order {
    pub platform: u32,
    pub country: u32,
    pub customer: Option<u32>,
    pub lines: Vec<Line>,
    pub fees: f64,
    pub shipping: f64,
}

#[derive(Clone)]
pub struct Ad {
    /// As `platform/campaign`.
    pub campaign: u32,
    pub spend: f64,
    pub clicks: i64,
}

/// What happened on one day.
#[derive(Clone, Default)]
pub struct Book {
    pub orders: Vec<Order>,
    pub refunds: Vec<f64>,
    pub ads: Vec<Ad>,
    pub visitors: BTreeMap<u32, i64>,
    pub expenses: f64,
}

/// Texts by number.
#[derive(Default)]
pub struct Names {
    known: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Names {
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.known.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.known.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }

    pub fn text(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|at| self.texts.get(at)).map_or("", String::as_str)
    }
}

/// A shop's days, one after the other.
pub struct World {
    pub name: &'static str,
    pub first: Date,
    pub days: Vec<Book>,
    pub names: Names,
    pub holidays: BTreeSet<Date>,
    /// The day on which each customer came first, as a number of the day.
    pub first_orders: HashMap<u32, usize>,
}

impl World {
    pub fn date(&self, at: usize) -> Date {
        self.first.saturating_add(Duration::days(i64::try_from(at).unwrap_or_default()))
    }

    /// The book of a date, with those before it if need be.
    pub fn book(&mut self, date: Date) -> Option<&mut Book> {
        let at = usize::try_from((date - self.first).whole_days()).ok()?;
        if self.days.len() <= at {
            self.days.resize_with(at + 1, Book::default);
        }
        self.days.get_mut(at)
    }

    pub fn note_first_orders(&mut self) {
        for (at, book) in self.days.iter().enumerate() {
            for customer in book.orders.iter().filter_map(|order| order.customer) {
                self.first_orders.entry(customer).or_insert(at);
            }
        }
    }

    /// The sums of a day's book.
    pub fn totals(&self, at: usize, book: &Book) -> DayTotals {
        let mut sums = DayTotals::quiet(self.date(at));
        let mut customers = BTreeSet::new();
        let (mut gross, mut cogs, mut fees, mut shipping) = (0.0, 0.0, 0.0, 0.0);
        for order in &book.orders {
            sums.orders += 1;
            fees += order.fees;
            shipping += order.shipping;
            customers.extend(order.customer);
            for line in &order.lines {
                gross += line.units as f64 * line.price;
                cogs += line.units as f64 * line.unit_cost;
                sums.units += if line.sku.is_some() { line.units } else { 0 };
            }
        }
        sums.customers = count(customers.len());
        sums.new_customers = count(customers.iter().filter(|id| self.first_orders.get(id) == Some(&at)).count());
        sums.gross_revenue = money(gross);
        sums.cogs = money(cogs);
        sums.fees = money(fees);
        sums.shipping = money(shipping);
        sums.refunds = money(book.refunds.iter().sum());
        sums.refund_count = count(book.refunds.len());
        sums.ad_spend = money(book.ads.iter().map(|ad| ad.spend).sum());
        sums.ad_clicks = book.ads.iter().map(|ad| ad.clicks).sum();
        sums.extra_expenses = money(book.expenses);
        sums.visitors = book.visitors.values().sum();
        sums
    }

    /// The parts of a day; of the products those among `products`.
    pub fn parts(&self, at: usize, book: &Book, products: &BTreeSet<u32>) -> Vec<PartTotals> {
        let mut parts: BTreeMap<(Dimension, String), Sums> = BTreeMap::new();
        for order in &book.orders {
            let (platform, country) = (self.names.text(order.platform), self.names.text(order.country));
            let gross: f64 = order.lines.iter().map(|line| line.units as f64 * line.price).sum();
            let units: i64 = order.lines.iter().filter(|line| line.sku.is_some()).map(|line| line.units).sum();
            for key in [
                (Dimension::Platform, platform.to_owned()),
                (Dimension::Country, country.to_owned()),
                (Dimension::CountryPlatform, format!("{country}/{platform}")),
            ] {
                parts.entry(key).or_default().add(gross, 1, units, 0.0, 0);
            }
            for line in &order.lines {
                if let Some(sku) = line.sku.filter(|sku| products.contains(sku)) {
                    let key = (Dimension::Product, self.names.text(sku).to_owned());
                    parts.entry(key).or_default().add(line.units as f64 * line.price, 0, line.units, 0.0, 0);
                }
            }
        }
        for ad in &book.ads {
            let campaign = self.names.text(ad.campaign);
            let platform = campaign.split('/').next().unwrap_or_default().to_owned();
            parts.entry((Dimension::Campaign, campaign.to_owned())).or_default().add(0.0, 0, 0, ad.spend, 0);
            parts.entry((Dimension::Platform, platform)).or_default().add(0.0, 0, 0, ad.spend, 0);
        }
        for (country, visitors) in &book.visitors {
            let key = (Dimension::Country, self.names.text(*country).to_owned());
            parts.entry(key).or_default().add(0.0, 0, 0, 0.0, *visitors);
        }
        let day = self.date(at);
        parts.into_iter().map(|((dimension, value), sums)| sums.part(day, dimension, value)).collect()
    }
}

#[derive(Default)]
struct Sums {
    gross: f64,
    orders: i64,
    units: i64,
    ad_spend: f64,
    visitors: i64,
}

impl Sums {
    fn add(&mut self, gross: f64, orders: i64, units: i64, ad_spend: f64, visitors: i64) {
        self.gross += gross;
        self.orders += orders;
        self.units += units;
        self.ad_spend += ad_spend;
        self.visitors += visitors;
    }

    fn part(self, day: Date, dimension: Dimension, value: String) -> PartTotals {
        let Self { gross, orders, units, ad_spend, visitors } = self;
        let (gross_revenue, ad_spend) = (money(gross), money(ad_spend));
        // The refunds of these shops say no product.
        let refunds = Decimal::ZERO;
        PartTotals { day, dimension, value, gross_revenue, refunds, orders, units, ad_spend, visitors }
    }
}

fn money(amount: f64) -> Decimal {
    Decimal::from_f64(amount).unwrap_or_default().round_dp(4)
}

fn count(things: usize) -> i64 {
    i64::try_from(things).unwrap_or(i64::MAX)
}

/// Days `first` to `last` of a world, as dates.
pub fn range(world: &World, first: usize, last: usize) -> DayRange {
    DayRange { first: world.date(first), last: world.date(last) }
}
