"""The ref log in the bucket: one object per move of a branch, written before the row commits."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from atom.core import clock, storage
from atom.datasets import keys
from atom.datasets.models import Branch, Dataset
from atom_sdk.errors import ObjectNotFoundError

FORMAT = "atom-ref/1"


@dataclass(frozen=True)
class RefMove:
    """One move: `old` and `new` are commit digests in hex, `old` is "" for the first.

    `version` is the id of the row that the move made. Entries of older installations have none, and
    do not say how many files changed. A "begin" says where a branch begins (`new` may be ""), an
    "end" that it was deleted (`new` is ""). A later branch of that name continues the numbers. A
    move from an archive is `loaded`: its author is a name, no user of ours.
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
    labels_changed: int | None = None
    kind: Literal["begin", "move", "end"] = "move"
    loaded: bool = False


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


def write_beginning(branch: Branch, author: str = "") -> None:
    """Write where a branch begins, under the number that it has."""
    head = branch.head.commit if branch.head else ""
    at = branch.created_at.isoformat()
    write_move(branch, RefMove(branch.seq, "", head, None, author, at, kind="begin"))


def write_end(branch: Branch, head: str, author: str) -> None:
    """Write that a branch, which is at `head`, is deleted."""
    at = clock.now().isoformat()
    write_move(branch, RefMove(branch.seq + 1, head, "", None, author, at, kind="end"))


def last_seq(dataset: Dataset, name: str) -> int:
    """Return the number of the last entry of a branch's name, 0 if it never had one."""
    folder = storage.project_store(dataset.project).prefix + keys.ref_log_prefix(dataset.pk, name)
    names = (found.key.removeprefix(folder) for found in storage.objects().list_prefix(folder))
    return max((int(name.removesuffix(".json")) for name in names if "/" not in name), default=0)


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
