//! Two years of the shop, day by day: deliveries come in, people buy what is there, stock is ordered again.

use std::collections::VecDeque;

use domain::accounts::Platform;

use super::{
    buying::{self, Wish},
    calendar::Calendar,
    catalogue::Catalogue,
    draw::{Draw, Stream},
    happenings::{
        BUYER_LEAVES_DAY, BUYER_RETURNS_DAY, FAULTY_RANK, REFUND_DAY, REFUND_WINDOW_DAYS, REFUNDED_ORDERS, RESTOCK_DAY,
        STOCK_OUT_DAY, STOCK_OUT_RANK, TREND_BUYERS, TREND_DAY, TREND_RANK,
    },
    people::Person,
};

/// Units that the shop sells on its first day, and how long its first stock lasts.
const FIRST_UNITS: i64 = 10;
const FIRST_STOCK_DAYS: i64 = 150;
/// Days of sales that a new order of stock is measured by.
const LOOK_BACK_DAYS: usize = 28;
/// Days of sales that are kept as a reserve, and that a delivery lasts, both beyond the lead time.
const RESERVE_DAYS: i64 = 20;
const COVER_DAYS: i64 = 40;
/// Orders of which a line comes back, in thousandths.
const RETURNS: u64 = 12;

/// Units of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    /// Rank of the product.
    pub(super) product: usize,
    pub(super) units: i64,
}

#[derive(Debug, Clone)]
pub(super) struct Order {
    /// In Unix seconds.
    pub(super) at: i64,
    /// Counted per platform, from 0.
    pub(super) number: u64,
    pub(super) person: usize,
    pub(super) items: Vec<Item>,
    seed: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Refund {
    pub(super) at: i64,
    /// Place of the order.
    pub(super) order: usize,
    pub(super) item: Item,
}

/// Stock at the end of a day on which it changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub(super) day: usize,
    pub(super) product: usize,
    pub(super) stock: i64,
}

/// Everything that happened in the shop.
#[derive(Debug)]
pub(super) struct Shop {
    pub(super) calendar: Calendar,
    pub(super) catalogue: Catalogue,
    pub(super) people: Vec<Person>,
    /// In the order of time.
    pub(super) orders: Vec<Order>,
    pub(super) refunds: Vec<Refund>,
    pub(super) levels: Vec<Level>,
    pub(super) shelves: Vec<Shelf>,
}

/// A product's place in the warehouse.
#[derive(Debug, Clone, Default)]
pub(super) struct Shelf {
    pub(super) stock: i64,
    /// Days and units of what is ordered.
    pub(super) coming: Vec<(usize, i64)>,
    /// Units sold on the last days, newest last.
    sold: VecDeque<i64>,
    sold_today: i64,
    changed: bool,
}

impl Shelf {
    pub(super) fn on_order(&self) -> i64 {
        self.coming.iter().map(|(_, units)| units).sum()
    }

    /// What was ordered for today arrives.
    fn receive(&mut self, day: usize) {
        let arrived: i64 = self.coming.iter().filter(|(on, _)| *on == day).map(|(_, units)| units).sum();
        self.coming.retain(|(on, _)| *on != day);
        self.stock += arrived;
        self.changed |= arrived > 0;
    }

    fn sell(&mut self, units: i64) -> bool {
        let there = self.stock >= units;
        if there {
            self.stock -= units;
            self.sold_today += units;
            self.changed = true;
        }
        there
    }

    fn close_day(&mut self) {
        self.sold.push_back(std::mem::take(&mut self.sold_today));
        if self.sold.len() > LOOK_BACK_DAYS {
            self.sold.pop_front();
        }
    }

    fn sold_lately(&self) -> i64 {
        self.sold.iter().sum()
    }
}

impl Shop {
    /// The shop as far as its calendar goes. What happened up to an instant does not depend on where the calendar ends.
    pub(super) fn run(calendar: Calendar) -> Self {
        let catalogue = Catalogue::new();
        let (people, wishes) = buying::wishes(&calendar);
        let units = FIRST_UNITS * FIRST_STOCK_DAYS;
        let shelves = (0..catalogue.products.len())
            .map(|rank| Shelf { stock: catalogue.part_of(rank, units) + 6, changed: true, ..Shelf::default() })
            .collect();
        let mut shop = Self { calendar, catalogue, people, orders: vec![], refunds: vec![], levels: vec![], shelves };
        let mut numbers = [0_u64; Platform::SHOPS.len()];
        let mut wishes = wishes.into_iter().peekable();
        for day in 0..shop.calendar.len() {
            shop.open(day);
            while let Some(wish) = wishes.next_if(|wish| wish.day == day) {
                shop.sell(&wish, &mut numbers);
            }
            shop.close(day);
        }
        shop.take_back();
        shop
    }

    fn open(&mut self, day: usize) {
        for shelf in &mut self.shelves {
            shelf.receive(day);
        }
        if day == STOCK_OUT_DAY
            && let Some(shelf) = self.shelves.get_mut(STOCK_OUT_RANK)
        {
            let units = shelf.sold_lately() * 2;
            shelf.stock = 0;
            shelf.coming = vec![(RESTOCK_DAY, units)];
            shelf.changed = true;
        }
    }

    fn sell(&mut self, wish: &Wish, numbers: &mut [u64; Platform::SHOPS.len()]) {
        let mut draw = Draw::seeded(wish.seed);
        let wanted = lines(wish.generous, &mut draw);
        let mut items: Vec<Item> = Vec::with_capacity(wanted);
        let wished = (0..wanted).map(|_| Item { product: self.catalogue.wanted(&mut draw), units: units(&mut draw) });
        let mut wished: Vec<Item> = wished.collect();
        // Drawn apart, so that the rest is what it would be without.
        if wish.day >= TREND_DAY && Draw::new(Stream::Trend, wish.seed).chance(TREND_BUYERS) {
            wished.push(Item { product: TREND_RANK, units: 1 });
        }
        for item in wished {
            let twice = items.iter().any(|bought| bought.product == item.product);
            let shelf = self.shelves.get_mut(item.product);
            if !twice && shelf.is_some_and(|shelf| shelf.sell(item.units)) {
                items.push(item);
            }
        }
        let platform = self.people.get(wish.person).map(|person| person.platform);
        let number = platform.and_then(|platform| numbers.get_mut(platform as usize));
        // Nothing there of what was wanted: no order.
        if let (Some(number), false) = (number, items.is_empty()) {
            let order = Order { at: wish.at, number: *number, person: wish.person, items, seed: draw.next() };
            *number += 1;
            self.orders.push(order);
        }
    }

    /// Notes what changed and orders what runs low. The last day may not be over: what is ordered on its evening does
    /// not arrive within the calendar, but what it will be is not known yet.
    fn close(&mut self, day: usize) {
        let is_over = self.calendar.start(day + 1) <= self.calendar.until;
        for (product, shelf) in self.shelves.iter_mut().enumerate() {
            if std::mem::take(&mut shelf.changed) {
                self.levels.push(Level { day, product, stock: shelf.stock });
            }
            if !is_over {
                continue;
            }
            shelf.close_day();
            let waits = match product {
                STOCK_OUT_RANK => (STOCK_OUT_DAY..RESTOCK_DAY).contains(&day),
                _ => (BUYER_LEAVES_DAY..BUYER_RETURNS_DAY).contains(&day),
            };
            if let (false, Some(listed)) = (waits, self.catalogue.product(product)) {
                reorder(shelf, day, listed.lead_time_days.into(), listed.min_order_qty.into(), product);
            }
        }
    }

    /// Refunds: a few in a hundred orders, and those of the faulty batch.
    fn take_back(&mut self) {
        let mut refunds: Vec<Refund> = Vec::new();
        for (place, order) in self.orders.iter().enumerate() {
            let mut draw = Draw::seeded(order.seed);
            if let (true, Some(item)) = (draw.chance(RETURNS), order.items.first()) {
                let at = order.at + draw.between(2, 16) * 86_400 + draw.between(-20_000, 20_000);
                refunds.push(Refund { at, order: place, item: *item });
            }
        }
        let window = self.calendar.start(REFUND_DAY - REFUND_WINDOW_DAYS)..self.calendar.start(REFUND_DAY);
        let faulty = |order: &Order| order.items.iter().copied().find(|item| item.product == FAULTY_RANK);
        let bought = self.orders.iter().enumerate().rev().filter(|(_, order)| window.contains(&order.at));
        let returned: std::collections::BTreeSet<usize> = refunds.iter().map(|refund| refund.order).collect();
        let batch = bought.filter(|(place, _)| !returned.contains(place));
        let batch = batch.filter_map(|(place, order)| faulty(order).map(|item| (place, item)));
        for ((order, item), minute) in batch.take(REFUNDED_ORDERS).zip(0_i64..) {
            // One after the other from ten in the morning on.
            refunds.push(Refund { at: self.calendar.at(REFUND_DAY, 36_000 + minute * 600), order, item });
        }
        refunds.retain(|refund| refund.at <= self.calendar.until);
        self.refunds = refunds;
    }
}

/// Orders stock when what is there and on its way does not last the lead time and a reserve.
fn reorder(shelf: &mut Shelf, day: usize, lead_time_days: i64, pack: i64, product: usize) {
    let lately = shelf.sold_lately();
    let lasts = |days: i64| lately * days / LOOK_BACK_DAYS as i64;
    let there = shelf.stock + shelf.on_order();
    if there > lasts(lead_time_days + RESERVE_DAYS) + 2 {
        return;
    }
    let missing = (lasts(lead_time_days + RESERVE_DAYS + COVER_DAYS) + 2 - there).max(1);
    let units = (missing + pack - 1) / pack * pack;
    let number = (day as u64) << 16 | product as u64;
    let delay = Draw::new(Stream::Supplier, number).between(-1, 4);
    let arrival = usize::try_from((lead_time_days + delay).max(1)).unwrap_or(1);
    shelf.coming.push((day + arrival, units));
}

/// How many different things are wanted.
fn lines(generous: bool, draw: &mut Draw) -> usize {
    match draw.below(100) {
        _ if generous => 3 + draw.place(3),
        0..46 => 1,
        46..78 => 2,
        78..93 => 3,
        _ => 4,
    }
}

fn units(draw: &mut Draw) -> i64 {
    match draw.below(100) {
        0..82 => 1,
        82..95 => 2,
        _ => 3,
    }
}
