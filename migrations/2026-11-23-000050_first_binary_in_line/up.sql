-- A database that was made by the first binary checks a foreign key for each order and refund, and lacks an index. Nothing
-- changes where that is not so.
ALTER TABLE orders DROP CONSTRAINT IF EXISTS orders_account_id_fkey;
ALTER TABLE refunds DROP CONSTRAINT IF EXISTS refunds_account_id_fkey;
CREATE INDEX IF NOT EXISTS stock_levels_day ON stock_levels (account_id, day);
