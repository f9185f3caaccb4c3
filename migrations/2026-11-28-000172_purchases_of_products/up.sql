-- Lines of orders with the product on the day. Kept days are summed up again, as their definition changed.
ALTER TABLE product_days ADD COLUMN purchases bigint NOT NULL DEFAULT 0;
