ALTER TABLE product_days DROP COLUMN purchases;
