-- Conventions: account_id leads every primary key, unique key, foreign key and index of a tenant's table, so that the
-- rows of different accounts can live on different machines. Money is numeric (wide
-- enough for the sum of a hundred million of the largest amounts, 10^12), instants are timestamptz, and a `day`
-- is a calendar day in the account's time zone. Texts with a fixed set of values are checked here as well.

-- ── who ──────────────────────────────────────────────────────────────────────────────────────────────────────────
CREATE TABLE users (
    id text PRIMARY KEY,
    created_at timestamptz NOT NULL
);

CREATE TABLE accounts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id text NOT NULL REFERENCES users (id),
    mode text NOT NULL CHECK (mode IN ('live', 'test')),
    name text NOT NULL,
    plan text NOT NULL CHECK (plan IN ('free', 'starter', 'pro', 'scale')),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    timezone text NOT NULL,
    -- What is assumed where a shop has not said what an order really cost (shares of revenue; money per order).
    fee_rate numeric(6, 5) NOT NULL DEFAULT 0.029 CHECK (fee_rate BETWEEN 0 AND 1),
    fee_fixed numeric(26, 6) NOT NULL DEFAULT 0 CHECK (fee_fixed >= 0),
    shipping_per_order numeric(26, 6) NOT NULL DEFAULT 0 CHECK (shipping_per_order >= 0),
    cogs_ratio numeric(6, 5) NOT NULL DEFAULT 0.4 CHECK (cogs_ratio BETWEEN 0 AND 1),
    created_at timestamptz NOT NULL,
    UNIQUE (user_id, mode)
);

-- Looked up by hash before the account is known: one of the few tables that account_id does not lead.
CREATE TABLE api_keys (
    hash bytea PRIMARY KEY CHECK (length(hash) = 32),
    id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    account_id bigint NOT NULL REFERENCES accounts (id),
    name text NOT NULL,
    prefix text NOT NULL,
    scopes text[] NOT NULL CHECK (scopes <@ ARRAY['read', 'write'] AND cardinality(scopes) > 0),
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX api_keys_account ON api_keys (account_id, id);

-- ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────
-- Written in the transaction of the effect; `result` is what the handler needs to give the first answer again.
CREATE TABLE idempotency_keys (
    account_id bigint NOT NULL REFERENCES accounts (id),
    path text NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL CHECK (length(request_hash) = 32),
    result jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, path, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- ── credits ──────────────────────────────────────────────────────────────────────────────────────────────────────
CREATE TABLE credit_balances (
    account_id bigint PRIMARY KEY REFERENCES accounts (id),
    balance bigint NOT NULL CHECK (balance >= 0),
    total_purchased bigint NOT NULL DEFAULT 0,
    total_spent bigint NOT NULL DEFAULT 0,
    auto_topup_enabled boolean NOT NULL DEFAULT false,
    auto_topup_threshold bigint NOT NULL DEFAULT 0 CHECK (auto_topup_threshold >= 0),
    auto_topup_amount bigint NOT NULL DEFAULT 0 CHECK (auto_topup_amount >= 0),
    auto_topup_last_charged_at timestamptz,
    updated_at timestamptz NOT NULL
);

CREATE TABLE credit_transactions (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL CHECK (kind IN ('consume', 'refund', 'topup', 'auto_topup', 'grant', 'adjustment')),
    feature text,
    amount bigint NOT NULL CHECK (amount <> 0),
    balance_after bigint NOT NULL CHECK (balance_after >= 0),
    operation_key text,
    meta jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(meta) = 'object'),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, operation_key)
);

-- ── the shop: what comes in ──────────────────────────────────────────────────────────────────────────────────────
CREATE TABLE integrations (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    provider text NOT NULL CHECK (provider IN ('shopify', 'tiendanube', 'mercadolibre')),
    shop text NOT NULL,
    scopes text[] NOT NULL DEFAULT '{}',
    connected_at timestamptz NOT NULL,
    revoked_at timestamptz,
    last_sync_at timestamptz,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, provider, shop)
);

CREATE TABLE customers (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    source text NOT NULL CHECK (source IN ('shopify', 'tiendanube', 'mercadolibre')),
    external_id text NOT NULL,
    email text,
    name text,
    city text,
    country text CHECK (country ~ '^[A-Z]{2}$'),
    created_at timestamptz NOT NULL,
    -- computed by the job customer_metrics
    orders_count bigint NOT NULL DEFAULT 0,
    revenue_total numeric(26, 6) NOT NULL DEFAULT 0,
    ltv_estimate numeric(26, 6) NOT NULL DEFAULT 0,
    aov numeric(26, 6) NOT NULL DEFAULT 0,
    segment text NOT NULL DEFAULT 'prospect' CHECK (segment IN ('vip', 'loyal', 'promising', 'new',
        'needs_attention', 'at_risk', 'dormant', 'lost', 'prospect')),
    churn_score numeric(5, 4) CHECK (churn_score BETWEEN 0 AND 1),
    first_purchase_at timestamptz,
    last_purchase_at timestamptz,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, source, external_id)
);
CREATE INDEX customers_source ON customers (account_id, source, id);

CREATE TABLE products (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    sku text NOT NULL,
    name text NOT NULL,
    category text,
    price numeric(26, 6) CHECK (price >= 0),
    -- The last known unit cost; product_costs has the history.
    unit_cost numeric(26, 6) CHECK (unit_cost >= 0),
    -- Null until a stock level is known: such a product is in no inventory.
    current_stock bigint,
    on_order bigint NOT NULL DEFAULT 0 CHECK (on_order >= 0),
    lead_time_days integer CHECK (lead_time_days BETWEEN 0 AND 730),
    pack_size integer CHECK (pack_size > 0),
    min_order_qty integer CHECK (min_order_qty > 0),
    created_at timestamptz NOT NULL,
    -- The newest order line that name and price were taken from; null once a catalogue has named the product.
    described_at timestamptz,
    PRIMARY KEY (account_id, id)
);
-- Shops write one SKU in capitals here and in small letters there; it is one product, spelled as it first came.
CREATE UNIQUE INDEX products_sku ON products (account_id, (upper(sku COLLATE "C")));

CREATE TABLE product_costs (
    account_id bigint NOT NULL,
    product_id bigint NOT NULL,
    valid_from date NOT NULL,
    unit_cost numeric(26, 6) NOT NULL CHECK (unit_cost >= 0),
    PRIMARY KEY (account_id, product_id, valid_from),
    FOREIGN KEY (account_id, product_id) REFERENCES products (account_id, id) ON DELETE CASCADE
);

CREATE TABLE stock_levels (
    account_id bigint NOT NULL,
    product_id bigint NOT NULL,
    day date NOT NULL,
    stock bigint NOT NULL,
    PRIMARY KEY (account_id, product_id, day),
    FOREIGN KEY (account_id, product_id) REFERENCES products (account_id, id) ON DELETE CASCADE
);

CREATE INDEX stock_levels_day ON stock_levels (account_id, day);

-- Orders and refunds come in by the ten thousand: the importer checks their account once, not a foreign key each row.
CREATE TABLE orders (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    source text NOT NULL CHECK (source IN ('shopify', 'tiendanube', 'mercadolibre')),
    external_id text NOT NULL,
    customer_id bigint,
    placed_at timestamptz NOT NULL,
    country text,
    -- Sum over the lines of quantity × unit price.
    gross numeric(26, 6) NOT NULL CHECK (gross >= 0),
    units bigint NOT NULL CHECK (units >= 0),
    -- What the shop says it paid; null where it does not say.
    fees numeric(26, 6) CHECK (fees >= 0),
    shipping numeric(26, 6) CHECK (shipping >= 0),
    -- Tells an order that came in again unchanged.
    content_hash bytea NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, source, external_id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id)
);
CREATE INDEX orders_placed ON orders (account_id, placed_at);
CREATE INDEX orders_customer ON orders (account_id, customer_id, placed_at);

-- Lines have no foreign key to their document: checking half a million of them one by one would take longer than the
-- import. They are written and removed in the same statement batch as the document.
CREATE TABLE order_lines (
    account_id bigint NOT NULL,
    order_id bigint NOT NULL,
    line_no integer NOT NULL,
    -- Null for lines that are no product: postage, discounts, bank charges.
    product_id bigint,
    sku text NOT NULL,
    quantity bigint NOT NULL CHECK (quantity > 0),
    unit_price numeric(26, 6) NOT NULL CHECK (unit_price >= 0),
    PRIMARY KEY (account_id, order_id, line_no)
);

-- A refund or cancellation document; it counts on its own date.
CREATE TABLE refunds (
    account_id bigint NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    source text NOT NULL CHECK (source IN ('shopify', 'tiendanube', 'mercadolibre')),
    external_id text NOT NULL,
    customer_id bigint,
    refunded_at timestamptz NOT NULL,
    -- Positive; negative only where a shop took a cancellation back by a document of the same kind.
    amount numeric(26, 6) NOT NULL,
    units bigint NOT NULL,
    content_hash bytea NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, source, external_id),
    FOREIGN KEY (account_id, customer_id) REFERENCES customers (account_id, id)
);
CREATE INDEX refunds_refunded ON refunds (account_id, refunded_at);
CREATE INDEX refunds_customer ON refunds (account_id, customer_id, refunded_at);

CREATE TABLE refund_lines (
    account_id bigint NOT NULL,
    refund_id bigint NOT NULL,
    line_no integer NOT NULL,
    product_id bigint,
    sku text NOT NULL,
    -- Units that came back.
    quantity bigint NOT NULL,
    unit_price numeric(26, 6) NOT NULL CHECK (unit_price >= 0),
    PRIMARY KEY (account_id, refund_id, line_no)
);

CREATE TABLE ad_spend (
    account_id bigint NOT NULL REFERENCES accounts (id),
    day date NOT NULL,
    platform text NOT NULL,
    campaign text NOT NULL,
    spend numeric(26, 6) NOT NULL CHECK (spend >= 0),
    impressions bigint CHECK (impressions >= 0),
    clicks bigint CHECK (clicks >= 0),
    PRIMARY KEY (account_id, day, platform, campaign)
);

CREATE TABLE expenses (
    account_id bigint NOT NULL REFERENCES accounts (id),
    day date NOT NULL,
    category text NOT NULL,
    description text NOT NULL,
    -- Tells equal expenses of one day apart.
    occurrence integer NOT NULL,
    amount numeric(26, 6) NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (account_id, day, category, description, occurrence)
);

-- Tracking events: a stream, cut into months by the time of receipt; old months are dropped, never deleted row by row.
-- No foreign key: it would lock the account's row for every event.
CREATE TABLE track_events (
    account_id bigint NOT NULL,
    id bigint GENERATED BY DEFAULT AS IDENTITY,
    name text NOT NULL,
    props jsonb NOT NULL,
    visitor_id text,
    session_id text,
    url text,
    country text,
    region text,
    city text,
    occurred_at timestamptz NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, received_at, id)
) PARTITION BY RANGE (received_at);
CREATE INDEX track_events_occurred ON track_events (account_id, occurred_at);
-- What no month was made for in time is kept here rather than refused.
CREATE TABLE track_events_default PARTITION OF track_events DEFAULT;

-- ── what is computed ─────────────────────────────────────────────────────────────────────────────────────────────
-- Days whose orders, refunds, spend or expenses changed since they were last summed up. A writer locks the row of a day
-- that is already there (ON CONFLICT DO UPDATE), so that the day cannot be summed up before what it wrote is visible.
CREATE TABLE touched_days (
    account_id bigint NOT NULL REFERENCES accounts (id),
    day date NOT NULL,
    PRIMARY KEY (account_id, day)
);

-- Up to when an account's tracking events have been looked at: they come too often to touch a day each.
CREATE TABLE roll_ups (
    account_id bigint PRIMARY KEY REFERENCES accounts (id),
    events_until timestamptz NOT NULL
);

-- The first order of each customer, kept so that a late order moves a new customer from one day to another.
CREATE TABLE customer_firsts (
    account_id bigint NOT NULL REFERENCES accounts (id),
    customer_id bigint NOT NULL,
    first_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, customer_id)
);
CREATE INDEX customer_firsts_at ON customer_firsts (account_id, first_at);

-- One row a day: sums of what happened on it. Everything per day is derived from here.
CREATE TABLE daily_metrics (
    account_id bigint NOT NULL REFERENCES accounts (id),
    day date NOT NULL,
    gross_revenue numeric(26, 6) NOT NULL DEFAULT 0,
    refunds numeric(26, 6) NOT NULL DEFAULT 0,
    orders bigint NOT NULL DEFAULT 0,
    units bigint NOT NULL DEFAULT 0,
    customers bigint NOT NULL DEFAULT 0,
    new_customers bigint NOT NULL DEFAULT 0,
    refund_count bigint NOT NULL DEFAULT 0,
    cogs numeric(26, 6) NOT NULL DEFAULT 0,
    -- Revenue of the lines whose cost is known.
    cogs_covered_revenue numeric(26, 6) NOT NULL DEFAULT 0,
    fees numeric(26, 6) NOT NULL DEFAULT 0,
    shipping numeric(26, 6) NOT NULL DEFAULT 0,
    ad_spend numeric(26, 6) NOT NULL DEFAULT 0,
    ad_clicks bigint NOT NULL DEFAULT 0,
    extra_expenses numeric(26, 6) NOT NULL DEFAULT 0,
    visitors bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, day)
);

-- The same per value of a dimension: platform, product, country, campaign.
CREATE TABLE daily_breakdowns (
    account_id bigint NOT NULL REFERENCES accounts (id),
    day date NOT NULL,
    dimension text NOT NULL CHECK (dimension IN ('platform', 'country', 'campaign')),
    value text NOT NULL,
    gross_revenue numeric(26, 6) NOT NULL DEFAULT 0,
    orders bigint NOT NULL DEFAULT 0,
    units bigint NOT NULL DEFAULT 0,
    ad_spend numeric(26, 6) NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, day, dimension, value)
);

-- Units per product and day, cancelled ones apart.
CREATE TABLE product_days (
    account_id bigint NOT NULL REFERENCES accounts (id),
    product_id bigint NOT NULL,
    day date NOT NULL,
    units bigint NOT NULL DEFAULT 0,
    -- Units of the largest single line: tells a bulk sale.
    largest_line bigint NOT NULL DEFAULT 0,
    cancelled_units bigint NOT NULL DEFAULT 0,
    revenue numeric(26, 6) NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, product_id, day)
);
CREATE INDEX product_days_day ON product_days (account_id, day);

CREATE TABLE profit_snapshots (
    account_id bigint NOT NULL REFERENCES accounts (id),
    snapshot_date date NOT NULL,
    gross_revenue numeric(26, 6) NOT NULL,
    refunds numeric(26, 6) NOT NULL,
    ad_spend numeric(26, 6) NOT NULL,
    cogs_estimate numeric(26, 6) NOT NULL,
    fees_estimate numeric(26, 6) NOT NULL,
    shipping_estimate numeric(26, 6) NOT NULL,
    extra_expenses numeric(26, 6) NOT NULL,
    purchase_count bigint NOT NULL,
    computed_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, snapshot_date)
);

CREATE TABLE inventory_items (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    product_id bigint NOT NULL,
    sku text NOT NULL,
    product_name text NOT NULL,
    current_stock bigint NOT NULL,
    units_sold_30d bigint NOT NULL,
    units_sold_7d bigint NOT NULL,
    avg_daily_units_30d numeric(20, 4) NOT NULL,
    avg_daily_units_7d numeric(20, 4) NOT NULL,
    days_of_stock numeric(20, 1),
    trend text NOT NULL CHECK (trend IN ('accelerating', 'stable', 'decelerating', 'no_sales')),
    status text NOT NULL CHECK (status IN ('critical', 'low', 'ok', 'overstocked')),
    -- The order of urgency, so that a list is a range of the index.
    urgency smallint NOT NULL GENERATED ALWAYS AS (
        CASE status WHEN 'critical' THEN 0 WHEN 'low' THEN 1 WHEN 'ok' THEN 2 ELSE 3 END) STORED,
    days_rank numeric NOT NULL GENERATED ALWAYS AS (coalesce(days_of_stock, 1e15)) STORED,
    estimated_stockout_at date,
    computed_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, product_id),
    FOREIGN KEY (account_id, product_id) REFERENCES products (account_id, id) ON DELETE CASCADE
);
CREATE INDEX inventory_items_urgency ON inventory_items (account_id, urgency, days_rank, sku, id);

CREATE TABLE reorder_suggestions (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    inventory_item_id bigint NOT NULL,
    sku text NOT NULL,
    qty_suggested bigint NOT NULL CHECK (qty_suggested > 0),
    reason text NOT NULL,
    confidence numeric(5, 4) NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    forecast_days bigint NOT NULL CHECK (forecast_days > 0),
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'ordered', 'dismissed')),
    computed_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, inventory_item_id) REFERENCES inventory_items (account_id, id) ON DELETE CASCADE
);
CREATE INDEX reorder_suggestions_status ON reorder_suggestions (account_id, status, id);
-- One open suggestion an item.
CREATE UNIQUE INDEX reorder_suggestions_pending ON reorder_suggestions (account_id, inventory_item_id)
    WHERE status = 'pending';

CREATE TABLE anomalies (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL CHECK (kind IN ('univariate', 'correlated')),
    metric text NOT NULL,
    day date NOT NULL,
    observed_value double precision NOT NULL,
    expected_value double precision NOT NULL,
    expected_low double precision,
    expected_high double precision,
    z_score double precision NOT NULL,
    direction text NOT NULL CHECK (direction IN ('down', 'up')),
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    detected_at timestamptz NOT NULL,
    inferred_cause text,
    confidence double precision CHECK (confidence BETWEEN 0 AND 1),
    correlated_metrics jsonb NOT NULL DEFAULT '[]',
    is_shift boolean NOT NULL DEFAULT false,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, kind, metric, day)
);
CREATE INDEX anomalies_detected ON anomalies (account_id, detected_at, id);

CREATE TABLE insights (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED ALWAYS AS IDENTITY,
    -- What the insight is about, without its numbers: the same situation gives the same text.
    fingerprint text NOT NULL,
    severity text NOT NULL CHECK (severity IN ('low', 'medium', 'high', 'critical')),
    category text NOT NULL CHECK (category IN ('ads', 'churn_risk', 'inventory', 'profit', 'revenue', 'customers',
        'pricing', 'integrations')),
    title text NOT NULL,
    body text NOT NULL,
    suggested_action text NOT NULL,
    impact_estimate text NOT NULL,
    source text NOT NULL,
    status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'resolved', 'dismissed')),
    computed_at timestamptz NOT NULL,
    resolved_at timestamptz,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX insights_status ON insights (account_id, status, id);
-- One open insight a situation.
CREATE UNIQUE INDEX insights_open ON insights (account_id, fingerprint) WHERE status = 'open';

-- ── webhooks ─────────────────────────────────────────────────────────────────────────────────────────────────────
CREATE TABLE webhook_subscriptions (
    account_id bigint NOT NULL REFERENCES accounts (id),
    id bigint GENERATED BY DEFAULT AS IDENTITY,
    url text NOT NULL,
    events text[] NOT NULL CHECK (cardinality(events) > 0),
    active boolean NOT NULL DEFAULT true,
    disabled_reason text,
    sealed_secret bytea NOT NULL,
    last_fired_at timestamptz,
    last_status integer,
    fail_count bigint NOT NULL DEFAULT 0,
    total_fired bigint NOT NULL DEFAULT 0,
    total_failed bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    revoked_at timestamptz,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX webhook_subscriptions_kept ON webhook_subscriptions (account_id, id) WHERE revoked_at IS NULL;

-- ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────
-- One row a job, account and day, however many processes there are.
CREATE TABLE job_runs (
    account_id bigint NOT NULL REFERENCES accounts (id),
    job text NOT NULL,
    as_of date NOT NULL,
    state text NOT NULL CHECK (state IN ('running', 'done', 'failed')),
    -- Rises with every claim and guards every write of a result.
    claim bigint NOT NULL,
    lease_until timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    -- When the result was last written; stays while the run is repeated.
    finished_at timestamptz,
    error text,
    PRIMARY KEY (account_id, job, as_of)
);
CREATE INDEX job_runs_finished ON job_runs (account_id, job, finished_at) WHERE finished_at IS NOT NULL;
