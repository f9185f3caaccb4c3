//! Order lines: which are sales, which are refunds, which are neither; lines of one document that follow each other
//! become one part of it.

mod shopify;

use std::collections::HashSet;

use domain::{
    imports::{Buyer, CountryCode, DocumentKind, DocumentPart, FileDocument, Line, MAX_AMOUNT, refund_id},
    zone::Zone,
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::{
    FileOptions, OrderOptions,
    columns::{Export, Field},
    countries,
    dates::{AHEAD, FUTURE},
    reason::Reason,
    table::{Record, Refusal, Table},
};

const ORDER_ID: usize = 0;
const SKU: usize = 1;
const QUANTITY: usize = 2;
const DATE: usize = 3;
const PRICE: usize = 4;
const NAME: usize = 5;
const CUSTOMER_ID: usize = 6;
const EMAIL: usize = 7;
const CUSTOMER_NAME: usize = 8;
const CITY: usize = 9;
const COUNTRY: usize = 10;
const FEES: usize = 11;
const SHIPPING: usize = 12;
const CURRENCY: usize = 13;
const UNIT_COST: usize = 14;
const CATEGORY: usize = 15;

/// Lines after which a part is handed on; the next one continues the document.
const MAX_PART_LINES: usize = 1_000;

pub(super) struct OrderLines {
    zone: Zone,
    account_zone: Zone,
    options: OrderOptions,
    non_products: HashSet<String>,
    /// The last date that was read: in most files many lines in a row have the same one.
    last_date: Option<(String, OffsetDateTime)>,
    /// What is later was not sold yet.
    latest: OffsetDateTime,
    part: Option<DocumentPart>,
    /// The order of Shopify's export that is being read.
    order: Option<shopify::Order>,
}

impl OrderLines {
    pub fn new(file: &FileOptions, options: OrderOptions, now: OffsetDateTime) -> Self {
        let non_products = options.non_products.iter().map(|sku| sku.to_ascii_uppercase()).collect();
        Self {
            zone: file.zone.clone(),
            account_zone: file.account_zone.clone(),
            options,
            non_products,
            last_date: None,
            latest: now + AHEAD,
            part: None,
            order: None,
        }
    }

    fn instant(&mut self, record: &Record<'_>) -> Result<OffsetDateTime, Refusal> {
        let text = record.text(DATE).unwrap_or_default();
        if let Some((last, instant)) = &self.last_date
            && *last == *text
        {
            return Ok(*instant);
        }
        let instant = record.moment(DATE)?.instant(&self.zone).map_err(|reason| record.reject(DATE, reason))?;
        if instant > self.latest {
            return Err(record.reject(DATE, FUTURE));
        }
        self.last_date = Some((text.into_owned(), instant));
        Ok(instant)
    }

    /// Finds the order that a line of Shopify's export belongs to: its own, if it begins one, or that of the line before. Tells
    /// whether it begins one: some programs repeat the total in all lines of an order.
    fn join(&mut self, order_id: &str, record: &Record<'_>, rows: &mut Vec<FileDocument>) -> Result<bool, Refusal> {
        let is_known = self.order.as_ref().is_some_and(|order| order.is(order_id));
        let begins = !is_known && record.text(shopify::TOTAL).is_some();
        if begins {
            self.end_order(rows);
            let at = self.instant(record)?;
            let header = self.header(record, DocumentKind::Order, order_id.to_owned(), at)?;
            self.order = Some(shopify::Order::begin(record, header, &self.zone, self.latest)?);
        }
        match &self.order {
            Some(order) if order.is(order_id) && !order.is_paid => Err(Refusal::Skip("not paid")),
            Some(order) if order.is(order_id) && order.has_room() => Ok(begins),
            _ => Err(Refusal::Reject(Reason::new("refused-order-apart"))),
        }
    }

    fn end_order(&mut self, rows: &mut Vec<FileDocument>) {
        if let Some(order) = self.order.take() {
            order.end(self.options.currency, &self.account_zone, rows);
        }
    }

    /// Everything but the lines.
    fn header(
        &self,
        record: &Record<'_>,
        kind: DocumentKind,
        external_id: String,
        at: OffsetDateTime,
    ) -> Result<DocumentPart, Refusal> {
        Ok(DocumentPart {
            kind,
            external_id,
            at,
            buyer: buyer(record)?,
            country: country(record),
            fees: record.optional_cost(FEES)?,
            shipping: record.optional_cost(SHIPPING)?,
            lines: Vec::new(),
        })
    }

    /// Whether the line is a sale or a refund, and the number of its document. Stock adjustments and write-offs, which
    /// some exports list among the orders, are neither.
    fn classify(
        &self,
        order_id: &str,
        quantity: i64,
        price: Decimal,
        at: OffsetDateTime,
    ) -> Result<(DocumentKind, String), Refusal> {
        if price < Decimal::ZERO {
            return Err(Refusal::Skip("negative price"));
        }
        if price.is_zero() {
            return Err(Refusal::Skip("price is zero"));
        }
        if quantity == 0 {
            return Err(Refusal::Skip("quantity is zero"));
        }
        match &self.options.cancellation_prefix {
            Some(prefix) if order_id.starts_with(prefix.as_str()) => Ok((DocumentKind::Refund, order_id.to_owned())),
            Some(_) if quantity < 0 => Err(Refusal::Skip("negative quantity outside a cancellation")),
            // An order may be refunded bit by bit: what was refunded on one day is one document.
            None if quantity < 0 => Ok((DocumentKind::Refund, refund_id(order_id, self.account_zone.day_of(at)))),
            _ => Ok((DocumentKind::Order, order_id.to_owned())),
        }
    }

    fn line(
        &self,
        record: &Record<'_>,
        kind: DocumentKind,
        quantity: i64,
        unit_price: Decimal,
    ) -> Result<Line, Refusal> {
        let sku = record.id(SKU)?.into_owned();
        Ok(Line {
            is_product: !self.non_products.contains(&sku.to_ascii_uppercase()),
            sku,
            name: record.name(NAME)?.map(Into::into),
            category: record.name(CATEGORY)?.map(Into::into),
            quantity: if kind == DocumentKind::Refund { -quantity } else { quantity },
            unit_price,
            unit_cost: record.optional_cost(UNIT_COST)?,
        })
    }

    fn check_currency(&self, record: &Record<'_>) -> Result<(), Refusal> {
        match record.text(CURRENCY) {
            Some(currency) if !currency.eq_ignore_ascii_case(self.options.currency.as_str()) => {
                let reason = record.wrong(CURRENCY, "refused-other-currency").with("currency", self.options.currency);
                Err(Refusal::Reject(reason))
            }
            _ => Ok(()),
        }
    }

    fn read_line(&mut self, order_id: &str, record: &Record<'_>, rows: &mut Vec<FileDocument>) -> Result<(), Refusal> {
        let quantity = record.whole(QUANTITY)?;
        let price = record.amount(PRICE)?;
        let at = match &self.order {
            Some(order) => order.at(),
            None => self.instant(record)?,
        };
        self.check_currency(record)?;
        if (Decimal::from(quantity) * price).abs() >= MAX_AMOUNT {
            return Err(Refusal::Reject(Reason::new("refused-amount")));
        }
        let (kind, external_id) = self.classify(order_id, quantity, price, at)?;
        let line = self.line(record, kind, quantity, price)?;
        match &mut self.order {
            Some(_) if kind == DocumentKind::Refund => Err(Refusal::Skip("negative quantity outside a cancellation")),
            Some(order) => {
                order.add(line);
                Ok(())
            }
            None => {
                let header = self.header(record, kind, external_id, at)?;
                self.add(header, line, rows);
                Ok(())
            }
        }
    }

    fn add(&mut self, header: DocumentPart, line: Line, rows: &mut Vec<FileDocument>) {
        match &mut self.part {
            Some(part) if part.lines.len() < MAX_PART_LINES && is_same_document(part, &header) => part.lines.push(line),
            _ => {
                let part = DocumentPart { lines: vec![line], ..header };
                rows.extend(self.part.replace(part).map(FileDocument::Part));
            }
        }
    }
}

/// Everything but the lines is equal.
fn is_same_document(part: &DocumentPart, other: &DocumentPart) -> bool {
    let DocumentPart { kind, external_id, at, buyer, country, fees, shipping, lines: _ } = part;
    *kind == other.kind
        && *external_id == other.external_id
        && *at == other.at
        && *buyer == other.buyer
        && *country == other.country
        && *fees == other.fees
        && *shipping == other.shipping
}

/// Shops that number no customers know them by their e-mail address.
fn buyer(record: &Record<'_>) -> Result<Option<Buyer>, Refusal> {
    let email = record.name(EMAIL)?;
    let id = if record.has_column(CUSTOMER_ID) {
        record.optional_id(CUSTOMER_ID)?.map(Into::into)
    } else {
        // Who gave none is often called `-` or `n/a`: these are not one customer.
        email.as_ref().filter(|email| email.contains('@')).map(|email| email.to_lowercase())
    };
    let Some(external_id) = id else { return Ok(None) };
    Ok(Some(Buyer {
        external_id,
        email: email.map(Into::into),
        name: record.name(CUSTOMER_NAME)?.map(Into::into),
        city: record.name(CITY)?.map(Into::into),
    }))
}

fn country(record: &Record<'_>) -> Option<CountryCode> {
    record.text(COUNTRY).and_then(|name| countries::find(&name))
}

impl Table for OrderLines {
    type Row = FileDocument;
    const GROUP: Option<usize> = Some(ORDER_ID);
    const EXPORT: Option<&'static Export> = Some(&shopify::EXPORT);
    const DATE: Option<usize> = Some(DATE);
    const NUMBERS: &'static [usize] = &[QUANTITY, PRICE, FEES, SHIPPING, UNIT_COST];
    const FIELDS: &'static [Field] = &[
        Field {
            name: "order_id",
            required: true,
            headers: &[
                "orderid",
                "invoice",
                "invoiceno",
                "invoicenumber",
                "ordernumber",
                "orderno",
                "order",
                "ordername",
                "pedido",
                "numerodeorden",
                "numerodopedido",
            ],
        },
        Field {
            name: "sku",
            required: true,
            headers: &["sku", "stockcode", "lineitemsku", "productsku", "productcode", "itemcode", "productid"],
        },
        Field {
            name: "quantity",
            required: true,
            headers: &["quantity", "qty", "lineitemquantity", "units", "cantidad", "quantidade", "unidades", "qtd"],
        },
        Field {
            name: "date",
            required: true,
            headers: &[
                "date",
                "invoicedate",
                "orderdate",
                "createdat",
                "placedat",
                "datetime",
                "timestamp",
                "fecha",
                "data",
            ],
        },
        Field {
            name: "price",
            required: true,
            headers: &[
                "price",
                "unitprice",
                "lineitemprice",
                "itemprice",
                "precio",
                "preco",
                "preciounitario",
                "precounitario",
            ],
        },
        Field {
            name: "name",
            required: false,
            headers: &[
                "description",
                "productname",
                "lineitemname",
                "itemname",
                "title",
                "producttitle",
                "product",
                "name",
                "nombredelproducto",
                "nomedoproduto",
                "producto",
                "produto",
                "descripcion",
                "descricao",
            ],
        },
        Field { name: "customer_id", required: false, headers: &["customerid", "customer", "buyerid", "clientid"] },
        Field {
            name: "email",
            required: false,
            headers: &["email", "customeremail", "buyeremail", "correo", "correoelectronico"],
        },
        Field {
            name: "customer_name",
            required: false,
            headers: &["customername", "buyername", "billingname", "nombredelcliente", "nomedocliente"],
        },
        Field {
            name: "city",
            required: false,
            headers: &["city", "shippingcity", "billingcity", "customercity", "ciudad", "cidade"],
        },
        Field {
            name: "country",
            required: false,
            headers: &["country", "shippingcountry", "billingcountry", "customercountry", "pais"],
        },
        Field { name: "fees", required: false, headers: &["fees", "fee", "paymentfee", "transactionfee"] },
        Field { name: "shipping", required: false, headers: &["shippingcost", "shipping"] },
        Field { name: "currency", required: false, headers: &["currency", "moneda", "moeda"] },
        Field {
            name: "unit_cost",
            required: false,
            headers: &[
                "unitcost",
                "cost",
                "costprice",
                "costounitario",
                "costeunitario",
                "custounitario",
                "costo",
                "coste",
                "custo",
            ],
        },
        Field {
            name: "category",
            required: false,
            headers: &["category", "producttype", "productcategory", "categoria"],
        },
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<FileDocument>) -> Result<(), Refusal> {
        let order_id = record.id(ORDER_ID)?;
        let begins = record.is_exported() && self.join(&order_id, record, rows)?;
        let read = match self.read_line(&order_id, record, rows) {
            // What it says of its order is taken, and comes back with the order where that is refused.
            Err(Refusal::Skip(_)) if begins => Ok(()),
            read => read,
        };
        if let (Ok(()), Some(order)) = (&read, &mut self.order) {
            order.taken += 1;
        }
        read
    }

    fn finish(&mut self, rows: &mut Vec<FileDocument>) {
        self.end_order(rows);
        rows.extend(self.part.take().map(FileDocument::Part));
    }

    fn take_back(order_id: &str) -> Option<FileDocument> {
        // Of an id that cannot be stored nothing was.
        (!order_id.contains('\0')).then(|| FileDocument::Refused(order_id.to_owned()))
    }
}

#[cfg(test)]
mod tests;
