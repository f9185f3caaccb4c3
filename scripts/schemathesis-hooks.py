"""What no schema can say about a request: how two of its fields compare, what time it is, and what is stored.

A field that such a rule may refuse is left out, or replaced by an instant or a day that the clock allows, so that these operations
are held to every other rule. What is not a valid instant is sent as it is.
"""

from datetime import datetime, timedelta, timezone
from zlib import crc32

import schemathesis


EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse(value):
    """The instant or, without a time zone, the day that a text is; None for anything else."""
    try:
        return datetime.fromisoformat(value.upper())
    except (AttributeError, ValueError):
        return None


def replace(body, field, hours):
    """Puts an instant of that many hours ago into the field, the same one for the same text."""
    found = parse(body.get(field))
    if found and found.tzinfo and found >= EPOCH:
        past = timedelta(hours=hours[crc32(body[field].encode()) % len(hours)])
        body[field] = (datetime.now(timezone.utc) - past).strftime("%Y-%m-%dT%H:%M:%SZ")


@schemathesis.hook
def before_call(context, case, **kwargs):
    operation = context.operation.label
    body = case.body if isinstance(case.body, dict) else {}
    query = case.query or {}
    if parse(query.get("as_of")):
        # A day of the last two years.
        past = timedelta(days=1 + crc32(query["as_of"].encode()) % 700)
        query["as_of"] = (datetime.now(timezone.utc) - past).strftime("%Y-%m-%d")
    if operation == "POST /api/v1/track":
        # At most 72 hours old.
        replace(body, "timestamp", range(0, 72))
    elif operation == "POST /api/v1/webhooks/{id}/replay":
        # It begins in the past, and before it ends.
        replace(body, "since", range(24, 1000))
        replace(body, "until", range(0, 24))
    elif operation == "GET /api/v1/credits/transactions":
        # It begins before it ends, in any time zone.
        begin, end = parse(query.get("from")), parse(query.get("to"))
        if begin and end and end.replace(tzinfo=None) - begin.replace(tzinfo=None) < timedelta(days=2):
            del query["to"]
    elif operation == "PATCH /api/v1/alerts/{id}":
        # Metric and window have to fit: one alone is held against the other as it is stored.
        changed = [field for field in ("metric", "window_hours") if body.get(field) is not None]
        if len(changed) == 1:
            del body[changed[0]]
