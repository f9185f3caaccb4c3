-- A decision on a suggestion outlives the item, which is gone for as long as the product has no known stock.
ALTER TABLE reorder_suggestions DROP CONSTRAINT reorder_suggestions_account_id_inventory_item_id_fkey;

-- When each was said: by the newest order or refund that said anything of it. NULL where nothing was said.
ALTER TABLE customers
    ADD COLUMN email_at timestamptz,
    ADD COLUMN name_at timestamptz,
    ADD COLUMN city_at timestamptz,
    ADD COLUMN country_at timestamptz;
-- Which order said what is known is not kept: the newest at the latest.
UPDATE customers c SET
    email_at = CASE WHEN c.email IS NOT NULL THEN t.last_at END,
    name_at = CASE WHEN c.name IS NOT NULL THEN t.last_at END,
    city_at = CASE WHEN c.city IS NOT NULL THEN t.last_at END,
    country_at = CASE WHEN c.country IS NOT NULL THEN t.last_at END
FROM customer_totals t WHERE t.account_id = c.account_id AND t.customer_id = c.id;
