"""Files of a version as a source: all, a folder, an archive, and pictures that are apart."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO

import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.client.push.importing import Import, ImportOptions
from atom_sdk.importers.collection import Collected
from atom_sdk.importers.errors import SourceUnreadableError
from atom_sdk.importers.items import Blob
from atom_sdk.importers.report import Report
from atom_sdk.importers.sources import VersionSource
from atom_sdk.run.stored_files import _MemoryFile
from tests.datasets.exports import coco_files, picture, zipped


def blob(data: bytes) -> Blob:
    def opened() -> IO[bytes]:
        return io.BufferedReader(_MemoryFile(memoryview(data)))

    return Blob(len(data), opened)


def read(
    files: dict[str, bytes], path: str = "", images: str = "", into: str = ""
) -> tuple[Collected, Report]:
    blobs = {name: blob(data) for name, data in files.items()}
    source = VersionSource(blobs, "pets@v1", path, images)
    with Import(source, ImportOptions(into=into), Silent())._collected() as result:
        return result


def test_a_folder_is_read_alone_and_may_go_back_into_itself() -> None:
    files = {f"raw/{name}": data for name, data in coco_files(0).items()}
    found, report = read({**files, "x.png": picture(1), "raw/.DS_Store": b"x"}, "/raw/", into="raw")
    assert (report.source, report.importer, report.objects, report.litter) == (
        "pets@v1:raw", "coco", 120, 1,
    )  # fmt: skip
    assert sorted(found.blobs)[0] == "raw/images/00.png"
    assert report.first[0]["path"] == "raw/images/00.png"


@pytest.mark.parametrize("name", ["photos.zip", "photos"])
def test_pictures_of_the_same_version_are_read_once(name: str, cache: Path) -> None:
    files = coco_files(0)
    pictures = {path: data for path, data in files.items() if path.endswith(".png")}
    notes = {path: data for path, data in files.items() if path.endswith(".json")}
    apart = (
        {name: zipped(pictures)}
        if name.endswith(".zip")
        else {f"{name}/{path}": data for path, data in pictures.items()}
    )
    found, report = read({**notes, **apart}, images=name)
    assert (report.objects, len(found.blobs), report.notes) == (120, 12, [])
    assert not list(cache.rglob("photos.zip")), "a copy of the archive stays"


def test_zip_archives_of_a_hugging_face_folder_are_read_where_they_lie() -> None:
    inner = zipped({"a.png": picture(1), "metadata.csv": b"file_name,label\na.png,cat\n"})
    found, report = read({"data/train.zip": inner})
    assert (report.importer, found.labels) == ("huggingface", {"data/train/a.png": "cat"})


@pytest.mark.parametrize(
    ("path", "said"),
    [("gone", "has no file or folder 'gone'"), ("a.json", "no archive"), ("a.png", "no kind")],
)
def test_a_path_that_is_no_archive_and_no_folder_is_refused(path: str, said: str) -> None:
    with pytest.raises(SourceUnreadableError, match=said):
        read({"a.json": b"{}", "a.png": picture(1)}, path)


def test_mapped_memory_reads_as_a_file_does() -> None:
    file, plain = _MemoryFile(memoryview(b"0123456789")), io.BytesIO(b"0123456789")
    for offset, whence in ((2, io.SEEK_SET), (3, io.SEEK_CUR), (-4, io.SEEK_END), (20, 0)):
        assert file.seek(offset, whence) == plain.seek(offset, whence)
        assert (file.read(3), file.tell()) == (plain.read(3), plain.tell())
    with pytest.raises(ValueError, match="negative"):
        file.seek(-1)
