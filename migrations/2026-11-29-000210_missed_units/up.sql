-- Units of the item that are expected to be missed until an order of that day can be there; NULL until it is next computed.
ALTER TABLE inventory_items ADD COLUMN missed_units double precision;
