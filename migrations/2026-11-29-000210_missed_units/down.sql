ALTER TABLE inventory_items DROP COLUMN missed_units;
