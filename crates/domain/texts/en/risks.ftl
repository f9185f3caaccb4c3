# The title of a risk, by its type. $label is what it is about; the others are its evidence, $x_threshold from where on it is raised.

risk-sold_out = { $label } is out of stock
risk-stockout = { $days_of_stock_n ->
    [one] { $label } runs out in about { $days_of_stock } day
   *[other] { $label } runs out in about { $days_of_stock } days
}
risk-dead_stock = { $excess_units_n ->
    [one] { $label } has { $excess_units } unit more in stock than it sells in half a year
   *[other] { $label } has { $excess_units } units more in stock than it sells in half a year
}
risk-churn = { $customers_n ->
    [one] { $customers } regular customer is unlikely to come back
   *[other] { $customers } regular customers are unlikely to come back
}
risk-customer_concentration = One customer brings { $share_90d } of net revenue
risk-sku_concentration = { $label } brings { $share_90d } of revenue
risk-channel_concentration = { $label } brings { $share_90d } of revenue
risk-refund_spike = { $refunds_7d_n ->
    [one] { $refunds_7d } refund in a week, where { $refunds_usual } would be usual
   *[other] { $refunds_7d } refunds in a week, where { $refunds_usual } would be usual
}
risk-margin_drop = The margin fell by { $margin_14d_lost }, from { $margin_14d_threshold } to { $margin_14d }
risk-ad_waste = The campaign { $label } brings in { $roas_30d } times what it costs; it takes { $roas_30d_threshold } times to pay for itself
risk-ad_fatigue = The ad { $label } is clicked on { $ctr_drop } less than before
risk-integration_stale = { $hours_since_sync_n ->
    [one] { $label } has not been synced for { $hours_since_sync } hour
   *[other] { $label } has not been synced for { $hours_since_sync } hours
}
risk-low_credits = { $days_left_n ->
    [one] The credits last for about { $days_left } more day
   *[other] The credits last for about { $days_left } more days
}
risk-webhooks_failing = { $hours_failing_n ->
    [one] Webhook { $subject } has been failing for { $hours_failing } hour
   *[other] Webhook { $subject } has been failing for { $hours_failing } hours
}
risk-unanswered_conversations = { $waiting_conversations_n ->
    [one] { $waiting_conversations } customer has been waiting for an answer for { $hours_waiting } h
   *[other] { $waiting_conversations } customers are waiting for an answer, the first for { $hours_waiting } h
}

# What an amount takes for granted.

assumption-buyers_switch = half of the lost demand may move to another product in the low case
assumption-on_order_arrives = what is on order arrives half-way through the lead time, and what is ordered today at its end
assumption-lead_time_unknown = the supplier takes 14 days, as no lead time is known
assumption-carrying_cost = stock costs 20% of its value a year; in the high case the excess has to be written off
assumption-leave_by_score = customers stay away as often as their churn scores say
assumption-buy_as_last_year = a customer who stays brings as much as in the last year
assumption-churn_uncalibrated = no amount, as too few customers have bought to tell how many will stay away
assumption-whole_share_lost = the whole share is lost in the high case, and nothing of it in the low case
assumption-spike_fades = a fifth of what is beyond the usual number lasts, as seen in past weeks
assumption-goods_not_back = goods that came back are fit for sale, other refunded goods are lost
assumption-revenue_as_last_month = net revenue is as in the last 30 days
assumption-margin_recovers = a fifth of the fall lasts, as seen in past falls
assumption-use_as_lately = as many credits are used as in the last 14 days
assumption-spend_as_lately = as much is spent as in the last 30 days
assumption-sales_as_claimed = the ads bring the sales that their platform claims
assumption-clicks_stay_few = the clicks stay as few as now in the high case, and come back in the low case
assumption-costs_unknown = no amount, as unit costs are not known
