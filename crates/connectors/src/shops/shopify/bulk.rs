//! The history of a shop by bulk operations: the platform writes what a query selects into a file, and we read it line by
//! line. Every record of a connection is a line of its own that names its parent, in no order.

use std::{collections::HashMap, ops::Range, time::Duration};

use domain::{
    money::Currency,
    shops::{Access, OrderBatch, Purpose, ShopError, Window},
};
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use tokio::time::Instant;
use twox_hash::XxHash3_128;
use url::Url;

use super::{
    client::{Client, Reply},
    orders::{filter, gid, put, unreadable, whole},
    queries::{BULK_CANCEL, BULK_RUN, BULK_STATE, bulk_orders},
    wire::{AgreementWire, Named, OrderWire, SaleWire},
};
use crate::shops::{
    http::{Lines, lines, malformed},
    wire::Count,
};

/// Unverified: where the files are.
const STORAGE: &str = "storage.googleapis.com";
/// How long an operation may take before it is cancelled and the window halved.
const DEADLINE: Duration = Duration::from_secs(30 * 60);
/// Between two looks at an operation; the last one repeats.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
];
/// Records of one file: they are held until the last one is there, as a child may come before its parent.
const MAX_OBJECTS: u64 = 100_000;
/// Bytes of one file.
const MAX_FILE: u64 = 8 << 20;
/// Orders of one batch.
const BATCH: usize = 500;

/// The orders of a window. `None`: the platform failed at it, and the window is to be read page by page.
pub(super) async fn read(
    client: &Client,
    access: &Access,
    window: Window,
    currency: Currency,
) -> Result<Option<Batches>, ShopError> {
    match read_file(client, access, window, currency).await {
        // Where the trouble is not of bulk operations alone, reading page by page says so.
        Err(
            error
            @ (ShopError::Unavailable(_) | ShopError::Rejected(_) | ShopError::NotFound | ShopError::Malformed(_)),
        ) => {
            tracing::warn!(%error, "a bulk operation cannot be used: the window is read page by page");
            Ok(None)
        }
        read => read,
    }
}

async fn read_file(
    client: &Client,
    access: &Access,
    window: Window,
    currency: Currency,
) -> Result<Option<Batches>, ShopError> {
    let query = bulk_orders(&filter(window, Purpose::BackFill)?);
    let Some(id) = start(client, access, &query).await? else { return Ok(None) };
    match finished(client, access, &id).await? {
        Finished::File(file) => batches(client, file, currency).await.map(Some),
        Finished::Empty => Records::default().batches(currency).map(Some),
        Finished::Failed(why) => {
            tracing::warn!(why, "a bulk operation failed: the window is read page by page");
            Ok(None)
        }
    }
}

async fn batches(client: &Client, file: File, currency: Currency) -> Result<Batches, ShopError> {
    let mut records = Records { bytes: Vec::with_capacity(file.bytes), ..Records::default() };
    let mut lines = lines(client.http().request(Method::GET, file.url), MAX_FILE).await?;
    let count = records.fill(&mut lines).await?;
    // Otherwise records are missing, or more came than there are: the file is not what the operation found.
    if count == file.objects {
        records.batches(currency)
    } else {
        Err(ShopError::Malformed(format!("a file of {count} of {} records", file.objects)))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunData {
    bulk_operation_run_query: Run,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    bulk_operation: Option<Started>,
    user_errors: Vec<UserError>,
}

#[derive(Deserialize)]
struct Started {
    id: String,
}

#[derive(Deserialize)]
struct UserError {
    code: Option<String>,
    message: String,
}

/// Begins an operation; `None` when too many are under way.
async fn start(client: &Client, access: &Access, query: &str) -> Result<Option<String>, ShopError> {
    let Reply { data: RunData { bulk_operation_run_query: Run { bulk_operation, user_errors } }, .. } =
        client.run(access, BULK_RUN, json!({ "query": query })).await?;
    match (bulk_operation, user_errors.first()) {
        (Some(started), None) => Ok(Some(started.id)),
        (_, Some(UserError { code: Some(code), .. })) if code == "OPERATION_IN_PROGRESS" || code == "LIMIT_REACHED" => {
            tracing::info!("other bulk operations are under way: the window is read page by page");
            Ok(None)
        }
        (_, Some(UserError { message, .. })) => Err(ShopError::Rejected(message.chars().take(200).collect())),
        (None, None) => Err(ShopError::Malformed("bulkOperation".to_owned())),
    }
}

struct File {
    url: Url,
    objects: u64,
    /// How long it is, or 0 where that is not said.
    bytes: usize,
}

enum Finished {
    File(File),
    Empty,
    Failed(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StateData {
    bulk_operation: Option<State>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    status: String,
    error_code: Option<String>,
    object_count: Count,
    /// Bytes, once there is a file.
    file_size: Option<Count>,
    url: Option<String>,
}

/// Waits for the operation's end.
async fn finished(client: &Client, access: &Access, id: &str) -> Result<Finished, ShopError> {
    let (started, mut pauses) = (Instant::now(), PAUSES.iter());
    let mut pause = Duration::ZERO;
    loop {
        pause = pauses.next().copied().unwrap_or(pause);
        tokio::time::sleep(pause).await;
        let Reply { data: StateData { bulk_operation }, .. } =
            client.run(access, BULK_STATE, json!({ "id": id })).await?;
        let State { status, error_code, object_count, file_size, url } = bulk_operation.ok_or(ShopError::NotFound)?;
        let count = |Count(count), name: &str| u64::try_from(count).map_err(|_| ShopError::Malformed(name.to_owned()));
        let objects = count(object_count, "objectCount")?;
        let bytes = file_size.map_or(Ok(0), |size| count(size, "fileSize"))?;
        if objects > MAX_OBJECTS || bytes > MAX_FILE || started.elapsed() > DEADLINE {
            cancel(client, access, id).await;
            return Err(ShopError::TooMany);
        }
        match (status.as_str(), error_code.as_deref(), url) {
            ("CREATED" | "RUNNING", ..) => {}
            ("COMPLETED", _, Some(url)) => {
                let bytes = usize::try_from(bytes).unwrap_or_default();
                return Ok(Finished::File(File { url: allowed(client, &url)?, objects, bytes }));
            }
            // Without a file there was nothing to be written, which is no failure.
            ("COMPLETED", _, None) if objects == 0 => return Ok(Finished::Empty),
            ("FAILED", Some("ACCESS_DENIED"), _) => return Err(ShopError::MissingScope("read_orders".to_owned())),
            (status, code, _) => return Ok(Finished::Failed(format!("{status} {}", code.unwrap_or_default()))),
        }
    }
}

/// Makes room for other operations; what it says does not matter.
async fn cancel(client: &Client, access: &Access, id: &str) {
    let cancelled: Result<Reply<serde_json::Value>, _> = client.run(access, BULK_CANCEL, json!({ "id": id })).await;
    if let Err(error) = cancelled {
        tracing::warn!(%error, "a bulk operation could not be cancelled");
    }
}

/// The file's address, if it is where files are: whoever could make us read another would reach what we reach.
fn allowed(client: &Client, url: &str) -> Result<Url, ShopError> {
    let elsewhere = || ShopError::Malformed("url of a bulk operation".to_owned());
    let url = Url::parse(url).map_err(|_| elsewhere())?;
    let is_allowed = match client.base() {
        Some(base) => url.origin() == base.origin(),
        None => url.scheme() == "https" && url.host_str() == Some(STORAGE) && url.port().is_none(),
    };
    let is_plain = url.username().is_empty() && url.password().is_none();
    if is_allowed && is_plain { Ok(url) } else { Err(elsewhere()) }
}

/// What of a record says where it belongs. Owned: the platform writes `\/`, which cannot be borrowed.
#[derive(Deserialize)]
struct Link {
    id: Option<String>,
    #[serde(rename = "__parentId")]
    parent: Option<String>,
}

/// The file's records as they came, until all are there: as text they take a third of what they take when they are read.
#[derive(Default)]
struct Records {
    bytes: Vec<u8>,
    orders: Vec<Range<usize>>,
    /// Where an order stands in `orders`.
    places: HashMap<Key, usize>,
    children: Vec<Child>,
    /// The order of an agreement.
    agreements: HashMap<Key, Key>,
    /// Of an agreement that cannot be read the identifier may not be known: its sales find nobody.
    has_nameless: bool,
}

/// A digest of an identifier, which is three times as long.
type Key = u128;

fn key(id: &str) -> Key {
    XxHash3_128::oneshot(id.as_bytes())
}

/// An agreement, whose parent is an order, or a sale.
struct Child {
    parent: Key,
    is_agreement: bool,
    bytes: Range<usize>,
}

impl Records {
    /// Reads the file; how many records it had.
    async fn fill(&mut self, lines: &mut Lines) -> Result<u64, ShopError> {
        let mut count = 0;
        while let Some(line) = lines.next().await? {
            count += 1;
            if count > MAX_OBJECTS {
                return Err(ShopError::Malformed("a file with more records than it was said to have".to_owned()));
            }
            self.take(line)?;
        }
        Ok(count)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), ShopError> {
        let bytes = self.bytes.len()..self.bytes.len() + line.len();
        let Link { id, parent } = serde_json::from_slice(line).map_err(|error| malformed(&error))?;
        match parent {
            None => {
                self.places.insert(key(&gid(&named(line)?)), self.orders.len());
                self.orders.push(bytes);
            }
            Some(parent) => {
                let (is_agreement, parent) = (is_order(&parent), key(&parent));
                if is_agreement {
                    self.has_nameless |= id.is_none();
                    self.agreements.extend(id.map(|id| (key(&id), parent)));
                }
                self.children.push(Child { parent, is_agreement, bytes });
            }
        }
        self.bytes.extend_from_slice(line);
        Ok(())
    }

    /// Ties children to their orders.
    fn batches(self, currency: Currency) -> Result<Batches, ShopError> {
        let mut children = vec![Vec::new(); self.orders.len()];
        for Child { parent, is_agreement, bytes } in self.children {
            let order = if is_agreement { Some(&parent) } else { self.agreements.get(&parent) };
            let place = order.map(|order| self.places.get(order).copied().ok_or_else(orphan)).transpose()?;
            match place.and_then(|place| children.get_mut(place)) {
                Some(children) => children.push(bytes),
                None if self.has_nameless => {}
                None => return Err(orphan()),
            }
        }
        Ok(Batches { bytes: self.bytes, orders: self.orders.into_iter().zip(children), currency })
    }
}

/// The orders of a file, read batch by batch: never are all of them there in both forms.
pub(super) struct Batches {
    bytes: Vec<u8>,
    /// With its agreements and their sales.
    orders: std::iter::Zip<std::vec::IntoIter<Range<usize>>, std::vec::IntoIter<Vec<Range<usize>>>>,
    currency: Currency,
}

impl Iterator for Batches {
    type Item = OrderBatch;

    fn next(&mut self) -> Option<OrderBatch> {
        let mut batch = OrderBatch::default();
        for (order, children) in self.orders.by_ref().take(BATCH) {
            let line = |bytes: Range<usize>| self.bytes.get(bytes).unwrap_or_default();
            match whole_order(line(order.clone()), children.into_iter().map(line)) {
                Ok(order) => put(order, self.currency, &mut batch),
                Err(_) => {
                    batch.read += 1;
                    // That it has one was seen in `take`.
                    batch.refused.push(unreadable(named(line(order)).unwrap_or_default()));
                }
            }
        }
        (batch.read > 0).then_some(batch)
    }
}

/// An order with its agreements, oldest first. One that cannot be read in a part is refused whole.
fn whole_order<'a>(line: &[u8], children: impl Iterator<Item = &'a [u8]>) -> serde_json::Result<OrderWire> {
    let mut order: OrderWire = serde_json::from_slice(line)?;
    let (mut agreements, mut sales) = (Vec::new(), HashMap::<String, Vec<SaleWire>>::new());
    for child in children {
        match serde_json::from_slice(child)? {
            Link { parent: Some(parent), .. } if !is_order(&parent) => {
                sales.entry(parent).or_default().push(serde_json::from_slice(child)?);
            }
            Link { .. } => agreements.push(serde_json::from_slice::<AgreementWire>(child)?),
        }
    }
    for agreement in &mut agreements {
        agreement.sales = sales.remove(agreement.id.as_str()).map(whole);
    }
    agreements.sort_by(|a, b| (a.happened_at, &a.id).cmp(&(b.happened_at, &b.id)));
    order.agreements = (!agreements.is_empty()).then(|| whole(agreements));
    Ok(order)
}

fn is_order(id: &str) -> bool {
    id.starts_with("gid://shopify/Order/")
}

/// The number of an order that may not be read otherwise.
fn named(order: &[u8]) -> Result<String, ShopError> {
    let Named { legacy_resource_id } = serde_json::from_slice(order).map_err(|error| malformed(&error))?;
    Ok(legacy_resource_id.0)
}

fn orphan() -> ShopError {
    ShopError::Malformed("__parentId of nothing".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shops::http::Http;
    use rstest::rstest;

    fn client(base: Option<&str>) -> Client {
        Client::new(Http::new("test").unwrap(), base.map(|base| base.parse().unwrap()))
    }

    #[rstest]
    #[case(None, "https://storage.googleapis.com/bucket/file?signature=1", true)]
    #[case(None, "http://storage.googleapis.com/bucket/file", false)]
    #[case(None, "https://storage.googleapis.com:8443/bucket/file", false)]
    #[case(None, "https://storage.googleapis.com.evil.example/file", false)]
    #[case(None, "https://storage.googleapis.com@evil.example/file", false)]
    #[case(None, "https://user:secret@storage.googleapis.com/file", false)]
    #[case(None, "https://169.254.169.254/latest/meta-data", false)]
    #[case(None, "file:///etc/passwd", false)]
    #[case(Some("http://127.0.0.1:8092"), "http://127.0.0.1:8092/files/1", true)]
    #[case(Some("http://127.0.0.1:8092"), "http://127.0.0.1:5432/files/1", false)]
    #[case(Some("http://127.0.0.1:8092"), "https://storage.googleapis.com/bucket/file", false)]
    fn a_file_is_read_from_where_files_are_alone(
        #[case] base: Option<&str>,
        #[case] url: &str,
        #[case] is_allowed: bool,
    ) {
        if is_allowed {
            rustls::crypto::ring::default_provider().install_default().ok();
        }
        assert_eq!(allowed(&client(base), url).is_ok(), is_allowed);
    }

    const ORDER: &str = r#"{"id":"gid://shopify/Order/1","legacyResourceId":"1","test":false,"displayFinancialStatus":"PAID",
        "currencyCode":"EUR","customer":null,"shippingAddress":null,"transactions":[]}"#;
    const AGREEMENT: &str = r#"{"id":"gid://shopify/SalesAgreement/2","happenedAt":"2026-11-01T10:00:00Z","reason":"ORDER",
        "__parentId":"gid://shopify/Order/1"}"#;
    const SALE: &str = r#"{"id":"gid://shopify/Sale/3","actionType":"ORDER","lineType":"SHIPPING","quantity":null,
        "totalAmount":{"shopMoney":{"amount":"5.0","currencyCode":"EUR"}},
        "totalTaxAmount":{"shopMoney":{"amount":"0.0","currencyCode":"EUR"}},"__parentId":"gid://shopify/SalesAgreement/2"}"#;

    fn batches(lines: &[&str]) -> Result<Vec<OrderBatch>, ShopError> {
        let mut records = Records::default();
        for line in lines {
            records.take(line.as_bytes())?;
        }
        Ok(records.batches("EUR".parse().unwrap())?.collect())
    }

    #[test]
    fn children_find_their_parents_in_any_order() {
        let orders = batches(&[SALE, AGREEMENT, ORDER]).unwrap();
        assert_eq!(orders, batches(&[ORDER, AGREEMENT, SALE]).unwrap());
        assert_eq!(orders[0].orders[0].order.lines[0].unit_price, rust_decimal::dec!(5));
        let escaped = [ORDER, AGREEMENT, SALE].map(|line| line.replace('/', "\\/"));
        assert_eq!(orders, batches(&escaped.each_ref().map(String::as_str)).unwrap());
    }

    #[test]
    fn a_child_without_its_parent_makes_the_file_unusable() {
        assert_eq!(batches(&[ORDER, SALE]), Err(orphan()));
        assert_eq!(batches(&[AGREEMENT, SALE]), Err(orphan()));
    }

    #[test]
    fn a_record_that_cannot_be_read_takes_its_order_with_it_and_no_other() {
        let other = ORDER.replace("/1\"", "/9\"").replace("\"1\"", "\"9\"");
        let broken = SALE.replace("5.0", "five");
        let batch = &batches(&[&other, ORDER, AGREEMENT, &broken]).unwrap()[0];
        let refused: Vec<_> = batch.refused.iter().map(|refused| refused.external_id.as_str()).collect();
        assert_eq!((batch.read, refused), (2, vec!["9", "1"]), "the other has no agreement at all");
        assert_eq!(batch.refused[1].reason, "it cannot be read");
    }
}
