DROP TABLE ai_access;
ALTER TABLE credit_balances RESET (fillfactor);
DROP INDEX credit_transactions_feature;
DROP INDEX credit_transactions_kind;
DROP INDEX credit_transactions_created;
DROP INDEX credit_transactions_refunded;
ALTER TABLE credit_transactions
    DROP CONSTRAINT credit_transactions_sign,
    DROP CONSTRAINT credit_transactions_refunds,
    DROP COLUMN refunds_id,
    DROP COLUMN operation_hash;
