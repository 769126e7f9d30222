"""Which names people may give to things."""

from __future__ import annotations

import pytest
from rest_framework.serializers import ValidationError

from atom.core.names import NameField


@pytest.mark.parametrize("name", ["baseline", "Größe 数据 🧑‍🔬", "a" * 20, "  a b  "])
def test_a_line_of_text_is_a_name(name: str) -> None:
    assert NameField(max_length=20).run_validation(name) == name.strip()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "blank"),
        (" \t\n", "blank"),
        ("a\nb", "U+000A"),
        ("a\x1b[31m", "U+001B"),
        ("a\x00b", "Null"),
        ("a\u2028b", "U+2028"),
        ("a\u202etxt", "U+202E"),
        ("a" * 21, "20 characters"),
    ],
)
def test_what_is_blank_or_not_seen_or_too_long_is_no_name(name: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said.replace("+", r"\+")):
        NameField(max_length=20).run_validation(name)
