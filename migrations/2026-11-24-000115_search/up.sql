-- What begins with a text, whatever the letters' case: ranges of these.
CREATE INDEX inventory_items_sku_begins ON inventory_items (account_id, (lower(sku) COLLATE "C"));
CREATE INDEX inventory_items_name_begins ON inventory_items (account_id, (lower(product_name) COLLATE "C"));
CREATE INDEX customers_name_begins ON customers (account_id, (lower(name) COLLATE "C"));
CREATE INDEX customers_email_begins ON customers (account_id, (lower(email) COLLATE "C"));
