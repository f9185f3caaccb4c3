severity = Severity
last-days = { $days } days
column-figure = Figure
column-that-day = That day
column-likely = Expected
anomalies-title = Days that were not as expected, newest first
anomalies-none = Every figure was as expected on these days.
anomalies-not-yet = Nothing was looked at yet. It takes { $needed } days of history; then every day is looked at the morning after.
anomalies-lacking = Nothing can be judged yet: { $needed } days of history are needed, and { $days_n ->
    [one] { $days } day is
   *[other] { $days } days are
} here. From then on every day is looked at the morning after.
how-anomalies = Every figure of a day is compared with what the days before it led to expect. The severity is how far outside it fell, and for how much money.
anomaly-title = { $direction ->
    [down] { $name } below what is normal { $day_on }
   *[up] { $name } above what is normal { $day_on }
}
anomaly-alert = Make an alert of it
anomaly-alert-name = { $direction ->
    [down] { $name } below what is normal
   *[up] { $name } above what is normal
}
expected-range = expected { $range }
found-at = found { $at }
confidence = Confidence in the cause
no-cause = No single cause that is known accounts for it.
no-cause-short = cause unknown
anomaly-shift = It did not return: the level has changed, and what is expected changes with it.
metric-around = { $name } per day, 28 days before and after
anomaly-sum = { $name }: { $value } { $day_on }, where { $range } would have been normal.
no-days = The days around it are not kept
no-days-what = They are kept from the next night on, when the days are looked at again.
explains = What explains the difference of { $amount }
explains-none = This figure cannot be split into parts.
how-drivers = Every split (channel, country, product, campaign, and what the figure is made of) is tried. The one that explains most of the difference with the fewest parts is shown. A share is a part of the row above it. Cost of goods, fees and shipping are expected at the rate that is usual for what was sold that day; no cost is expected below zero.
worked-against = worked against it
instead-of = { $observed } instead of { $expected }
all-others = all others
part-on = { $part } on { $platform }
beside = What else was unusual that day
beside-none = Every other figure was as expected that day.
along = Moved with it, though not far enough to be unusual by itself: { $names }.
moved-along = { $direction ->
    [down] { $name } (down)
   *[up] { $name } (up)
}
driver = { $metric ->
    [visitors] Visits
    [ad_clicks] Clicks on ads
    [visitors_per_click] Visits per click on ads
    [clicks_per_spend] Clicks for the money spent on ads
    [share_of_visitors] Share of visits
    [orders_per_visitor_of_all] Orders per visit to the shop
    [returning_customers] Returning customers
    [orders_per_customer] Orders per customer
    [units_per_order] Units per order
    [price_per_unit] Average price of a unit
    [cogs] Cost of goods
    [fees] Payment fees
    [shipping] Shipping
    [extra_expenses] Other expenses
    [cogs_per_unit] Cost of goods per unit
    [shipping_per_order] Shipping per order
    [cogs_per_gross_revenue] Cost of goods per sale
    [fees_per_gross_revenue] Fees per sale
    [shipping_per_gross_revenue] Shipping per sale
    [ad_spend_per_gross_revenue] Ad spend per sale
    [extra_expenses_per_gross_revenue] Other expenses per sale
    [costs_per_gross_revenue] All costs per sale
    [costs_per_net_revenue] All costs per net sale
    [net_per_gross_revenue] Part of sales that is not refunded
   *[other] Another figure
}
