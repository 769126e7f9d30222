"""Addresses of what an attempt streams: packs, and files that stay at a source."""

from __future__ import annotations

from pathlib import Path

from atom.cache.delivery.actions.views import index_to_stream, packs_to_stream
from atom.cache.origins import nearest_store
from atom.core.errors import NotFound
from atom.datasets.browsing.reads import source_addresses
from atom.datasets.catalog.reads import pack_addresses
from atom.datasets.replicas.actions.upkeep import avoid_packs
from atom.datasets.replicas.reads import addresses_in
from atom.jobs.deliveries import STREAM
from atom.jobs.models import Attempt, RunInput
from atom_sdk.sentences import Sentence

# A reader's trouble with an address: only the first two say something of the stored bytes.
TROUBLES = ("missing", "digest", "refused", "away")
SUSPECT = frozenset({"missing", "digest"})


def stream_addresses(
    attempt: Attempt, alias: str, packs: list[str], trouble: str = ""
) -> dict[str, str]:
    """Return where to GET packs of a streamed input, in the store that is nearest to its cluster.

    `trouble`: the last addresses did not serve, so that these lead to Atom's own store.
    Raises NotFound, PackUnknown, PackQuarantined.
    """
    one = _streamed(attempt, alias)
    version = one.version
    own = pack_addresses(version, packs, packs_to_stream(version, one.selector))
    cluster_id = attempt.cluster_id
    store = nearest_store(cluster_id, version) if cluster_id else None
    if store is None:
        return own
    project_id = version.dataset.project_id
    if trouble:
        avoid_packs(store, project_id, packs, is_suspect=trouble in SUSPECT)
    return own | addresses_in(store, project_id, packs)


def stream_index(attempt: Attempt, alias: str) -> Path:
    """Return the file that says where the samples of a streamed input lie in its packs.

    Raises NotFound, SelectionEmpty.
    """
    one = _streamed(attempt, alias)
    return index_to_stream(one.version, one.selector)


def streamed_sources(attempt: Attempt, alias: str, paths: list[str]) -> dict[str, str]:
    """Return where to GET files of a streamed input that stay at a source.

    Raises NotFound, EntryNotFound.
    """
    one = _streamed(attempt, alias)
    return source_addresses(one.version, paths, packs_to_stream(one.version, one.selector))


def _streamed(attempt: Attempt, alias: str) -> RunInput:
    rows = attempt.run.inputs.select_related("version__dataset__project")
    one = rows.filter(alias=alias, delivery=STREAM).first()
    if one is None:
        raise NotFound(
            Sentence(
                "jobs.alias_unknown", "This run streams no dataset called '{alias}'.", alias=alias
            )
        )
    return one
