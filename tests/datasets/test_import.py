"""An import into a real dataset: labels, splits, provenance, and what it leaves alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from atom.datasets.models import Version
from atom.datasets.versions.engines.changes import ChangesError, decode_changes
from atom.labeling.actions import publishing
from atom.labeling.actions.submissions import submit
from atom.labeling.models import WorkSlot
from atom_sdk.annotations.geometry import Box, Keypoints, Polygon
from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.naming import NamedObject
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import _run
from atom_sdk.client import Client
from atom_sdk.client.push.importing import ImportOptions
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.importers.errors import LabelsLostError
from atom_sdk.manifests import read_layer
from tests.datasets.pushing import Pusher, delete_row, make_pack, png, put_rows
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.asking import Api
from tests.labeling.drawn import drawing


def zip_of(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def rows_of(client: Client, reference: str) -> dict[str, tuple[Any, Any]]:
    rows = client.datasets.entries(reference)
    return {row["path"]: (row["label"], row["split"]) for row in rows}


@pytest.mark.pushed(labels_from="folder")
def test_an_import_adds_to_a_dataset_and_says_where_from(
    client: Client, folder: Path, tmp_path: Path
) -> None:
    before = rows_of(client, "digits@v1")
    files = {"pets/train/cat/0.png": png(50), "pets/test/dog/1.png": png(51)}
    source = zip_of(tmp_path / "pets.zip", {**files, "pets/README": b"", "../out.png": b"1"})
    done = client.datasets.import_(source, "digits")
    assert (done.push.files_sent, done.push.version["added"]) == (2, 2)
    assert rows_of(client, "digits@v2") == {
        **before,
        "pets/test/dog/1.png": ("dog", "test"),
        "pets/train/cat/0.png": ("cat", "train"),
    }
    provenance = client.datasets.version("digits@v2")["provenance"]
    assert provenance["kind"] == "import"
    assert provenance["import"] == {
        "importer": "imagefolder",
        "source": "pets.zip",
        "annotations": {},
        "counts": {"files": 2, "labelled": 2, "objects": 0, "skipped": 2},
    }
    again = client.datasets.import_(source, "digits")
    assert (again.push.unchanged, again.push.bytes_sent) == (True, 0)
    assert not list((tmp_path / "cache" / "import").iterdir())


def test_hard_links_of_a_tar_are_packed_once_and_pulled_as_files(
    client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    for name in ("train", "val"):
        (folder / name).mkdir(parents=True)
    (folder / "train" / "m.bin").write_bytes(os.urandom(1 << 20))
    for name in ("train/a.bin", "train/z.bin", "val/b.bin"):
        os.link(folder / "train" / "m.bin", folder / name)
    with (folder / "holes.bin").open("wb") as file:
        file.truncate(1 << 20)
    source = tmp_path / "linked.tar"
    subprocess.run(["tar", "-cSf", source, "-C", folder, "."], check=True)
    done = client.datasets.import_(source, "linked")
    assert (done.push.files_total, done.push.bytes_sent < 3 << 20) == (5, True)
    client.datasets.pull("linked@v1", tmp_path / "out")
    pulled = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
    names = [path.relative_to(tmp_path / "out").as_posix() for path in pulled]
    assert names == ["holes.bin", "train/a.bin", "train/m.bin", "train/z.bin", "val/b.bin"]
    for name, path in zip(names, pulled, strict=True):
        assert path.read_bytes() == (folder / name).read_bytes()


def test_new_labels_and_splits_of_the_same_files_make_a_version_without_bytes(
    client: Client, tmp_path: Path
) -> None:
    table = tmp_path / "list.csv"
    (tmp_path / "1.png").write_bytes(png(60))
    (tmp_path / "2.png").write_bytes(png(61))
    table.write_text("path,label,split,camera\n1.png,cat,train,3\n2.png,,,4\n")
    client.datasets.import_(table, "pets")
    assert rows_of(client, "pets@v1") == {"1.png": ("cat", "train"), "2.png": (None, "train")}
    table.write_text("path,label,split,camera\n1.png,dog,val,5\n")
    done = client.datasets.import_(table, "pets", ImportOptions(replaces=True))
    assert (done.push.version["ref"], done.push.bytes_sent) == ("v2", 0)
    assert rows_of(client, "pets@v2") == {"1.png": ("dog", "val")}
    (found,) = client.datasets.entries("pets@v2", where="attributes.camera = 5")
    assert found["path"] == "1.png"


SQUARE = [2.0, 2.0, 9.125, 2.0, 9.125, 8.0, 2.0, 8.0]


def drawn_on(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write a COCO folder with one picture and its annotations."""
    folder.mkdir(exist_ok=True)
    document = {
        "images": [{"id": 1, "file_name": "a.png", "width": 16, "height": 16}],
        "categories": [{"id": 1, "name": "cat", "keypoints": ["nose", "tail"]}],
        "annotations": [
            {"id": number, "image_id": 1, "category_id": 1, **row}
            for number, row in enumerate(rows, 1)
        ],
    }
    (folder / "instances_val.json").write_text(json.dumps(document))
    (folder / "a.png").write_bytes(png(90, 16))
    return folder


def objects_of(client: Client, reference: str) -> list[NamedObject]:
    """Return what the layer of a version holds of its only picture."""
    manifest = RemoteManifest(client.http, client.datasets.version_base(reference))
    layer = manifest.root.layer("objects")
    assert layer is not None
    (document,) = documents_of(read_layer(layer, manifest))
    return list(document.objects)


def test_shapes_of_an_import_are_a_layer_to_the_last_bit(client: Client, tmp_path: Path) -> None:
    source = drawn_on(
        tmp_path / "coco",
        {"bbox": [1.1, 2.2, 3.3, 4.4]},
        {"segmentation": [SQUARE]},
        {"segmentation": {"size": [16, 16], "counts": [20, 3, 13, 3, 217]}, "iscrowd": 1},
        {"bbox": [1, 1, 5, 5], "keypoints": [1.25, 1, 2, 0, 0, 0]},
    )
    done = client.datasets.import_(source, "cats")
    assert done.report.objects == 4
    box, polygon, mask, keypoints = objects_of(client, "cats@v1")
    assert box.geometry == Box(1.1, 2.2, 3.3, 4.4)
    assert polygon.geometry == Polygon(((tuple(SQUARE),),))
    assert (mask.geometry.kind, mask.geometry.area, mask.ignore) == ("mask", 6, True)
    assert keypoints.geometry == Keypoints(((1.25, 1, 2), (0, 0, 0)), Box(1, 1, 5, 5))
    assert [one.id for one in (box, polygon)] == [f"{1:016x}", f"{2:016x}"]
    (row,) = client.datasets.entries("cats@v1", where="objects.label = 'cat'")
    assert row["attributes"] == {}
    assert row["annotations"]["source"] == "import"


def test_an_import_again_is_no_version_and_new_shapes_are_one(
    client: Client, tmp_path: Path
) -> None:
    source = drawn_on(tmp_path / "coco", {"bbox": [1, 2, 3, 4]})
    client.datasets.import_(source, "cats")
    assert client.datasets.import_(source, "cats").push.unchanged
    drawn_on(tmp_path / "coco", {"bbox": [1, 2, 3, 4.5]})
    done = client.datasets.import_(source, "cats")
    assert (done.push.version["ref"], done.push.bytes_sent) == ("v2", 0)
    (box,) = objects_of(client, "cats@v2")
    assert box.geometry == Box(1, 2, 3, 4.5)


def test_a_task_over_an_import_begins_with_its_shapes_and_publishes_them(
    client: Client, pusher: Pusher, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = [{"bbox": [1.1, 2.2, 3.3, 4.4]}, {"segmentation": [SQUARE]}]
    client.datasets.import_(drawn_on(tmp_path / "coco", *rows), "cats")
    version = Version.objects.get(dataset__project=pusher.project, dataset__name="cats")
    labels = [{"id": 1, "name": "cat", "tools": ["box", "polygon"]}]
    task = make_task(
        project=pusher.project,
        version=version,
        labels=labels,
        modality="image-objects",
        labelled=None,
    )
    labeler = make_member(pusher.project, "labeler")
    lease = Api(labeler)("POST", f"labelx/tasks/{task.pk}/lease/?n=5", {}).json()["lease"]
    (begun,) = lease
    drawn = begun["document"]
    assert [one["kind"] for one in drawn["objects"]] == ["box", "polygon"]
    drawn["objects"][0]["box"] = [1.1, 2.2, 3.3, 5.5]
    slot = WorkSlot.objects.get(pk=begun["id"])
    (outcome,) = submit(task.project, labeler, [drawing(slot, drawn)])
    assert outcome.error is None
    publishing.request_publish(task, pusher.user, partial=False)
    box, polygon = objects_of(client, "cats@v2")
    assert (box.id, box.geometry) == (f"{1:016x}", Box(1.1, 2.2, 3.3, 5.5))
    assert polygon.geometry == Polygon(((tuple(SQUARE),),))
    # People have the last word: the same source again leaves their work alone.
    assert client.datasets.import_(tmp_path / "coco", "cats").push.unchanged


BAD_DOCUMENTS = {
    "{": "It is not JSON",
    "[]": "",
    '{"version": 2, "width": 0, "height": 4}': "no size of a picture",
    json.dumps(
        {
            "version": 2,
            "width": 9,
            "height": 9,
            "objects": [{"id": "0" * 16, "label": "cat", "kind": "box", "box": [50, 50, 1, 1]}],
        }
    ): "objects/0/box",
}


@pytest.mark.parametrize("document", BAD_DOCUMENTS)
def test_a_document_that_no_picture_can_have_is_refused_by_path(document: str) -> None:
    rows = [{**put_rows(make_pack({"1.png": b"1"}))[0], "document": document}]
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    with pytest.raises(ChangesError, match=r"The document of '1\.png' cannot be kept") as refused:
        decode_changes(sink.getvalue().to_pybytes())
    assert BAD_DOCUMENTS[document] in str(refused.value)


def test_the_command_looks_first_and_then_imports(
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("ATOM_URL", client.config.url)
    monkeypatch.setenv("ATOM_TOKEN", client.config.token)
    monkeypatch.setenv("ATOM_PROJECT", client.project)
    files = {"a/1.png": png(70), "b/2.png": png(71), "note.txt": b"hello"}
    source = zip_of(tmp_path / "some.zip", files)

    def run(*more: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["atom", "data", "import", str(source), "some", *more])
        code = _run(Context())
        said = capsys.readouterr()
        return code, said.out, said.err

    code, out, _ = run("--dry-run")
    assert code == 0
    assert "some.zip is imagefolder: all pictures lie in 2 class folders." in out
    assert "note.txt: it is not a picture" in out
    code, _, err = run("--strict")
    assert (code, "note.txt" in err) == (1, True)
    assert "some" not in {row["name"] for row in client.datasets.list()}
    code, out, _ = run("--json")
    answer = json.loads(out)
    assert (code, answer["version"]["ref"], answer["import"]["labels"]) == (
        0,
        "v1",
        {"a": 1, "b": 1},
    )


def lossy(folder: Path, lost: int) -> Path:
    """A COCO folder of 100 objects, `lost` of them without an area."""
    rows = [
        {"id": n, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5 if n >= lost else 0]}
        for n in range(100)
    ]
    images = [{"id": 1, "file_name": "a.png"}]
    document = {"images": images, "categories": [{"id": 1, "name": "cat"}], "annotations": rows}
    folder.mkdir()
    (folder / "instances_train.json").write_text(json.dumps(document))
    (folder / "a.png").write_bytes(png(80))
    return folder


def test_an_import_that_loses_too_many_objects_commits_nothing(
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("ATOM_URL", client.config.url)
    monkeypatch.setenv("ATOM_TOKEN", client.config.token)
    monkeypatch.setenv("ATOM_PROJECT", client.project)
    source = lossy(tmp_path / "coco", lost=3)

    def run(*more: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["atom", "data", "import", str(source), "cats", *more])
        code = _run(Context())
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    code, out, _ = run("--dry-run")
    assert (code, "This import would be refused" in out) == (0, True)
    code, _, err = run()
    assert (code, "3 of 100 objects (3 %)" in err, "--allow-loss 3%" in err) == (1, True, True)
    code, _, err = run("--json")
    problem = json.loads(err)
    assert (code, problem["code"], problem["losses"][0]["lost"]) == (1, "import_labels_lost", 3)
    assert run("--allow-loss", "2%")[0] == 1
    for usage in (["--allow-loss", "5"], ["--allow-loss", "5%", "--strict"]):
        assert run(*usage)[0] == 2
    assert "cats" not in {row["name"] for row in client.datasets.list()}
    with pytest.raises(LabelsLostError):
        client.datasets.import_(source, "cats", ImportOptions(allowed_loss=0.02))
    code, out, _ = run("--allow-loss", "5%")
    assert code == 0
    assert "3 objects lost; their pictures stay with their other objects." in out
    assert "3 of 100 objects (3 %); by class: cat 3 of 100" in out
    counts = client.datasets.version("cats@v1")["provenance"]["import"]["counts"]
    assert (counts["objects"], counts["lost_objects"]) == (97, 3)


BAD_COLUMNS: dict[str, list[Any]] = {
    "split": ["nightly"],
    "label": ["", "x" * 256, "a\nb", 7],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD_COLUMNS.items() for value in values]
)
def test_a_changes_file_with_a_bad_label_or_split_is_refused(name: str, value: Any) -> None:
    rows = [{**put_rows(make_pack({"1.png": b"1"}))[0], name: value}, delete_row("2.png")]
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    with pytest.raises(ChangesError, match=name):
        decode_changes(sink.getvalue().to_pybytes())
