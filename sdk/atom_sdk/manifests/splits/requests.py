"""The request of a split, and the split that it gives: the same at client and server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from atom_sdk.errors import (
    SplitEmptyError,
    SplitRedrawError,
    SplitSpecError,
    SplitUnlabelledError,
)
from atom_sdk.manifests.query import Query, QueryError, asks_about, parse_query
from atom_sdk.manifests.splits.groups import assign_groups
from atom_sdk.manifests.splits.splits import SplitPlan, assign_splits
from atom_sdk.sentences import Sentence

HELD_OUT = ("test", "val")
REST = "train"
BY_FOLDER = "folder"
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)%", re.ASCII)
_GROUP_BY = re.compile(r"folder|attributes(?:\.[^.\s]+)+")
_MAX_COUNT = 2**53


@dataclass(frozen=True)
class SplitRequest:
    """How many samples are held out: numbers of samples, or parts of them such as "20%".

    `group_by`: files of one folder, or with one value of an attribute (`attributes.patient`), come
    into one split together. `redraw` draws files that have a split again. `where`: only files that
    match this query are drawn and counted.
    """

    sizes: Mapping[str, int | str] = field(default_factory=dict)
    seed: int = 0
    stratify: bool = True
    group_by: str = ""
    redraw: bool = False
    where: str = ""

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> SplitRequest:
        """Read {test, val, seed, stratify, group_by, redraw, where}. Raises SplitSpecError."""
        sizes = {name: given.get(name) or 0 for name in HELD_OUT}
        for name, size in sizes.items():
            _check_size(name, size)
        if sum(map(_percent, sizes.values())) > 100:
            raise SplitSpecError(
                Sentence("splits.parts_exceed_whole", "The parts are more than 100% together.")
            )
        group_by = str(given.get("group_by") or "")
        if group_by and not _GROUP_BY.fullmatch(group_by):
            raise SplitSpecError(
                Sentence(
                    "splits.group_unknown",
                    "Group by folder or attributes.NAME, not by {group_by}.",
                    group_by=repr(group_by),
                )
            )
        return cls(
            sizes={name: size for name, size in sizes.items() if size not in (0, "0%")},
            seed=int(given.get("seed") or 0),
            stratify=bool(given.get("stratify", True)),
            group_by=group_by,
            redraw=bool(given.get("redraw")),
            where=_checked_query(given.get("where") or ""),
        )

    @property
    def query(self) -> Query | None:
        """The query that chooses the files to draw; None for all of them."""
        return parse_query(self.where) if self.where else None

    def counts(self, samples: int) -> dict[str, int]:
        """How many each split gets of so many samples; half a sample is rounded up."""
        return {name: _count(size, samples) for name, size in self.sizes.items()}

    @property
    def draws_like(self) -> tuple[int, bool, str, str]:
        """The fields that must be equal for a split to be continued."""
        return self.seed, self.stratify, self.group_by, self.where


@dataclass(frozen=True)
class SplitInput:
    """The facts that a split depends on: label or None by path, group by path, the present splits.

    `chosen` are the paths that the request is about, None for all of them.
    """

    labels: Mapping[str, str | None]
    groups: Mapping[str, str] = field(default_factory=dict)
    existing: Mapping[str, str] = field(default_factory=dict)
    chosen: Collection[str] | None = None


def draw(
    request: SplitRequest, files: SplitInput, previous: SplitRequest | None = None
) -> dict[str, str]:
    """Split of each path that has one, in path order; the rest of the chosen files is `train`.

    Files keep the split that they have unless the request says to redraw. Only labelled files are
    drawn, or all files where none has a label and the request does not stratify. Files that are
    not chosen keep the split that they have, or have none; one of a chosen file's group goes with
    its group. Raises SplitEmptyError, SplitUnlabelledError,
    SplitTooLargeError, SplitRedrawError.
    """
    labels = _drawn_by(request, _of_chosen(files))
    existing = {} if request.redraw else _within(files.existing, labels)
    samples = sum(label is not None for label in labels.values())
    free = sum(label is not None and path not in existing for path, label in labels.items())
    counts = counts_of(request, previous, samples, Counter(existing.values()), free)
    plan = SplitPlan(counts=counts, seed=request.seed, rest=REST)
    if request.group_by:
        scope = _with_groups(labels, files)
        kept = {} if request.redraw else _within(files.existing, scope)
        assigned = assign_groups(scope, files.groups, plan, kept)
    else:
        assigned = assign_splits(labels, plan, existing)
    if files.chosen is None:
        return assigned
    return dict(sorted({**_within(files.existing, files.labels), **assigned}.items()))


def group_of(group_by: str, path: str, attributes: Mapping[str, Any]) -> str | None:
    """The group of a file; None if it has none, and so is a group of its own."""
    if group_by == BY_FOLDER:
        return path.rpartition("/")[0]
    value: Any = attributes
    for key in group_by.split(".")[1:]:
        value = value.get(key) if isinstance(value, Mapping) else None
    # A number and the text of it are two groups.
    return None if value is None else f"{type(value).__name__}:{value}"


def _of_chosen(files: SplitInput) -> Mapping[str, str | None]:
    if files.chosen is None:
        return files.labels
    chosen = frozenset(files.chosen)
    if not chosen:
        raise SplitEmptyError
    return {path: label for path, label in files.labels.items() if path in chosen}


def _within(splits: Mapping[str, str], paths: Collection[str]) -> dict[str, str]:
    return {path: split for path, split in splits.items() if path in paths}


def _with_groups(labels: Mapping[str, str | None], files: SplitInput) -> dict[str, str | None]:
    """The files that are drawn, and those of their groups, which are not counted."""
    groups = {files.groups[path] for path in labels if path in files.groups}
    others = {path for path, group in files.groups.items() if group in groups}
    return {**{path: None for path in others if path in files.labels}, **labels}


def _drawn_by(request: SplitRequest, labels: Mapping[str, str | None]) -> dict[str, str | None]:
    """The label that counts for drawing; None for a file that is not drawn."""
    is_labelled = any(label is not None for label in labels.values())
    if request.stratify:
        if not is_labelled and any(request.sizes.values()):
            raise SplitUnlabelledError
        return dict(labels)
    return {path: None if is_labelled and label is None else "" for path, label in labels.items()}


def counts_of(
    request: SplitRequest,
    previous: SplitRequest | None,
    samples: int,
    held: Counter[str],
    free: int,
) -> dict[str, int]:
    """How many each split gets of so many samples.

    `held` says how many files are in a split that they keep, `free` how many samples are in none.
    Raises SplitRedrawError.
    """
    counts = request.counts(samples)
    if not held:
        return counts
    _check_same(request, previous, counts, held)
    return _as_far_as_free(request, counts, held, free)


def _check_same(
    request: SplitRequest,
    previous: SplitRequest | None,
    counts: Mapping[str, int],
    held: Counter[str],
) -> None:
    """A split that is drawn is gone on with as it was drawn, and never made smaller."""
    if previous is not None and previous.draws_like != request.draws_like:
        raise SplitRedrawError("over other files, or with another seed, stratification or grouping")
    for name, size in request.sizes.items():
        if isinstance(size, int) and counts[name] < held[name] and not request.group_by:
            raise SplitRedrawError(f"and {name} has {held[name]} files, more than {size}")


def _as_far_as_free(
    request: SplitRequest, counts: Mapping[str, int], held: Counter[str], free: int
) -> dict[str, int]:
    """A part grows only by files that are in no split yet; a number is meant exactly."""
    found = {}
    for name, count in counts.items():
        is_part = isinstance(request.sizes[name], str)
        found[name] = max(min(count, held[name] + free), held[name]) if is_part else count
        free -= max(found[name] - held[name], 0)
    return found


def _check_size(name: str, size: Any) -> None:
    is_count = isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= _MAX_COUNT
    is_part = isinstance(size, str) and _PERCENT.fullmatch(size) and _percent(size) <= 100
    if not (is_count or is_part):
        raise SplitSpecError(
            Sentence(
                "splits.size_invalid",
                "{name} must be a number of samples or a part such as 20%.",
                name=name,
            )
        )


def _checked_query(text: Any) -> str:
    """The text of a query as it is written down. Raises SplitSpecError."""
    if not isinstance(text, str):
        raise SplitSpecError(Sentence("query.not_text", "where must be the text of a query."))
    if not text.strip():
        return ""
    try:
        query = parse_query(text)
    except QueryError as error:
        raise SplitSpecError(
            Sentence(
                "splits.query_unreadable", "The query cannot be read: {problem}", problem=error
            )
        ) from error
    # Such a split would depend on itself, and another push would draw otherwise.
    if asks_about(query, "split"):
        raise SplitSpecError(
            Sentence(
                "splits.chosen_by_split", "The files of a split cannot be chosen by their split."
            )
        )
    return query.text


def _percent(size: int | str) -> Decimal:
    return Decimal(size.rstrip("%")) if isinstance(size, str) else Decimal(0)


def _count(size: int | str, samples: int) -> int:
    if isinstance(size, int):
        return size
    return int((_percent(size) * samples / 100).to_integral_value(ROUND_HALF_UP))
