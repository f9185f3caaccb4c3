CREATE INDEX customers_name_prefix ON customers (account_id, (translate(lower(name),
    'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ') COLLATE "C"));
