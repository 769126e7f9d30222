"""Fields that the APIs of all parts share."""

from __future__ import annotations

from typing import Any

from atom.accounts.models import slug_validator
from atom.core.names import NameField

_CHARACTERS = 63


class SlugField(NameField):
    """A name for addresses: lower-case letters, digits and `.-_`, at most 63."""

    def __init__(self, **options: Any) -> None:
        """The options of a CharField."""
        super().__init__(max_length=_CHARACTERS, **options)
        self.validators.append(slug_validator)
