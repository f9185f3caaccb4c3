ALTER TABLE inventory_items DROP COLUMN unit_contribution;
