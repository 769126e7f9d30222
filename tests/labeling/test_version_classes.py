"""The classes of a version's objects are an ontology that a new task can start with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.labeling.engines.class_drafts import draft_of
from atom.labeling.engines.ontologies import PALETTE
from atom_sdk.label_formats.seen_classes import SeenClasses
from tests.factories.datasets import make_dataset, make_version
from tests.labeling.asking import Api
from tests.labeling.exchange.transferring import Exchange, box, coco

pytestmark = pytest.mark.usefixtures("committing_db")

NAMES = ["nose", "tail", "ear"]


def animals() -> bytes:
    """COCO's file: two dogs with three points and a box, a cat as a polygon, no cow."""
    value = json.loads(coco())
    value["categories"] = [
        {"id": 1, "name": "cat"},
        {
            "id": 2,
            "name": "dog",
            "supercategory": "animal",
            "keypoints": NAMES,
            "skeleton": [[1, 2], [1, 3]],
        },
        {"id": 3, "name": "cow"},
    ]
    points = [20, 30, 2, 40, 50, 1, 0, 0, 0]
    value["annotations"] = [
        box(1, 0, 2, keypoints=points, num_keypoints=2),
        box(2, 1, 2, keypoints=points, num_keypoints=2),
        box(3, 1, 1, segmentation=[[10, 10, 60, 10, 60, 60]]),
    ]
    return json.dumps(value).encode()


def classes(exchange: Exchange, reference: str) -> Any:
    slug = exchange.project.slug
    return exchange.ok("GET", f"projects/{slug}/labelx/version-classes/?dataset={reference}")


def test_classes_of_an_import_start_a_task(project: Project) -> None:
    exchange = Exchange(project)
    exchange.dataset()
    exchange.bring(animals(), "animals.json")
    answer = classes(exchange, "street@main")
    assert answer["counts"] == [{"name": "dog", "objects": 2}, {"name": "cat", "objects": 1}]
    assert (answer["pictures"], answer["complete"]) == (4, True)
    dog, cat = answer["labels"]
    assert (dog["tools"], cat["tools"]) == (["keypoints"], ["polygon"])
    assert [point["name"] for point in dog["skeleton"]["points"]] == NAMES
    assert dog["skeleton"]["edges"] == [[0, 1], [0, 2]]
    assert (dog["color"], cat["color"]) == PALETTE[:2]
    assert (dog["hotkey"], cat["hotkey"], cat["skeleton"]) == ("1", "2", None)
    made = exchange.ok(
        "POST",
        f"projects/{project.slug}/labelx/tasks/",
        {
            "name": "More animals",
            "dataset": "street@main",
            "modality": "image-objects",
            "labels": answer["labels"],
            "schema": answer["schema"],
            "filter": {"labelled": None},
        },
    )
    assert [label["name"] for label in made["labels"]] == ["dog", "cat"]


def test_a_version_before_the_import_has_no_classes(project: Project) -> None:
    exchange = Exchange(project)
    exchange.dataset()
    exchange.bring(animals(), "animals.json")
    answer = classes(exchange, "street@v1")
    assert (answer["labels"], answer["counts"], answer["pictures"]) == ([], [], 0)


def test_a_version_that_is_not_there_names_the_field(project: Project) -> None:
    make_version(make_dataset(project, "digits"), {"a.png": None})
    for reference in ("digits@v9", "nothing@v1", ""):
        path = f"projects/{project.slug}/labelx/version-classes/?dataset={reference}"
        refused = Exchange(project).api("GET", path)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, ["dataset"])


def test_a_viewer_sees_the_classes_and_a_stranger_does_not(project: Project) -> None:
    from tests.factories.accounts import make_user

    exchange = Exchange(project)
    exchange.dataset()
    exchange.bring(animals(), "animals.json")
    assert len(classes(Exchange(project, "viewer"), "street@v2")["labels"]) == 2
    path = f"projects/{project.slug}/labelx/version-classes/?dataset=street@v2"
    assert Api(make_user())("GET", path).status_code == 404


def seen(**counts: int) -> SeenClasses:
    found = SeenClasses()
    for name, count in counts.items():
        found.notes.label(name).kinds["box"] = None
        found.objects[name] = count
    return found


def test_declared_labels_give_colours_parents_and_limits() -> None:
    found = seen(car=3, bike=5)
    found.notes.label("car").attributes["doors"] = _note(2, 4)
    found.notes.label("car").attributes["colour"] = _note("red", "mint")
    vehicle = {"id": 1, "name": "vehicle", "color": "#111111", "tools": ["box"]}
    colours = [{"id": 1, "name": "red"}, {"id": 2, "name": "blue"}]
    condition = {"attribute": 8, "is": [True]}
    car = {
        "id": 2,
        "name": "car",
        "color": "#222222",
        "parent": 1,
        "tools": ["box"],
        "attributes": [
            {"id": 8, "name": "doors", "kind": "number", "min": 1, "max": 5, "required": True},
            {"id": 9, "name": "colour", "choices": colours, "required": True, "when": condition},
        ],
    }
    older = [{"id": 1, "name": "car", "color": "#333333", "tools": ["box"]}]
    draft = draft_of(found, [[vehicle, car], older])
    labels = {label["name"]: label for label in draft.labels}
    assert list(labels) == ["bike", "car", "vehicle"]
    assert labels["car"]["color"] == "#222222"
    assert labels["car"]["parent"] == labels["vehicle"]["id"]
    doors, colour = labels["car"]["attributes"]
    assert (doors["min"], doors["max"], doors["required"]) == (1, 5, True)
    assert [choice["name"] for choice in colour["choices"]] == ["red", "blue", "mint"]
    # The condition names ids of another ontology.
    assert (colour["when"], colour["required"]) == (None, False)
    assert draft.counts[-1] == {"name": "vehicle", "objects": 0}


def test_a_skeleton_of_another_size_keeps_the_points_that_objects_have() -> None:
    found = seen(dog=1)
    note = found.notes.label("dog")
    note.kinds, note.points = {"keypoints": None}, ["point 1", "point 2"]
    skeleton = {"points": [{"name": name} for name in NAMES], "edges": [[0, 2]]}
    declared = [{"id": 1, "name": "dog", "tools": ["keypoints"], "skeleton": skeleton}]
    [dog] = draft_of(found, [declared]).labels
    assert [point["name"] for point in dog["skeleton"]["points"]] == ["point 1", "point 2"]
    assert dog["skeleton"]["edges"] == []


def test_more_classes_than_an_ontology_takes_are_cut_and_said() -> None:
    draft = draft_of(seen(**{f"c{number}": number + 1 for number in range(1001)}), [])
    assert (len(draft.labels), draft.complete) == (1000, False)
    assert draft.labels[0]["name"] == "c1000"


def _note(*values: Any) -> Any:
    from atom_sdk.label_formats.ontology_notes import AttributeNote

    note = AttributeNote()
    for value in values:
        note.show(value)
    return note
