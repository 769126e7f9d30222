"""References to ranges, and how lists of them are written as JSON. Format: README.md."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_JSON_NAMES = {"size_bytes": "bytes"}
_RANGE_FIELDS = ("min", "max", "count", "size_bytes", "content", "object", "links")
# Written only if it is not 0, so that what has no link stays byte for byte what it was.
_OMITTED_IF_ZERO = "links"


@dataclass(frozen=True, slots=True)
class RangeRef:
    """One range: first and last path, number and bytes of its files, digests of 32 bytes.

    `links` of its `count` entries are symbolic links.

    Its entries are those of `object`, with the rows from `min` to `max` of `deltas` laid over them,
    oldest first, and nothing outside of these paths. All other fields say what the result is.
    """

    min: str
    max: str
    count: int
    size_bytes: int
    content: bytes
    object: bytes
    deltas: tuple[bytes, ...] = ()
    links: int = 0

    @property
    def layout(self) -> tuple[bytes, ...]:
        """The digests of the stored objects: equal layouts read as equal tables."""
        return (self.object, *self.deltas)


def deltas_of(ranges: Iterable[RangeRef]) -> tuple[bytes, ...]:
    """Digests of all deltas that some range has, sorted."""
    return tuple(sorted({delta for part in ranges for delta in part.deltas}))


def ranges_json(ranges: Sequence[RangeRef]) -> dict[str, Any]:
    """The fields `ranges` and `deltas` of an object that lists ranges."""
    deltas = deltas_of(ranges)
    numbers = {delta: number for number, delta in enumerate(deltas)}
    return {
        "ranges": [_range_json(part, numbers) for part in ranges],
        "deltas": [delta.hex() for delta in deltas],
    }


def ranges_of(value: dict[str, Any]) -> tuple[RangeRef, ...]:
    """Read the fields that `ranges_json` wrote.

    Raises IndexError, KeyError, TypeError or ValueError if they are something else.
    """
    deltas = [bytes.fromhex(delta) for delta in value["deltas"]]
    return tuple(_range_of(part, deltas) for part in value["ranges"])


def _range_json(part: RangeRef, numbers: dict[bytes, int]) -> dict[str, Any]:
    fields = hexed(part, _RANGE_FIELDS)
    if part.deltas:
        fields["deltas"] = [numbers[delta] for delta in part.deltas]
    return fields


def _range_of(value: dict[str, Any], deltas: list[bytes]) -> RangeRef:
    numbers = value.get("deltas", ())
    if any(number < 0 for number in numbers):
        raise IndexError("a delta's number is below 0")
    laid_over = tuple(deltas[number] for number in numbers)
    return RangeRef(**unhexed(value, _RANGE_FIELDS), deltas=laid_over)


def hexed(part: object, names: Iterable[str]) -> dict[str, Any]:
    """Fields of a reference as JSON values: digests in hex, sizes by their short name."""
    fields: dict[str, Any] = {}
    for name in names:
        value = getattr(part, name)
        if name == _OMITTED_IF_ZERO and not value:
            continue
        fields[_JSON_NAMES.get(name, name)] = value.hex() if isinstance(value, bytes) else value
    return fields


def unhexed(value: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Fields of a reference from JSON; `content` and `object` are digests.

    Raises KeyError, TypeError, ValueError.
    """
    # Fields that a later minor version adds are left alone.
    fields = {
        name: value[_JSON_NAMES.get(name, name)] for name in names if name != _OMITTED_IF_ZERO
    }
    if _OMITTED_IF_ZERO in names:
        fields[_OMITTED_IF_ZERO] = value.get(_OMITTED_IF_ZERO, 0)
    return fields | {name: bytes.fromhex(value[name]) for name in ("content", "object")}
