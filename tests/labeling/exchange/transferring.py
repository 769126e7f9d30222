"""A person who sends labels in and takes them out, over the real REST API and object store."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import httpx
from blake3 import blake3
from PIL import ExifTags, Image

from atom.accounts.models import Project
from atom.core.storage import project_store
from atom.datasets.models import Dataset, Version
from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.manifests import read_layer, read_root
from tests.factories.accounts import make_member
from tests.factories.datasets import make_dataset, make_version
from tests.labeling.asking import Api

PATHS = ("train/a.png", "train/b.png", "val/a.png", "中文/街道.png")


class Exchange:
    """The API as a person with a role, over one dataset of four pictures."""

    def __init__(self, project: Project, role: str = "researcher") -> None:
        self.project = project
        self.api = Api(make_member(project, role))

    def dataset(
        self, paths: Iterable[str] = PATHS, contents: Mapping[str, bytes] | None = None
    ) -> Dataset:
        dataset = make_dataset(self.project, "street")
        make_version(dataset, dict.fromkeys(paths), contents=contents)
        return dataset

    def upload(self, data: bytes, dataset: str = "street") -> str:
        """Send bytes as an upload of labels, and return its id once it is verified."""
        base = f"projects/{self.project.slug}/datasets/{dataset}/uploads/"
        digest = blake3(data).hexdigest()
        body = {"kind": "labels", "digest": digest, "size_bytes": len(data)}
        upload = self.ok("POST", base, body)
        if upload["state"] == "open":
            urls = self.ok("POST", f"{base}{upload['id']}/parts/", {"numbers": [1]})["urls"]
            sent = httpx.put(urls["1"], content=data)
            parts = [{"n": 1, "etag": sent.headers["etag"].strip('"')}]
            self.ok("POST", f"{base}{upload['id']}/complete/", {"parts": parts})
        return str(upload["id"])

    def ok(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = self.api(method, path, body, **headers)
        assert answer.status_code < 300, answer.content
        return answer.json()

    def ask_import(self, data: bytes, filename: str, **fields: Any) -> Any:
        body = {"dataset": "street", "upload": self.upload(data), "filename": filename, **fields}
        return self.ok("POST", f"projects/{self.project.slug}/labelx/imports/", body)

    def ask_export(self, **fields: Any) -> Any:
        return self.ok("POST", f"projects/{self.project.slug}/labelx/exports/", fields)

    def look(self, transfer: Mapping[str, Any]) -> Any:
        return self.ok("GET", f"labelx/transfers/{transfer['id']}/")

    def act(self, transfer: Mapping[str, Any], action: str) -> Any:
        return self.ok("POST", f"labelx/transfers/{transfer['id']}/{action}/")

    def bring(self, data: bytes, filename: str, **fields: Any) -> Any:
        """Import without waiting, and return the transfer as it ended."""
        return self.look(self.ask_import(data, filename, confirmed=True, **fields))

    def take(self, **fields: Any) -> dict[str, bytes]:
        """Export without waiting, and return the files of the archive."""
        done = self.look(self.ask_export(confirmed=True, **fields))
        assert done["state"] == "done", done["error"]
        url = self.ok("GET", f"labelx/transfers/{done['id']}/download/")["url"]
        with zipfile.ZipFile(io.BytesIO(httpx.get(url).content)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def picture(width: int = 640, height: int = 480, orientation: int = 1) -> bytes:
    """A small file of a picture that is stored with these sides and is turned when it is shown."""
    out = io.BytesIO()
    if orientation == 1:
        Image.new("1", (width, height)).save(out, "PNG")
    else:
        exif = Image.Exif()
        exif[ExifTags.Base.Orientation] = orientation
        Image.new("L", (width, height)).save(out, "JPEG", exif=exif)
    return out.getvalue()


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def coco(
    *annotations: dict[str, Any],
    names: tuple[str, ...] = PATHS,
    size: tuple[int, int] = (640, 480),
) -> bytes:
    """COCO's file over pictures of one size; an annotation names its picture by its place."""
    images = [
        {"id": number, "file_name": name, "width": size[0], "height": size[1]}
        for number, name in enumerate(names)
    ]
    categories = [{"id": 7, "name": "car"}, {"id": 9, "name": "行人"}]
    value = {"images": images, "categories": categories, "annotations": list(annotations)}
    return json.dumps(value, ensure_ascii=False).encode()


def box(number: int, image: int = 0, category: int = 7, **fields: Any) -> dict[str, Any]:
    """One annotation of such a file, which the number moves."""
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
        "bbox": [number + 0.25, 20.5, 100, 50],
        "area": 5000,
        "iscrowd": 0,
        **fields,
    }


def drawn_on(dataset: Dataset, number: int | None = None) -> dict[str, NamedDocument]:
    """The documents of the newest version, or of one, by path."""
    versions = Version.objects.filter(dataset=dataset).order_by("-number")
    version = versions.first() if number is None else versions.get(number=number)
    assert version is not None
    store = project_store(dataset.project)
    layer = read_root(bytes.fromhex(version.root), store).layer("objects")
    if layer is None:
        return {}
    table = read_layer(layer, store)
    return dict(zip(table["path"].to_pylist(), documents_of(table), strict=True))
