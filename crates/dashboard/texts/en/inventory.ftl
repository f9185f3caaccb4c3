stock-states = Products by state; each one shows these below
stock-critical = Critical
stock-low = Low
stock-ok = Enough
stock-overstocked = Too much
stock-critical-what = lasts 7 days or less
stock-low-what = lasts 21 days or less
stock-ok-what = lasts up to 120 days
stock-overstocked-what = lasts longer, or does not sell
stock-title = All products, the most urgent first
stock-critical-title = Critical products, the most urgent first
stock-low-title = Products that run low
stock-ok-title = Products with enough stock
stock-overstocked-title = Products with too much stock
stock-none = No product is in this state.
stock-unknown = The stock of no product is known yet. Connect a shop, or import a file with stock levels; the first figures come a few minutes later.
days-of-stock = Days of stock
units-a-day = Units a day
how-states = The state follows from how many days the stock lasts.
search-products = SKU or name begins with
sold-in-7 = Sold in 7 days
sold-in-30 = Sold in 30 days
lasts-title = How long it lasts
sold-title = What was sold, by day
line-sold = sold
not-sold = Nothing was sold
not-sold-what = In the last 90 days nobody bought it.
sold-sum = { $count_n ->
    [one] { $count } unit was sold on the last { $days } full days.
   *[other] { $count } units were sold on the last { $days } full days.
}
sold-best = The most on { $day }: { $count }.
column-sold = Sold
column-returned = Came back
column-left = Left at the end
how-sold = Units as they were ordered, on the day of the order. What came back counts on its own day. What was left is as the shop or a file said at the end of the day.
