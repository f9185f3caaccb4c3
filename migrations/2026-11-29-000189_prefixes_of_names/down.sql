DROP INDEX customers_name_prefix;
