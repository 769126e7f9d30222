"""Pictures of coloured shapes with their boxes, as a job's dataset: packs, view, environment."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    build_root,
    build_view,
    entries_table,
    layer_table,
    write_layer,
)
from atom_sdk.packs import PackStore, PackWriter

SHAPES = ("circle", "square", "triangle")
WIDTH, HEIGHT = 160, 128
Box = tuple[str, float, float, float, float]


def draw_shapes(random: np.random.Generator, most: int = 3) -> tuple[bytes, list[Box]]:
    """Return a PNG and its shapes: (label, x, y, width, height)."""
    noise = random.integers(90, 140, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    image = Image.fromarray(noise)
    pen = ImageDraw.Draw(image)
    boxes: list[Box] = []
    for _ in range(int(random.integers(0, most + 1))):
        side = int(random.integers(24, 60))
        x, y = int(random.integers(0, WIDTH - side)), int(random.integers(0, HEIGHT - side))
        label = SHAPES[int(random.integers(len(SHAPES)))]
        colour = {"circle": "#e03131", "square": "#1971c2", "triangle": "#fcc419"}[label]
        corner = (x + side - 1, y + side - 1)
        if label == "circle":
            pen.ellipse((x, y, *corner), colour)
        elif label == "square":
            pen.rectangle((x, y, *corner), colour)
        else:
            pen.polygon([(x, corner[1]), corner, (x + side / 2, y)], colour)
        boxes.append((label, x, y, side, side))
    file = io.BytesIO()
    image.save(file, "png")
    return file.getvalue(), boxes


def object_row(number: int, box: Box, **others: Any) -> dict[str, Any]:
    """Return one object of the layer `objects`."""
    label, x, y, width, height = box
    return {
        "id": struct.pack(">Q", number),
        "label": label,
        "kind": "box",
        "x": float(x),
        "y": float(y),
        "width": float(width),
        "height": float(height),
        "area": float(width * height),
        "geometry": struct.pack("<4d", x, y, width, height),
        "sizes": [],
        "ignore": False,
    } | others


def write_dataset(
    folder: Path,
    files: dict[str, bytes],
    objects: dict[str, list[dict[str, Any]]] | None,
    splits: dict[str, str] | None = None,
) -> dict[str, str]:
    """Write packs, a view and the file that the runner points to; return the environment.

    `objects` has the rows of the pictures that somebody has looked at; None for no layer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    memory, store = MemoryObjectStore(), PackStore(folder / "cache")
    sink = io.BytesIO()
    with PackWriter(sink) as writer:
        for path in sorted(files):
            writer.add_bytes(path, files[path])
        summary = writer.close()
    store.fill(summary.digest, [sink.getvalue()])
    entries = [
        Entry(one.path, one.size, one.digest, None, None, summary.digest, one.offset)
        for one in summary.members
    ]
    digests = {entry.path: entry.digest for entry in entries}
    layers = []
    if objects is not None:
        rows = [
            {"path": path, "digest": digests[path], "width": WIDTH, "height": HEIGHT,
             "objects": own, "labels": [], "relations": [], "source": "human"}
            for path, own in objects.items()
        ]  # fmt: skip
        layers.append(write_layer("objects", "objects", layer_table("objects", rows), memory))
    if splits:
        rows = [{"path": p, "digest": digests[p], "value": value} for p, value in splits.items()]
        layers.append(write_layer("split", "split", layer_table("split", rows), memory))
    root = build_root([entries_table(entries)], memory).with_layers(*layers)
    build_view(root, memory, folder / "view.arrow")
    named = {"index_path": str(folder / "view.arrow"), "pack_dir": str(store.packs)}
    (folder / "datasets.json").write_text(json.dumps({"dataset": named}))
    return {"ATOM_DATASETS": str(folder / "datasets.json")}


def shapes_dataset(folder: Path, pictures: int, seed: int = 0) -> dict[str, str]:
    """Write a dataset of drawn shapes, a fifth of it in the split `val`."""
    random = np.random.default_rng(seed)
    files: dict[str, bytes] = {}
    objects: dict[str, list[dict[str, Any]]] = {}
    for number in range(pictures):
        path = f"shapes/{number:03d}.png"
        files[path], boxes = draw_shapes(random)
        objects[path] = [object_row(10 * number + place, box) for place, box in enumerate(boxes)]
    splits = {path: "val" if place % 5 == 0 else "train" for place, path in enumerate(files)}
    return write_dataset(folder, files, objects, splits)
