credits-about = What AI features cost is paid in credits. Everything else is free of them.
credits-count = { $count_n ->
    [one] { $count } credit
   *[other] { $count } credits
}
credits-paid = Thank you. The credits are added as soon as the payment gateway confirms the payment, usually within seconds. Reload the page to see them.
balance-title = Balance
balance = Credits
days-left = Days they last
used-lately = { $credits } used in the last { $days } days
spent-in = Spent in { $days } days
spent-before = from { $credits } before
how-runway = Days they last is the balance divided by what was used a day, on the mean of the last 14 days of 24 hours. It is unknown where nothing was used.
how-spent = Spent is what AI features took less what was given back. What is given back counts on the day of giving back. Periods end today.
used-title = Credits spent by day
line-credits = spent
used-sum = Credits spent in the last { $days } days: { $credits }.
used-most = Most were spent on { $day }: { $credits }.
unused = Nothing was spent yet
unused-what = Credits go when an AI feature is used, such as the texts of insights. None was used in the last 90 days.
features-title = What they went for, last { $days } days
features-none = No AI feature was used in this time.
feature = Feature
feature-share = Part
feature-spent = Credits spent
feature-debits = Times used
feature-refunded = Given back
buy-title = Buy credits
buy-about = You pay at the payment gateway; no card number comes here. The credits do not expire.
buy-pack = How many
buy-go = Go to the payment
buy-nothing = Nothing is for sale: no payment gateway is set up here. The operator can set one up, or grant credits.
buy-test = Nothing is sold to the test shop. Switch to the live shop to buy credits.
buy-owners = Owners of the account buy credits.
pack-for = { $credits } for { $price }
checkout-away = The payment gateway does not answer. Nothing was charged; try again in a moment.
pay-title = Pay for { $credits }
pay-about = The payment gateway at { $host } takes the payment of { $price }. When it has confirmed it, the credits are added here.
pay-go = Pay { $price }
pay-not = Not now
auto-title = Automatic top-up
auto-set = Change the automatic top-up
auto-about = The card of the last payment by hand is charged. After three failures in a row it is switched off.
auto-on = On: when fewer than { $threshold } credits are left, { $credits } are bought.
auto-off = Off: when the credits are used up, AI features stop until somebody buys more.
auto-cap-is = At most { $credits } are bought in a calendar month (UTC).
auto-cap-none = How much is bought in a month is limited by the service only.
auto-last = Last bought: { $time }.
auto-stopped = The service switched it off: { $reason }.
auto-stopped-otherwise = The service switched it off, and gives this reason:
auto-stopped-charged-back = a payment was charged back
auto-stopped-deletion = the deletion of the account was asked for
auto-stopped-unknown = for a day it was not known whether a charge was made
auto-stopped-not-credited = a charge was paid, and the credits could not be added ({ $reason })
auto-stopped-failed = { $count } charges in a row failed, the last one because { $reason }
auto-failed = { $count_n ->
    [one] The last charge failed: { $reason }.
   *[other] The last { $count } charges failed: { $reason }.
}
charge-failure = { $code ->
    [card_declined] the card was declined
    [expired_card] the card has expired
    [insufficient_funds] the card has not enough funds
    [declined] the payment was declined
    [rejected] the payment was rejected
    [no_payment_method] no card is known from a payment by hand
    [no_such_pack] no pack of that size is for sale in the account’s currency
    [unknown_outcome] it is not known whether the card was charged
    [no_order] the payment names no order of this service
    [unknown_account] the payment names an account that does not exist
    [sandbox_account] nothing is sold to the test shop
    [unknown_item] the payment names a pack that is not for sale
    [currency_mismatch] the payment is in another currency than the price
    [amount_mismatch] the payment is of another amount than the price
    [other_account] the payment belongs to another account
   *[other] the payment gateway answered “{ $code }”
}
auto-enabled = Automatic top-up
auto-enabled-bad = Tick it or not.
auto-enable = Buy credits when few are left
auto-threshold = Fewer than
auto-threshold-help = Credits. A balance below this is topped up.
auto-threshold-bad = Write a whole number of credits from 1 to { $limit }.
auto-amount = Buy
auto-amount-bad = Choose one of the packs.
auto-cap = At most in a month
auto-cap-help = Credits in a calendar month (UTC). Leave it empty for the service’s own limit.
auto-cap-bad = Write a whole number of credits from { $limit } to { $most }, or nothing.
auto-save = Save
auto-saved = The automatic top-up is saved.
how-auto = A charge waits for the pause between two, and for the month’s limit. What went wrong is shown until it is switched on again.
ledger-title = Ledger, newest first
ledger-none = Nothing here matches. Take the filters off.
ledger-time = Time
ledger-kind = Kind
ledger-amount = Credits
ledger-balance = Balance after
ledger-consume = Use
ledger-refund = Given back
ledger-topup = Bought
ledger-auto_topup = Bought automatically
ledger-grant = Given
ledger-adjustment = Correction
how-ledger = Every change of the balance, never altered or removed. The balance is the sum of all of them.
