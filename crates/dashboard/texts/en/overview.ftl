figures = Figures; each one changes the chart below

per-day-profit = Profit per day
per-day-net_revenue = Net revenue per day
per-day-orders = Orders per day
per-day-aov = Average order per day
per-day-margin = Margin per day
per-day-ad_spend = Ad spend per day

sum-alone = { $name } was { $value }.
sum-more = { $name } was { $value }, { $change } more than { $than }.
sum-less = { $name } was { $value }, { $change } less than { $than }.
sum-same = { $name } was { $value }, as { $than }.
than-before = in the { $days } days before
than-weekdays = on the same weekdays { $weeks_n ->
    [one] { $weeks } week
   *[other] { $weeks } weeks
} earlier
than-year = a year earlier
outside-none = No day fell outside the expected range.
outside-one = One day fell outside the expected range: { $day }, at { $value }.
outside-many = { $count } days fell outside the expected range, the furthest on { $day }, at { $value }.

line-today = today so far
line-before-before = { $days } days before
line-before-weekdays = { $weeks_n ->
    [one] { $weeks } week
   *[other] { $weeks } weeks
} earlier
line-before-year = a year earlier

no-orders = No orders yet
no-orders-what = The first figures come a few minutes after the first orders. Connect a shop, or import a file of orders.
connect-shop = Connect a shop
not-computed = Nothing was computed yet. It happens every night, and right after an import.
no-figures = No figures for these days
no-snapshot = Nothing was computed for these days yet. It happens every night, and right after an import.

happened = What happened
happened-none = Nothing needs you now. What happens is told here the morning after.
happened-not-yet = What happens is told here, from the morning after the first orders on.
stockouts = Out of stock within 14 days
stockouts-none = Nothing is expected to run out in the next 14 days.
risks = Risks in the next 30 days
risks-first = Risks in the next 30 days: the gravest { $shown } of { $count }
risks-none = No risk stands out.
risks-not-yet = Risks are looked for every night, and right after an import.
likely-loss = likely loss
risk-likely = Likelihood { $share }.
risk-range = It may cost { $low } to { $high }.
risk-amount = It may cost { $high }.
risk-act-reorder = Reorder
risk-act-discount = Sell it off
risk-act-contact = Get in touch
risk-act-reconnect = Reconnect
risk-act-pause_ad = Pause the ad
risk-act-top_up = Buy credits
risk-act-fix_endpoint = Fix the receiver
risk-act-reply = Answer
risk-act-review = Look into it
sources = Where the figures come from
source = Source
state = State
newest = Newest record
state-connected = Up to date
state-stale = No data
state-revoked = Disconnected
state-never_synced = Reading
source-orders = Orders
source-refunds = Refunds
source-ad_spend = Ad spend
source-expenses = Expenses
source-stock_levels = Stock levels
source-track_events = Visits

how-profit = Profit = net revenue − cost of goods − payment fees − shipping − ad spend − other expenses. A cost that the shop does not state is estimated.
how-net_revenue = Net revenue = gross revenue − refunds. A refund counts on its own day.
how-orders = Orders on the day they were paid, in the account’s time zone.
how-aov = Average order = gross revenue ÷ orders. No value on a day without orders.
how-margin = Margin = profit ÷ net revenue. No value where net revenue is not above zero.
how-ad_spend = Ad spend as the platforms or your files state it.
how-stories = Events are found by comparing each day with what the days before led to expect; the critical come first, then those with most money at stake.
how-stockouts = From the demand that is forecast for each product and its stock. The bar spans 6 of 10 outcomes.
how-risks = The likely loss is the mean of what may happen within 30 days, as contribution, not as sales.
curl-figures = the figures: “totals”, of the complete days
curl-chart = the chart: “data”, today included

# Since the visit before.
news = New since your last visit ({ $time }):
news-none = Nothing is new since your last visit ({ $time }).
news-anomalies = { $count_n ->
    [one] { $count } anomaly
   *[other] { $count } anomalies
}
news-insights = { $count_n ->
    [one] { $count } insight
   *[other] { $count } insights
}
news-alerts = { $count_n ->
    [one] { $count } alert fired
   *[other] { $count } alerts fired
}
news-broken = { $count_n ->
    [one] { $count } shop cannot be read
   *[other] { $count } shops cannot be read
}
