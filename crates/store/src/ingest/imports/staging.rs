//! Documents on their way into the session's tables: parts with their sums, lines, and what lines say of products.

use std::collections::HashMap;

use domain::{
    StoreError,
    imports::{DocumentKind, DocumentPart, Line},
};
use ring::digest::{Context, Digest, SHA256};
use rust_decimal::Decimal;

use super::{
    copy::CopyBuffer,
    session::{Session, Transaction},
};

/// `import_items` has a row for each SKU and what lines call it, and not for each line, or a few when there are more than
/// [`MAX_ITEMS`].
pub(super) const TABLES: &str = "
    CREATE TEMPORARY TABLE import_parts (no bigint, kind text, external_id text, at bigint, customer text, email text,
        name text, city text, country text, fees numeric, shipping numeric, lines bigint, amount numeric,
        units bigint, hash_a bigint, hash_b bigint);
    CREATE TEMPORARY TABLE import_lines (part bigint, line_no integer, item bigint, quantity bigint,
        unit_price numeric);
    CREATE TEMPORARY TABLE import_items (no bigint, sku text, is_product boolean, name text, category text,
        first_at bigint, last_at bigint, price numeric, price_at bigint);
    CREATE TEMPORARY TABLE import_costs (part bigint, item bigint, unit_cost numeric);";

session_statement!(
    after [TABLES] =>
    FORGET_ITEMS() -> () = "DELETE FROM import_items WHERE NOT EXISTS (
        SELECT FROM import_lines line JOIN import_parts part ON part.no = line.part WHERE line.item = import_items.no)"
);

session_statement!(
    after [TABLES] =>
    /// Only orders say what a unit is sold at.
    RESTATE_ITEMS() -> () = "UPDATE import_items SET first_at = said.first_at, last_at = said.last_at, price = said.price,
        price_at = said.price_at
    FROM (SELECT line.item, min(part.at) AS first_at, max(part.at) AS last_at,
            (array_agg(line.unit_price ORDER BY part.at DESC, line.unit_price DESC)
                FILTER (WHERE part.kind = 'order'))[1] AS price,
            max(part.at) FILTER (WHERE part.kind = 'order') AS price_at
        FROM import_lines line JOIN import_parts part ON part.no = line.part GROUP BY line.item) said
    WHERE import_items.no = said.item"
);

/// Forgets what lines of parts that were dropped said of their SKUs.
pub(super) async fn forget_dropped(transaction: &Transaction<'_>) -> Result<(), tokio_postgres::Error> {
    transaction.execute(FORGET_ITEMS, &[]).await?;
    transaction.execute(RESTATE_ITEMS, &[]).await?;
    Ok(())
}

/// Items that are kept in memory at a time.
const MAX_ITEMS: usize = 50_000;

/// Line hashes are cut to this many bits, so that sums of a thousand million of them cannot overflow in a part, and
/// are added modulo 2^60, which forgets the order of lines but not how often each one comes.
const HASH_MASK: u64 = (1 << 60) - 1;

pub(super) struct Staging {
    parts: CopyBuffer,
    lines: CopyBuffer,
    items: CopyBuffer,
    costs: CopyBuffer,
    part_no: i64,
    item_no: i64,
    known: HashMap<String, Item>,
}

/// What the lines so far say of a SKU by one name and category, so that what dropped lines alone call it can be told apart.
struct Item {
    no: i64,
    sku: String,
    is_product: bool,
    name: Option<String>,
    category: Option<String>,
    first_at: i64,
    last_at: i64,
    /// Of equally new ones the greatest counts, so that the order of lines does not matter.
    price: Option<(i64, Decimal)>,
    /// The part that said it, and the cost.
    last_cost: Option<(i64, Decimal)>,
}

impl Item {
    /// What is no product is not described.
    fn new(no: i64, line: &Line, at: i64) -> Self {
        let said = |text: &Option<String>| text.clone().filter(|_| line.is_product);
        Self {
            no,
            sku: line.sku.clone(),
            is_product: line.is_product,
            name: said(&line.name),
            category: said(&line.category),
            first_at: at,
            last_at: at,
            price: None,
            last_cost: None,
        }
    }

    /// What is the same for all lines of an item. No text has the character U+0000.
    fn key(line: &Line) -> String {
        let mut key = line.sku.to_ascii_uppercase();
        if line.is_product {
            for text in [&line.name, &line.category] {
                key.push('\0');
                key.push_str(text.as_deref().unwrap_or_default());
            }
        }
        key
    }
}

impl Staging {
    pub fn new() -> Self {
        Self {
            parts: CopyBuffer::new("import_parts"),
            lines: CopyBuffer::new("import_lines"),
            items: CopyBuffer::new("import_items"),
            costs: CopyBuffer::new("import_costs"),
            part_no: 0,
            item_no: 0,
            known: HashMap::new(),
        }
    }

    /// How many parts were added.
    pub fn parts(&self) -> i64 {
        self.part_no
    }

    /// Returns the part's number.
    pub fn add(&mut self, part: &DocumentPart) -> i64 {
        self.part_no += 1;
        let at = part.at.unix_timestamp();
        let header = hash_header(part, at);
        let mut sums = Sums::default();
        for (line_no, line) in part.lines.iter().enumerate() {
            sums.add(line, &header);
            let item = self.item(part.kind, line, at);
            self.lines
                .row()
                .plain(self.part_no)
                .plain(line_no)
                .plain(item)
                .plain(line.quantity)
                .plain(line.unit_price)
                .end();
        }
        let buyer = part.buyer.as_ref();
        self.parts
            .row()
            .plain(self.part_no)
            .plain(part.kind)
            .text(&part.external_id)
            .plain(at)
            .text_or_null(buyer.map(|buyer| buyer.external_id.as_str()))
            .text_or_null(buyer.and_then(|buyer| buyer.email.as_deref()))
            .text_or_null(buyer.and_then(|buyer| buyer.name.as_deref()))
            .text_or_null(buyer.and_then(|buyer| buyer.city.as_deref()))
            .text_or_null(part.country.as_ref().map(|country| country.as_str()))
            .plain_or_null(part.fees)
            .plain_or_null(part.shipping)
            .plain(part.lines.len())
            .plain(sums.amount)
            .plain(sums.units)
            .plain(sums.hash_a)
            .plain(sums.hash_b)
            .end();
        self.part_no
    }

    /// The number of the line's SKU, once what the line says of it is noted.
    fn item(&mut self, kind: DocumentKind, line: &Line, at: i64) -> i64 {
        let item = self.known.entry(Item::key(line)).or_insert_with(|| {
            self.item_no += 1;
            Item::new(self.item_no, line, at)
        });
        if (at, &line.sku) < (item.first_at, &item.sku) {
            item.first_at = at;
            item.sku.clone_from(&line.sku);
        }
        item.last_at = item.last_at.max(at);
        // A refund tells what was paid and what it cost then, not what holds on its day.
        if line.is_product && kind == DocumentKind::Order {
            if item.price.is_none_or(|known| known < (at, line.unit_price)) {
                item.price = Some((at, line.unit_price));
            }
            let cost = line.unit_cost.map(|cost| (self.part_no, cost)).filter(|cost| item.last_cost != Some(*cost));
            if let Some((part, cost)) = cost {
                item.last_cost = Some((part, cost));
                self.costs.row().plain(part).plain(item.no).plain(cost).end();
            }
        }
        item.no
    }

    /// Sends what is worth sending; keeps memory flat.
    pub async fn send_full(&mut self, session: &Session) -> Result<(), StoreError> {
        if self.known.len() > MAX_ITEMS {
            self.write_items();
        }
        for buffer in [&mut self.lines, &mut self.parts, &mut self.items, &mut self.costs] {
            session.send_full(buffer).await?;
        }
        Ok(())
    }

    pub async fn send_rest(mut self, session: &Session) -> Result<(), StoreError> {
        self.write_items();
        for buffer in [&mut self.lines, &mut self.parts, &mut self.items, &mut self.costs] {
            session.send(buffer).await?;
        }
        Ok(())
    }

    fn write_items(&mut self) {
        for item in std::mem::take(&mut self.known).into_values() {
            let Item { no, sku, is_product, name, category, first_at, last_at, price, last_cost: _ } = item;
            self.items
                .row()
                .plain(no)
                .text(&sku)
                .plain(is_product)
                .text_or_null(name.as_deref())
                .text_or_null(category.as_deref())
                .plain(first_at)
                .plain(last_at)
                .plain_or_null(price.map(|(_, price)| price))
                .plain_or_null(price.map(|(at, _)| at))
                .end();
        }
    }
}

/// Sums over the lines of a part.
#[derive(Default)]
struct Sums {
    amount: Decimal,
    units: i64,
    hash_a: u64,
    hash_b: u64,
}

impl Sums {
    /// Cannot overflow: an amount is below 10^12 with 6 decimals, a quantity at most 10^9, and a part has fewer than
    /// a million lines.
    fn add(&mut self, line: &Line, header: &Digest) {
        self.amount += Decimal::from(line.quantity) * line.unit_price;
        self.units += line.quantity;
        let mut context = Context::new(&SHA256);
        context.update(header.as_ref());
        feed(&mut context, Some(line.sku.to_ascii_uppercase().as_bytes()));
        context.update(&[u8::from(line.is_product)]);
        context.update(&line.quantity.to_le_bytes());
        feed_decimal(&mut context, Some(line.unit_price));
        feed_decimal(&mut context, line.unit_cost);
        let digest = context.finish();
        let (a, b) = digest.as_ref().split_at(16);
        self.hash_a = (self.hash_a + first_u64(a)) & HASH_MASK;
        self.hash_b = (self.hash_b + first_u64(b)) & HASH_MASK;
    }
}

/// What all lines of a part share. It goes into the hash of each of them, so that it does not matter how a document
/// was cut into parts.
fn hash_header(part: &DocumentPart, at: i64) -> Digest {
    let mut context = Context::new(&SHA256);
    context.update(&at.to_le_bytes());
    feed(&mut context, part.buyer.as_ref().map(|buyer| buyer.external_id.as_bytes()));
    feed(&mut context, part.country.as_ref().map(|country| country.as_str().as_bytes()));
    feed_decimal(&mut context, part.fees);
    feed_decimal(&mut context, part.shipping);
    context.finish()
}

/// Texts carry their length, so that two different rows never give the same bytes.
fn feed(context: &mut Context, bytes: Option<&[u8]>) {
    let Some(bytes) = bytes else { return context.update(&[0]) };
    context.update(&[1]);
    context.update(&bytes.len().to_le_bytes());
    context.update(bytes);
}

/// 1.50 and 1.5 are the same amount.
fn feed_decimal(context: &mut Context, value: Option<Decimal>) {
    let bytes = value.map(|value| value.normalize().serialize());
    feed(context, bytes.as_ref().map(<[u8; 16]>::as_slice));
}

fn first_u64(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk) & HASH_MASK)
}
