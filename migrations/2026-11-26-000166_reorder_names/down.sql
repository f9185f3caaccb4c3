ALTER TABLE reorder_suggestions DROP COLUMN product_name;
