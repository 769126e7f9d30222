"""Folders and names of a list of paths, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom_sdk.mount.erofs.layout import MAX_NAME_BYTES
from atom_sdk.mount.errors import ImageLimitError, NameConflictError

_SLASH = ord("/")
_BINARY = pa.large_binary()


@dataclass(frozen=True, slots=True)
class Tree:
    """Every name of every folder, sorted by folder and then by name as bytes.

    `folders` counts them, folder 0 is the top. `owners`: the folder that a name is in, shape
    (names,). `targets`: the place of a path, or -1 - folder, shape (names,). `names` holds the
    bytes; "." and ".." are among them.
    """

    folders: int
    owners: NDArray[np.int64]
    names: pa.Array
    targets: NDArray[np.int64]


def build_tree(paths: pa.Array) -> Tree:
    """The tree of paths (large_binary). Raises NameConflictError, ImageLimitError."""
    prefixes, file_names = _split(paths)
    encoded = prefixes.dictionary_encode()
    seen = encoded.dictionary.to_pylist()
    numbers, parents, folder_names = _number_folders(seen)
    of_prefix = np.fromiter((numbers[prefix] for prefix in seen), np.int64, len(seen))
    folders = np.arange(len(parents))
    own = pa.array([b"."] * len(parents), _BINARY)
    up = pa.array([b".."] * len(parents), _BINARY)
    owners = np.concatenate([of_prefix[encoded.indices.to_numpy()], parents[1:], folders, folders])
    targets = np.concatenate([np.arange(len(paths)), -1 - folders[1:], -1 - folders, -1 - parents])
    names = pa.concat_arrays([file_names, pa.array(folder_names[1:], _BINARY), own, up])
    tree = _sorted(Tree(len(parents), owners, names, targets))
    _check(tree, paths)
    return tree


def _split(paths: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Each path in two: its folder with the slash behind it, and its name."""
    offsets = np.frombuffer(paths.buffers()[1], np.int64)[paths.offset :][: len(paths) + 1]
    data = np.frombuffer(paths.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
    starts, ends = offsets[:-1] - offsets[0], offsets[1:] - offsets[0]
    slashes = np.concatenate([[-1], np.flatnonzero(data == _SLASH)])
    last = slashes[np.searchsorted(slashes, ends) - 1]
    cuts = np.maximum(last + 1, starts)
    # +1 where a name begins, -1 where it ends: the running sum marks the bytes of names.
    steps = np.zeros(len(data) + 1, np.int8)
    steps[cuts] += 1
    steps[ends] -= 1
    in_name = np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)
    return _binary(data[~in_name], cuts - starts), _binary(data[in_name], ends - cuts)


def _binary(data: NDArray[np.uint8], lengths: NDArray[np.int64]) -> pa.Array:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(_BINARY, len(lengths), buffers)


def _number_folders(
    prefixes: list[bytes],
) -> tuple[dict[bytes, int], NDArray[np.int64], list[bytes]]:
    """Number the folders and all folders above them: numbers by prefix, parents, names."""
    numbers, parents, names = {b"": 0}, [0], [b""]
    for prefix in prefixes:
        missing, known = [], prefix
        while known not in numbers:
            missing.append(known)
            known = _above(known)
        for folder in reversed(missing):
            above = _above(folder)
            numbers[folder] = len(parents)
            parents.append(numbers[above])
            names.append(folder[len(above) : -1])
    return numbers, np.array(parents, np.int64), names


def _above(prefix: bytes) -> bytes:
    return prefix[: prefix.rfind(b"/", 0, -1) + 1]


def _sorted(tree: Tree) -> Tree:
    table = pa.table({"owner": tree.owners, "name": tree.names})
    keys = [("owner", "ascending"), ("name", "ascending")]
    order = pc.sort_indices(table, sort_keys=keys)
    rows = order.to_numpy()
    return Tree(tree.folders, tree.owners[rows], tree.names.take(order), tree.targets[rows])


def _check(tree: Tree, paths: pa.Array) -> None:
    longest = pc.max(pc.binary_length(tree.names)).as_py()
    if longest > MAX_NAME_BYTES:
        raise ImageLimitError("bytes in a name", MAX_NAME_BYTES, longest)
    count = len(tree.names)
    names = tree.names
    same = pc.equal(names.slice(1), names.slice(0, count - 1)).to_numpy(zero_copy_only=False)
    twice = np.flatnonzero(same & (tree.owners[1:] == tree.owners[:-1]))
    if len(twice):
        row = tree.targets[twice[0] : twice[0] + 2].max()
        raise NameConflictError(paths[int(row)].as_py().decode())
