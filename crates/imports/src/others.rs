//! Products, stock levels, ad spend and expenses: one record is one row.

use domain::{
    imports::{AdSpendRow, ExpenseRow, MAX_QUANTITY, ProductRow, StockRow},
    zone::Zone,
};
use rust_decimal::Decimal;
use time::Date;

use super::{
    FileOptions,
    columns::Field,
    table::{Record, Refusal, Table},
};

const SKU: Field = Field {
    name: "sku",
    required: true,
    headers: &["sku", "stockcode", "variantsku", "productsku", "productcode", "itemcode", "productid"],
};

const DAY: Field = Field { name: "date", required: true, headers: &["date", "day", "fecha", "data"] };

fn day(record: &Record<'_>, field: usize, zone: &Zone) -> Result<Option<Date>, Refusal> {
    let day = record.optional_moment(field)?.map(|moment| moment.day(zone));
    day.transpose().map_err(|reason| record.reject(field, reason))
}

/// A day that must be there.
fn required_day(record: &Record<'_>, field: usize, zone: &Zone) -> Result<Date, Refusal> {
    day(record, field, zone)?.ok_or_else(|| record.reject(field, "is empty"))
}

/// An amount of 0 or more that must be there.
fn cost(record: &Record<'_>, field: usize) -> Result<Decimal, Refusal> {
    record.optional_cost(field)?.ok_or_else(|| record.reject(field, "is empty"))
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
        Field { name: "name", required: false, headers: &["name", "title", "productname", "description"] },
        Field { name: "category", required: false, headers: &["category", "producttype", "type", "productcategory"] },
        Field { name: "price", required: false, headers: &["price", "unitprice", "variantprice"] },
        Field { name: "cost", required: false, headers: &["cost", "unitcost", "costprice", "costperitem"] },
        Field { name: "cost_date", required: false, headers: &["costdate", "validfrom", "costvalidfrom", "date"] },
        Field {
            name: "stock",
            required: false,
            headers: &["stock", "currentstock", "onhand", "inventory", "inventoryquantity", "variantinventoryqty"],
        },
        Field { name: "on_order", required: false, headers: &["onorder", "incoming", "qtyonorder"] },
        Field { name: "lead_time_days", required: false, headers: &["leadtimedays", "leadtime"] },
        Field { name: "pack_size", required: false, headers: &["packsize", "caseqty"] },
        Field { name: "min_order_qty", required: false, headers: &["minorderqty", "moq", "minimumorderquantity"] },
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<ProductRow>) -> Result<(), Refusal> {
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
    today: Date,
}

impl Stock {
    pub fn new(file: &FileOptions, today: Date) -> Self {
        Self { zone: file.zone.clone(), today }
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
            headers: &["stock", "currentstock", "onhand", "quantity", "qty", "inventory", "available"],
        },
        Field { required: false, ..DAY },
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<StockRow>) -> Result<(), Refusal> {
        rows.push(StockRow {
            line: record.line,
            sku: record.id(0)?.into_owned(),
            stock: record.whole(1)?,
            day: day(record, 2, &self.zone)?.unwrap_or(self.today),
            record: record.bytes.to_vec(),
        });
        Ok(())
    }
}

pub(super) struct AdSpend {
    zone: Zone,
}

impl AdSpend {
    pub fn new(file: &FileOptions) -> Self {
        Self { zone: file.zone.clone() }
    }
}

impl Table for AdSpend {
    type Row = AdSpendRow;
    const DATE: Option<usize> = Some(0);
    const NUMBERS: &'static [usize] = &[3, 4, 5];
    const FIELDS: &'static [Field] = &[
        DAY,
        Field { name: "platform", required: true, headers: &["platform", "channel", "network", "adplatform"] },
        Field { name: "campaign", required: false, headers: &["campaign", "campaignname", "campaignid"] },
        Field { name: "spend", required: true, headers: &["spend", "cost", "amountspent", "amount"] },
        Field { name: "impressions", required: false, headers: &["impressions"] },
        Field { name: "clicks", required: false, headers: &["clicks", "linkclicks"] },
    ];

    fn read(&mut self, record: &Record<'_>, rows: &mut Vec<AdSpendRow>) -> Result<(), Refusal> {
        rows.push(AdSpendRow {
            day: required_day(record, 0, &self.zone)?,
            platform: record.id(1)?.into_owned(),
            campaign: record.name(2)?.unwrap_or_default().into_owned(),
            spend: cost(record, 3)?,
            impressions: record.optional_within(4, 0, MAX_QUANTITY)?,
            clicks: record.optional_within(5, 0, MAX_QUANTITY)?,
        });
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
        Field { name: "category", required: true, headers: &["category", "type", "account"] },
        Field { name: "description", required: false, headers: &["description", "note", "memo", "details"] },
        Field { name: "amount", required: true, headers: &["amount", "cost", "total", "value"] },
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
