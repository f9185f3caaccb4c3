-- What was refunded of the product on the day, at the prices of the refund's lines. Kept days are summed up again, as their
-- definition changed.
ALTER TABLE product_days ADD COLUMN refunded numeric(26, 6) NOT NULL DEFAULT 0;
