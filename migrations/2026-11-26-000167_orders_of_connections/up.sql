-- The connection that gave the order last; null where only files did. Only the shop that gave an order can say that it is gone.
ALTER TABLE orders ADD COLUMN integration_id bigint;
