DROP INDEX customers_name_begins;
DROP INDEX customers_email_begins;
