"""Views of versions on this node: which samples a reader sees, and where they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models.functions import Now

from atom.cache.coverage import measure
from atom.cache.engines.links import packs_of_view
from atom.cache.engines.local import write_view
from atom.cache.engines.selectors import view_selector
from atom.cache.errors import SelectionEmpty, ViewNotReady
from atom.cache.models import CacheRecord
from atom.cache.placement import ViewPath, view_path
from atom.cache.registered import has_registered, registered_packs, registered_store
from atom.clusters.models import Node
from atom.datasets.models import Version
from atom.datasets.reads import open_root
from atom.datasets.stores import version_store
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.views import Placed, at_their_source

# In the name of a view that reads objects at their source.
_AT_SOURCE = "at source"


Selector = Mapping[str, Any] | None


def ready_view(version: Version, selector: Selector) -> ViewPath:
    """Write the index of what is on this node. Raises SelectionEmpty."""
    own = registered_packs(version) or {}
    placed = registered_store(version).place if own else None
    return _view_of(version, selector, own, placed)


def streamed_view(version: Version, selector: Selector) -> ViewPath:
    """Say of objects at a source that they are there, also of those that this node has by chance.

    Such packs may be evicted, and nobody else could give them.
    """
    placed = at_their_source if has_registered(version) else None
    return _view_of(version, selector, [_AT_SOURCE] if placed else [], placed)


def _view_of(
    version: Version, selector: Selector, own: Iterable[str], placed: Placed | None
) -> ViewPath:
    wanted = view_selector(selector)
    view = view_path(version, wanted, own)
    manifests = version_store(version.dataset.project).store
    try:
        write_view(open_root(version), manifests, view.index_path, wanted, placed)
    except EmptyDatasetError as empty:
        splits = ", ".join(sorted(wanted.splits or ()))
        reference = f"{version.dataset.name}@{version.ref}"
        asked = f"the split {splits} of {reference}" if splits else reference
        asked += f" that matches {wanted.where}" if wanted.where else ""
        only_split = "" if wanted.where or wanted.labelled_only else splits
        raise SelectionEmpty(
            f"There is no sample in {asked}.", dataset=reference, split=only_split
        ) from empty
    return view


def view_for(version: Version, node: Node, selector: Selector = None) -> ViewPath:
    """Return what a reader on the node opens.

    Raises ViewNotReady, SelectionEmpty, or Invalid for the selector.

    A selector that was not asked for when warming costs its index, and no packs.
    """
    record = CacheRecord.objects.filter(node=node, version=version, state="warm").first()
    if record is None or not measure(version).is_complete:
        raise ViewNotReady(f"{version.dataset.name}@{version.ref} is not warm on {node.name}.")
    CacheRecord.objects.filter(pk=record.pk).update(used_at=Now())
    return ready_view(version, selector)


def packs_to_stream(version: Version, selector: Selector) -> set[str]:
    """Return the packs and pins (hex) of what a selector leaves: what a streaming job may fetch.

    Raises SelectionEmpty, or Invalid for the selector.
    """
    return set(packs_of_view(streamed_view(version, selector).index_path))
