keys-about = A key lets a program read or change this shop’s data.
keys-about-test = A key of the test shop: a program that has it reads and changes the test shop alone.
keys-working = Working
keys-ended = Ended
keys-working-title = { $count_n ->
    [one] { $count } key that works
   *[other] { $count } keys that work
}
keys-ended-title = { $count_n ->
    [one] { $count } key that works no longer
   *[other] { $count } keys that work no longer
}
keys-working-none = There is no key yet. A program needs one to send orders and events, and to read what this shop’s figures are.
keys-ended-none = No key has been revoked or has ended.
keys-exact = “Last used” is exact to 5 minutes
keys-rotating = How rotating works
keys-rotating-how = You get a new key at once, with the same name and access. The old one keeps working for as long as you choose, at most 7 days, so that nothing stops while you change it over.
key-name = Name
key-name-help = What uses it, such as “Warehouse sync”.
key-name-bad = Write a name of 1 to 100 characters.
key-limit = At most 100 keys may work at a time. Revoke one first.
key-unnamed = Key { $prefix }…
key-prefix = Key
key-access = Access
key-access-none = Choose reading, writing or both.
key-made = Created
key-last-used = Last used
key-ends = Ends
key-ends-in = in { $days_n ->
    [one] { $days } day
   *[other] { $days } days
}, on { $day }
key-ended-on = Ended on { $day }
key-revoked-on = Revoked on { $day }
never = never
access-read = Read
access-write = Write
access-both = Read and write
scope-read = Read: figures, customers, stock and what the shop is told
scope-write = Write: send events and orders, manage webhooks and alerts, decide on suggestions
key-new = Create a key
key-create = Create key
key-once = Copy the key “{ $name }” now
key-once-warning = This is the only time it is shown. If you lose it, rotate the key to get a new one.
key-once-label = The key
key-once-try = Try it:
key-once-saved = I have saved it
key-rotate = Rotate the key
key-overlap = The old key works on
key-overlap-none = not at all: it ends at once
key-overlap-hours = { $count_n ->
    [one] for { $count } hour
   *[other] for { $count } hours
}
key-revoke = Revoke the key
key-revoke-what = It ends at once and for good: whatever uses it gets the error “key_revoked” from then on.
key-revoked = The key is revoked.
key-sent-before = This form had been sent before. The key that it made was shown then, that once: if you did not save it, rotate it.
