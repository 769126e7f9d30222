"""Files of one push that have the bytes of another one, as hard links of an archive do.

Their bytes are packed once; each further path is put with the place of the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import pyarrow as pa

from atom_sdk.client.push.packed_rows import batch_of, put_row
from atom_sdk.client.push.stored_contents import Known
from atom_sdk.client.push.subsets import Subset
from atom_sdk.packs.plan import SourceFile
from atom_sdk.packs.writer import PackSummary


class DuplicateFiles:
    """The further paths of files that are packed."""

    def __init__(self, firsts: Mapping[str, str], new: Collection[SourceFile]) -> None:
        """`firsts` has the path that is packed, by each further path; `new` are files to send."""
        self._further: defaultdict[str, list[str]] = defaultdict(list)
        self._paths: set[str] = set()
        if not firsts:
            return
        known = {*firsts, *firsts.values()}
        sent = {file.path for file in new if file.path in known}
        for path, first in firsts.items():
            if path in sent and first in sent:
                self._further[first].append(path)
                self._paths.add(path)

    def packed(self, new: Collection[SourceFile]) -> Collection[SourceFile]:
        """Return the files whose bytes have to be packed."""
        if not self._paths:
            return new
        return Subset(new, bytes(file.path not in self._paths for file in new))

    def rows(self, summary: PackSummary) -> pa.RecordBatch | None:
        """Return the rows of the further paths of a pack's files, None without any."""
        members = [(path, m) for m in summary.members for path in self._further.get(m.path, ())]
        rows = [
            put_row(path, m.digest, Known(summary.digest, m.offset, m.size))
            for path, m in sorted(members, key=lambda pair: pair[0])
        ]
        return batch_of(rows) if rows else None
