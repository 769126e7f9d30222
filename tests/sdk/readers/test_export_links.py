"""Symbolic links in exports: as links in a folder, as the files that they lead to elsewhere."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.errors import ExportError, PathInTheWayError
from atom_sdk.export import ExportResult, export_dataset
from atom_sdk.manifests import ViewSelector
from atom_sdk.manifests.query import below
from atom_sdk.packs.walk import SkippedPath
from atom_sdk.readers import LocalDataset
from tests.sdk.mount.conftest import Files, dataset_of
from tests.sdk.mount.test_links import made_of, tree_of

FILES: Files = {"cat/a.png": b"a" * 500, "cat/b.png": b"b", "dog/a.png": b"d" * 40}
INSIDE = {
    "16/broken.png": "nothing",
    "16/cat.png": "../cat/a.png",
    "16/through.png": "../pets/b.png",
    "pets": "cat",
    "round": "round",
}
LEAVING = {"host": "/etc/hostname", "out/up": "../../x"}
LEAVES = "its link leads out of the version"
NO_FILE = "its link leads to no file"


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalDataset:
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))
    return dataset_of(tmp_path / "data", FILES, packs=2, links={**INSIDE, **LEAVING})


def export(
    dataset: LocalDataset, folder: Path, file_format: str = "folder", *, unsafe_links: bool = False
) -> ExportResult:
    return export_dataset(dataset, folder, file_format, Silent(), 300, unsafe_links=unsafe_links)


def test_a_folder_has_links_and_those_that_leave_on_request(
    dataset: LocalDataset, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = export(dataset, out)
    assert tree_of(out) == made_of(tmp_path / "made", FILES, INSIDE)
    assert (done.samples, done.written, done.files) == (3, 3, 3)
    assert (done.links, done.links_written) == (5, 5)
    assert done.left_out == (SkippedPath("host", LEAVES), SkippedPath("out/up", LEAVES))
    assert done.left_out_file is not None
    assert Path(done.left_out_file).read_text() == f"host\t{LEAVES}\nout/up\t{LEAVES}\n"

    again = export(dataset, out)
    assert (again.written, again.links, again.links_written) == (0, 5, 0)
    (out / "pets").unlink()
    (out / "pets").symlink_to("dog")
    assert export(dataset, out).links_written == 1
    unsafe = export(dataset, out, unsafe_links=True)
    assert (unsafe.links, unsafe.links_written, unsafe.left_out) == (7, 2, ())
    assert tree_of(out) == made_of(tmp_path / "whole", FILES, {**INSIDE, **LEAVING})


def test_a_part_has_a_link_without_its_file_as_that_file(tmp_path: Path) -> None:
    selector = ViewSelector(where=below("16/", None))
    dataset = dataset_of(tmp_path / "data", FILES, links=INSIDE, selector=selector)
    done = export(dataset, tmp_path / "out")
    assert tree_of(tmp_path / "out") == {
        "16": None,
        "16/broken.png": "nothing",
        "16/cat.png": FILES["cat/a.png"],
        "16/through.png": b"b",
    }
    assert (done.samples, done.links) == (2, 1)


def test_nothing_is_written_through_a_link_of_an_earlier_export(
    dataset: LocalDataset, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    export(dataset, out)
    later = dataset_of(tmp_path / "later", {**FILES, "pets/a.png": b"another"})
    with pytest.raises(PathInTheWayError, match="pets"):
        export(later, out)
    assert (out / "cat" / "a.png").read_bytes() == FILES["cat/a.png"]
    # A link that is a file now gives way.
    export(dataset_of(tmp_path / "now", {**FILES, "16/cat.png": b"now"}), out)
    assert not (out / "16" / "cat.png").is_symlink()
    assert (out / "16" / "cat.png").read_bytes() == b"now"
    assert (out / "cat" / "a.png").read_bytes() == FILES["cat/a.png"]


SAMPLES = {**FILES, "16/cat.png": FILES["cat/a.png"], "16/through.png": b"b"}


def samples_of(folder: Path, file_format: str) -> Files:
    """Bytes of samples by path, as the format has them."""
    if file_format == "parquet":
        return {row["path"]: row["bytes"] for row in pq.read_table(folder).to_pylist()}
    found: Files = {}
    for shard in sorted(folder.glob("*.tar")):
        data = {}
        with tarfile.open(shard) as tar:
            for member in tar:
                assert member.isreg()
                file = tar.extractfile(member)
                assert file is not None
                data[member.name] = file.read()
        for name, value in data.items():
            key, _, suffix = name.partition(".")
            if suffix == "json":
                found[json.loads(value)["path"]] = data[f"{key}.png"]
    return found


@pytest.mark.parametrize("file_format", ["webdataset", "parquet"])
def test_formats_for_training_have_links_as_files(
    dataset: LocalDataset, tmp_path: Path, file_format: str
) -> None:
    done = export(dataset, tmp_path / "out", file_format)
    assert samples_of(tmp_path / "out", file_format) == SAMPLES
    assert (done.samples, done.written, done.links) == (5, 5, 0)
    assert done.left_out == (
        SkippedPath("16/broken.png", NO_FILE),
        SkippedPath("host", LEAVES),
        SkippedPath("out/up", LEAVES),
        SkippedPath("pets", NO_FILE),
        SkippedPath("round", NO_FILE),
    )
    assert done.left_out_file is not None
    assert len(Path(done.left_out_file).read_text().splitlines()) == 5
    with pytest.raises(ExportError, match="has no links"):
        export(dataset, tmp_path / "out", file_format, unsafe_links=True)


def test_a_dataset_without_links_says_nothing_of_them(tmp_path: Path) -> None:
    done = export(dataset_of(tmp_path / "data", FILES), tmp_path / "out")
    assert done == ExportResult(3, 3, 3)
    assert not any(os.path.islink(path) for path in (tmp_path / "out").rglob("*"))
