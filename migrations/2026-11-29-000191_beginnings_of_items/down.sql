CREATE INDEX inventory_items_sku_begins ON inventory_items (account_id, (lower(sku) COLLATE "C"));
CREATE INDEX inventory_items_name_begins ON inventory_items (account_id, (lower(product_name) COLLATE "C"));
