"""Names of the operators' tables in the language of their reader.

In English they follow from the code; in Chinese they are in `admin_words.zh.json`, by the English
ones. No model knows of this: only who looks at `/admin/` reads such names.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import cast

from django.utils.functional import lazystr
from django.utils.translation import get_language

CHINESE = Path(__file__).with_name("admin_words.zh.json")


@cache
def chinese() -> dict[str, dict[str, str]]:
    """Return the Chinese words of `apps`, `tables` (by their plural) and `columns`."""
    found: dict[str, dict[str, str]] = json.loads(CHINESE.read_text(encoding="utf-8"))
    return found


class _Name:
    """A name that is looked up each time it is shown."""

    def __init__(self, kind: str, english: str, entry: str) -> None:
        self._kind, self._english, self._entry = kind, english, entry

    def __str__(self) -> str:
        if not (get_language() or "").startswith("zh"):
            return self._english
        return chinese()[self._kind].get(self._entry, self._english)


def spoken(kind: str, english: str, entry: str = "") -> str:
    """Return the name as text in the language of whoever reads it; `entry` is where it stands."""
    return cast(str, lazystr(_Name(kind, english, entry or english)))
