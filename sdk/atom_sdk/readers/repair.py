"""Fetches corrupt packs of this node again, each once, so that a reader gets the right bytes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from atom_sdk.errors import AtomError, PackDigestMismatchError, SampleDigestMismatchError
from atom_sdk.forks import forget_in_children
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.ranges import RangeReader

_RANGE_BYTES = 8 << 20
_STORE_IS_BAD = "what the object store has of it is damaged, too"
_PUSH_AGAIN = (
    "Warm the version (atom data warm), which takes the pack out of service; then push the folder "
    "that its files came from again, which replaces it."
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Failure:
    """Why a pack is still corrupt (a clause), and the next step."""

    reason: str
    hint: str


class PackRepair:
    """Repairs the packs of a store from where they are stored. Thread-safe, fork-safe, picklable.

    A pack is fetched once in the life of a reader, whatever comes of it: a store that is bad or
    away is not asked again for each sample. Other readers of this node, in threads or processes,
    wait for the one that fetches, and find what it brought.
    """

    def __init__(self, root: Path | str, ranges: RangeReader) -> None:
        """`root` is that of a PackStore."""
        self._root, self._ranges = Path(root), ranges
        # None: whole since.
        self._tried: dict[bytes, _Failure | None] = {}
        self.forget()
        forget_in_children(self)

    def forget(self) -> None:
        """Use a lock of this process; what was tried stays known."""
        self._lock = threading.Lock()

    def repair(self, pack: bytes, path: str) -> None:
        """Make a pack whole that gave wrong bytes for the sample of a path.

        Raises SampleDigestMismatchError, which names the file and what to do.
        """
        with self._lock:
            if pack not in self._tried:
                self._tried[pack] = self._fetch(pack)
            failure = self._tried[pack]
        if failure is not None:
            raise self._error(pack, path, failure)

    def still_damaged(self, pack: bytes, path: str) -> SampleDigestMismatchError:
        """The error for a sample whose bytes are wrong although its pack was repaired."""
        file = self._file(pack)
        reason = "it was checked or fetched again, and reading it gives other bytes all the same"
        hint = f"Look after the disk and the memory of this machine; then remove {file}."
        return self._error(pack, path, _Failure(reason, hint))

    def of_the_store(self, pack: bytes, path: str) -> SampleDigestMismatchError:
        """The error for a sample that came from the object store with wrong bytes."""
        return SampleDigestMismatchError(path, pack.hex(), "", _STORE_IS_BAD, _PUSH_AGAIN)

    def _fetch(self, pack: bytes) -> _Failure | None:
        file = self._file(pack)
        try:
            fetched = PackStore(self._root).replace_damaged(pack, lambda: self._chunks(pack))
        except PackDigestMismatchError:
            failure = _Failure(f"it was fetched again, and {_STORE_IS_BAD}", _PUSH_AGAIN)
        except (AtomError, OSError) as error:
            reason = f"it could not be fetched again, since: {str(error).rstrip('.')}"
            hint = (
                f"Open the dataset again when that is over. If it stays so, remove {file} first: "
                "it is brought anew, also when it was packed here from files at a source."
            )
            failure = _Failure(reason, hint)
        else:
            if fetched:
                _log.warning("The pack in %s was damaged and was fetched again.", file)
            return None
        _log.warning("The pack in %s is damaged: %s. %s", file, failure.reason, failure.hint)
        return failure

    def _chunks(self, pack: bytes) -> Iterator[memoryview]:
        done = 0
        while True:
            found = self._ranges.read(pack, done, _RANGE_BYTES)
            yield found.data
            done += len(found.data)
            if done >= found.pack_bytes or not found.data:
                return

    def _file(self, pack: bytes) -> Path:
        return PackStore(self._root).path(pack)

    def _error(self, pack: bytes, path: str, failure: _Failure) -> SampleDigestMismatchError:
        file = str(self._file(pack))
        return SampleDigestMismatchError(path, pack.hex(), file, failure.reason, failure.hint)

    def __reduce__(self) -> tuple[type[PackRepair], tuple[Path, RangeReader]]:
        """Pickle where to fetch from; the other process tries by itself."""
        return PackRepair, (self._root, self._ranges)
