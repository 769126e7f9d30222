"""Notices a listing that goes round in a circle, or says nothing for ever."""

from __future__ import annotations

from collections.abc import Sequence

from atom.datasets.sources.errors import SourceOdd
from atom_sdk.sentences import Sentence

# Pages may hold nothing but old versions, or marks of deleted objects: ten million are some.
MOST_EMPTY_PAGES = 10_000


class EndlessGuard:
    """Sees every page of one listing, in order; needs the memory of one page (Brent 1980).

    A server that makes up new keys for ever looks like a large one: the scan shows its count, and
    can be cancelled.
    """

    def __init__(self) -> None:
        self._pages = 0
        self._kept_at = 1
        self._kept: tuple[str, ...] = ()
        self._empty = 0

    def see(self, names: Sequence[str]) -> None:
        """Take note of a page. Raises SourceOdd."""
        if not names:
            self._empty += 1
            if self._empty > MOST_EMPTY_PAGES:
                raise SourceOdd(
                    Sentence(
                        "datasets.listing_empty_pages",
                        "The source's listing gave {count} empty pages in a row.",
                        count=self._empty,
                    )
                )
            return
        self._empty = 0
        self._pages += 1
        page = tuple(names)
        if page == self._kept:
            raise SourceOdd(
                Sentence(
                    "datasets.listing_repeats",
                    "The source's listing comes back to {page}: it never ends.",
                    page=repr(page[0]),
                )
            )
        if self._pages == self._kept_at:
            self._kept, self._kept_at = page, 2 * self._kept_at
