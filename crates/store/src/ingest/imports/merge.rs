//! The statements that merge staged documents into the account's tables. Identifiers are given in an order that
//! depends on the data alone: by first appearance, then by external identifier.

#[cfg(test)]
use super::{costs, session::DAYS_TABLE, staging};

pub(super) const TABLES: &str = "
    CREATE TEMPORARY TABLE import_orders (id bigint, external_id text, at timestamptz, customer text, country text,
        fees numeric, shipping numeric, amount numeric, units bigint, content_hash bytea,
        is_known boolean, is_same boolean, old_at timestamptz);
    CREATE TEMPORARY TABLE import_refunds (LIKE import_orders);
    CREATE TEMPORARY TABLE import_customers (external_id text, first_at timestamptz,
        email text, name text, city text, country text,
        email_at timestamptz, name_at timestamptz, city_at timestamptz, country_at timestamptz);
    CREATE TEMPORARY TABLE import_products (sku text, first_at timestamptz, described_at timestamptz, name text,
        category text, price numeric);
    CREATE TEMPORARY TABLE import_matched (no bigint, sku text, product_id bigint);";

/// Where documents of a kind are kept.
pub(super) struct Tables {
    kind: &'static str,
    staged: &'static str,
    documents: &'static str,
    lines: &'static str,
    /// The lines' column for their document.
    reference: &'static str,
    instant: &'static str,
    amount: &'static str,
    /// Columns that only this kind has, both here and staged.
    extra: &'static [&'static str],
}

pub(super) const ORDERS: Tables = Tables {
    kind: "order",
    staged: "import_orders",
    documents: "orders",
    lines: "order_lines",
    reference: "order_id",
    instant: "placed_at",
    amount: "gross",
    extra: &["country", "fees", "shipping"],
};

pub(super) const REFUNDS: Tables = Tables {
    kind: "refund",
    staged: "import_refunds",
    documents: "refunds",
    lines: "refund_lines",
    reference: "refund_id",
    instant: "refunded_at",
    amount: "amount",
    extra: &[],
};

impl Tables {
    /// Puts the parts together and compares each document with what is there. New ones get their identifiers here. Parts
    /// that do not agree on customer or country are in error; which one counts must just not depend on their order.
    pub fn gather(&self) -> String {
        let Self { kind, staged, documents, instant, .. } = self;
        format!(
            "INSERT INTO {staged}
             SELECT coalesce(known.id, nextval('{documents}_id_seq')), came.*,
                 known.id IS NOT NULL, coalesce(known.content_hash = came.content_hash, false), known.{instant}
             FROM (SELECT external_id, to_timestamp(min(at)) AS at,
                     min(customer COLLATE \"C\"), min(country), max(fees), max(shipping), sum(amount), sum(units)::bigint,
                     int8send((sum(hash_a) % (1::bigint << 60))::bigint)
                         || int8send((sum(hash_b) % (1::bigint << 60))::bigint) AS content_hash
                 FROM import_parts WHERE kind = '{kind}' GROUP BY external_id) came
             LEFT JOIN {documents} known
                 ON known.account_id = $1 AND known.source = $2 AND known.external_id = came.external_id
             ORDER BY came.at, came.external_id COLLATE \"C\""
        )
    }

    pub fn delete_lines(&self) -> String {
        let Self { staged, lines, reference, .. } = self;
        format!(
            "DELETE FROM {lines} USING {staged} came
             WHERE {lines}.account_id = $1 AND {lines}.{reference} = came.id AND came.is_known AND NOT came.is_same"
        )
    }

    pub fn update(&self) -> String {
        let Self { staged, documents, instant, amount, extra, .. } = self;
        let extra: String = extra.iter().map(|column| format!(", {column} = came.{column}")).collect();
        format!(
            "UPDATE {documents} SET customer_id = customers.id, {instant} = came.at, {amount} = came.amount,
                 units = came.units, content_hash = came.content_hash{extra}
             FROM {staged} came LEFT JOIN customers
                 ON customers.account_id = $1 AND customers.source = $2 AND customers.external_id = came.customer
             WHERE {documents}.account_id = $1 AND {documents}.id = came.id AND came.is_known AND NOT came.is_same"
        )
    }

    pub fn insert(&self) -> String {
        let Self { staged, documents, instant, amount, extra, .. } = self;
        let named: String = extra.iter().map(|column| format!(", {column}")).collect();
        let came: String = extra.iter().map(|column| format!(", came.{column}")).collect();
        format!(
            "INSERT INTO {documents} (account_id, id, source, external_id, customer_id, {instant}, {amount}, units,
                 content_hash{named}) OVERRIDING SYSTEM VALUE
             SELECT $1, came.id, $2, came.external_id, customers.id, came.at, came.amount, came.units,
                 came.content_hash{came}
             FROM {staged} came LEFT JOIN customers
                 ON customers.account_id = $1 AND customers.source = $2 AND customers.external_id = came.customer
             WHERE NOT came.is_known ORDER BY came.id"
        )
    }

    /// Lines are numbered through the parts of their document.
    pub fn insert_lines(&self) -> String {
        let Self { kind, staged, lines, reference, .. } = self;
        format!(
            "INSERT INTO {lines} (account_id, {reference}, line_no, product_id, sku, quantity, unit_price)
             SELECT $1, part.id, part.lines_before + line.line_no + 1, item.product_id, item.sku, line.quantity,
                 line.unit_price
             FROM import_lines line
             JOIN (SELECT no, came.id, (sum(lines) OVER (PARTITION BY external_id ORDER BY no) - lines)::integer
                     AS lines_before
                 FROM import_parts JOIN {staged} came USING (external_id)
                 WHERE kind = '{kind}' AND NOT came.is_same) part ON part.no = line.part
             JOIN import_matched item ON item.no = line.item"
        )
    }

    pub fn moments(&self) -> String {
        let Self { staged, .. } = self;
        format!(
            "INSERT INTO import_moments SELECT at FROM {staged} WHERE NOT is_same
             UNION ALL SELECT old_at FROM {staged} WHERE is_known AND NOT is_same"
        )
    }

    pub fn totals(&self) -> String {
        let Self { staged, .. } = self;
        format!(
            "SELECT count(*) FILTER (WHERE NOT is_known) AS new, count(*) FILTER (WHERE is_known AND NOT is_same) AS changed,
                 count(*) FILTER (WHERE is_same) AS unchanged, coalesce(sum(amount), 0) AS amount,
                 coalesce(sum(units), 0)::bigint AS units
             FROM {staged}"
        )
    }
}

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    /// Who asked to be forgotten does not come back.
    pub(super) FORGET_CUSTOMERS(account: BigInt, source: Text) -> () = "UPDATE import_parts SET customer = NULL, email = NULL, name = NULL, city = NULL
    FROM forgotten_customers gone WHERE gone.account_id = $1 AND gone.source = $2
        AND gone.external_id_hash = sha256(convert_to(import_parts.customer, 'UTF8'))"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    /// The newest statement about a customer counts; of equally new ones the greatest.
    pub(super) GATHER_CUSTOMERS() -> () = "INSERT INTO import_customers
    SELECT customer, to_timestamp(min(at)),
        (array_agg(email ORDER BY at DESC, email DESC) FILTER (WHERE email <> ''))[1],
        (array_agg(name ORDER BY at DESC, name DESC) FILTER (WHERE name <> ''))[1],
        (array_agg(city ORDER BY at DESC, city DESC) FILTER (WHERE city <> ''))[1],
        (array_agg(country ORDER BY at DESC, country DESC) FILTER (WHERE country <> ''))[1],
        to_timestamp(max(at) FILTER (WHERE email <> '')),
        to_timestamp(max(at) FILTER (WHERE name <> '')),
        to_timestamp(max(at) FILTER (WHERE city <> '')),
        to_timestamp(max(at) FILTER (WHERE country <> ''))
    FROM import_parts WHERE customer <> '' GROUP BY customer"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    /// What is known of a customer gives way to what is said at least as late, each of its fields by itself: an order or refund
    /// that says nothing of one leaves it as old as it was. What was said before that was kept is as old as the customer's
    /// newest order or refund.
    pub(super) UPDATE_CUSTOMERS(account: BigInt, source: Text) -> () = "UPDATE customers SET
        email = said.email, name = said.name, city = said.city, country = said.country, created_at = said.created_at,
        email_at = said.email_at, name_at = said.name_at, city_at = said.city_at, country_at = said.country_at
    FROM (SELECT known.id, least(known.created_at, came.first_at) AS created_at,
            CASE WHEN newer.email THEN came.email ELSE known.email END AS email,
            CASE WHEN newer.name THEN came.name ELSE known.name END AS name,
            CASE WHEN newer.city THEN came.city ELSE known.city END AS city,
            CASE WHEN newer.country THEN came.country ELSE known.country END AS country,
            CASE WHEN newer.email THEN came.email_at ELSE known.email_at END AS email_at,
            CASE WHEN newer.name THEN came.name_at ELSE known.name_at END AS name_at,
            CASE WHEN newer.city THEN came.city_at ELSE known.city_at END AS city_at,
            CASE WHEN newer.country THEN came.country_at ELSE known.country_at END AS country_at
        FROM import_customers came
        JOIN customers known ON known.account_id = $1 AND known.source = $2 AND known.external_id = came.external_id
        CROSS JOIN LATERAL (SELECT greatest(
            (SELECT max(placed_at) FROM orders WHERE account_id = $1 AND customer_id = known.id),
            (SELECT max(refunded_at) FROM refunds WHERE account_id = $1 AND customer_id = known.id)) AS at) newest
        CROSS JOIN LATERAL (SELECT
            came.email_at >= coalesce(known.email_at, CASE WHEN known.email IS NOT NULL THEN newest.at END, '-infinity')
                AS email,
            came.name_at >= coalesce(known.name_at, CASE WHEN known.name IS NOT NULL THEN newest.at END, '-infinity')
                AS name,
            came.city_at >= coalesce(known.city_at, CASE WHEN known.city IS NOT NULL THEN newest.at END, '-infinity')
                AS city,
            came.country_at >= coalesce(known.country_at, CASE WHEN known.country IS NOT NULL THEN newest.at END, '-infinity')
                AS country) AS newer) said
    WHERE customers.account_id = $1 AND customers.id = said.id
        AND (customers.email, customers.name, customers.city, customers.country, customers.created_at,
                customers.email_at, customers.name_at, customers.city_at, customers.country_at)
            IS DISTINCT FROM (said.email, said.name, said.city, said.country, said.created_at,
                said.email_at, said.name_at, said.city_at, said.country_at)"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    pub(super) INSERT_CUSTOMERS(account: BigInt, source: Text) -> () = "INSERT INTO customers (account_id, source, external_id, email, name, city,
        country, created_at, email_at, name_at, city_at, country_at)
    SELECT $1, $2, came.external_id, came.email, came.name, came.city, came.country, came.first_at,
        came.email_at, came.name_at, came.city_at, came.country_at
    FROM import_customers came LEFT JOIN customers known
        ON known.account_id = $1 AND known.source = $2 AND known.external_id = came.external_id
    WHERE known.id IS NULL ORDER BY came.first_at, came.external_id COLLATE \"C\"
    ON CONFLICT (account_id, source, external_id) DO NOTHING"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    /// Of equally new names and categories the greatest counts.
    pub(super) GATHER_PRODUCTS() -> () = "INSERT INTO import_products
    SELECT (array_agg(sku ORDER BY first_at, sku COLLATE \"C\"))[1], to_timestamp(min(first_at)),
        to_timestamp(greatest(max(last_at) FILTER (WHERE name <> ''), max(price_at), min(first_at))),
        (array_agg(name ORDER BY last_at DESC, name COLLATE \"C\" DESC) FILTER (WHERE name <> ''))[1],
        (array_agg(category ORDER BY last_at DESC, category COLLATE \"C\" DESC) FILTER (WHERE category <> ''))[1],
        (array_agg(price ORDER BY price_at DESC, price DESC) FILTER (WHERE price >= 0))[1]
    FROM import_items WHERE is_product GROUP BY upper(sku COLLATE \"C\")"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    /// Lines fill in what is missing, and win only over what older lines said, never over a catalogue.
    pub(super) UPDATE_PRODUCTS(account: BigInt) -> () = "UPDATE products SET
        name = said.name, category = said.category, price = said.price, described_at = said.described_at
    FROM (SELECT known.id,
            CASE WHEN newer THEN coalesce(came.name, known.name) ELSE known.name END AS name,
            CASE WHEN newer THEN coalesce(came.category, known.category) ELSE coalesce(known.category, came.category)
                END AS category,
            CASE WHEN newer THEN coalesce(came.price, known.price) ELSE coalesce(known.price, came.price) END AS price,
            CASE WHEN newer THEN came.described_at ELSE known.described_at END AS described_at
        FROM import_products came
        JOIN products known ON known.account_id = $1
            AND upper(known.sku COLLATE \"C\") = upper(came.sku COLLATE \"C\")
        CROSS JOIN LATERAL (SELECT coalesce(came.described_at >= known.described_at, false) AS newer) age) said
    WHERE products.account_id = $1 AND products.id = said.id
        AND (products.name, products.category, products.price, products.described_at)
            IS DISTINCT FROM (said.name, said.category, said.price, said.described_at)"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    pub(super) INSERT_PRODUCTS(account: BigInt) -> () = "INSERT INTO products (account_id, sku, name, category, price, created_at,
        described_at)
    SELECT $1, came.sku, coalesce(came.name, came.sku), came.category, came.price, came.first_at, came.described_at
    FROM import_products came LEFT JOIN products known
        ON known.account_id = $1 AND upper(known.sku COLLATE \"C\") = upper(came.sku COLLATE \"C\")
    WHERE known.id IS NULL ORDER BY came.first_at, came.sku COLLATE \"C\"
    ON CONFLICT (account_id, upper(sku COLLATE \"C\")) DO NOTHING"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    pub(super) MATCH_ITEMS(account: BigInt) -> () = "INSERT INTO import_matched
    SELECT item.no, coalesce(products.sku, item.sku), products.id
    FROM import_items item LEFT JOIN products ON item.is_product AND products.account_id = $1
        AND upper(products.sku COLLATE \"C\") = upper(item.sku COLLATE \"C\")"
);

session_statement!(
    after [staging::TABLES, TABLES, costs::TABLES] =>
    /// A cost holds from the day of its line; the newest line of a day counts. An order that comes again as it is there takes
    /// back nothing that was imported since.
    pub(super) GATHER_COSTS(timezone: Text) -> () = "INSERT INTO import_product_costs
    SELECT product_id, day, unit_cost FROM (
        SELECT DISTINCT ON (product_id, day) product_id, day, unit_cost, is_same
        FROM (SELECT item.product_id, (to_timestamp(part.at) AT TIME ZONE $1)::date AS day, part.at, said.unit_cost,
                told.is_same
            FROM import_costs said JOIN import_parts part ON part.no = said.part
            JOIN import_orders told ON told.external_id = part.external_id
            JOIN import_matched item ON item.no = said.item WHERE item.product_id IS NOT NULL) cost
        ORDER BY product_id, day, at DESC, unit_cost DESC, is_same
    ) newest WHERE NOT is_same"
);

#[cfg(test)]
mod tests {
    use diesel::sql_types::{BigInt, Numeric, Text};

    use super::*;
    use crate::database::statement::check::{check_inferred, oid};

    #[test]
    fn the_statements_of_each_kind_are_as_they_are_used() {
        let tables = [staging::TABLES, TABLES, costs::TABLES, DAYS_TABLE].concat();
        let account = ("account", oid::<BigInt>());
        let source = ("source", oid::<Text>());
        let totals = [
            ("new", oid::<BigInt>()),
            ("changed", oid::<BigInt>()),
            ("unchanged", oid::<BigInt>()),
            ("amount", oid::<Numeric>()),
            ("units", oid::<BigInt>()),
        ];
        for kind in [&ORDERS, &REFUNDS] {
            for statement in [kind.gather(), kind.update(), kind.insert()] {
                check_inferred(&tables, &statement, &[account, source], &[]);
            }
            for statement in [kind.delete_lines(), kind.insert_lines()] {
                check_inferred(&tables, &statement, &[account], &[]);
            }
            check_inferred(&tables, &kind.moments(), &[], &[]);
            check_inferred(&tables, &kind.totals(), &[], &totals);
        }
    }
}
