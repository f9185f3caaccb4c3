"""What no schema can say about a request: how two of its fields compare, what time it is, and what is stored.

A field that such a rule may refuse is left out, or replaced by an instant or a day that the clock allows, so that these operations
are held to every other rule. What is not a valid instant is sent as it is.
"""

import re
from datetime import date, datetime, timedelta, timezone
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


def text(value, most):
    """Whether it is a text of a length that is allowed."""
    return isinstance(value, str) and len(value) <= most


def texts(value, most):
    return isinstance(value, list) and all(text(item, most) for item in value)


def days_ago(value, most):
    """A day of the last `most`, the same one for the same text."""
    return (datetime.now(timezone.utc) - timedelta(days=1 + crc32(value.encode()) % most)).strftime("%Y-%m-%d")


def authorize(provider, body):
    """Each platform names a shop in its own way, or none."""
    known = re.compile(r"^([a-z0-9][a-z0-9-]{0,60}\.myshopify\.com|(act_)?[0-9]{1,20}|[0-9]{3}-[0-9]{3}-[0-9]{4})$")
    if body.get("shop") is None or known.match(str(body["shop"])):
        shops = {"shopify": "example.myshopify.com", "meta": "act_1234567890", "google_ads": "123-456-7890"}
        body["shop"] = shops.get(provider)


def social_settings(body):
    """Hours have an end after their beginning, words have letters, and the link is on a host of the shop."""
    for hours in body.get("business_hours") or []:
        if isinstance(hours, dict) and text(hours.get("from"), 5) and text(hours.get("to"), 5):
            if hours["from"] >= hours["to"]:
                hours["to"] = "00:00"
    if texts(body.get("opt_out_words"), 50):
        body["opt_out_words"] = [word if word.isalnum() else "stop" for word in body["opt_out_words"]]
    if texts(body.get("own_hosts"), 10_000):
        body["own_hosts"] = [f"shop{number}.example.com" for number in range(len(body["own_hosts"]))]
    if isinstance(body.get("link"), str) and len(body["link"]) <= 500:
        body["link"] = "https://shop0.example.com/"
        body["own_hosts"] = body.get("own_hosts") or ["shop0.example.com"]


def advertising(query):
    """A window is named by its days or by its two ends, and a cursor names a row that there is."""
    begin = parse(query.get("from"))
    if begin and parse(query.get("to")):
        query["to"] = (date(begin.year, begin.month, begin.day) + timedelta(days=29)).isoformat()
        query.pop("days", None)
    elif begin or parse(query.get("to")):
        query.pop("from", None)
        query.pop("to", None)
    if re.match(r"^[1-9][0-9]*$", str(query.get("cursor"))):
        del query["cursor"]


@schemathesis.hook
def before_call(context, case, **kwargs):
    operation = context.operation.label
    body = case.body if isinstance(case.body, dict) else {}
    query = case.query or {}
    # Days that are over, of the last two years.
    for name in ("as_of", "until"):
        if parse(query.get(name)) and not parse(query[name]).tzinfo:
            query[name] = days_ago(query[name], 700)
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
    elif operation in ("GET /api/v1/ads", "GET /api/v1/creatives"):
        advertising(query)
    elif operation == "POST /api/v1/integrations/{provider}/authorize":
        authorize((case.path_parameters or {}).get("provider"), body)
    elif operation == "PUT /api/v1/social/settings":
        social_settings(body)
    elif operation in ("POST /api/v1/reply-templates", "PATCH /api/v1/reply-templates/{id}"):
        # What a text may not say, such as a price, is no matter of its form.
        if texts(body.get("variations"), 1_000) and all(body["variations"]):
            body["variations"] = ["\u00a1Hola {username}!" for _ in body["variations"]]
