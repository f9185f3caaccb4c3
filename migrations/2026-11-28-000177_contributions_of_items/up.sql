-- What selling a unit of the item brings, in the account's currency; NULL until it is next computed, and where it is not known.
ALTER TABLE inventory_items ADD COLUMN unit_contribution double precision;
