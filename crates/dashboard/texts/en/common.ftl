# What all pages share. $x is a figure that is written already, $x_n its number, by which the form of a word is chosen.

skip = Skip to content
menu = Menu
main = Main
shop = Shop
connections = Connections
overview = Overview
profit = Profit
insights = Insights
reorder = Reorder
anomalies = Anomalies
stock = Stock
customers = Customers
data = Data
webhooks = Webhooks
keys = API keys
credits = Credits
live-shop = Live shop
test-shop = Test shop
to-test = Switch to test
to-live = Switch to live
settings = Settings
log-out = Log out

copy = Copy
copied = Copied
keyboard = Keyboard
keys-title = Keys
keys-on = Keys are on
close = Close
keys-chart = ← and → move along a chart that has the focus.
keys-list = This list
as-of = As of { $time }
never-computed = Not computed yet
table = Table
chart-as-table = The chart as a table
calculated = How it’s calculated
column-day = Day
today-so-far = { $day } (so far)
range = { $low } to { $high }
unknown = unknown
see-why = See why
all-of = All { $count }

# $order is what comes first, the day or the month.
date-short = { $order ->
    [month] { month-short } { $date }
   *[day] { $date } { month-short }
}
date-weekday = { $order ->
    [month] { weekday-short }, { month-short } { $date }
   *[day] { weekday-short } { $date } { month-short }
}
date-full = { $day }
date-range = { $first } – { $last }{ $order ->
    [month] , { $year }
   *[day] {" "}{ $year }
}
day-of-year = { $day }{ $order ->
    [month] , { $year }
   *[day] {" "}{ $year }
}
moment-day = { $day }, { $time }
points-short = { $number_n ->
    [one] { $number } point
   *[other] { $number } points
}
weekday-short = { $weekday_n ->
    [1] Mon
    [2] Tue
    [3] Wed
    [4] Thu
    [5] Fri
    [6] Sat
   *[7] Sun
}
month-short = { $month_n ->
    [1] Jan
    [2] Feb
    [3] Mar
    [4] Apr
    [5] May
    [6] Jun
    [7] Jul
    [8] Aug
    [9] Sep
    [10] Oct
    [11] Nov
   *[12] Dec
}

error-not-found = There is no such page
error-not-found-what = The address may be mistyped, or what was there is gone.
error-logged-out = You are not logged in
error-logged-out-what = The session has ended. Open the overview, log in, and try again.
error-forbidden = This is not for your role
error-forbidden-what = Ask an owner of the account to do it, or to change your role.
error-cross-site = The request came from another site
error-cross-site-what = Nothing was changed. Open the page here and try again.
error-other-shop = This page is of another shop
error-other-shop-what = In another tab or window you have gone to another shop, or from live to test, since this page was opened. Nothing was changed. Go back to that shop first, or open the page again.
error-unavailable = The service is busy
error-unavailable-what = Nothing was changed. Try again in a moment.
error-internal = Something went wrong here
error-internal-what = The error is in our log under this number: { $request }
error-conflict = That has changed meanwhile
error-conflict-what = Somebody decided on it already, or there is a newer one about the same. Nothing was changed; go back and look at it again.
error-too-slow = That took too long
error-too-slow-what = The form did not arrive within ten seconds. Nothing was changed; send it again.
error-too-large = That file is too large
error-too-large-what = A file may have up to 200 MB, packed with gzip or not. Nothing was kept; split it and import the parts.
error-too-many-files = Too many files wait
error-too-many-files-what = Twenty files wait to be imported, or files and refused lines take up 4 GB. Import some of them, or discard them, before another one; refused lines are removed after 30 days.
error-too-many-requests = Too many requests
error-too-many-requests-what = More was asked for in the last minute than the service takes from one person. Nothing was changed; wait a minute and try again.
error-invalid = That cannot be read
error-invalid-what = A value is missing or is not possible. Go back and correct it.
invalid-file = Choose a file that is not empty.
invalid-days = A day is missing or is not valid, or the first comes after the last. Go back and correct it.
invalid-note = A note needs a text, and not too long a one. Go back and correct it.
invalid-customer = There is no customer with that number. Go back and correct it.
try-again = Try again
to-overview = To the overview
search-go = Search
found-title = What begins with “{ $text }”
found-none = Nothing begins with that. Try a shorter text.
