//! What happens in the store, as a test or a person says.

use actix_web::{
    HttpResponse,
    web::{self, Data, Json, Path, ServiceConfig},
};
use serde::Deserialize;
use serde_json::json;

use super::{Tiendanube, delivery, store::Action};

pub fn routes(config: &mut ServiceConfig) {
    config
        .route("/_stub/app", web::put().to(set_app))
        .route("/_stub/hooks", web::get().to(hooks))
        .route("/_stub/orders", web::post().to(new_order))
        .route("/_stub/orders/{id}", web::post().to(act))
        .route("/_stub/privacy", web::post().to(privacy));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppSettings {
    redirect_uri: String,
}

async fn set_app(settings: Json<AppSettings>, stub: Data<Tiendanube>) -> HttpResponse {
    stub.inner().redirect_uri = settings.into_inner().redirect_uri;
    HttpResponse::NoContent().finish()
}

async fn hooks(stub: Data<Tiendanube>) -> HttpResponse {
    let inner = stub.inner();
    HttpResponse::Ok().json(json!({
        "subscriptions": inner.queue.subscriptions,
        "waiting": inner.queue.waiting,
        "under_way": inner.queue.under_way,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewOrder {
    variants: Vec<u64>,
    #[serde(default = "one")]
    quantity: i64,
    customer: Option<u64>,
    #[serde(default)]
    storefront: Storefront,
    #[serde(default)]
    paid: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Storefront {
    #[default]
    Store,
    Meli,
}

const fn one() -> i64 {
    1
}

async fn new_order(new: Json<NewOrder>, stub: Data<Tiendanube>) -> HttpResponse {
    let NewOrder { variants, quantity, customer, storefront, paid } = new.into_inner();
    let storefront = match storefront {
        Storefront::Store => "store",
        Storefront::Meli => "meli",
    };
    let now = stub.now();
    let mut inner = stub.inner();
    let Some(id) = inner.store.order(&variants, quantity, customer, storefront, now) else {
        return HttpResponse::BadRequest().body("a variant is unknown or has no price");
    };
    let mut events = vec!["order/created"];
    if paid {
        events.extend(inner.store.act(id, &Action::Pay, now).unwrap_or_default());
    }
    for event in events {
        delivery::tell(&stub, &mut inner, event, &id.to_string());
    }
    HttpResponse::Created().json(json!({ "id": id }))
}

async fn act(id: Path<u64>, action: Json<Action>, stub: Data<Tiendanube>) -> HttpResponse {
    let now = stub.now();
    let mut inner = stub.inner();
    let Some(events) = inner.store.act(*id, &action, now) else {
        return HttpResponse::Conflict().body("there is no such order, or it is not in a state for that");
    };
    for event in events {
        delivery::tell(&stub, &mut inner, event, &id.to_string());
    }
    HttpResponse::NoContent().finish()
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Privacy {
    RedactShop,
    RedactCustomer(u64),
    DataRequest(u64),
}

/// Such hooks are not subscribed to: their addresses are set with the app. A customer who is forgotten is so here too.
async fn privacy(request: Json<Privacy>, stub: Data<Tiendanube>) -> HttpResponse {
    let mut inner = stub.inner();
    let store_id = inner.store.id;
    let orders_of = |id: &u64| {
        let customer = inner.store.customers.iter().find(|(_, customer)| customer.id == *id).map(|(key, _)| *key);
        let orders = inner.store.orders.values().filter(|order| customer.is_some() && order.customer == customer);
        orders.map(|order| order.id).collect::<Vec<_>>()
    };
    let customer = |id: &u64| json!({ "id": id, "email": format!("cliente{id}@example.com"), "phone": "+55", "identification": "1" });
    let body = match &*request {
        Privacy::RedactShop => json!({ "store_id": store_id }),
        Privacy::RedactCustomer(id) => {
            json!({ "store_id": store_id, "customer": customer(id), "orders_to_redact": orders_of(id) })
        }
        Privacy::DataRequest(id) => json!({
            "store_id": store_id, "customer": customer(id), "orders_requested": orders_of(id),
            "checkouts_requested": [], "drafts_orders_requested": [], "data_request": { "id": 456 },
        }),
    };
    if let Privacy::RedactCustomer(id) = &*request {
        inner.store.forget(*id);
    }
    delivery::tell_all(&stub, &mut inner, &body);
    HttpResponse::NoContent().finish()
}
