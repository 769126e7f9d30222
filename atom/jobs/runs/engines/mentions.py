"""Mentions of users in a text, such as `@bo`, by the spelling of user names."""

from __future__ import annotations

import re

MAX_MENTIONS = 50
# Characters that Django allows in user names; an address such as bo@example.org names nobody.
_MENTION = re.compile(r"(?<![\w.@+-])@([\w.@+-]{1,150})")


def named_in(text: str) -> list[str]:
    """Return what may be user names, each also without the dots that end a sentence."""
    found: dict[str, None] = {}
    for name in _MENTION.findall(text):
        found[name] = None
        found[name.rstrip(".-+@")] = None
        if len(found) >= 2 * MAX_MENTIONS:
            break
    found.pop("", None)
    return list(found)
