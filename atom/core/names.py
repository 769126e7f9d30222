"""Names that people give to things, and find them by: a line that can be seen and typed."""

from __future__ import annotations

import unicodedata
from typing import Any

from rest_framework import serializers

from atom_sdk.sentences import Sentence

# Controls, line and paragraph ends, and what turns the direction of what follows.
_UNSEEN = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def check_name(text: str) -> None:
    """Raise ValidationError for an invisible character, such as a line end."""
    unseen = {c for c in text if c in _TURNING or unicodedata.category(c) in _UNSEEN}
    if unseen:
        codes = ", ".join(f"U+{ord(character):04X}" for character in sorted(unseen)[:5])
        raise serializers.ValidationError(
            Sentence(
                "core.name_has_control_characters",
                "A name is one line of text: it has {characters}.",
                characters=codes,
            )
        )


class TextField(serializers.CharField):
    """Text and nothing else: a CharField makes text of a number too."""

    def to_internal_value(self, data: Any) -> str:
        """Refuse what is no text."""
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NameField(TextField):
    """A name: not blank, without spaces around it, of at most `max_length` characters."""

    def __init__(self, **options: Any) -> None:
        """The options of a CharField."""
        super().__init__(**options)
        self.validators.append(check_name)
