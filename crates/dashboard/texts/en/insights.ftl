insights-open = Open
insights-resolved = Done
insights-dismissed = Dismissed
insights-open-title = What needs you, by what is at stake
insights-resolved-title = What is done
insights-dismissed-title = What you dismissed
insights-open-none = Nothing needs you now. What happens is told here the morning after.
insights-resolved-none = Nothing is done yet. What you finish, and what ends by itself, is kept here.
insights-dismissed-none = You have dismissed nothing.
insight-now-open = It is open again.
insight-now-resolved = Marked as done. It is not brought up again for 7 days.
insight-now-dismissed = Dismissed. It is not brought up again for 14 days.
insight-as-of = as of { $at }
insight-ended-open = open since { $at }
insight-ended-resolved = done { $at }
insight-ended-dismissed = dismissed { $at }
done = Done
dismiss = Dismiss
undo = Undo
reopen = Open again
category-ads = Ads
category-churn_risk = Customers at risk
category-inventory = Stock
category-profit = Profit
category-revenue = Revenue
category-customers = Customers
category-pricing = Prices
category-integrations = Connections
category-social = Comments
how-insights = At most seven are open at once, those with most at stake; what is critical comes first. One event is told once, however many figures it moved.
insights-now = Make them now
insights-now-what = They are made every night. They can also be made at once, from what is known now.
insights-now-price = A language model words what is new, for { $credits_n ->
    [one] { $credits } credit
   *[other] { $credits } credits
}. It costs nothing where nothing is new, and where a text fails the check of its numbers.
insights-now-free = It costs nothing.
insights-now-make = Make them
insights-under-way = They are being made. This page looks again by itself.
insights-worded = Made just now, for { $credits_n ->
    [one] { $credits } credit
   *[other] { $credits } credits
}.
insights-made = Made just now. It cost nothing.
insights-nothing-new = Nothing is new. It cost nothing.
insights-plain = Made just now, in plain words: a text of the language model failed the check of its numbers. It cost nothing.
insights-failed = The language model gave no text. It cost nothing. Try again later.
insights-paused = AI is paused for this shop, so nothing was asked for.
insights-insufficient = There are too few credits for it, so nothing was asked for.
