DELETE FROM reorder_suggestions r
WHERE NOT EXISTS (SELECT FROM inventory_items i WHERE i.account_id = r.account_id AND i.id = r.inventory_item_id);
ALTER TABLE reorder_suggestions ADD CONSTRAINT reorder_suggestions_account_id_inventory_item_id_fkey
    FOREIGN KEY (account_id, inventory_item_id) REFERENCES inventory_items (account_id, id) ON DELETE CASCADE;
