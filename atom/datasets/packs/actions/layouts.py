"""The layout from which a version is read: noted in the catalogue, and once more in the bucket."""

from __future__ import annotations

from django.db import transaction

from atom.datasets.catalog import catalogue_log
from atom.datasets.models import Version


def note_layout(version: Version, layout: str, *, is_repacked: bool = False) -> bool:
    """Have a version read from `layout` (a root, in hex); False if it has another one by now.

    With `is_repacked` its files lie in other packs than the root says: what is built upon the
    version is built upon the layout from then on, and the packs of the root may go.
    """
    with transaction.atomic():
        unchanged = Version.objects.filter(pk=version.pk, layout=version.layout)
        is_repacked = is_repacked or version.is_repacked
        if not unchanged.update(layout=layout, is_repacked=is_repacked):
            return False
        version.layout, version.is_repacked = layout, is_repacked
        catalogue_log.write_layout(version)
    return True
