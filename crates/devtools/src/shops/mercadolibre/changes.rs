//! What happens in the shop on demand, with the notifications that follow.

use rust_decimal::Decimal;
use time::Duration;

use super::{Mercadolibre, seed};

/// An order can be asked for only so long after its notification.
const NOT_YET: Duration = Duration::seconds(2);

/// Something that happens to an order.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    Cancel,
    /// Money without goods.
    Refund(Decimal),
    Return {
        units: i64,
        is_low_cost: bool,
    },
    IntoAccount,
}

impl Mercadolibre {
    pub(super) fn tell(&self, seller: u64, topic: &str, resource: &str) {
        let (app, now) = (&self.0.app.client_id, self.now());
        self.0.hooks.tell(&self.0.common.faults, (app, seller), topic, resource, now);
    }

    /// A purchase of `orders` different items by one buyer; the numbers of its orders.
    pub fn sell(&self, orders: u64) -> Vec<u64> {
        let now = self.now();
        let mut state = self.open();
        let super::State { seller, random, .. } = &mut *state;
        let ids = seed::purchase(seller, random, orders, now);
        for id in &ids {
            if let Some(order) = seller.orders.get_mut(id) {
                order.hidden_until = Some(now + NOT_YET);
            }
        }
        let seller = seller.id;
        drop(state);
        for id in &ids {
            self.tell(seller, "orders_v2", &format!("/orders/{id}"));
        }
        ids
    }

    /// Lets something happen to an order; false when there is none.
    pub fn change(&self, id: u64, change: Change) -> bool {
        let now = self.now();
        let mut state = self.open();
        let seller = &mut state.seller;
        if !seller.orders.contains_key(&id) {
            return false;
        }
        match change {
            Change::Cancel => seed::cancel(seller, id, now),
            Change::Refund(amount) => seed::refund(seller, id, amount, now),
            Change::Return { units, is_low_cost } => {
                let claim = (seller.new_id(), is_low_cost);
                seed::take_back(seller, id, units, claim, now);
            }
            Change::IntoAccount => seed::into_account(seller, id, now),
        }
        let seller = seller.id;
        drop(state);
        self.tell(seller, "orders_v2", &format!("/orders/{id}"));
        true
    }

    /// Sends notifications that are not Mercado Libre's.
    pub fn forge(&self) {
        let seller = self.open().seller.id;
        self.0.hooks.forge((&self.0.app.client_id, seller), self.now());
    }

    /// Where notifications go from now on. `None`: the topics are switched off, and nothing is kept.
    pub fn notify(&self, url: Option<String>) {
        self.0.hooks.send_to(url);
    }
}
