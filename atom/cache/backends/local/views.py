"""Views of versions on this machine: the samples that a reader sees, and where their bytes are."""

from __future__ import annotations

from collections.abc import Iterable

from atom.cache.backends.base import Selector, ViewPath
from atom.cache.backends.local.external_objects import (
    has_registered,
    registered_packs,
    registered_store,
)
from atom.cache.backends.local.paths import view_path
from atom.cache.engines.fill import write_view
from atom.cache.engines.selectors import view_selector
from atom.cache.errors import SelectionEmpty
from atom.datasets.catalog.reads import open_root
from atom.datasets.catalog.stores import version_store
from atom.datasets.models import Version
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.views import Placed, at_their_source
from atom_sdk.sentences import Sentence

# In the name of a view that reads objects at their source.
_AT_SOURCE = "at source"


def ready_view(version: Version, selector: Selector) -> ViewPath:
    """Write the index of what is on this node. Raises SelectionEmpty."""
    own = registered_packs(version) or {}
    placed = registered_store(version).place if own else None
    return _view_of(version, selector, own, placed)


def streamed_view(version: Version, selector: Selector) -> ViewPath:
    """Return a view that reads objects at their source, even where this node has them too.

    The node's packs of such objects may be evicted, and the object store has no copy of them.
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
        selection = _selection_text(reference, splits, str(wanted.where or ""))
        only_split = "" if wanted.where or wanted.labelled_only else splits
        raise SelectionEmpty(
            Sentence(
                "cache.nothing_selected", "There is no sample in {selection}.", selection=selection
            ),
            dataset=reference,
            split=only_split,
        ) from empty
    return view


def _selection_text(reference: str, splits: str, where: str) -> str:
    """Return `the split test of pets@v3 that matches label = 'cat'`."""
    text = reference
    if splits:
        text = Sentence(
            "cache.split_of", "the split {splits} of {version}", splits=splits, version=reference
        )
    if where:
        text = Sentence(
            "cache.that_matches", "{selection} that matches {where}", selection=text, where=where
        )
    return text
