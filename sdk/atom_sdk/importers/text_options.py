"""How names and text of a source are read, where the source itself does not say it."""

from __future__ import annotations

from dataclasses import dataclass

from atom_sdk.importers.errors import EncodingUnknownError

_TAB_NAMES = ("tab", "\\t")


@dataclass(frozen=True, slots=True)
class TextOptions:
    """Encodings by the names that Python knows, and the character between cells of a CSV.

    Raises EncodingUnknownError.
    """

    zip_encoding: str | None = None
    encoding: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        """Check the encodings before anything is opened."""
        for name in (self.zip_encoding, self.encoding):
            if name is not None and not is_text_encoding(name):
                raise EncodingUnknownError(f"There is no text encoding {name!r}.")

    @property
    def separator(self) -> str | None:
        """The delimiter as one character; a shell cannot easily give a tab."""
        if self.delimiter is not None and self.delimiter.lower() in _TAB_NAMES:
            return "\t"
        return self.delimiter


def is_text_encoding(name: str) -> bool:
    """Whether Python decodes text by this name."""
    try:
        return isinstance(b"aa".decode(name), str)
    except LookupError:
        return False
    except UnicodeError:
        return True
