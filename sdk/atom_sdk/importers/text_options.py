"""How names and text of a source are read, where the source itself does not say it."""

from __future__ import annotations

from dataclasses import dataclass

from atom_sdk.importers.errors import EncodingUnknownError
from atom_sdk.sentences import Sentence

BOX_SIZE, BOX_CORNERS = "size", "corners"


@dataclass(frozen=True, slots=True)
class TextOptions:
    """Encodings by the names that Python knows, and the character between cells of a CSV.

    `boxes` says how lists of four numbers are read, BOX_SIZE or BOX_CORNERS. Raises
    EncodingUnknownError.
    """

    zip_encoding: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    boxes: str = BOX_SIZE

    def __post_init__(self) -> None:
        """Check the encodings before anything is opened."""
        for name in (self.zip_encoding, self.encoding):
            if name is not None and not is_text_encoding(name):
                raise EncodingUnknownError(
                    Sentence(
                        "formats.encoding_unknown", "There is no text encoding {name!r}.", name=name
                    )
                )

    @property
    def has_corners(self) -> bool:
        """Whether a list of four numbers is x1, y1, x2, y2 and not x, y, width, height."""
        return self.boxes == BOX_CORNERS


def is_text_encoding(name: str) -> bool:
    """Whether Python decodes text by this name."""
    try:
        return isinstance(b"aa".decode(name), str)
    except LookupError:
        return False
    except UnicodeError:
        return True
