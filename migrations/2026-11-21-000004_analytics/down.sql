ALTER TABLE accounts DROP COLUMN holiday_country;
ALTER TABLE reorder_suggestions DROP COLUMN basis;
ALTER TABLE inventory_items
    DROP COLUMN velocity,
    DROP COLUMN velocity_class,
    DROP COLUMN days_of_stock_low,
    DROP COLUMN days_of_stock_high;
ALTER TABLE roll_ups DROP COLUMN made_by;
ALTER TABLE profit_snapshots
    DROP COLUMN goods_revenue,
    DROP COLUMN cogs_covered_revenue,
    DROP COLUMN fees_estimated_orders,
    DROP COLUMN shipping_estimated_orders;
ALTER TABLE daily_metrics
    DROP COLUMN goods_revenue,
    DROP COLUMN fees_estimated_orders,
    DROP COLUMN shipping_estimated_orders;
