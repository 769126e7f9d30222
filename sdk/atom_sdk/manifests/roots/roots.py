"""Roots: the list of ranges and layers that make a dataset version. Format: README.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.canonical import decode_json, encode_canonical
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, group_key, root_key
from atom_sdk.manifests.ranges.refs import (
    RangeRef,
    deltas_of,
    hexed,
    ranges_json,
    ranges_of,
    unhexed,
)
from atom_sdk.manifests.roots.contents import contents_of, root_content, write_contents
from atom_sdk.manifests.roots.groups import (
    DEFAULT_GROUP_RULE,
    GROUP_FIELDS,
    GroupedRanges,
    GroupRef,
    GroupRule,
    grouped,
)

__all__ = [
    "ROOT_FORMAT",
    "LayerRef",
    "RangeRef",
    "Root",
    "decode_root",
    "encode_root",
    "make_root",
    "read_root",
    "write_root",
]

ROOT_FORMAT = "atom-root/1"
# The format of a root with links: a reader without links must not take them for files without
# bytes.
LINKED_FORMAT = "atom-root/2"
_LAYER_FIELDS = ("name", "kind", "rows", "content", "object")


@dataclass(frozen=True, slots=True)
class LayerRef:
    """One layer: its name, kind, rows, content and object digest (32 bytes).

    Its rows are those of `object` with `deltas` laid over them, oldest first; `rows` and `content`
    say what the result is.
    """

    name: str
    kind: str
    rows: int
    content: bytes
    object: bytes
    deltas: tuple[bytes, ...] = ()

    @property
    def layout(self) -> tuple[bytes, ...]:
        """The digests of the stored objects: equal layouts of one kind read as equal tables."""
        return (self.object, *self.deltas)


@dataclass(frozen=True, slots=True)
class Root:
    """A dataset version without its history: ranges by path, layers by name, totals.

    `links` of its `count` entries are symbolic links.

    The ranges of a large root that was read are a GroupedRanges: look for paths with
    `range_position` and `ranges_from`, which read only the groups that they need.
    """

    ranges: Sequence[RangeRef]
    layers: tuple[LayerRef, ...]
    count: int
    size_bytes: int
    content: bytes
    links: int = 0

    @property
    def files(self) -> int:
        """Number of entries that are no links."""
        return self.count - self.links

    @property
    def deltas(self) -> tuple[bytes, ...]:
        """Digests of all deltas that some range has, sorted."""
        return deltas_of(self.ranges)

    @property
    def groups(self) -> tuple[GroupRef, ...]:
        """The groups in which the ranges were read; none if the root itself lists them."""
        return self.ranges.groups if isinstance(self.ranges, GroupedRanges) else ()

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
        return replace(self, layers=_by_name(kept.values()))

    def with_layers_only(self, layers: Iterable[LayerRef]) -> Root:
        """The same entries, with these layers and no others."""
        return replace(self, layers=_by_name(layers))

    def without_layer(self, name: str) -> Root:
        """The same entries without one layer."""
        return replace(self, layers=tuple(layer for layer in self.layers if layer.name != name))


def make_root(ranges: Iterable[RangeRef], layers: Iterable[LayerRef] = ()) -> Root:
    """Root over ranges that are in path order; totals and content digest are computed."""
    listed = tuple(ranges)
    return Root(
        ranges=listed,
        layers=_by_name(layers),
        count=sum(part.count for part in listed),
        size_bytes=sum(part.size_bytes for part in listed),
        content=root_content(contents_of(listed)),
        links=sum(part.links for part in listed),
    )


def _by_name(layers: Iterable[LayerRef]) -> tuple[LayerRef, ...]:
    return tuple(sorted(layers, key=lambda layer: layer.name))


def encode_root(root: Root, rule: GroupRule = DEFAULT_GROUP_RULE) -> bytes:
    """Canonical JSON of a root; the objects of its groups are written by `write_root` only."""
    return _encode(root, _groups_of(root, rule))


def write_root(root: Root, store: ObjectStore, rule: GroupRule = DEFAULT_GROUP_RULE) -> bytes:
    """Store a root, with its groups if it has many ranges; returns its digest, 32 bytes."""
    groups = _groups_of(root, rule)
    # The root last: whoever finds it finds all of it.
    for group, data in groups:
        if data is not None:
            store.put(group_key(group.object), data)
    if groups and not root.groups:
        write_contents(contents_of(root.ranges), store)
    encoded = _encode(root, groups)
    digest = digest_of(encoded)
    store.put(root_key(digest), encoded)
    return digest


def _groups_of(root: Root, rule: GroupRule) -> list[tuple[GroupRef, bytes | None]]:
    """Groups, each with its object's bytes unless it is stored already."""
    if root.groups:
        return [(group, None) for group in root.groups]
    return list(grouped(root.ranges, rule)) if len(root.ranges) > rule.flat else []


def _encode(root: Root, groups: Sequence[tuple[GroupRef, bytes | None]]) -> bytes:
    fields = ranges_json(()) if groups else ranges_json(root.ranges)
    if groups:
        fields["groups"] = [hexed(group, GROUP_FIELDS) for group, _ in groups]
    return encode_canonical(
        {
            "format": _format_of(root),
            **fields,
            "layers": [_layer_json(layer) for layer in root.layers],
            "count": root.count,
            "bytes": root.size_bytes,
            "content": root.content.hex(),
        }
    )


def _format_of(root: Root) -> str:
    return LINKED_FORMAT if root.links else ROOT_FORMAT


def decode_root(data: bytes, key: str = "root", store: ObjectStore | None = None) -> Root:
    """Read a root; `store` holds its groups. Raises UnknownFormatError, ManifestCorruptError."""
    value = decode_json(data, key, ROOT_FORMAT, LINKED_FORMAT)
    try:
        layers = [_layer_of(layer) for layer in value["layers"]]
        root = _grouped_root(value, layers, store) or make_root(ranges_of(value), layers)
        stated = (value["count"], value["bytes"], bytes.fromhex(value["content"]))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise ManifestCorruptError(key, "a field is missing or has the wrong type") from error
    if value["format"] != _format_of(root):
        raise ManifestCorruptError(key, f"with {root.links} links it is no {value['format']}")
    if stated != (root.count, root.size_bytes, root.content):
        raise ManifestCorruptError(key, "its totals or its content digest do not fit its ranges")
    return root


def _layer_json(layer: LayerRef) -> dict[str, Any]:
    fields = hexed(layer, _LAYER_FIELDS)
    if layer.deltas:
        # Another name: who does not know of deltas must not take the base for all of the layer.
        fields["base"] = fields.pop("object")
        fields["deltas"] = [delta.hex() for delta in layer.deltas]
    return fields


def _layer_of(value: dict[str, Any]) -> LayerRef:
    laid_over = tuple(bytes.fromhex(delta) for delta in value.get("deltas", ()))
    if laid_over:
        value = {**value, "object": value["base"]}
    return LayerRef(**unhexed(value, _LAYER_FIELDS), deltas=laid_over)


def _grouped_root(
    value: dict[str, Any], layers: list[LayerRef], store: ObjectStore | None
) -> Root | None:
    """The root over groups; None if it lists its ranges itself."""
    groups = [GroupRef(**unhexed(group, GROUP_FIELDS)) for group in value.get("groups", ())]
    if not groups:
        return None
    if store is None:
        raise ValueError("the groups of a root are in its store")
    return Root(
        ranges=GroupedRanges(groups, store),
        layers=_by_name(layers),
        count=sum(group.count for group in groups),
        size_bytes=sum(group.size_bytes for group in groups),
        # Over the ranges' own digests, which are not read here; the object's name vouches for it.
        content=bytes.fromhex(value["content"]),
        links=sum(group.links for group in groups),
    )


def read_root(digest: bytes, store: ObjectStore) -> Root:
    """Read and check a root. Raises ObjectNotFoundError and what `decode_root` raises."""
    key = root_key(digest)
    return decode_root(get_verified(store, key, digest), key, store)
