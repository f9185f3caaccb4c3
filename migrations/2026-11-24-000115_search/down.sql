DROP INDEX customers_email_begins;
DROP INDEX customers_name_begins;
DROP INDEX inventory_items_name_begins;
DROP INDEX inventory_items_sku_begins;
