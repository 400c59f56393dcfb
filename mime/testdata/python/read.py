"""Reads messages with Python's email package: a line of base64 in, a line of JSON out."""
import base64
import hashlib
import json
import sys
from email import message_from_bytes, policy


def addresses(message, name):
    field = message[name]
    if field is None:
        return []
    return [[a.display_name, a.addr_spec, g.display_name or ""] for g in field.groups for a in g.addresses]


def text(message, kind):
    body = message.get_body((kind,))
    return "" if body is None else body.get_content()


def attachments(message):
    found = []
    for part in message.walk():
        if part.is_multipart() or part.get_content_disposition() is None:
            continue
        content = part.get_payload(decode=True)
        found.append([part.get_filename() or "", part.get_content_type(), hashlib.sha256(content).hexdigest()])
    return found


def summary(message):
    date = message["date"]
    return {
        "subject": str(message["subject"] or ""),
        "date": 0 if date is None else int(date.datetime.timestamp()),
        **{name: addresses(message, name) for name in ("from", "sender", "reply-to", "to", "cc", "bcc", "disposition-notification-to")
           if hasattr(message[name], "groups")},
        "message_id": str(message["message-id"] or ""),
        "references": str(message["references"] or "").split(),
        "plain": text(message, "plain"),
        "html": text(message, "html"),
        "types": [part.get_content_type() for part in message.walk()],
        "attachments": attachments(message),
        "defects": [repr(d) for part in message.walk() for d in part.defects]
        + [repr(d) for value in message.values() for d in getattr(value, "defects", [])],
    }


for line in sys.stdin:
    raw = base64.b64decode(line)
    print(json.dumps(summary(message_from_bytes(raw, policy=policy.default))), flush=True)
