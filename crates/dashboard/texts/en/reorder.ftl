reorder-pending = To order
reorder-ordered = Ordered
reorder-dismissed = Dismissed
reorder-pending-title = What to buy again
reorder-ordered-title = What you ordered
reorder-dismissed-title = What you dismissed
reorder-pending-none = Nothing to buy now: the stock of every product lasts until an order placed later would arrive.
reorder-ordered-none = Nothing is marked as ordered.
reorder-dismissed-none = You have dismissed nothing.
reorder-now-pending = It is to be ordered again.
reorder-now-ordered = Marked as ordered. It is not suggested again until the order can have arrived.
reorder-now-dismissed = Dismissed.
reorder-basis = The numbers behind it
reorder-about = Covers { $days_n ->
    [one] { $days } day
   *[other] { $days } days
} of demand with a probability of { $share } · computed { $at }
order-so-many = Order { $quantity } of { $product }
do-not-order = { $product }: { $quantity } would be needed
sells-at-a-loss = Sells at a loss
mark-ordered = Mark as ordered
units = units
column-value = Value
basis-on_hand = In stock
basis-on_order = On order
basis-lead_time_days = Days of delivery
basis-review_days = Days until the next occasion to order
basis-daily_demand = Expected to sell a day
basis-expected_demand = Expected to sell until the next order arrives
basis-safety_stock = Safety stock
basis-reorder_point = Order when stock falls to
basis-order_up_to = Order up to
basis-service_level = Probability aimed at
basis-pack_size = Pack size
basis-min_order_qty = Least quantity
basis-unit_contribution = What selling one brings
basis-sold_last_year = Sold a year ago in that time
how-reorder = So many that stock and order together last until the next order arrives, in as many cases out of 100 as the account aims at; rounded up to packs and the least quantity.
