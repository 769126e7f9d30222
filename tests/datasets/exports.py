"""Exports of annotation tools, as people upload them."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image

PICTURES = 12
OBJECTS = 120
LOST = 3


def picture(number: int) -> bytes:
    """Return a small picture, another one by each number."""
    sink = io.BytesIO()
    Image.new("RGB", (40, 30), (number * 20 % 256, 90, 160)).save(sink, "PNG")
    return sink.getvalue()


def coco_files(lost: int = LOST) -> dict[str, bytes]:
    """Return a COCO export of 120 objects; boxes without an area are lost."""
    images = [
        {"id": number, "file_name": f"{number:02}.png", "width": 40, "height": 30}
        for number in range(PICTURES)
    ]
    objects = [
        {
            "id": number,
            "image_id": number % PICTURES,
            "category_id": 1 + (number >= OBJECTS - 20),
            "bbox": [1, 2, 0, 0] if number < lost else [1, 2, 10, 8],
        }
        for number in range(OBJECTS)
    ]
    document: dict[str, Any] = {
        "images": images,
        "annotations": objects,
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
    }
    files = {f"images/{number:02}.png": picture(number) for number in range(PICTURES)}
    return {"annotations/instances_train.json": json.dumps(document).encode(), **files}


def zipped(files: dict[str, bytes]) -> bytes:
    """Return the files as a zip archive."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return sink.getvalue()


def written(files: dict[str, bytes], folder: Path) -> Path:
    """Write files below a folder."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder
