"""Locks on versions that somebody is about to need."""

from __future__ import annotations

from atom.datasets.catalog.reads import require_kept
from atom.datasets.models import Dataset, Version


def lock_kept(version: Version) -> None:
    """Hold a version as it is to the end of the transaction. Raises VersionExpired, VersionGone.

    For who is about to need it: what was read before may have expired since, a night's expiry is
    one transaction of minutes. The dataset first, as expiring does.
    """
    Dataset.with_deleted.select_for_update(no_key=True).get(pk=version.dataset_id)
    rows = Version.objects.select_for_update(of=("self",), no_key=True)
    require_kept(rows.select_related("dataset").get(pk=version.pk))
