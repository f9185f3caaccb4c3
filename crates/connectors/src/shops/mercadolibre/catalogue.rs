//! The catalogue: listings of the seller, put together by SKU, with price, category and stock.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    sync::Arc,
};

use domain::{
    imports::MAX_NAME_CHARS,
    money::Currency,
    shops::{Access, Product, ProductBatch, Refused, ShopError, ShopStream, Stock},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use rust_decimal::Decimal;
use serde::de::DeserializeOwned;

use super::{
    api::{Api, shown},
    document::sku,
    orders::CONCURRENCY,
    wire::{Attribute, Category, Got, Item, ItemIds, UserProductStock, Variation, WithId},
};
use crate::shops::{
    amounts,
    http::{Answer, malformed},
    wire::{Amount, Count, clean},
};

/// Items of a multiget.
const MULTIGET: usize = 20;
/// Identifiers of a page of the scan.
const SCAN: &str = "100";
/// Products that are given on together.
const BATCH: usize = 500;
/// What is asked of an item.
const ATTRIBUTES: &str = "id,title,status,category_id,price,currency_id,available_quantity,seller_custom_field,\
                          user_product_id,attributes,variations";

/// A listing or one of its variations.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    sku: String,
    name: Option<String>,
    category: Option<String>,
    price: Option<Decimal>,
    user_product: Option<String>,
    available: Option<i64>,
    /// It sells nothing any more, whatever it says is left.
    is_closed: bool,
}

/// A listing that is there and cannot be taken.
#[derive(Debug, PartialEq, Eq)]
struct LeftOut {
    /// None where it cannot be read what is listed.
    skus: Vec<String>,
    reason: String,
}

impl LeftOut {
    const fn unread(reason: String) -> Self {
        Self { skus: Vec::new(), reason }
    }
}

/// What was read of all listings.
#[derive(Default)]
struct Listings {
    listed: Vec<Listed>,
    left_out: Vec<String>,
    /// Whether there are any of which not even the SKU is known.
    has_unread: bool,
    refused: Vec<Refused>,
}

/// The whole catalogue. It is put together before the first batch, since any listing may have the SKU of an earlier one.
pub(super) fn products(api: Arc<Api>, access: Access, currency: Currency) -> ShopStream<ProductBatch> {
    let all = async move {
        let ids = ids(&api, &access).await?;
        let read = ids.len() as u64;
        let Listings { listed, left_out, has_unread, refused } = listings(&api, &access, ids, currency).await?;
        let (closed, listed): (Vec<Listed>, Vec<Listed>) = listed.into_iter().partition(|listed| listed.is_closed);
        // What is closed may be listed again by what could not be read.
        let closed = if has_unread { Vec::new() } else { not_listed(closed, &listed, &left_out) };
        let stocks = stocks(&api, &access, &listed).await?;
        let categories = categories(&api, &access, &listed).await?;
        let products = by_sku(listed, &stocks, &categories);
        let mut batches: Vec<ProductBatch> = products
            .chunks(BATCH)
            .map(|products| ProductBatch { products: products.to_vec(), ..ProductBatch::default() })
            .collect();
        batches.push(ProductBatch { read, closed, left_out, has_unread, refused, ..ProductBatch::default() });
        Ok(stream::iter(batches.into_iter().map(Ok)))
    };
    stream::once(all).try_flatten().boxed()
}

/// The identifiers of all listings. A scan has to be read to its end within five minutes between two pages, and its
/// `scroll_id` is used as it came.
async fn ids(api: &Api, access: &Access) -> Result<Vec<String>, ShopError> {
    let (mut ids, mut seen) = (Vec::new(), HashSet::new());
    let mut scroll: Option<String> = None;
    loop {
        let mut query = vec![("search_type", "scan"), ("limit", SCAN)];
        query.extend(scroll.as_deref().map(|scroll| ("scroll_id", scroll)));
        let page: ItemIds = api.get(access, &["users", &access.shop_id, "items", "search"], &query).await?.json()?;
        let before = ids.len();
        ids.extend(page.results.into_iter().map(|id| id.0).filter(|id| seen.insert(id.clone())));
        scroll = page.scroll_id.or(scroll);
        if ids.len() == before || scroll.is_none() {
            return Ok(ids);
        }
    }
}

/// What is listed, and what cannot be taken.
async fn listings(api: &Api, access: &Access, ids: Vec<String>, currency: Currency) -> Result<Listings, ShopError> {
    let chunks: Vec<Vec<String>> = ids.chunks(MULTIGET).map(<[String]>::to_vec).collect();
    let get = |ids: Vec<String>| async move {
        let joined = ids.join(",");
        // Unverified: that a multiget gives the SKUs of variations, too, when all attributes are included.
        let query = [("ids", joined.as_str()), ("attributes", ATTRIBUTES), ("include_attributes", "all")];
        let got: Vec<Got> = match api.get(access, &["items"], &query).await.and_then(|answer| answer.json()) {
            Ok(got) => got,
            Err(error) => api.pass_over(access, error).await.map(|_| Vec::new())?,
        };
        Ok((ids, got))
    };
    let got: Vec<(Vec<String>, Vec<Got>)> = stream::iter(chunks).map(get).buffered(CONCURRENCY).try_collect().await?;
    let mut all = Listings::default();
    for (ids, got) in got {
        all.add(ids, got, currency);
    }
    Ok(all)
}

impl Listings {
    /// Takes what a multiget answers for `ids`.
    fn add(&mut self, ids: Vec<String>, got: Vec<Got>, currency: Currency) {
        let (answers, missing) = paired(ids, got);
        for (external_id, got) in answers {
            match listing(&got, currency) {
                Ok(mut own) => self.listed.append(&mut own),
                Err(left_out) => self.leave_out(external_id, left_out),
            }
        }
        for external_id in missing {
            self.leave_out(external_id, LeftOut::unread("the platform does not answer for it".to_owned()));
        }
    }

    fn leave_out(&mut self, external_id: String, LeftOut { skus, reason }: LeftOut) {
        self.has_unread |= skus.is_empty();
        self.left_out.extend(skus);
        self.refused.push(Refused { kind: "product", external_id, reason });
    }
}

/// What a multiget answers for each of `ids`, and those that it does not answer for. It answers in the order of the question; an
/// answer of another length is read by what its parts name.
fn paired(mut ids: Vec<String>, got: Vec<Got>) -> (Vec<(String, Got)>, Vec<String>) {
    if got.len() == ids.len() {
        return (ids.into_iter().zip(got).collect(), Vec::new());
    }
    let named = got.into_iter().filter_map(|got| {
        let WithId { id } = serde_json::from_str(got.body.get()).ok()?;
        let place = ids.iter().position(|asked| *asked == id.0)?;
        Some((ids.swap_remove(place), got))
    });
    let named = named.collect();
    (named, ids)
}

/// A listing, or its variations.
fn listing(got: &Got, currency: Currency) -> Result<Vec<Listed>, LeftOut> {
    if got.code == 404 {
        return Ok(Vec::new());
    }
    if got.code != 200 {
        return Err(LeftOut::unread(format!("the platform answers for it with {}", got.code)));
    }
    let item: Item =
        serde_json::from_str(got.body.get()).map_err(|error| LeftOut::unread(malformed(&error).to_string()))?;
    let listed: Vec<Listed> = match item.variations.as_slice() {
        [] => vec![single(&item)],
        variations => variations.iter().map(|variation| of_variation(&item, variation)).collect(),
    };
    let foreign = item.currency_id.as_deref().filter(|own| *own != currency.as_str());
    // Nothing of a closed listing but that it is closed is used.
    if let Some(other) = foreign.filter(|_| !is_closed(&item)) {
        let reason = format!("its currency is {}", clean(other, 8).unwrap_or_default());
        return Err(LeftOut { skus: listed.into_iter().map(|listed| listed.sku).collect(), reason });
    }
    Ok(listed)
}

fn is_closed(item: &Item) -> bool {
    item.status.as_deref() == Some("closed")
}

fn single(item: &Item) -> Listed {
    let own = [own_sku(&item.attributes), item.seller_custom_field.as_deref()];
    Listed {
        sku: sku(&own, &item.id.0, None),
        name: item.title.as_deref().and_then(|title| clean(title, MAX_NAME_CHARS)),
        category: item.category_id.clone(),
        price: price(item.price),
        user_product: item.user_product_id.clone().map(|id| id.0),
        available: units(item.available_quantity),
        is_closed: is_closed(item),
    }
}

fn of_variation(item: &Item, variation: &Variation) -> Listed {
    let own = [own_sku(&variation.attributes), variation.seller_custom_field.as_deref()];
    let values = variation.attribute_combinations.iter().filter_map(|attribute| attribute.value_name.as_deref());
    let name: Vec<&str> = item.title.as_deref().into_iter().chain(values).collect();
    Listed {
        sku: sku(&own, &item.id.0, Some(&variation.id.0)),
        name: clean(&name.join(" · "), MAX_NAME_CHARS),
        category: item.category_id.clone(),
        price: price(variation.price).or(price(item.price)),
        user_product: variation.user_product_id.clone().map(|id| id.0),
        available: units(variation.available_quantity),
        is_closed: is_closed(item),
    }
}

fn own_sku(attributes: &[Attribute]) -> Option<&str> {
    attributes.iter().find(|attribute| attribute.id.as_deref() == Some("SELLER_SKU"))?.value_name.as_deref()
}

fn price(price: Option<Amount>) -> Option<Decimal> {
    price.map(|price| price.0).filter(|price| amounts::is_importable_cost(*price))
}

fn units(units: Option<Count>) -> Option<i64> {
    let most = domain::imports::MAX_QUANTITY;
    units.map(|units| units.0).filter(|units| (-most..=most).contains(units))
}

/// The SKUs of closed listings that no open one has, each once: goods that are listed again have a listing of each time.
fn not_listed(closed: Vec<Listed>, listed: &[Listed], left_out: &[String]) -> Vec<String> {
    let open = listed.iter().map(|listed| &listed.sku).chain(left_out);
    let mut seen: HashSet<String> = open.map(|sku| sku.to_ascii_lowercase()).collect();
    let skus = closed.into_iter().map(|closed| closed.sku);
    skus.filter(|sku| seen.insert(sku.to_ascii_lowercase())).collect()
}

/// The stock of the user products, at all places, Mercado Libre's own warehouses included.
async fn stocks(api: &Api, access: &Access, listed: &[Listed]) -> Result<HashMap<String, i64>, ShopError> {
    let ids: HashSet<&String> = listed.iter().filter_map(|listed| listed.user_product.as_ref()).collect();
    let read = |id: &String| {
        let id = id.clone();
        async move {
            let answer = api.get(access, &["user-products", &id, "stock"], &[]).await;
            let stock: Option<UserProductStock> = detail(api, access, answer).await?;
            let sum = |stock: UserProductStock| stock.locations.iter().map(|location| location.quantity.0).sum();
            Ok::<_, ShopError>((id, stock.map(sum)))
        }
    };
    let stocks: Vec<(String, Option<i64>)> =
        stream::iter(ids).map(read).buffer_unordered(CONCURRENCY).try_collect().await?;
    Ok(stocks.into_iter().filter_map(|(id, stock)| Some((id, units(stock.map(Count))?))).collect())
}

/// `None` where it is not shown, or not answered for while others are.
async fn detail<T: DeserializeOwned>(
    api: &Api,
    access: &Access,
    answer: Result<Answer, ShopError>,
) -> Result<Option<T>, ShopError> {
    match shown(answer) {
        Err(error) => api.pass_over(access, error).await.map(|_| None),
        shown => shown,
    }
}

/// The names of the categories.
async fn categories(api: &Api, access: &Access, listed: &[Listed]) -> Result<HashMap<String, String>, ShopError> {
    let ids: HashSet<&String> = listed.iter().filter_map(|listed| listed.category.as_ref()).collect();
    let read = |id: &String| {
        let id = id.clone();
        async move {
            let answer = api.get(access, &["categories", &id], &[]).await;
            let category: Option<Category> = detail(api, access, answer).await?;
            Ok::<_, ShopError>((id, category.and_then(|category| clean(&category.name, MAX_NAME_CHARS))))
        }
    };
    let names: Vec<(String, Option<String>)> =
        stream::iter(ids).map(read).buffer_unordered(CONCURRENCY).try_collect().await?;
    Ok(names.into_iter().filter_map(|(id, name)| Some((id, name?))).collect())
}

/// One product per SKU, without regard to case: name, category and price of the first listing, the stock of all. Listings
/// of one user product have its stock in common, so it counts once.
fn by_sku(listed: Vec<Listed>, stocks: &HashMap<String, i64>, categories: &HashMap<String, String>) -> Vec<Product> {
    let mut products: Vec<Product> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    let mut counted: HashSet<(usize, String)> = HashSet::new();
    for listed in listed {
        let at = match index.entry(listed.sku.to_ascii_lowercase()) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                products.push(Product {
                    sku: listed.sku,
                    name: listed.name,
                    category: listed.category.and_then(|id| categories.get(&id).cloned()),
                    price: listed.price,
                    cost: None,
                    stock: Stock::Unsaid,
                    on_order: None,
                });
                *entry.insert(products.len() - 1)
            }
        };
        let known = listed.user_product.as_ref().and_then(|id| stocks.get(id)).copied();
        let is_first = listed.user_product.is_none_or(|id| counted.insert((at, id)));
        if let (true, Some(stock), Some(product)) = (is_first, known.or(listed.available), products.get_mut(at)) {
            product.stock = product.stock.with(Stock::Units(stock));
        }
    }
    products
}

#[cfg(test)]
mod tests;
