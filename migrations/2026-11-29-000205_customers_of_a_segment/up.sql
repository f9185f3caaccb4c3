CREATE INDEX customers_segment ON customers (account_id, segment, id);
