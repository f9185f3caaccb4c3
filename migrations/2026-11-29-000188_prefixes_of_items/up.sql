-- What begins with a text, whatever the letters' case: where the locale is C, lower() leaves letters with accents as they are.
CREATE INDEX inventory_items_sku_prefix ON inventory_items (account_id, (translate(lower(sku),
    'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ') COLLATE "C"));
CREATE INDEX inventory_items_name_prefix ON inventory_items (account_id, (translate(lower(product_name),
    'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ') COLLATE "C"));
