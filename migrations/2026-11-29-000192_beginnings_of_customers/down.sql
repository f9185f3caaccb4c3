CREATE INDEX customers_name_begins ON customers (account_id, (lower(name) COLLATE "C"));
CREATE INDEX customers_email_begins ON customers (account_id, (lower(email) COLLATE "C"));
