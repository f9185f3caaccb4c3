DROP INDEX customers_email_prefix;
