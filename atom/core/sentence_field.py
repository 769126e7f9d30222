"""A column of text that keeps the code and the parameters of a sentence."""

from __future__ import annotations

import json
from typing import Any

from django.db import models

from atom_sdk.sentences import Sentence

# The text stands first, so that a search of the column finds it.
_BEGIN = '{"sentence": '


class SentenceField(models.TextField):  # type: ignore[type-arg]  # not subscriptable at run time
    """Stores a `Sentence` so that it comes back with its code.

    A sentence is stored as JSON, other text as it is; both are columns of text.
    """

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:
        """Return a `Sentence` if one was stored, else the text."""
        if value is None or not value.startswith(_BEGIN):
            return value
        try:
            stored = json.loads(value)
            return Sentence.from_parts(stored["sentence"], stored["code"], stored["params"])
        except (ValueError, KeyError, TypeError):
            return value

    def get_prep_value(self, value: Any) -> Any:
        """Return the text to store."""
        text = super().get_prep_value(value)
        if not isinstance(text, Sentence):
            return text
        return json.dumps({"sentence": text, **text.as_code()}, ensure_ascii=False)

    def deconstruct(self) -> Any:
        """Return a column of text: no migration is needed to change to this one."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs
