CREATE INDEX customers_email_prefix ON customers (account_id, (translate(lower(email),
    'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ') COLLATE "C"));
