"""Which files go into which pack: a pure function of the sorted list of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from atom_sdk.errors import PackOrderError
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.tar import end_bytes, member_bytes

MIB = 1 << 20
TARGET_PACK_BYTES = 128 * MIB
OWN_PACK_BYTES = 64 * MIB


class SourceFile(NamedTuple):
    """A file to be packed: its path in the dataset and its size in bytes."""

    path: str
    size: int
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class PackPlan:
    """The files of one pack, in path order, and the exact size that the pack will have."""

    files: tuple[SourceFile, ...]
    pack_bytes: int


@dataclass(frozen=True, slots=True)
class PackLimits:
    """When a pack is full, and from which size on a file gets a pack of its own."""

    target_bytes: int = TARGET_PACK_BYTES
    own_pack_bytes: int = OWN_PACK_BYTES


def plan_packs(files: Iterable[SourceFile], limits: PackLimits | None = None) -> Iterator[PackPlan]:
    """Yield the packs for files that are sorted by UTF-8 path; the same files give the same packs.

    Raises PackOrderError if a path is out of order or comes twice, PathError for a path that cannot
    be held.
    """
    limits = limits or PackLimits()
    members: list[SourceFile] = []
    position = 0
    for file, path in _ordered(files):
        if file.size >= limits.own_pack_bytes:
            yield _plan([file], member_bytes(path, file.size, 0))
            continue
        length = member_bytes(path, file.size, position)
        if members and position + length > limits.target_bytes:
            yield _plan(members, position)
            members, position = [], 0
            length = member_bytes(path, file.size, 0)
        members.append(file)
        position += length
    if members:
        yield _plan(members, position)


def _plan(members: list[SourceFile], position: int) -> PackPlan:
    return PackPlan(tuple(members), position + end_bytes(position))


def _ordered(files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, bytes]]:
    previous = b""
    for file in files:
        path = encode_path(file.path)
        if path <= previous:
            raise PackOrderError(previous.decode(), file.path)
        previous = path
        yield file, path
