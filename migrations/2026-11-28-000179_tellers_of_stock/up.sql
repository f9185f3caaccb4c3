-- The connection that told the product's stock last; NULL where a file did, and where it is not known.
ALTER TABLE products ADD COLUMN stock_from bigint;
