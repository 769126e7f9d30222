"""Objects of pictures as arrays for training: boxes, classes, masks and keypoints of each path.

Coordinates are those of the picture after EXIF orientation: x to the right, y down, float, from the
outer corner of the top-left pixel. A box covers [x1, x2) × [y1, y2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom_sdk.annotations import rle
from atom_sdk.annotations.layer_reading import shape_of_bytes
from atom_sdk.annotations.shapes import Box, Keypoints, Mask, PictureGeometry, Polygon, RotatedBox
from atom_sdk.errors import NotAnnotatedError, PictureSizeError
from atom_sdk.readers.images import ImageDecoder
from atom_sdk.readers.local import Sample
from atom_sdk.readers.view import ViewIndex

Target = dict[str, Any]
_BATCH_ROWS = 4096


class ObjectTargets:
    """The objects of an `objects` layer by path; can be pickled, for workers of a DataLoader.

    `classes` are the names behind the indexes in `labels`: all of the layer, sorted, unless a list
    is passed. Objects of classes that are not in such a list are left out.
    """

    def __init__(self, table: pa.Table, classes: Sequence[str] | None = None) -> None:
        """Keep the rows of the layer; see `atom_sdk.manifests.read_layer`."""
        self._table = table.select(["path", "digest", "width", "height", "objects"])
        self.classes = _classes(self._table) if classes is None else list(classes)

    def __len__(self) -> int:
        """Number of pictures that somebody looked at."""
        return len(self._table)

    def __contains__(self, path: str) -> bool:
        """Whether somebody looked at the picture, also if nothing is in it."""
        return path in self._places

    def __reduce__(self) -> tuple[type[ObjectTargets], tuple[pa.Table, list[str]]]:
        """Pickle the rows; the other process indexes them itself."""
        return ObjectTargets, (self._table, self.classes)

    def rows_in(self, index: ViewIndex) -> NDArray[np.int64]:
        """Return the rows of a view whose pictures were annotated as they are now, ascending."""
        rows = [
            row
            for row in range(len(index))
            if self._is_of(index.path_of(row), index.digest_of(row))
        ]
        return np.array(rows, np.int64)

    def size_of(self, path: str) -> tuple[int, int]:
        """Return height and width of a picture in pixels. Raises NotAnnotatedError."""
        batch, row = self._place(path)
        return batch.sizes[row]

    def target(
        self, path: str, *, masks: bool = False, size: tuple[int, int] | None = None
    ) -> Target:
        """Return the objects of a picture, n of them, in z-order.

        - boxes: float64, shape (n, 4), x1, y1, x2, y2 in pixels, around the shape of any kind; they
          may reach beyond the picture
        - labels: int64, shape (n,), indexes in `classes`
        - area: float64, shape (n,), in square pixels, of the shape itself
        - ignore: bool, shape (n,): regions that count neither as hit nor as miss
        - keypoints: float64, shape (n, k, 3), x, y and 0 absent, 1 hidden, 2 visible; zeros beyond
          an object's points
        - size: int64, shape (2,), height and width of the picture
        - masks, if asked for: bool, shape (n, height, width); lines and points cover no pixel

        `size` = (height, width) scales all of these to a picture of that size. Raises
        NotAnnotatedError, DocumentError for bytes that are no shape.
        """
        batch, row = self._place(path)
        old = batch.sizes[row]
        new = old if size is None else size
        # x before y, as coordinates go.
        scale = np.array([new[1] / old[1], new[0] / old[0]])
        chosen, labels = batch.objects_of(row, self._codes)
        shapes = [batch.shape(it, old) for it in chosen] if masks else []
        skeletons = {
            index: batch.shape(it, old)
            for index, it in enumerate(chosen)
            if batch.kinds[it] == Keypoints.kind
        }
        target: Target = {
            "boxes": batch.boxes[chosen] * np.tile(scale, 2),
            "labels": labels,
            "area": batch.areas[chosen] * scale.prod(),
            "ignore": batch.ignores[chosen],
            "keypoints": _keypoints(skeletons, len(chosen), scale),
            "size": np.array(new, np.int64),
        }
        return target | ({"masks": _masks(shapes, old, new)} if masks else {})

    def check(self, path: str, digest: bytes) -> None:
        """Raise NotAnnotatedError unless the picture was annotated with these bytes."""
        if not self._is_of(path, digest):
            raise NotAnnotatedError(path)

    def _is_of(self, path: str, digest: bytes) -> bool:
        place = self._places.get(path)
        return place is not None and place[0].digests[place[1]] == digest

    def _place(self, path: str) -> tuple[_Batch, int]:
        place = self._places.get(path)
        if place is None:
            raise NotAnnotatedError(path)
        return place

    @cached_property
    def _places(self) -> dict[str, tuple[_Batch, int]]:
        batches = map(_Batch, self._table.to_batches(max_chunksize=_BATCH_ROWS))
        return {path: (it, row) for it in batches for row, path in enumerate(it.paths)}

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.classes)}


@dataclass(frozen=True)
class ObjectDecoder:
    """`decoder(sample)` is (pixels, target); can be pickled, for workers of a DataLoader.

    Pixels are uint8 of shape (channels, height, width), upright; the target is that of
    `ObjectTargets.target`, scaled along with the picture if `size` = (height, width) is set. With
    `tensor` all arrays are torch's, boxes, areas and keypoints in float32. Raises what ImageDecoder
    and `ObjectTargets.target` raise, NotAnnotatedError also for a picture that changed since, and
    PictureSizeError.
    """

    targets: ObjectTargets
    size: tuple[int, int] | None = None
    mode: Literal["RGB", "L"] = "RGB"
    masks: bool = False
    tensor: bool = False

    def __call__(self, sample: Sample) -> tuple[Any, Target]:
        """The decoded sample."""
        self.targets.check(sample.path, sample.digest)
        pixels = ImageDecoder(self.size, self.mode).decode(sample.data, sample.path)
        found = pixels.shape[1:]
        annotated = self.targets.size_of(sample.path)
        if self.size is None and found != annotated:
            raise PictureSizeError(sample.path, found, annotated)
        target = self.targets.target(sample.path, masks=self.masks, size=self.size)
        if not self.tensor:
            return pixels, target
        import torch

        return torch.from_numpy(pixels), {
            name: torch.from_numpy(it.astype(np.float32) if it.dtype == np.float64 else it)
            for name, it in target.items()
        }


class _Batch:
    """Columns of some rows; those of objects count through all of them."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.paths: list[str] = batch.column("path").to_pylist()
        self.digests: list[bytes] = batch.column("digest").to_pylist()
        heights, widths = batch.column("height").to_pylist(), batch.column("width").to_pylist()
        self.sizes: list[tuple[int, int]] = list(zip(heights, widths, strict=True))
        lists = batch.column("objects")
        lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        self._ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        objects = lists.flatten()
        x, y, width, height = (
            pc.struct_field(objects, name).to_numpy(zero_copy_only=False)
            for name in ("x", "y", "width", "height")
        )
        self.boxes: NDArray[np.float64] = np.stack([x, y, x + width, y + height], axis=1)
        self.areas = pc.struct_field(objects, "area").to_numpy(zero_copy_only=False)
        self.ignores = pc.struct_field(objects, "ignore").to_numpy(zero_copy_only=False)
        self.kinds: list[str] = pc.struct_field(objects, "kind").to_pylist()
        self._labels = pc.struct_field(objects, "label")
        self._geometry = pc.struct_field(objects, "geometry")
        self._sizes = pc.struct_field(objects, "sizes")

    def objects_of(
        self, row: int, codes: Mapping[str, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of a row's objects of these classes, and the codes of the classes."""
        numbers = np.arange(self._ends[row], self._ends[row + 1])
        names = self._labels[self._ends[row] : self._ends[row + 1]].to_pylist()
        labels = np.array([codes.get(name, -1) for name in names], np.int64)
        return numbers[labels >= 0], labels[labels >= 0]

    def shape(self, number: int, size: tuple[int, int]) -> PictureGeometry:
        """Return the shape of an object."""
        sizes = self._sizes[number].as_py() or ()
        geometry = self._geometry[number].as_py()
        height, width = size
        return shape_of_bytes(self.kinds[number], geometry, sizes, width, height)


def _classes(table: pa.Table) -> list[str]:
    names: set[str] = set()
    for chunk in table["objects"].chunks:
        names.update(pc.unique(pc.struct_field(chunk.flatten(), "label")).to_pylist())
    return sorted(names)


def _keypoints(
    shapes: Mapping[int, PictureGeometry], count: int, scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    skeletons = {index: it for index, it in shapes.items() if isinstance(it, Keypoints)}
    most = max((len(it.points) for it in skeletons.values()), default=0)
    keypoints = np.zeros((count, most, 3))
    for index, shape in skeletons.items():
        keypoints[index, : len(shape.points)] = np.reshape(shape.points, (-1, 3))
    keypoints[..., :2] *= scale
    return keypoints


def _masks(
    shapes: Sequence[PictureGeometry], old: tuple[int, int], new: tuple[int, int]
) -> NDArray[np.bool_]:
    masks = np.zeros((len(shapes), *new), bool)
    # The middle of each new pixel lies in one of the old.
    rows, columns = (
        ((np.arange(after) + 0.5) * before / after).astype(np.int64)
        for before, after in zip(old, new, strict=True)
    )
    for index, shape in enumerate(shapes):
        pixels = mask_of(shape, *old)
        masks[index] = pixels if old == new else pixels[np.ix_(rows, columns)]
    return masks


def mask_of(shape: PictureGeometry, height: int, width: int) -> NDArray[np.bool_]:
    """Return the pixels of a shape, shape (height, width); lines and points cover none."""
    if isinstance(shape, Mask):
        return rle.decode(shape.counts, height, width)
    if isinstance(shape, Box):
        right, bottom = shape.x + shape.width, shape.y + shape.height
        corners = (shape.x, shape.y, right, shape.y, right, bottom, shape.x, bottom)
        return rle.decode(rle.from_polygon([[corners]], height, width), height, width)
    if isinstance(shape, RotatedBox):
        return rle.decode(rle.from_polygon([[shape.corners]], height, width), height, width)
    if isinstance(shape, Polygon):
        return rle.decode(rle.from_polygon(shape.parts, height, width), height, width)
    return np.zeros((height, width), bool)
