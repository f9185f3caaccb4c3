ALTER TABLE products DROP COLUMN stock_from;
