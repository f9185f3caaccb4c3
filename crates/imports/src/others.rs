//! Products, stock levels, ad spend, rates of exchange and expenses: one record is one row.

use std::{borrow::Cow, str::FromStr};

use domain::{
    ads::Status,
    error::UnknownValue,
    imports::{AdDetail, AdSpendRow, ExpenseRow, MAX_QUANTITY, MAX_RATE, ProductRow, RateRow, StockRow},
    money::Currency,
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use super::{
    FileOptions,
    columns::Field,
    dates::{AHEAD, FUTURE},
    table::{Record, Refusal, Table},
};

const SKU: Field = Field {
    name: "sku",
    required: true,
    headers: &["sku", "stockcode", "variantsku", "productsku", "productcode", "itemcode", "productid"],
};

const DAY: Field = Field { name: "date", required: true, headers: &["date", "day", "fecha", "data", "dia"] };

fn day(record: &Record<'_>, field: usize, zone: &Zone) -> Result<Option<Date>, Refusal> {
    let day = record.optional_moment(field)?.map(|moment| moment.day(zone));
    day.transpose().map_err(|reason| record.reject(field, reason))
}

/// A day that must be there.
fn required_day(record: &Record<'_>, field: usize, zone: &Zone) -> Result<Date, Refusal> {
    day(record, field, zone)?.ok_or_else(|| record.reject(field, "refused-empty"))
}

/// An amount of 0 or more that must be there.
fn cost(record: &Record<'_>, field: usize) -> Result<Decimal, Refusal> {
    record.optional_cost(field)?.ok_or_else(|| record.reject(field, "refused-empty"))
}

fn small(number: Option<i64>) -> Option<i32> {
    number.and_then(|number| i32::try_from(number).ok())
}

pub(super) struct Products {
    zone: Zone,
    cost_from: Date,
}

impl Products {
    pub fn new(file: &FileOptions, cost_from: Date) -> Self {
        Self { zone: file.zone.clone(), cost_from }
    }
}

impl Table for Products {
    type Row = ProductRow;
    const DATE: Option<usize> = Some(5);
    const NUMBERS: &'static [usize] = &[3, 4, 6, 7, 8, 9, 10];
    const FIELDS: &'static [Field] = &[
        SKU,
        optional(
            "name",
            &[
                "name",
                "title",
                "productname",
                "description",
                "nombre",
                "nome",
                "nombredelproducto",
                "nomedoproduto",
                "producto",
                "produto",
                "descripcion",
                "descricao",
            ],
        ),
        Field {
            name: "category",
            required: false,
            // In WooCommerce's export the type of a product is `simple` or `variable`.
            headers: &["category", "producttype", "categories", "type", "productcategory", "categoria", "categorias"],
        },
        optional(
            "price",
            &[
                "price",
                "unitprice",
                "variantprice",
                "precio",
                "preco",
                "preciounitario",
                "precounitario",
                "preciodeventa",
                "precodevenda",
                // As WooCommerce calls it.
                "regularprice",
                "precionormal",
            ],
        ),
        optional(
            "cost",
            &[
                "cost",
                "unitcost",
                "costprice",
                "costperitem",
                "costo",
                "coste",
                "custo",
                "costounitario",
                "costeunitario",
                "custounitario",
                "preciodecosto",
                "precodecusto",
            ],
        ),
        Field { name: "cost_date", required: false, headers: &["costdate", "validfrom", "costvalidfrom", "date"] },
        Field {
            name: "stock",
            required: false,
            headers: &[
                "stock",
                "currentstock",
                "onhand",
                "inventory",
                "inventoryquantity",
                "variantinventoryqty",
                "existencias",
                "inventario",
                "estoque",
            ],
        },
        Field { name: "on_order", required: false, headers: &["onorder", "incoming", "qtyonorder"] },
        Field { name: "lead_time_days", required: false, headers: &["leadtimedays", "leadtime"] },
        Field { name: "pack_size", required: false, headers: &["packsize", "caseqty"] },
        Field { name: "min_order_qty", required: false, headers: &["minorderqty", "moq", "minimumorderquantity"] },
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<ProductRow>) -> Result<(), Refusal> {
        // In Shopify's export further pictures of a product have lines of their own.
        if (0..Self::FIELDS.len()).all(|field| record.text(field).is_none()) {
            return Err(Refusal::Skip("nothing about a product"));
        }
        let cost = record.optional_cost(4)?;
        let cost_from = day(record, 5, &self.zone)?.unwrap_or(self.cost_from);
        let most = i64::from(i32::MAX).min(MAX_QUANTITY);
        rows.push(ProductRow {
            sku: record.id(0)?.into_owned(),
            name: record.name(1)?.map(Into::into),
            category: record.name(2)?.map(Into::into),
            price: record.optional_cost(3)?,
            cost: cost.map(|cost| (cost, cost_from)),
            stock: record.optional_whole(6)?,
            on_order: record.optional_within(7, 0, MAX_QUANTITY)?,
            lead_time_days: small(record.optional_within(8, 0, 730)?),
            pack_size: small(record.optional_within(9, 1, most)?),
            min_order_qty: small(record.optional_within(10, 1, most)?),
        });
        Ok(())
    }
}

pub(super) struct Stock {
    zone: Zone,
    counted_on: Date,
    today: Date,
}

impl Stock {
    /// What does not say its own day was counted on `counted_on`.
    pub fn new(file: &FileOptions, counted_on: Date, now: OffsetDateTime) -> Self {
        Self { zone: file.zone.clone(), counted_on, today: file.account_zone.day_of(now) }
    }
}

impl Table for Stock {
    type Row = StockRow;
    const DATE: Option<usize> = Some(2);
    const NUMBERS: &'static [usize] = &[1];
    const FIELDS: &'static [Field] = &[
        SKU,
        Field {
            name: "stock",
            required: true,
            headers: &[
                "stock",
                "currentstock",
                // As a connection counts: what is on hand may be sold already.
                "available",
                "availablenoteditable",
                "onhand",
                "onhandcurrent",
                "quantity",
                "qty",
                "inventory",
                "disponible",
                "disponível",
                "disponivel",
                "existencias",
                "inventario",
                "estoque",
                "cantidad",
                "quantidade",
            ],
        },
        Field { required: false, ..DAY },
        optional(
            "location",
            &[
                "location",
                "locationname",
                "inventorylocation",
                "warehouse",
                "ubicacion",
                "deposito",
                "almacen",
                "localizacao",
            ],
        ),
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<StockRow>) -> Result<(), Refusal> {
        // Shopify's word for a location that never has the product.
        if record.text(1).is_some_and(|text| text.eq_ignore_ascii_case("not stocked")) {
            return Err(Refusal::Skip("not stocked"));
        }
        let day = day(record, 2, &self.zone)?.unwrap_or(self.counted_on);
        // It would hide what is counted until then.
        if day > self.today {
            return Err(record.reject(2, FUTURE));
        }
        rows.push(StockRow {
            line: record.line,
            sku: record.id(0)?.into_owned(),
            location: record.optional_id(3)?.map(Cow::into_owned),
            stock: record.whole(1)?,
            day,
            record: record.bytes.to_vec(),
        });
        Ok(())
    }
}

pub(super) struct AdSpend {
    zone: Zone,
    latest: Date,
}

impl AdSpend {
    pub fn new(file: &FileOptions, now: OffsetDateTime) -> Self {
        Self { zone: file.zone.clone(), latest: file.zone.day_of(now + AHEAD) }
    }
}

const fn optional(name: &'static str, headers: &'static [&'static str]) -> Field {
    Field { name, required: false, headers }
}

impl Table for AdSpend {
    type Row = AdSpendRow;
    const DATE: Option<usize> = Some(0);
    const NUMBERS: &'static [usize] = &[3, 4, 5, 13, 14, 15];
    const FIELDS: &'static [Field] = &[
        DAY,
        Field {
            name: "platform",
            required: true,
            headers: &["platform", "channel", "network", "adplatform", "plataforma"],
        },
        optional(
            "campaign",
            &["campaign", "campaignname", "campaignid", "campaña", "campanha", "nombredelacampaña", "nomedacampanha"],
        ),
        Field {
            name: "spend",
            required: true,
            headers: &["spend", "cost", "amountspent", "amount", "costo", "coste", "custo"],
        },
        optional("impressions", &["impressions", "impr", "impresiones", "impressões"]),
        optional("clicks", &["clicks", "linkclicks", "clics", "cliques", "clicsenelenlace", "cliquesnolink"]),
        optional(
            "ad_set",
            &[
                "adset",
                "adsetname",
                "adgroup",
                "adgroupname",
                "grupodeanuncios",
                "nombredelconjuntodeanuncios",
                "nomedoconjuntodeanúncios",
            ],
        ),
        optional("ad", &["ad", "adname", "nombredelanuncio", "nomedoanúncio"]),
        optional("creative", &["creative", "creativeid", "videoid", "imagehash"]),
        optional("format", &["format", "creativeformat", "creativetype"]),
        optional("headline", &["headline", "title"]),
        optional("body", &["body", "adtext", "primarytext"]),
        optional("status", &["status", "addelivery", "deliverystatus"]),
        optional("purchases", &["purchases", "conversions", "orders", "conversiones", "conversões", "compras"]),
        optional(
            "revenue",
            &[
                "revenue",
                "purchasevalue",
                "conversionvalue",
                "purchasesconversionvalue",
                "convvalue",
                "valordeconv",
                "valorconv",
            ],
        ),
        optional("video_views_3s", &["videoviews3s", "3secondvideoviews", "3secondvideoplays"]),
        optional("currency", &["currency", "currencycode", "moneda", "moeda", "códigodemoneda", "códigodamoeda"]),
        optional("attribution", &["attribution", "attributionsetting", "attributionwindow"]),
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<AdSpendRow>) -> Result<(), Refusal> {
        let owned = |field| record.name(field).map(|text| text.map(Cow::into_owned));
        let detail = AdDetail {
            ad_set: owned(6)?.unwrap_or_default(),
            ad: owned(7)?.unwrap_or_default(),
            creative: owned(8)?,
            format: one_of(record, 9)?,
            headline: owned(10)?,
            body: owned(11)?,
            status: status(record, 12)?,
            purchases: record.optional_part_within(13, 0, MAX_QUANTITY)?,
            revenue: record.optional_cost(14)?,
            video_3s: record.optional_within(15, 0, MAX_QUANTITY)?,
            currency: currency(record, 16)?.or_else(|| named_currency(record, 3)),
            attribution: record.optional_id(17)?.map(Cow::into_owned),
            names: None,
        };
        if detail.ad.is_empty() && detail.creative.is_some() {
            return Err(record.reject(7, "refused-creative-without-ad"));
        }
        let day = required_day(record, 0, &self.zone)?;
        if day > self.latest {
            return Err(record.reject(0, FUTURE));
        }
        rows.push(AdSpendRow {
            day,
            platform: record.id(1)?.into_owned(),
            campaign: owned(2)?.unwrap_or_default(),
            spend: cost(record, 3)?,
            impressions: record.optional_within(4, 0, MAX_QUANTITY)?,
            clicks: record.optional_within(5, 0, MAX_QUANTITY)?,
            detail,
            line: record.line,
            record: record.bytes.to_vec(),
        });
        Ok(())
    }
}

/// One of the values of an enumeration, in any case of letters.
fn one_of<T: FromStr<Err = UnknownValue>>(record: &Record<'_>, field: usize) -> Result<Option<T>, Refusal> {
    record.text(field).map(|text| value(record, field, &text.to_ascii_lowercase())).transpose()
}

fn value<T: FromStr<Err = UnknownValue>>(record: &Record<'_>, field: usize, text: &str) -> Result<T, Refusal> {
    let refused = |unknown: UnknownValue| {
        Refusal::Reject(record.wrong(field, "refused-one-of").with("allowed", unknown.allowed.join(", ")))
    };
    text.parse().map_err(refused)
}

/// In our words, or in those of the files that Google Ads and Meta export.
fn status(record: &Record<'_>, field: usize) -> Result<Option<Status>, Refusal> {
    let parse = |text: Cow<'_, str>| match text.to_ascii_lowercase().as_str() {
        "enabled" => Ok(Status::Active),
        "inactive" | "not_delivering" | "not delivering" | "off" | "completed" => Ok(Status::Paused),
        "removed" | "deleted" => Ok(Status::Archived),
        text => value(record, field, text),
    };
    record.text(field).map(parse).transpose()
}

fn currency(record: &Record<'_>, field: usize) -> Result<Option<Currency>, Refusal> {
    let parse =
        |text: Cow<'_, str>| text.to_ascii_uppercase().parse().map_err(|_| record.reject(field, "refused-currency"));
    record.text(field).map(parse).transpose()
}

/// The currency that a column is called by, as Meta calls `Amount spent (EUR)`.
fn named_currency(record: &Record<'_>, field: usize) -> Option<Currency> {
    let (_, code) = record.column(field)?.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    code.parse().ok()
}

pub(super) struct Rates {
    zone: Zone,
    /// The account's currency.
    own: Currency,
}

impl Rates {
    pub fn new(file: &FileOptions) -> Self {
        Self { zone: file.zone.clone(), own: file.currency }
    }
}

impl Table for Rates {
    type Row = RateRow;
    const DATE: Option<usize> = Some(0);
    const NUMBERS: &'static [usize] = &[2];
    const AMOUNTS: bool = false;
    const FIELDS: &'static [Field] = &[
        DAY,
        Field { name: "currency", required: true, headers: &["currency", "currencycode", "base", "from"] },
        Field { name: "rate", required: true, headers: &["rate", "exchangerate", "fx", "value"] },
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<RateRow>) -> Result<(), Refusal> {
        let rate = record.rate(2)?;
        if rate <= Decimal::ZERO || rate > MAX_RATE {
            return Err(Refusal::Reject(record.wrong(2, "refused-rate").with("most", MAX_RATE)));
        }
        let currency = currency(record, 1)?.ok_or_else(|| record.reject(1, "refused-empty"))?;
        // Rates the other way round: nothing would be converted by them.
        if currency == self.own && rate != Decimal::ONE {
            return Err(record.reject(1, "refused-own-currency"));
        }
        rows.push(RateRow { day: required_day(record, 0, &self.zone)?, currency, rate });
        Ok(())
    }
}

pub(super) struct Expenses {
    zone: Zone,
}

impl Expenses {
    pub fn new(file: &FileOptions) -> Self {
        Self { zone: file.zone.clone() }
    }
}

impl Table for Expenses {
    type Row = ExpenseRow;
    const DATE: Option<usize> = Some(0);
    const NUMBERS: &'static [usize] = &[3];
    const FIELDS: &'static [Field] = &[
        DAY,
        Field { name: "category", required: true, headers: &["category", "type", "account", "categoria", "tipo"] },
        optional(
            "description",
            &["description", "note", "memo", "details", "descripcion", "descricao", "concepto", "detalle", "detalhe"],
        ),
        Field {
            name: "amount",
            required: true,
            headers: &["amount", "cost", "total", "value", "importe", "monto", "valor", "costo", "coste", "custo"],
        },
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<ExpenseRow>) -> Result<(), Refusal> {
        rows.push(ExpenseRow {
            day: required_day(record, 0, &self.zone)?,
            category: record.id(1)?.into_owned(),
            description: record.name(2)?.unwrap_or_default().into_owned(),
            amount: cost(record, 3)?,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
