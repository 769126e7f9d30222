"""The record of a dataset in an archive: its facts, and its ref logs as the bucket has them."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import takewhile
from typing import Any

from atom.core import storage
from atom.core.storage import PrefixStore
from atom.datasets.catalog import ref_log
from atom.datasets.catalog.ref_log import RefMove
from atom.datasets.models import Branch, Dataset, Pack
from atom.datasets.packs.pipelines import read_pack_index
from atom_sdk.archive.folder import KEY, digest_in
from atom_sdk.archive.history import HISTORY_FORMAT, ArchivedMove, ArchivedTag
from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.manifests.objects import pack_key

_THREADS = 8
# Another installation counts these itself, or needs none of them.
_LEFT_OUT = {"version", "loaded", "labels_changed"}


def history_of(dataset: Dataset) -> dict[str, Any]:
    """Return the history of a dataset as JSON, in the shape that an archive keeps."""
    versions = dataset.versions.filter(state="kept")
    kept = list(versions.values_list("commit", "layout", "is_repacked"))
    # The packs that their roots name may be gone. Corrupt packs cannot be archived.
    is_any_damaged = Pack.objects.filter(project=dataset.project, state="quarantined").exists()
    layouts = {
        commit: layout
        for commit, layout, is_repacked in kept
        if is_repacked or (layout and is_any_damaged)
    }
    tags = dataset.tags.select_related("version").order_by("name")
    return {
        "format": HISTORY_FORMAT,
        "dataset": {
            "name": dataset.name,
            "description": dataset.description,
            "project": dataset.project.slug,
            "retention": dataset.retention,
            "retention_limit": dataset.retention_limit,
        },
        "moves": [asdict(move) for move in moves_of(dataset)],
        "tags": [
            asdict(ArchivedTag(tag.name, tag.version.commit, tag.created_at.isoformat()))
            for tag in tags
        ],
        "kept": sorted(commit for commit, _, _ in kept),
        **({"layouts": layouts} if layouts else {}),
    }


def moves_of(dataset: Dataset) -> list[ArchivedMove]:
    """Return the moves of all branches, also of those that were deleted.

    Entries that a dead worker left after a branch's present head are skipped.
    """
    last = dict(Branch.objects.filter(dataset=dataset).values_list("name", "seq"))
    commits = set(dataset.versions.values_list("commit", flat=True))
    logs: defaultdict[str, list[ArchivedMove]] = defaultdict(list)
    for name, move in _logged(dataset):
        logs[name].append(_archived(name, move))
    found: list[ArchivedMove] = []
    for name, log in logs.items():
        ends = max((move.seq for move in log if move.kind == "end"), default=-1)
        known = takewhile(lambda move: not move.new or move.new in commits, log)
        found += [move for move in known if move.seq <= last.get(name, ends)]
    return found


def _logged(dataset: Dataset) -> list[tuple[str, RefMove]]:
    prefix = storage.project_prefix(dataset.project)
    folder = f"{prefix}refs/{dataset.pk}/"
    listed = (item.key.removeprefix(folder) for item in storage.objects().list_prefix(folder))
    # A branch's folder also has what never came to be, one folder deeper.
    wanted = [key for key in listed if key.count("/") == 1 and key.endswith(".json")]

    def read(key: str) -> tuple[str, RefMove]:
        name = key.partition("/")[0]
        seq = int(key.rpartition("/")[2].removesuffix(".json"))
        move = ref_log.read_move(Branch(dataset=dataset, name=name), seq)
        if move is None:
            raise ObjectNotFoundError(folder + key)
        return name, move

    with ThreadPoolExecutor(_THREADS, "atom-ref-log") as pool:
        return list(pool.map(read, wanted))


def _archived(name: str, move: RefMove) -> ArchivedMove:
    said = {key: value for key, value in asdict(move).items() if key not in _LEFT_OUT}
    return ArchivedMove(branch=name, **said)


class BundledObjects:
    """The manifest objects of an archive, sent as one verified pack: an `ObjectStore` to read."""

    def __init__(self, store: PrefixStore, pack: str) -> None:
        """Raises ObjectNotFoundError without such a pack, ValueError if it holds other files."""
        self._pack = store.prefix + pack_key(bytes.fromhex(pack))
        index = read_pack_index(store, pack)
        rows = zip(*(index[name].to_pylist() for name in index.column_names), strict=True)
        self._places: dict[str, tuple[int, int]] = {}
        for path, offset, size_bytes, digest, _ in rows:
            if not KEY.fullmatch(path) or digest_in(path) != digest:
                raise ValueError(f"{path!r} is no object of an archive, or has other bytes")
            self._places[path] = offset, size_bytes

    def get(self, key: str) -> bytes:
        """Return an object. Raises ObjectNotFoundError."""
        if key not in self._places:
            raise ObjectNotFoundError(key)
        offset, size_bytes = self._places[key]
        return storage.objects().get_range(self._pack, offset, offset + size_bytes)

    def put(self, key: str, data: bytes) -> None:
        """Refuse: a pack never changes."""
        raise ObjectNotFoundError(key)

    def exists(self, key: str) -> bool:
        """Return whether the pack has the object."""
        return key in self._places

    def copy_to(self, store: PrefixStore, keys: set[str]) -> None:
        """Write objects where the project's manifests are. Repeatable."""
        with ThreadPoolExecutor(_THREADS, "atom-load") as pool:
            for _ in pool.map(lambda key: store.put(key, self.get(key)), sorted(keys)):
                pass
