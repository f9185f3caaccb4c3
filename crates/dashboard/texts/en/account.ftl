# The settings of a shop, and of whoever looks at it.
account = Account
you = You
your-name = Your name
your-name-bad = Write a name of 1 to 100 characters.
your-language = Language of these pages
your-theme = Colours
language-of-shop = As the shop
theme-system = As the device
theme-light = Light
theme-dark = Dark
save = Save
saved = Saved.
shop-title = The shop
shop-currency = Every amount is in { $currency }. A shop keeps its currency.
shop-plan = Plan: { $plan }.
plan-free = free
plan-starter = Starter
plan-pro = Pro
plan-scale = Scale
shop-owners = Owners change this.
shop-zone-is = Days begin and end in { $zone }.
shop-costs-are = Where an order does not say what it cost: a fee of { $rate } and { $fixed } { $currency }, { $shipping } { $currency } of shipping, and goods for { $cogs } of revenue.
zone-cuts = It decides when each day begins and ends. If you change it, all days are computed again.
shop-language = Language of texts
shop-country = Numbers and dates as in
shop-country-help = For example, 1,234.56 in the United States and 1.234,56 in Brazil.
country-usual = As usual in the language
shop-holidays = Public holidays of
shop-holidays-help = These days are not checked for anomalies, and nothing is learned from them.
holidays-none = No country
fee-rate = Fee, percent of revenue
fee-rate-help = Where a shop does not state what an order cost.
fee-fixed = Fee for each order
shipping-per-order = Shipping of each order
shipping-help = Where it is not stated.
cogs-ratio = Cost of goods, percent of revenue
cogs-help = Where neither the product’s cost nor its category’s is known.
choose-one = Choose one from the list.
share-wrong = Write a percentage from 0 to 100, with at most three decimals.
amount-wrong = Write an amount of 0 or more, with at most six decimals.
elsewhere = More settings
action-account-changed = Changed the account

export = Export
export-what = A file of all that the account has: orders, customers, products, figures, settings, deliveries, credits, the activity. It is NDJSON packed by gzip: one row per line, with the name of its table. Secrets, such as keys and passwords, are not in it.
export-kept = It can be fetched for { $days } days.
export-go = Make a file
export-leave = The file is being made. You can leave the page; it goes on.
exports = Files
export-of = Asked for: { $time }
export-queued = Waits for its turn.
export-running = { $rows } rows so far.
export-done = { $rows } rows, { $size }, ready since { $time }.
export-failed = Something went wrong in the service at { $time }. Ask for it again.
export-fetch = Download the file of { $time }
action-export-requested = Asked for an export
action-export-fetched = Downloaded an export

erase = Delete the account
erase-what = The live shop and the test shop of { $shop } are deleted, with everything in them, and with the people who belong to no other shop. Of the credits the amounts stay for the books, without a name.
erase-now = Keys and log-ins of everybody end at once.
erase-undo-for = For { $days } days an owner can log in and undo it. After that nothing can be brought back.
erase-export = Take a file of everything along first
erase-name = Write the name of the shop
erase-name-wrong = That is not the name of the shop. Nothing was changed.
erase-go = Delete the account
erase-coming = The account is deleted on { $day } at { $time }. Until then you can undo it.
erase-ended = API keys that were ended do not work again: make new ones.
erase-undo = Keep the account
erase-asked = The account is deleted on { $day }. Until then an owner can log in and keep it. Everybody is logged out.
erase-notice = This account is deleted on { $day }. Keep it
action-erasure-requested = Asked for the account to be deleted
action-erasure-undone = Kept the account
action-customer-data-fetched = Downloaded the data of a customer
action-customer-forgotten = Forgot a customer

system = System
job-late = Lateness
job-on-time = On time
job-behind = { $hours_n ->
    [one] { $hours } hour behind
   *[other] { $hours } hours behind
}
how-late = Every job runs for each day of the account, soon after it begins. It is behind from then on until it is done.
queues-title = What waits
queue = Queue
queue-waiting = Waiting
queue-since = Due since
queue-deliveries = Deliveries to webhooks
queue-held = Deliveries of webhooks that are off
queue-inbox = Hooks of shop platforms
queue-uploads = Files to import
queue-exports = Files to export
queue-top_ups = Automatic top-ups
how-queues = What waits of this account. It is worked on in seconds; a retry waits for its time. Up to { $most } deliveries of a webhook are counted.
versions-title = Versions
version-of = Part
version = Version
version-program = Service
version-schema = Database schema
version-database = PostgreSQL
how-versions = The service’s own version, the newest migration of its database, and what the database says of itself.

# Notes on days.
notes-title = Notes
notes-none = Nobody wrote anything about this day.
note = Note
note-write = Write a note
note-help = What everybody should know about this day, on one line of at most { $most } characters. It is shown in the chart of the overview.
note-save = Save note
note-by = { $name }, { $time }
note-remove = Remove “{ $text }”
note-and-more = { $text } (+{ $count })
note-mark = { $text }: note on { $day }
your-shops = Your shops
shop-here = { $role } · the one that you look at
shop-go = Go to { $shop }
key-made-by = Made by
action-key-made = Made a key
action-key-rotated = Rotated a key
action-key-revoked = Revoked a key
action-reorder-decided = Decided on a reorder

# What the activity is about.
activity-about = About
activity-sandbox = Test shop
activity-none = Nothing was done that fits.
noted-field = { $field ->
    [role] role
    [scopes] access
    [template_id] template
    [status] status
    [handling] who answers
    [correct] right
    [channel] channel
    [platform] platform
    [kind] kind of file
    [text] text
    [events] events
    [active] switched on
    [since] from
    [until] until
    [states] states
    [deliveries] deliveries
    [name] name
    [metric] watches
    [comparator] fires when it is
    [threshold] threshold
    [window_hours] over how many hours
    [severity] severity
    [cooldown_hours] quiet after firing, hours
    [enabled] switched on
    [top_up_amount] buys
    [monthly_cap] at most in a month
    [mode] mode
    [hours] business hours
    [per_user_day] answers to a person in a day
    [per_post_hour] answers under a post in an hour
    [per_account_hour] answers in an hour altogether
    [categories_auto] answered automatically
    [opt_out_words] words by which people ask to be left alone
    [own_hosts] hosts that answers may lead to
    [link] link
    [model_vote] second opinion of a language model
    [zone] time zone
    [language] language
    [country] numbers and dates as in
    [holidays] public holidays of
    [fee_rate] fee, percent of revenue
    [fee_fixed] fee, fixed part
    [shipping] shipping of an order
    [cogs] cost of goods, percent of revenue
   *[other] { $name }
}
area-access = Logging in
area-people = People
area-account = Account
area-keys = API keys
area-webhooks = Webhooks
area-alerts = Alerts
area-integrations = Connected shops
area-data = Files and jobs
area-decisions = Decisions and notes
area-credits = Credits
area-conversations = Conversations
action-insight-decided = Decided on an insight
action-note-written = Wrote a note on
action-note-removed = Removed a note on
action-webhook-made = Added a webhook
action-webhook-changed = Changed a webhook
action-webhook-deleted = Deleted a webhook
action-webhook-secret-rotated = Rotated the secret of a webhook
action-webhook-tested = Sent a sample to a webhook
action-delivery-resent = Sent a delivery again
action-deliveries-replayed = Sent the deliveries of a period again
action-alert-made = Made an alert
action-alert-changed = Changed an alert
action-alert-muted = Muted an alert
action-alert-unmuted = Switched an alert on again
action-alert-deleted = Deleted an alert
action-shop-connected = Connected a shop
action-shop-sync-requested = Had a shop read
action-shop-disconnected = Disconnected a shop
action-profile-connected = Connected a profile
action-profile-disconnected = Disconnected a profile
action-import-started = Imported a file
action-upload-discarded = Discarded a file
action-jobs-requested = Had everything computed
action-insights-requested = Had insights made
action-auto-topup-changed = Changed the automatic top-up
action-checkout-opened = Opened a checkout for credits
