alerts = Alerts
alerts-about = An alert watches one figure and fires the event alert.fired when it crosses a threshold: once, until it has recovered.
alerts-title = Rules, newest first
alerts-none = There is no rule yet. Take one of the three below, or make your own: you see first how often it would have fired.
alerts-ready = Ready-made
ready-no-orders = No orders for a day
ready-loss = A day at a loss
ready-stockouts = Something that sells is out of stock
how-alerts = Rules are evaluated every five minutes. The first value beyond the threshold fires; a value on the other side arms the rule again. After firing it keeps quiet for its pause. Orders, revenue, refunds, the average order and events are of the hours up to now. Ad spend, ROAS, profit and margin are of full days without today. Products out of stock are as they were last computed, once a day.
alert-name = Name
alert-state = State
alert-last-value = Last value
alert-last-fired = Last fired
alert-last-evaluated = Last looked at
alert-metric = Watch
alert-event = Name of the tracked event
alert-event-help = Only for a tracked event.
alert-comparator = Fires when it is
alert-threshold = Threshold
alert-threshold-help = Money in the account’s currency, the margin in percent.
alert-window = Over how many hours
alert-window-help = Orders, revenue, refunds and average order 1 to 2160. Ad spend, ROAS, profit and margin in full days: 24, 48 and so on, up to 2160. Products out of stock 24. Events 1 to 168.
alert-severity = Severity
alert-cooldown = Quiet after firing, hours
alert-cooldown-help = 0 to 720.
alert-name-bad = Write a name of 1 to 120 characters.
alert-metric-bad = Choose what to watch.
alert-event-bad = Write the name that the event is tracked by.
alert-comparator-bad = Choose when it fires.
alert-threshold-bad = Write a number below 1,000,000,000,000 with at most six decimals.
alert-window-bad = This figure is not known over so many hours.
alert-severity-bad = Choose a severity.
alert-cooldown-bad = Write a whole number of hours from 0 to 720.
alert-limit = There are 50 rules already, which is the limit. Delete one first.
alert-armed = Watching
alert-beyond = Beyond its threshold
alert-off = Muted
alert-new = Not looked at yet
alert-new-title = A new rule
alert-new-about = Nothing is made yet: you see first how often it would have fired in the last 90 days.
alert-try = See how often it would have fired
alert-make-title = Make “{ $name }”
alert-make = Make this rule
alert-made = The rule is made. It is looked at within minutes.
alert-changed = The rule is changed.
alert-deleted = The rule is deleted.
alert-change-title = Change the rule
alert-change-about = A rule that watches something else from then on is armed again and forgets what it saw.
alert-change = Save
alert-mute = Mute it
alert-mute-about = It is not evaluated until you switch it on again.
alert-unmute = Switch it on
alert-unmute-about = It is armed again and looked at within minutes.
alert-delete = Delete the rule
alert-delete-about = It is gone for good.
trial-untold = How often it would have fired cannot be told from the sums of the days: it watches parts of a day, an event or the stock.
trial-count = { $count_n ->
    [0] It would not have fired in the last { $days } days.
    [one] It would have fired once in the last { $days } days, looked at when each day was over:
   *[other] It would have fired { $count } times in the last { $days } days, looked at when each day was over; the newest:
}
comparator-gt = above the threshold
comparator-gte = at or above the threshold
comparator-lt = below the threshold
comparator-lte = at or below the threshold
condition-gt = { $metric } above { $threshold } in { $hours_n ->
    [one] { $hours } hour
   *[other] { $hours } hours
}
condition-gte = { $metric } at or above { $threshold } in { $hours_n ->
    [one] { $hours } hour
   *[other] { $hours } hours
}
condition-lt = { $metric } below { $threshold } in { $hours_n ->
    [one] { $hours } hour
   *[other] { $hours } hours
}
condition-lte = { $metric } at or below { $threshold } in { $hours_n ->
    [one] { $hours } hour
   *[other] { $hours } hours
}
watch-orders = Orders
watch-revenue = Revenue
watch-profit = Profit
watch-margin = Margin
watch-aov = Average order
watch-refunds = Refunds
watch-ad_spend = Ad spend
watch-roas = ROAS
watch-stockouts = Products out of stock
watch-event = A tracked event
watch-event-of = Events “{ $name }”

firings-title = When it fired, newest first
firings-none = It has not fired yet.
firing-time = When
firing-observed = Value
firing-sent = Delivered
firing-delivered = Delivered: { $delivered } of { $all }
firing-nobody = No webhook
how-firings = Each time the rule fired, with the value that was seen and the threshold that it had then. Delivered counts the webhooks that the event went to; deliveries are kept for a while, firings for a year.
