"""Roots: the list of ranges and layers that make a dataset version. Format: README.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from blake3 import blake3

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.canonical import decode_json, encode_canonical
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, root_key

ROOT_FORMAT = "atom-root/1"
_CONTENT_DOMAIN = b"atom-content/1\n"
_JSON_NAMES = {"size_bytes": "bytes"}
_RANGE_FIELDS = ("min", "max", "count", "size_bytes", "content", "object")


@dataclass(frozen=True, slots=True)
class RangeRef:
    """One range: first and last path, number and bytes of its files, digests of 32 bytes.

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

    @property
    def layout(self) -> tuple[bytes, ...]:
        """What names the stored objects: equal layouts read as equal tables."""
        return (self.object, *self.deltas)


@dataclass(frozen=True, slots=True)
class LayerRef:
    """One layer: its name, kind, rows, content and object digest (32 bytes)."""

    name: str
    kind: str
    rows: int
    content: bytes
    object: bytes


@dataclass(frozen=True, slots=True)
class Root:
    """A dataset version without its history: ranges by path, layers by name, totals."""

    ranges: tuple[RangeRef, ...]
    layers: tuple[LayerRef, ...]
    count: int
    size_bytes: int
    content: bytes

    @property
    def deltas(self) -> tuple[bytes, ...]:
        """Digests of all deltas that some range has, sorted."""
        return tuple(sorted({delta for part in self.ranges for delta in part.deltas}))

    def says_the_same(self, other: Root) -> bool:
        """Whether both have the same entries and values, wherever these are written down."""
        mine, theirs = (
            (root.content, [(layer.name, layer.kind, layer.content) for layer in root.layers])
            for root in (self, other)
        )
        return mine == theirs

    def layer(self, name: str) -> LayerRef | None:
        """The layer with this name, if there is one."""
        return next((layer for layer in self.layers if layer.name == name), None)

    def with_layers(self, *layers: LayerRef) -> Root:
        """The same entries, with these layers added; a layer replaces one with its name."""
        kept = {layer.name: layer for layer in (*self.layers, *layers)}
        return make_root(self.ranges, kept.values())

    def without_layer(self, name: str) -> Root:
        """The same entries without one layer."""
        return make_root(self.ranges, (layer for layer in self.layers if layer.name != name))


def make_root(ranges: Iterable[RangeRef], layers: Iterable[LayerRef] = ()) -> Root:
    """Root over ranges that are in path order; totals and content digest are computed."""
    listed = tuple(ranges)
    return Root(
        ranges=listed,
        layers=tuple(sorted(layers, key=lambda layer: layer.name)),
        count=sum(part.count for part in listed),
        size_bytes=sum(part.size_bytes for part in listed),
        content=blake3(_CONTENT_DOMAIN + b"".join(part.content for part in listed)).digest(),
    )


def encode_root(root: Root) -> bytes:
    """Canonical JSON of a root."""
    deltas = root.deltas
    numbers = {delta: number for number, delta in enumerate(deltas)}
    return encode_canonical(
        {
            "format": ROOT_FORMAT,
            "ranges": [_range_json(part, numbers) for part in root.ranges],
            "deltas": [delta.hex() for delta in deltas],
            "layers": [_hexed(layer, LayerRef.__slots__) for layer in root.layers],
            "count": root.count,
            "bytes": root.size_bytes,
            "content": root.content.hex(),
        }
    )


def decode_root(data: bytes, key: str = "root") -> Root:
    """Read a root. Raises UnknownFormatError, ManifestCorruptError."""
    value = decode_json(data, key, ROOT_FORMAT)
    try:
        deltas = [bytes.fromhex(delta) for delta in value["deltas"]]
        ranges = [_range_of(part, deltas) for part in value["ranges"]]
        layers = [LayerRef(**_unhexed(layer, LayerRef.__slots__)) for layer in value["layers"]]
        root = make_root(ranges, layers)
        stated = (value["count"], value["bytes"], bytes.fromhex(value["content"]))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise ManifestCorruptError(key, "a field is missing or has the wrong type") from error
    if stated != (root.count, root.size_bytes, root.content):
        raise ManifestCorruptError(key, "its totals or its content digest do not fit its ranges")
    return root


def write_root(root: Root, store: ObjectStore) -> bytes:
    """Store a root; returns its digest, 32 bytes."""
    data = encode_root(root)
    digest = digest_of(data)
    store.put(root_key(digest), data)
    return digest


def read_root(digest: bytes, store: ObjectStore) -> Root:
    """Read and check a root. Raises ObjectNotFoundError and what `decode_root` raises."""
    key = root_key(digest)
    return decode_root(get_verified(store, key, digest), key)


def _range_json(part: RangeRef, numbers: dict[bytes, int]) -> dict[str, Any]:
    fields = _hexed(part, _RANGE_FIELDS)
    if part.deltas:
        fields["deltas"] = [numbers[delta] for delta in part.deltas]
    return fields


def _range_of(value: dict[str, Any], deltas: list[bytes]) -> RangeRef:
    numbers = value.get("deltas", ())
    if any(number < 0 for number in numbers):
        raise IndexError("a delta's number is below 0")
    laid_over = tuple(deltas[number] for number in numbers)
    return RangeRef(**_unhexed(value, _RANGE_FIELDS), deltas=laid_over)


def _hexed(part: RangeRef | LayerRef, names: Iterable[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in names:
        value = getattr(part, name)
        fields[_JSON_NAMES.get(name, name)] = value.hex() if isinstance(value, bytes) else value
    return fields


def _unhexed(value: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    # Fields that a later minor version adds are left alone.
    fields = {name: value[_JSON_NAMES.get(name, name)] for name in names}
    return fields | {name: bytes.fromhex(value[name]) for name in ("content", "object")}
