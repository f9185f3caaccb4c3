# How the figures of a day of profit are computed. Names of fields and rates stay as they are.

formula-gross_revenue = sum of quantity * unit price over the orders of the day
formula-refunds = sum of the refunds dated on the day
formula-ad_spend = sum of the spend of all campaigns on the day
formula-cogs_estimate = units * unit cost at the time of sale, else the last known; (goods_revenue - cogs_covered_revenue) * the category's ratio of cost to revenue of the day, else * cogs_ratio; less returned_cogs, of refunds and cancellations with returned_units
formula-fees_estimate = sum of the fees that the shop states; for fees_estimated_orders, revenue * the rate that the platform's other orders of the day state, else revenue * fee_rate + fee_fixed; less returned_fees, the same rate of what was refunded for goods that came back, where the platform returns its fees
formula-shipping_estimate = sum of the shipping that the shop states; plus shipping_per_order * shipping_estimated_orders
formula-extra_expenses = sum of the expenses of the day
formula-net_revenue = gross_revenue - refunds
formula-operational_profit = net_revenue - cogs_estimate - fees_estimate - shipping_estimate
formula-final_profit = operational_profit - ad_spend - extra_expenses
formula-margin_pct = 100 * final_profit / net_revenue, where net_revenue > 0
formula-purchase_count = number of the orders of the day
