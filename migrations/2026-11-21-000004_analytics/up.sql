-- How far the estimates of a day are known: the revenue of lines that are products, and the orders whose fees, or shipping,
-- the shop did not state.
ALTER TABLE daily_metrics
    ADD COLUMN goods_revenue numeric(26, 6) NOT NULL DEFAULT 0,
    ADD COLUMN fees_estimated_orders bigint NOT NULL DEFAULT 0,
    ADD COLUMN shipping_estimated_orders bigint NOT NULL DEFAULT 0;
ALTER TABLE profit_snapshots
    ADD COLUMN goods_revenue numeric(26, 6) NOT NULL DEFAULT 0,
    ADD COLUMN cogs_covered_revenue numeric(26, 6) NOT NULL DEFAULT 0,
    ADD COLUMN fees_estimated_orders bigint NOT NULL DEFAULT 0,
    ADD COLUMN shipping_estimated_orders bigint NOT NULL DEFAULT 0;

-- What the account's sums were made by: its rates, its time zone and the definitions. Where it is not what it would be now,
-- all of its days are summed up again, as they are once after this migration.
ALTER TABLE roll_ups ADD COLUMN made_by text NOT NULL DEFAULT '';

-- Units a day expected over the next 28 days and how regularly they sell; the days by which the stock is used up with a
-- probability of 20 % and of 80 %. Null, like days of stock, when nothing sells.
ALTER TABLE inventory_items
    ADD COLUMN velocity numeric(20, 4),
    ADD COLUMN velocity_class text CHECK (velocity_class IN ('smooth', 'erratic', 'intermittent', 'lumpy')),
    ADD COLUMN days_of_stock_low numeric(20, 1),
    ADD COLUMN days_of_stock_high numeric(20, 1);

-- The numbers that a suggestion came from; null for what was decided on before they were kept.
ALTER TABLE reorder_suggestions ADD COLUMN basis jsonb CHECK (jsonb_typeof(basis) = 'object');

-- Whose public holidays the shop keeps: those days are neither judged nor learned from.
ALTER TABLE accounts ADD COLUMN holiday_country text CHECK (holiday_country ~ '^[A-Z]{2}$');
