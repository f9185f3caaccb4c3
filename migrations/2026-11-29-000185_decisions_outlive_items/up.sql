-- A decision on a suggestion outlives the item, which is gone for as long as the product has no known stock.
ALTER TABLE reorder_suggestions DROP CONSTRAINT reorder_suggestions_account_id_inventory_item_id_fkey;
