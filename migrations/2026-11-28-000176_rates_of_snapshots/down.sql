ALTER TABLE profit_snapshots DROP COLUMN lacks_rates;
