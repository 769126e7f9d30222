"""A part of a version: pulled to a folder, or opened where it is packed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, RefSyntaxError
from atom_sdk.client.progress import Silent
from atom_sdk.client.pull.pull import PullOptions, PullResult
from atom_sdk.errors import EmptyDatasetError, PathInTheWayError
from atom_sdk.export import export_dataset
from atom_sdk.manifests import QueryError
from tests.datasets.pushing import class_files

NORTH = ["0/000.png", "1/001.png", "2/003.png"]


# Three classes of four images; three images come from the camera north.
pytestmark = pytest.mark.pushed(
    labels_from="folder",
    split={"test": 3, "seed": 7},
    attributes={path: {"camera": "north"} for path in NORTH},
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder of its own: the pushed files lie beside it."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def files_below(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def pull(client: Client, folder: Path, *, delete: bool = False, **selector: Any) -> PullResult:
    return client.datasets.pull("digits@v1", folder, PullOptions(selector, delete))


def test_only_what_is_selected_is_written(client: Client, out: Path) -> None:
    splits = {row["path"]: row["split"] for row in client.datasets.entries("digits@v1")}
    expected: dict[str, tuple[dict[str, Any], list[str]]] = {
        "where": ({"where": "attributes.camera = 'north'"}, NORTH),
        "prefix": ({"prefix": "1/"}, [path for path in splits if path.startswith("1/")]),
        "split": ({"split": "test"}, [path for path in splits if splits[path] == "test"]),
        "both": ({"where": "label <> '0'", "prefix": "0/00", "split": ["test", "train"]}, []),
        "more": ({"where": "label = '1' OR label = '2'", "prefix": "1/001"}, ["1/001.png"]),
    }
    for name, (selector, paths) in expected.items():
        if paths:
            assert pull(client, out / name, **selector).written == len(paths)
        assert files_below(out / name) == sorted(paths)
    content = class_files()["1/001.png"]
    assert (out / "where" / "1/001.png").read_bytes() == content


def test_a_narrower_pull_removes_nothing_unless_it_is_told_to(client: Client, out: Path) -> None:
    assert pull(client, out) == PullResult(selected=12, written=12)
    (out / "notes.txt").write_text("mine")
    narrow: dict[str, Any] = {"where": "attributes.camera = 'north'"}
    assert pull(client, out, **narrow) == PullResult(selected=3, written=0, others=10)
    assert len(files_below(out)) == 13
    result = pull(client, out, delete=True, prefix="1/", **narrow)
    assert result == PullResult(selected=1, written=0, removed=12)
    assert files_below(out) == ["1/001.png"]
    assert sorted(path.name for path in out.iterdir()) == ["1"]


def test_what_is_in_the_way_is_named_and_goes_only_when_it_is_told_to(
    client: Client, out: Path
) -> None:
    (out / "1").write_text("a file where a folder is needed")
    (out / "2" / "001.png").mkdir(parents=True)
    (out / "2" / "001.png" / "mine.txt").write_text("mine")
    for prefix, name in (("1/", "1/000.png"), ("2/", "2/001.png")):
        with pytest.raises(PathInTheWayError, match=name):
            pull(client, out, prefix=prefix)
        with pytest.raises(PathInTheWayError, match=name):
            export_dataset(
                client.datasets.open("digits@v1", prefix=prefix), out, "folder", Silent()
            )
    assert (out / "1").is_file()
    assert (out / "2" / "001.png" / "mine.txt").is_file()

    result = pull(client, out, delete=True)

    assert (result.selected, result.removed) == (12, 2)
    assert files_below(out) == sorted(class_files())


def test_a_selection_of_nothing_changes_nothing(client: Client, out: Path) -> None:
    (out / "notes.txt").write_text("mine")
    with pytest.raises(EmptyDatasetError, match="nothing was changed"):
        pull(client, out, delete=True, where="label = 'none'")
    with pytest.raises(QueryError, match="character 9"):
        pull(client, out, delete=True, where='label = "1"')
    with pytest.raises(RefSyntaxError, match="not by wehre"):
        pull(client, out, delete=True, wehre="label = '1'")
    assert files_below(out) == ["notes.txt"]


def test_open_takes_the_same_selection(client: Client) -> None:
    reader = client.datasets.open("digits@v1", where="attributes.camera = 'north'", prefix="1/")
    assert [sample.path for sample in reader] == ["1/001.png"]
    assert bytes(reader[0].data) == class_files()["1/001.png"]


def test_a_saved_view_is_a_selection_by_its_name(client: Client, out: Path) -> None:
    view = client.views.save("digits", "north", "attributes.camera = 'north'")
    with pytest.raises(ApiError, match="already has a view north"):
        client.views.save("digits", "north", "size > 1")
    assert client.views.list("digits@v1") == [view]

    reader = client.datasets.open("digits@v1?view=north", where="label <> '2'")
    assert [sample.path for sample in reader] == NORTH[:2]
    streamed = client.datasets.open("digits@v1", stream=True, view="north", prefix="1/")
    assert [sample.path for sample in streamed] == NORTH[1:2]
    assert pull(client, out / "all", view="north").written == len(NORTH)
    with pytest.raises(RefSyntaxError, match="another view"):
        client.datasets.open("digits@v1?view=north", view="south")

    # The name means what is saved now.
    client.views.save("digits", "north", "label = '2'", splits=["test"], replace=True)
    test = [row["path"] for row in client.datasets.entries("digits@v1", label="2", split="test")]
    assert [row["path"] for row in client.datasets.entries("digits@v1", view="north")] == test
    assert [sample.path for sample in client.datasets.open("digits?view=north")] == test
    assert client.views.remove("digits", "north")["name"] == "north"
    with pytest.raises(ApiError, match="no view north"):
        pull(client, out / "none", view="north")
    assert not (out / "none").exists()
