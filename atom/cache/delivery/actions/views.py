"""Reads of what a node's backend holds, for jobs."""

from __future__ import annotations

from pathlib import Path

from django.db.models.functions import Now

from atom.cache.backends import backend_of
from atom.cache.backends.base import Selector, ViewPath
from atom.cache.backends.local.views import streamed_view
from atom.cache.engines.links import packs_of_view
from atom.cache.errors import ViewNotReady
from atom.cache.models import CacheRecord
from atom.clusters.models import Node
from atom.datasets.models import Version
from atom_sdk.sentences import Sentence


def view_for(version: Version, node: Node, selector: Selector = None) -> ViewPath:
    """Return what a reader on the node opens.

    A selector that the warm-up did not have costs its index, and no packs. Raises ViewNotReady,
    NodeOutOfReach, SelectionEmpty, or Invalid for the selector.
    """
    backend = backend_of(node)
    record = CacheRecord.objects.filter(node=node, version=version, state="warm").first()
    if record is None or not backend.measure(version).is_complete:
        raise ViewNotReady(
            Sentence(
                "cache.version_not_warm",
                "{dataset}@{ref} is not warm on {node}.",
                dataset=version.dataset.name,
                ref=version.ref,
                node=node.name,
            )
        )
    CacheRecord.objects.filter(pk=record.pk).update(used_at=Now())
    return backend.write_view(version, selector)


def packs_to_stream(version: Version, selector: Selector) -> set[str]:
    """Return the packs and pins (hex) of what a selector leaves: what a streaming job may fetch.

    Raises SelectionEmpty, or Invalid for the selector.
    """
    return set(packs_of_view(streamed_view(version, selector).index_path))


def index_to_stream(version: Version, selector: Selector) -> Path:
    """Return the index of what a selector leaves, for a job that has none of it.

    Raises SelectionEmpty, or Invalid for the selector.
    """
    return streamed_view(version, selector).index_path
