# Figures, their windows and states, on more than one page.

period = Period
period-day = Day
period-7d = 7 days
period-30d = 30 days
period-90d = 90 days
period-12m = 12 months
window-other = Other days
window-earlier = Earlier: { $days }
window-later = Later: { $days }
window-newest = These are the newest days that are over
page-window = { $days }, complete days, { $place }
page-place = { $zone } time, { $currency }
# Cities of time zones that are spelled otherwise there.
city = { $code ->
    [Asuncion] Asunción
    [Belem] Belém
    [Bogota] Bogotá
    [Cancun] Cancún
    [Cordoba] Córdoba
    [Cuiaba] Cuiabá
    [Havana] Havana
    [Maceio] Maceió
    [Merida] Mérida
    [Mexico_City] Mexico City
    [Panama] Panama
    [Sao_Paulo] São Paulo
    [Tucuman] Tucumán
   *[other] { $name }
}
compare-with = Compare: { $with }
compare-before = the { $days } days before
compare-weekdays = same weekdays
compare-year = last year
compare-none = nothing
compare-before-window = { $count } days before, { $days }
compare-weekdays-window = Same weekdays, { $days }
compare-year-window = Last year, { $days }
compare-nothing = Nothing
metric-profit = Profit
metric-net_revenue = Net revenue
metric-orders = Orders
metric-aov = Average order
metric-margin = Margin
metric-ad_spend = Ad spend
metric-gross_revenue = Gross revenue
metric-units = Units sold
metric-customers = Customers who ordered
metric-new_customers = New customers
metric-refunds = Refunds
metric-refund_rate = Refund rate
metric-roas = Return on ad spend
metric-cac = Cost per new customer
metric-conversion = Conversion
more = more
less = less
unchanged = no change
from-before = from { $before }
line-expected = expected
column-expected = Expected range
mark = { $day }: { $value } { $name }, expected { $range }. See why
at-stake = at stake
product = Product
likely-on = Likely on
units-left = { $count_n ->
    [one] { $count } left
   *[other] { $count } left
}
out-now = Out of stock
axis-today = today
axis-days = { $count } days
how-band = The expected range is where about 19 of 20 ordinary days fall: weekday, trend, season and holidays are in it.
how-edge = Where the compared line runs along the edge, that day lies far outside the scale. The table has its figure.

severity-low = Low
severity-medium = Medium
severity-high = High
severity-critical = Critical
all = All
show = Show
next-page = Next
over-days = After more than { $days } days
no-demand = Nothing sells
all-products = All products
