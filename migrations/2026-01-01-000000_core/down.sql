DROP TABLE job_runs, webhook_subscriptions, insights, anomalies, reorder_suggestions, inventory_items,
    profit_snapshots, product_days, daily_breakdowns, daily_metrics, customer_firsts, roll_ups,
    touched_days, track_events, expenses, ad_spend,
    refund_lines, refunds, order_lines, orders, stock_levels, product_costs, products, customers, integrations,
    credit_transactions, credit_balances, idempotency_keys, api_keys, accounts, users;
