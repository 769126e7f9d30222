"""The objects that versions need, followed from their roots: ranges, deltas, layers and packs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from blake3 import blake3

from atom.datasets.packs.engines.digest_runs import DigestRuns
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import RangeRef, Root, read_root

# The kinds of objects that can be garbage. In the order in which they are deleted: data first.
KINDS = ("packs", "quarantine", "layers", "deltas", "ranges", "groups", "roots", "commits")
_SEEN_BYTES = 16


class Reachable:
    """The digests of what somebody needs, by kind; a range is read once, whoever names it."""

    def __init__(self, folder: Path, seen: set[bytes] | None = None) -> None:
        """`folder` takes what does not fit into memory; what was `seen` is not followed."""
        self._runs = {kind: DigestRuns(folder / kind) for kind in KINDS}
        # 16 bytes each: a million ranges, four thousand million files, take about 80 MB.
        self._seen: set[bytes] = set() if seen is None else seen

    def beside(self, folder: Path) -> Reachable:
        """Return a collection of what is reachable and not in this one, or in others beside it.

        Both share what they have followed, so neither follows an object twice. A sweep that asks
        again must use one collection.
        """
        return Reachable(folder, self._seen)

    def add(self, kind: str, digests: Iterable[bytes]) -> None:
        """Take objects in that are needed for themselves."""
        self._runs[kind].add(digests)

    def add_root(self, digest: bytes, store: ObjectStore) -> None:
        """Take in a root and all that it needs.

        Raises ObjectNotFoundError or ManifestCorruptError: then nothing is known to be garbage.
        """
        if not self._is_new(digest):
            return
        for part in self._add_manifest(digest, store).ranges:
            self._add_range(part, store)

    def add_manifest(self, digest: bytes, store: ObjectStore) -> None:
        """Take in a root and what it needs but for the packs, which others have replaced.

        Raises what `add_root` does.
        """
        for part in self._add_manifest(digest, store).ranges:
            self._add_names(part)

    def digests(self, kind: str) -> Iterator[bytes]:
        """Yield the digests of a kind, sorted, each once."""
        return iter(self._runs[kind])

    def _add_manifest(self, digest: bytes, store: ObjectStore) -> Root:
        root = read_root(digest, store)
        self.add("roots", [digest])
        self.add("layers", (name for layer in root.layers for name in layer.layout))
        self.add("groups", (group.object for group in root.groups))
        if root.groups:
            # Beside the groups, the digests of all ranges are called by that of their content.
            self.add("groups", [root.content])
        return root

    def _add_range(self, part: RangeRef, store: ObjectStore) -> None:
        if not self._is_new(b"".join(part.layout)):
            return
        self._add_names(part)
        # A file that is registered in place has no pack: its object belongs to somebody else.
        packs = read_range(part, store)["pack"].unique().drop_null().to_pylist()
        self.add("packs", packs)
        # A corrupt pack stays as long as a version lists it, since parts of it may be saved.
        self.add("quarantine", packs)

    def _add_names(self, part: RangeRef) -> None:
        self.add("ranges", [part.object])
        self.add("deltas", part.deltas)

    def _is_new(self, name: bytes) -> bool:
        short = blake3(name).digest(length=_SEEN_BYTES)
        if short in self._seen:
            return False
        self._seen.add(short)
        return True
