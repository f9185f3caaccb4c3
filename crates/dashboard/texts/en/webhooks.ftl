webhooks-about = A webhook posts what happens in this shop to an address of yours, the moment it happens.
webhooks-title = { $count_n ->
    [one] { $count } webhook
   *[other] { $count } webhooks
}
webhooks-none = There is no webhook yet. Give an address below, choose what is posted there, and send yourself a test.
webhook-url = Address
webhook-events = Events
webhook-state = State
webhook-share = Delivered in 24 hours
webhook-last = Last attempt
events-all = all { $count } of the catalogue
events-some = { $count_n ->
    [one] { $count } event
   *[other] { $count } events
}
share-of = { $delivered } of { $all }
nothing-sent = nothing sent
hook-working = Working
hook-failing = Failing
hook-breaker = Circuit breaker open
hook-off = Switched off
hook-working-what = The last attempt succeeded, or none was made yet.
hook-failing-what = { $count_n ->
    [one] The last attempt failed. What waits is tried again, each time after a longer pause; a test is not.
   *[other] The last { $count } attempts failed. What waits is tried again, each time after a longer pause; a test is not.
}
hook-breaker-what = The last { $count } attempts failed. Until one succeeds, deliveries go out one at a time, with pauses of up to 5 minutes in between; that costs none of their attempts.
hook-off-owner = Paused here or by the API. What happens is kept, and is sent when you switch it on and ask for it.
hook-off-gone = The receiver answered 410: it wants nothing more. What happens is kept.
hook-off-failing = Nothing succeeded for five days. What happens is kept, and is sent when you switch it on and ask for it.
webhook-new = Add a webhook
webhook-create = Add webhook
webhook-url-help = Begins with https:// and can be reached from the Internet. When a receiver refuses a request, its deliveries say why.
webhook-url-bad = This address cannot be used: { $reason ->
    [not_https] it does not begin with https://
    [private_host] it leads to a private, local or reserved host
    [credentials_in_url] it holds a user name or a password
    [port_not_allowed] its port belongs to another protocol
   *[malformed] it is not written plainly as https://, a host, and at most a port, a path and a query; without spaces, backslashes and a part after #
}.
webhook-which = What is posted
which-all = Everything: all { $count } events of the catalogue, and what is ticked besides
which-some = Only what is ticked below
webhook-some-none = Tick at least one event, or choose everything.
webhook-limit = There are 16 webhooks already, which is the limit. Delete one first.
hook-once = Copy the signing secret now
hook-once-warning = This is the only time it is shown. With it your receiver knows that a request comes from here. If you lose it, rotate it.
hook-once-label = The signing secret
hook-once-check = Check each request with it, in Python for example; the other languages are below on the page of all webhooks:
hook-once-saved = I have saved it
hook-rotated-warning = This is the only time it is shown. Until { $at } requests are signed with the old secret as well.
events-title = The { $count } events, and those by name
events-about = “Everything” stands for the catalogue, which the first { $count } are. The others are posted to those who tick them.
receivers-title = How a receiver checks a signature
receivers-about = Every request carries an HMAC-SHA256 of its time and body. Compare it in constant time, refuse what is older than five minutes, and answer 2xx within ten seconds; what you have processed before comes with the same delivery id.
how-webhooks = The deliveries of the last 24 hours that the receiver answered with 2xx, of all that were due in that time and have succeeded or failed for good. Where there were more than { $most } to all addresses, the newest { $most } count.
hook-waiting = Waiting to be sent
hook-fired = Attempts so far
hook-failed = Attempts that failed
deliveries-title = Deliveries, newest first
deliveries-followed = Deliveries, newest first, read again every three seconds until { $at }
follow = Follow live
follow-no = no
follow-yes = for ten minutes
follow-stop = Stop following
deliveries-none = Nothing was sent that fits. Send a test, or clear the filters.
deliveries-none-yet = None of the deliveries that were looked at fits. The next page looks at older ones.
delivery-event = Event
delivery-state = State
delivery-answer = Answer
delivery-attempts = Attempts
delivery-next = Next attempt
delivery-created = Time
delivery-of = { $made } of { $all }
delivery-pending = Waiting
delivery-retrying = Retrying
delivery-held = Held
delivery-delivered = Delivered
delivery-failed = Failed
delivery-canceled = Canceled
no-answer = no answer
how-deliveries = A delivery is one event to one address. It is tried eight times in about 28 hours, after 5 seconds, 5 minutes, 30 minutes, 2, 5, 10 and 10 hours. Deliveries are kept for three months.
filter = Filter
filter-clear = Clear
any = All
from = From
to = To
test-title = Send a test
test-about = A sample of the event is posted at once, whatever the webhook asks for, and not tried again.
test-send = Send test
pause-title = Pause it
pause-about = What happens meanwhile is kept, and can be sent when you switch it on again.
pause = Pause
resume-title = Switch it on
resume-about = From then on what happens is posted again. What was held can go out as well, the oldest first.
resume = Switch on
resume-held = Switch on and send what was held
rotate-title = Rotate the secret
rotate-about = A new secret is put in place at once. For the overlap, requests are signed with both. Only one old secret is kept: rotating again ends the one before at once.
rotate-secret = Rotate secret
overlap = The old one signs too
replay-title = Replay a period
replay-about = Sends the deliveries of a period again, under the same ids. First you see how many they are.
replay-count = Count them
replay-which = Which
replay-failed-only = Those that failed
replay-everything = All, those delivered too
replay-counted = { $count_n ->
    [0] There is none in this period.
    [one] { $count } delivery would be sent again, the oldest first.
   *[other] { $count } deliveries would be sent again, the oldest first.
}
replay-period = From { $first } to { $last }.
replay-start = Send them again
replay-started = { $count_n ->
    [one] The replay has begun: { $count } delivery goes out.
   *[other] The replay has begun: { $count } deliveries go out, the oldest first.
}
replay-running = A replay is running already: one at a time per webhook, three per shop. Try again when it has ended.
delete-title = Delete the webhook
delete-about = Nothing more is posted there, for good. What waits is canceled; what was sent stays in the log until it is three months old.
delete = Delete webhook
hook-deleted = The webhook is deleted.
hook-paused = It is paused.
hook-resumed = It is switched on.
hook-sent-before = This form had been sent before. The secret that it made was shown then, that once: if you did not save it, rotate it.
delivery-attempt = Attempt
delivery-where = Where the time went (ms)
delivery-total = Total (ms)
delivery-answered = What was answered
delivery-about-next = The next attempt is { $at }.
delivery-about-done = It succeeded { $at }.
delivery-about-failed = All attempts were in vain, the last { $at }.
delivery-about-held = It waits until the webhook is switched on.
delivery-about-canceled = The webhook was deleted before it was sent.
delivery-about-underway = It is being sent at this moment.
attempts-title = Attempts
attempts-none = No attempt was made yet.
how-attempts = Times are ours: name service, connecting, the TLS handshake, and until the first byte of the answer. A kept connection needs the first three no more. Of an answer the first 16 KiB are kept.
phase-dns = DNS { $ms }
phase-connect = connect { $ms }
phase-tls = TLS { $ms }
phase-first-byte = first byte { $ms }
phase-vain = no reply in { $ms }
attempt-url_refused = This address may not be called
attempt-name_not_resolved = The name of the host is unknown
attempt-address_refused = The host is at an address that may not be called
attempt-connection_refused = Nothing listens there
attempt-connection_failed = The host cannot be reached
attempt-tls_failed = No secure connection came about
attempt-connection_closed = The receiver hung up without an answer
attempt-invalid_answer = What came back is not HTTP
attempt-timed_out = No answer in time
redirected = It pointed to { $to }, which is not followed
sent-title = What was sent
sent-size = application/json, { $bytes_n ->
    [one] { $bytes } byte
   *[other] { $bytes } bytes
}
sent-headers = Headers and signature
sent-headers-note = Those of the last attempt, signed with the secret of today: after a rotation an older attempt carried others.
resend-title = Send it again
resend-about = It goes out at once under the same id, with all its attempts before it. A receiver that processed it before should know it by the id.
resend = Resend now
resent = It is on its way again.
event-purchase-created = A payment was credited
event-credits-low = A debit left the balance low
event-credits-depleted = A debit left the balance at zero
event-credits-recharged = A top-up succeeded
event-alert-fired = The threshold of an alert was crossed
event-anomaly-detected = A metric left its expected range
event-usage-threshold_crossed = The month’s cost of AI crossed a threshold
event-ai-paused = AI was paused
event-ai-resumed = AI was resumed
event-integration-connected = A shop, ad account or profile was connected
event-integration-revoked = A shop’s permission ended
event-subscription-activated = A subscription was activated, or activated again
event-social-auto_reply_sent = A comment was answered with an approved template
event-credit-consumed = Credits were spent
event-credit-refunded = Credits came back
event-integration-disconnected = A shop, ad account or profile was disconnected
event-integration-broken = A shop stopped answering
event-creative-winner-detected = An advertisement stood out
event-inventory-low_stock = A product is running out
