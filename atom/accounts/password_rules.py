"""Rules for passwords beside Django's own."""

from __future__ import annotations

from typing import Any, Final

from django.core.exceptions import ValidationError

MIN_DIFFERENT: Final = 5


class VariedPasswordValidator:
    """Refuses what holds few different characters: eight blanks, or one letter twelve times."""

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for such a password."""
        if len(set(password)) < MIN_DIFFERENT:
            raise ValidationError(self.get_help_text(), code="password_too_uniform")

    def get_help_text(self) -> str:
        """Say what is wanted."""
        return f"The password needs at least {MIN_DIFFERENT} different characters."
