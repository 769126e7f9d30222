"""The ref log in the bucket: one object per move of a branch, written before the row commits."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from atom.core import storage
from atom.datasets import keys
from atom.datasets.models import Branch
from atom_sdk.errors import ObjectNotFoundError

FORMAT = "atom-ref/1"


@dataclass(frozen=True)
class RefMove:
    """One move: `old` and `new` are commit digests in hex, `old` is "" for the first.

    `version` is the id of the row that the move made; entries of older installations have none,
    and do not say how many files changed. Move 0 is where the branch began: `new` may be "".
    """

    seq: int
    old: str
    new: str
    number: int | None
    author: str
    at: str
    version: str = ""
    added: int | None = None
    removed: int | None = None
    changed: int | None = None


def write_move(branch: Branch, move: RefMove) -> None:
    """Write the entry of a move. Writing the same move again is fine."""
    document = {
        "format": FORMAT,
        "dataset": str(branch.dataset_id),
        "branch": branch.name,
        "branch_id": str(branch.pk),
    }
    data = json.dumps({**document, **asdict(move)}, sort_keys=True).encode()
    _store(branch).put(keys.ref_log_key(branch.dataset_id, branch.name, move.seq), data)


def read_move(branch: Branch, seq: int) -> RefMove | None:
    """Return the entry of a move, None if there is none."""
    try:
        data = _store(branch).get(keys.ref_log_key(branch.dataset_id, branch.name, seq))
    except ObjectNotFoundError:
        return None
    return parse_move(json.loads(data))


def parse_move(document: dict[str, Any]) -> RefMove:
    """Return the move of a document; fields that older ones lack have their defaults."""
    known = RefMove.__dataclass_fields__.keys() & document.keys()
    return RefMove(**{name: document[name] for name in known})


def write_beginning(branch: Branch) -> None:
    """Write where a branch begins."""
    head = branch.head.commit if branch.head else ""
    write_move(branch, RefMove(0, "", head, None, "", branch.created_at.isoformat()))


def void_move(branch: Branch, move: RefMove) -> None:
    """Put an entry aside whose move never came to be. Repeatable."""
    store = _store(branch)
    source = store.prefix + keys.ref_log_key(branch.dataset_id, branch.name, move.seq)
    target = keys.void_ref_log_key(branch.dataset_id, branch.name, move.seq, move.new)
    objects = storage.objects()
    if objects.exists(source):
        objects.copy(source, store.prefix + target)
        objects.delete(source)


def _store(branch: Branch) -> storage.PrefixStore:
    return storage.project_store(branch.dataset.project)
