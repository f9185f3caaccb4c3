-- The newest suggestion of an item, whatever was decided: what selling a unit of it brings.
CREATE INDEX reorder_suggestions_item ON reorder_suggestions (account_id, inventory_item_id, id);
