DROP TABLE auto_topups;
DROP TABLE payment_customers;
DROP TABLE payments;
ALTER TABLE credit_balances
    DROP COLUMN auto_topup_disabled_reason,
    DROP COLUMN auto_topup_last_failure,
    DROP COLUMN auto_topup_failures,
    DROP COLUMN auto_topup_monthly_cap;
