"""Counting tries: each when it begins, so that one that kills its worker counts too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db.models import F

from atom.core import clock, storage
from atom.core.storage import StoreError
from atom.datasets.models.retry_counts import RetriedModel
from atom.datasets.packs.pack_checks import PacksOnTheWay


def count_retry(row: RetriedModel) -> None:
    """Note one more try; the caller has locked the row and saves `RETRY_FIELDS`."""
    if not row.tries:
        row.tried_since = clock.now()
    row.tries += 1


# The fields that `count_retry` changes.
RETRY_FIELDS = ("tries", "tried_since")


@contextmanager
def counting_retries(row: RetriedModel) -> Iterator[None]:
    """Take a try back that says nothing of the work: what it waits for, or the store, is away."""
    try:
        yield
    except PacksOnTheWay:
        _take_back(row)
        raise
    except StoreError:
        if not _store_answers():
            _take_back(row)
        raise


def _take_back(row: RetriedModel) -> None:
    type(row)._default_manager.filter(pk=row.pk, tries__gt=0).update(tries=F("tries") - 1)


def _store_answers() -> bool:
    with suppress(StoreError):
        storage.objects().ask()
        return True
    return False
