"""Objects of a dataset version: published, browsed, carried along, compared."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from atom.core import clock
from atom.core.storage import project_store
from atom.datasets.catalog import stores
from atom.datasets.catalog.stores import VersionStore
from atom.datasets.commits.actions.commit_root import CommitDetails
from atom.datasets.commits.actions.layers import NamedLayer, publish_layer
from atom.datasets.models import Dataset, Version
from atom_sdk.errors import LayerKindError
from tests.datasets.commands import Atom
from tests.datasets.forks import published
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, new_pusher, png
from tests.factories.jobs import make_attempt, make_run
from tests.factories.models_registry import store_file
from tests.sdk.manifests.drawn import Drawn, box, drawn, object_id, picture

FIRST, SECOND = "0/000.png", "1/000.png"


@pytest.fixture
def pusher(committing_db: None) -> Pusher:
    return made_once(push_drawn)


def push_drawn() -> Pusher:
    """Version 1 has pictures, version 2 two cars and a dog on the first, nothing on the second."""
    pusher = new_pusher()
    pusher.push(class_files(), labels_from="folder")
    publish(
        pusher,
        picture(FIRST, box("1"), box("2", "dog", (1.0, 2.0, 3.0, 4.5)), box("3")),
        picture(SECOND),
    )
    return pusher


def dataset_of(pusher: Pusher) -> Dataset:
    return Dataset.objects.select_related("project").get(project=pusher.project)


def publish(pusher: Pusher, *pictures: Drawn, name: str = "objects") -> Version:
    """Publish rows as the labeling app does, for the bytes that are there."""
    rows = []
    for row in pictures:
        entry = pusher.get("versions/main/entries/at/", path=row["path"])
        rows.append({**row, "digest": bytes.fromhex(entry["digest"])})
    details = CommitDetails(pusher.user, "objects", clock.now(), {})
    return publish_layer(
        dataset_of(pusher), "main", NamedLayer(name, "objects", drawn(*rows)), details
    )


def entry(pusher: Pusher, path: str, version: str = "main") -> dict[str, Any]:
    found: dict[str, Any] = pusher.get(f"versions/{version}/entries/at/", path=path)
    return found


def test_a_file_shows_all_that_is_drawn_on_it(pusher: Pusher) -> None:
    found = entry(pusher, FIRST)["annotations"]

    assert (found["width"], found["height"], found["source"]) == (640, 480, "human")
    assert found["objects_total"] == 3
    assert found["objects"][1] == {
        "id": object_id("2").hex(),
        "label": "dog",
        "kind": "box",
        "box": [1.0, 2.0, 3.0, 4.5],
        "bounds": [1.0, 2.0, 3.0, 4.5],
        "area": 13.5,
    }


def test_looked_at_and_empty_is_not_never_looked_at(pusher: Pusher) -> None:
    assert entry(pusher, SECOND)["annotations"]["objects"] == []
    assert entry(pusher, "2/000.png")["annotations"] is None
    stats = pusher.get("versions/main/stats/")
    assert (stats["annotated"], stats["object_labels"]) == (2, {"car": 2, "dog": 1})


def test_a_list_of_files_shows_the_first_objects_of_each(pusher: Pusher) -> None:
    many = [box(str(number)) for number in range(101)]
    publish(pusher, picture(SECOND, *many))

    page = pusher.get("versions/main/entries/", limit=50)["results"]

    found = {row["path"]: row["annotations"] for row in page}
    assert found["2/000.png"] is None
    assert [each["label"] for each in found[FIRST]["objects"]] == ["car", "dog", "car"]
    assert "box" not in found[FIRST]["objects"][0]
    assert (found[SECOND]["objects_total"], len(found[SECOND]["objects"])) == (101, 100)
    assert entry(pusher, SECOND)["annotations"]["objects_total"] == 101
    assert len(entry(pusher, SECOND)["annotations"]["objects"]) == 101


def test_parts_of_a_large_layer_are_read_without_the_rest(
    pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_WHOLE_BYTES", 0)
    store = project_store(pusher.project)
    root = VersionStore(store).root(Version.objects.get(number=2).readable_root)
    (layer,) = (each for each in root.layers if each.kind == "objects")
    monkeypatch.setattr(type(store), "get", lambda *_: pytest.fail("the object is read whole"))

    rows = VersionStore(store).object_rows(layer, [FIRST, "x"])

    assert rows["path"].to_pylist() == [FIRST]


def test_a_diff_counts_and_names_the_objects_that_differ(pusher: Pusher) -> None:
    moved = box("1", "car", (11.0, 20.0, 30.0, 40.0))
    publish(pusher, picture(FIRST, moved, box("3", "bus"), box("4")), picture(SECOND, box("5")))

    diff = pusher.get("diff/", **{"from": "v2", "to": "v3"})

    assert diff["objects"] == {"added": 2, "removed": 1, "changed": 2}
    assert diff["summary"]["labels_changed"] == 2
    first = diff["results"][0]
    assert (first["kind"], first["path"]) == ("labels_changed", FIRST)
    assert first["objects"]["changes"] == [
        {**named("1", "car"), "change": "changed", "fields": ["geometry"]},
        {**named("3", "bus"), "change": "changed", "fields": ["label"]},
        {**named("4", "car"), "change": "added", "fields": []},
        {**named("2", "dog"), "change": "removed", "fields": []},
    ]
    assert pusher.get("versions/v3/")["labels_changed"] == 2


def named(number: str, label: str) -> dict[str, str]:
    return {"id": object_id(number).hex(), "label": label, "kind": "box"}


def test_the_history_of_a_path_tells_when_objects_changed(pusher: Pusher) -> None:
    publish(pusher, picture(FIRST, box("1")))
    pusher.push({FIRST: png(777)}, labels_from="folder")

    page = pusher.get("versions/main/entries/history/", path=FIRST)["results"]

    totals = [
        (
            row["version"]["ref"],
            row["kinds"],
            [side and (side["annotations"] or {}).get("objects_total") for side in sides_of(row)],
        )
        for row in page
    ]
    assert totals == [
        ("v4", ["changed", "objects"], [1, None]),
        ("v3", ["objects"], [3, 1]),
        ("v2", ["objects"], [None, 3]),
        ("v1", ["added"], [None, None]),
    ]
    # To look and draw nothing is a change; versions that leave a picture alone are none.
    second = pusher.get("versions/main/entries/history/", path=SECOND)["results"]
    assert [(row["version"]["ref"], row["kinds"]) for row in second] == [
        ("v2", ["objects"]),
        ("v1", ["added"]),
    ]
    assert second[0]["after"]["annotations"]["objects"] == []


def sides_of(row: dict[str, Any]) -> tuple[Any, Any]:
    return row["before"], row["after"]


def test_predictions_show_what_is_drawn_on_their_files(pusher: Pusher) -> None:
    run = make_run(pusher.project)
    run.inputs.create(alias="dataset", version=Version.objects.get(number=2))
    # Not in path order, and one file that the version does not have.
    document = {
        "format": "atom-predictions/1", "split": "test", "labels": ["0", "1"], "total": 4,
        "path": [SECOND, FIRST, "gone.png", "2/000.png"], "true": [1, 0, 0, 0],
        "predicted": [1, 0, 0, 0], "confidence": [0.9, 0.8, 0.7, 0.6],
    }  # fmt: skip
    store_file(make_attempt(run), "predictions.json", json.dumps(document).encode())

    page = pusher.client.get(f"/api/v1/runs/{run.pk}/predictions/").json()["results"]

    entries = {row["path"]: row["entry"] for row in page}
    assert [row["path"] for row in page] == document["path"]
    assert entries[FIRST]["annotations"]["objects_total"] == 3
    assert entries[SECOND]["annotations"]["objects_total"] == 0
    assert entries["2/000.png"]["annotations"] is None
    assert entries["gone.png"] is None


def test_the_command_line_counts_objects_that_differ_and_names_them(
    pusher: Pusher, atom: Atom
) -> None:
    moved = box("1", "car", (11.0, 20.0, 30.0, 40.0))
    publish(pusher, picture(FIRST, moved, box("3", "bus"), box("4")), picture(SECOND, box("5")))

    short = atom("data", "diff", "digits@v2", "digits@v3")[1].splitlines()
    long = atom("data", "diff", "digits@v2", "digits@v3", "-v")[1].splitlines()
    answer = json.loads(atom("data", "diff", "digits@v2", "digits@v3", "--json")[1])

    assert short == [
        "0 added, 0 removed, 0 changed, 0 renamed, 2 labels changed",
        "objects: 2 added, 1 removed, 2 changed",
        f"# {FIRST}  objects +1 -1 ~2",
        f"# {SECOND}  objects +1 -0 ~0",
    ]
    assert [line for line in long if line not in short] == [
        f"    ~ car box {object_id('1').hex()}  (geometry)",
        f"    ~ bus box {object_id('3').hex()}  (label)",
        f"    + car box {object_id('4').hex()}",
        f"    - dog box {object_id('2').hex()}",
        f"    + car box {object_id('5').hex()}",
    ]
    assert answer["objects"] == {"added": 2, "removed": 1, "changed": 2}
    assert [row["objects"]["added"] for row in answer["results"]] == [1, 1]


def test_the_command_line_tells_how_many_objects_of_a_file_it_does_not_name(
    pusher: Pusher, atom: Atom
) -> None:
    publish(pusher, picture(SECOND, *(box(str(number)) for number in range(103))))

    lines = atom("data", "diff", "digits@v2", "digits@v3", "-v")[1].splitlines()

    assert len(lines) == 3 + 100 + 1
    assert lines[-1] == "    … and 3 more objects of this file"


def test_objects_go_where_their_file_goes(pusher: Pusher) -> None:
    before = entry(pusher, FIRST)["annotations"]
    edits = [
        {"op": "copy", "paths": [FIRST], "to": "copied/"},
        {"op": "move", "paths": ["0/"], "to": "zero/"},
        {"op": "remove", "paths": [SECOND]},
    ]

    published(pusher, "edits", edits=edits)

    assert entry(pusher, "zero/000.png")["annotations"] == before
    assert entry(pusher, "copied/000.png")["annotations"] == before
    layers = {layer["name"]: layer["rows"] for layer in pusher.get("versions/main/")["layers"]}
    assert layers["objects"] == 2


def test_other_bytes_have_nothing_drawn_on_them(pusher: Pusher) -> None:
    pusher.push({FIRST: png(777)})

    assert entry(pusher, FIRST)["annotations"] is None
    assert entry(pusher, SECOND)["annotations"] is not None
    layers = {layer["name"]: layer["rows"] for layer in pusher.get("versions/main/")["layers"]}
    assert layers["objects"] == 1


def test_the_same_objects_again_are_no_version(pusher: Pusher) -> None:
    again = publish(pusher, picture(SECOND))

    assert again.number == 2


def test_rows_of_bytes_that_are_gone_are_left_out(pusher: Pusher) -> None:
    details = CommitDetails(pusher.user, "objects", clock.now(), {})
    table = drawn(picture(SECOND, box("1")), picture("nowhere.png", box("2")))

    layer = NamedLayer("objects", "objects", table)

    assert publish_layer(dataset_of(pusher), "main", layer, details).number == 2


def test_a_layer_of_labels_takes_no_objects(pusher: Pusher) -> None:
    with pytest.raises(LayerKindError, match="is of the kind classification"):
        publish(pusher, picture(FIRST), name="folder")


def test_what_a_row_says_of_its_content_is_not_believed(pusher: Pusher) -> None:
    bytes_now = bytes.fromhex(entry(pusher, SECOND)["digest"])
    table = drawn(picture(SECOND, box("9"), digest=bytes_now))
    lying = table.set_column(
        len(table.schema) - 1, table.schema.field(-1), pa.array([bytes(32)], pa.binary(32))
    )
    details = CommitDetails(pusher.user, "objects", clock.now(), {})

    publish_layer(dataset_of(pusher), "main", NamedLayer("objects", "objects", lying), details)

    assert entry(pusher, SECOND)["annotations"]["objects_total"] == 1
