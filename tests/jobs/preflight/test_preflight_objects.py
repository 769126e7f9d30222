"""A workflow that needs objects looks at what is drawn on the pictures that it would read."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import call_command

from atom.clusters.actions import beat_local_node
from atom.core import clock
from atom.datasets.commits.actions.commit_root import CommitDetails
from atom.datasets.commits.actions.layers import NamedLayer, publish_layer
from atom.datasets.models import Dataset
from atom_sdk.manifests import layer_table
from tests.datasets.pushing import Pusher, make_pack, png, put_rows
from tests.factories.accounts import make_member, make_project
from tests.jobs.workflows.detection.shapes import object_row

PATHS = [f"{number}.png" for number in range(6)]


@pytest.fixture
def pusher(committing_db: None) -> Pusher:
    """A dataset of six pictures, the last one in the split `val`."""
    call_command("sync_workflows")
    beat_local_node()
    project = make_project("vision")
    pusher = Pusher(project, make_member(project, "researcher")).create()
    pack = make_pack({path: png(number) for number, path in enumerate(PATHS)})
    pusher.stage(pack.data)
    assert pusher.commit(put_rows(pack))["state"] == "published"
    return pusher


def draw(pusher: Pusher, drawn: dict[str, list[dict[str, Any]]]) -> None:
    """Publish objects of pictures."""
    entries = pusher.get("versions/main/entries/", limit=200)["results"]
    digests = {row["path"]: bytes.fromhex(row["digest"]) for row in entries}
    rows = [
        {"path": path, "digest": digests[path], "width": 32, "height": 32, "objects": own,
         "labels": [], "relations": [], "source": "human"}
        for path, own in drawn.items()
    ]  # fmt: skip
    layer = NamedLayer("objects", "objects", layer_table("objects", rows))
    details = CommitDetails(pusher.user, "drawn", clock.now(), {})
    publish_layer(Dataset.objects.get(), "main", layer, details)


def look(pusher: Pusher, workflow: str = "object-detection", **more: str) -> list[Any]:
    body = {"workflow": workflow, "parameters": {"dataset": "digits@main", **more}}
    shown = pusher.post("/api/v1/projects/vision/runs/preflight/", body)
    (dataset,) = shown["datasets"]
    return [(one["level"], one["code"], one["params"]) for one in dataset["checks"]]


def test_pictures_without_a_layer_of_objects_do_not_do(pusher: Pusher) -> None:
    level, code, params = look(pusher)[0]
    assert (level, code, params["files"]) == ("error", "no_objects", 6)


def test_pictures_on_which_nothing_is_drawn_do_not_do(pusher: Pusher) -> None:
    region = object_row(1, ("crowd", 0, 0, 9, 9), ignore=True)
    point = object_row(2, ("dot", 3, 3, 0, 0), kind="point")
    draw(pusher, {"0.png": [], "1.png": [region], "2.png": [point]})
    level, code, params = look(pusher)[0]
    assert (level, code, params["looked_at"]) == ("error", "no_objects", 3)


def test_drawn_pictures_are_counted(pusher: Pusher) -> None:
    draw(
        pusher,
        {
            "0.png": [object_row(1, ("car", 0, 0, 9, 9)), object_row(2, ("bike", 0, 0, 4, 4))],
            "1.png": [object_row(3, ("car", 0, 0, 9, 9))],
            "2.png": [],
        },
    )
    fits, missing, *_ = look(pusher)
    assert fits[:2] == ("ok", "fits")
    assert fits[2] == {
        "dataset": "digits@v2", "files": 6, "annotated": 3, "objects": 3, "classes": 2,
    }  # fmt: skip
    assert missing[:2] == ("warning", "some_not_annotated")
    assert missing[2]["missing"] == 3
