DROP INDEX customers_value;
DROP INDEX customers_churn;
