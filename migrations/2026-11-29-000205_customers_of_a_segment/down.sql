DROP INDEX customers_segment;
