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
how-estimates = Where the shop states no cost, fee or shipping, it is estimated: by other sales where they tell it, else by what the account assumes. Such a figure is marked as estimated.
estimates-none = Nothing is estimated here.
estimates-costs = Estimated here: the cost of goods whose unit cost is not known. Import unit costs, and it is exact.
estimates-fees = Estimated here: the payment fees of { $orders_n ->
    [one] { $orders } order
   *[other] { $orders } orders
} for which the shop states none. What is assumed of fees is in the settings of the shop.
estimates-shipping = Estimated here: the shipping of { $orders_n ->
    [one] { $orders } order
   *[other] { $orders } orders
} for which the shop states none. What is assumed of shipping is in the settings of the shop.
estimates-returns = Estimated here: what came back. Returned goods are taken to be fit for sale, and fees to be returned where the platform does so.
profit-of = Profit { $day_on }
neighbours = Other days
each-figure = Each figure, and how it came about
lacks-comparison = No change is shown: the shop's figures do not reach back over all of the days that these are compared with.
profit-lacks-costs = The cost of { $share } of the goods sold is known. The rest is estimated, and profit with it: import unit costs to make it exact.
profit-lacks-later = What came in after { $at } is not in these figures yet: they are computed every night.
profit-lacks-rates = On { $days_n ->
    [one] { $days } day
   *[other] { $days } days
} profit leaves out ad spend in a currency without a rate of exchange. Import the rates, and it is counted from the next night on.
day-unusual = What was unusual that day
day-unusual-none = Nothing unusual was found on this day.
day-unusual-not-yet = The day has not been looked at yet. That happens the morning after.
