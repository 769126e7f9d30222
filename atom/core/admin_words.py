"""Names of the operators' tables in the language of their reader.

In English they follow from the code; in Chinese they are in `admin_words.zh.json`, by the English
ones. No model knows of this: only who looks at `/admin/` reads such names.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from django.utils.functional import lazy
from django.utils.translation import get_language

CHINESE = Path(__file__).with_name("admin_words.zh.json")


@cache
def chinese() -> dict[str, dict[str, str]]:
    """Return the Chinese words of `apps`, `tables` (by their plural) and `columns`."""
    found: dict[str, dict[str, str]] = json.loads(CHINESE.read_text(encoding="utf-8"))
    return found


def _in_the_readers_language(kind: str, english: str, entry: str) -> str:
    if not (get_language() or "").startswith("zh"):
        return english
    return chinese()[kind].get(entry, english)


# Django makes a class at each call of `lazy`: one serves the thousand names.
_SPOKEN = lazy(_in_the_readers_language, str)


def spoken(kind: str, english: str, entry: str = "") -> str:
    """Return the name as text in the language of whoever reads it; `entry` is where it stands."""
    return _SPOKEN(kind, english, entry or english)
