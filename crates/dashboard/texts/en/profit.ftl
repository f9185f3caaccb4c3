explained-gross_revenue = Gross revenue
explained-refunds = Refunds
explained-ad_spend = Ad spend
explained-cogs_estimate = Cost of goods
explained-fees_estimate = Payment fees
explained-shipping_estimate = Shipping
explained-extra_expenses = Other expenses
explained-net_revenue = Net revenue
explained-operational_profit = Operational profit
explained-final_profit = Profit
explained-margin_pct = Margin
explained-purchase_count = Orders
input-goods_revenue = Revenue of goods
input-cogs_covered_revenue = Revenue with a known cost
input-cogs_ratio = Ratio of cost to revenue
input-returned_units = Returned units
input-returned_cogs = Cost of returned units
input-fees_estimated_orders = Orders with estimated fees
input-fee_rate = Fee rate
input-fee_fixed = Fee per order
input-returned_fees = Returned fees
input-shipping_estimated_orders = Orders with estimated shipping
input-shipping_per_order = Shipping per order
way-title = From gross revenue to profit
column-way = What is left
column-amount = Amount
column-before = Before
column-change = Change
column-basis = Costs
days-title = Day by day
cost-known = Cost known
of-goods = of { $revenue } of goods sold
days-estimated = Days with estimates
of-days = of { $days_n ->
    [one] { $days } day
   *[other] { $days } days
}
estimated = Estimated
stated = Stated
how-estimates = Where the shop states no cost, fee or shipping, the account’s assumption is used and the figure is marked as estimated. State the unit costs of your products and the marks go away.
profit-of = Profit { $day_on }
neighbours = Other days
each-figure = Each figure, and how it came about
profit-lacks-costs = The cost of { $share } of the goods sold is known. The rest is estimated, and profit with it: import unit costs to make it exact.
profit-lacks-rates = On { $days_n ->
    [one] { $days } day
   *[other] { $days } days
} profit leaves out ad spend in a currency without a rate of exchange. Import the rates, and it is counted from the next night on.
