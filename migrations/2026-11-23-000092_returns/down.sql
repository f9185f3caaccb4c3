ALTER TABLE profit_snapshots DROP COLUMN returned_units, DROP COLUMN returned_cogs, DROP COLUMN returned_fees;
ALTER TABLE daily_metrics DROP COLUMN returned_units, DROP COLUMN returned_cogs, DROP COLUMN returned_fees;
