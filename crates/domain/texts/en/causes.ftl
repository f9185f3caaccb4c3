# Why a metric was not what was expected: the way from it to what an owner can look at.

cause-closed-day = The shop sold nothing that day; { $orders_n ->
    [one] about { $orders } order would be normal.
   *[other] about { $orders } orders would be normal.
}
cause = { $drivers } ({ $share } of the difference).
cause-because = ,{" "}because{" "}
cause-driver = { $metric ->
    [gross_revenue] sales{ $place } were
    [net_revenue] sales after refunds{ $place } were
    [orders] orders{ $place } were
    [units] units sold{ $place } were
    [visitors] visits{ $place } were
    [ad_clicks] clicks on ads{ $place } were
    [visitors_per_click] visits per click on ads{ $place } were
    [clicks_per_spend] clicks for the money spent on ads{ $place } were
    [share_of_visitors] the share of visits{ $place } was
    [orders_per_visitor_of_all] orders{ $place } per visit to the shop were
    [conversion] the part of visits that became orders{ $place } was
    [customers] customers who bought{ $place } were
    [new_customers] new customers{ $place } were
    [returning_customers] returning customers{ $place } were
    [orders_per_customer] orders per customer{ $place } were
    [units_per_order] units per order{ $place } were
    [price_per_unit] the average price of a unit{ $place } was
    [aov] the average order{ $place } was
    [refunds] refunds{ $place } were
    [refund_rate] the part of sales that was refunded{ $place } was
    [cogs] the cost of what was sold{ $place } was
    [fees] fees{ $place } were
    [shipping] shipping costs{ $place } were
    [ad_spend] spending on ads{ $place } was
    [extra_expenses] other expenses{ $place } were
    [cogs_per_unit] the cost of goods per unit{ $place } was
    [shipping_per_order] shipping costs per order{ $place } were
    [cogs_per_gross_revenue] the cost of goods per sale{ $place } was
    [fees_per_gross_revenue] fees per sale{ $place } were
    [shipping_per_gross_revenue] shipping costs per sale{ $place } were
   *[other] another figure{ $place } was
} { $compared ->
    [far_below] far below normal
    [far_above] far above normal
    [nothing] zero
    [times] at { $times } times the normal level
    [points_below] at { $observed }, { $points } below normal
    [points_above] at { $observed }, { $points } above normal
    [below] { $percent } below normal
   *[above] { $percent } above normal
}
# With the space before it.
cause-place = { $by ->
    [platform] {" "}{ on-platform }
    [product] {" "}of { $part }
    [country] {" "}{ $part_in }
    [campaign] {" "}for the campaign { $part } { on-platform }
   *[country_platform] {" "}{ $part_in } { on-platform }
}
# The same of all parts that are not named.
cause-others = { $by ->
    [platform] {" "}on all other platforms together
    [product] {" "}of all other products together
    [country] {" "}in all other countries together
    [campaign] {" "}for all other campaigns together
   *[country_platform] {" "}in all other countries and platforms together
}
