-- What the product was called when its suggestion was computed, as `sku` is; null where its item is gone.
ALTER TABLE reorder_suggestions ADD COLUMN product_name text;
UPDATE reorder_suggestions r SET product_name = i.product_name FROM inventory_items i
WHERE i.account_id = r.account_id AND i.id = r.inventory_item_id;
