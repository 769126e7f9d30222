"""Labels go out through the API and come in again as they were, as far as a format holds them."""

from __future__ import annotations

from typing import Any

import pytest

from atom.accounts.models import Project
from tests.factories.datasets import make_dataset, make_version
from tests.labeling.exchange.transferring import (
    PATHS,
    Exchange,
    box,
    coco,
    drawn_on,
    picture,
    zipped,
)

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.fixture
def exchange(project: Project) -> Exchange:
    return Exchange(project)


def shapes(documents: dict[str, Any]) -> dict[str, list[tuple[str, list[float]]]]:
    """Class and bounds of the objects by picture, to a millionth of a pixel."""
    return {
        path: sorted(
            (each.label, [round(value, 6) for value in each.geometry.bounds])
            for each in document.objects
        )
        for path, document in documents.items()
    }


@pytest.mark.parametrize("name", ["coco", "cvat", "yolo", "label-studio", "atom"])
def test_an_export_read_again_has_the_same_objects(exchange: Exchange, name: str) -> None:
    dataset = exchange.dataset()
    exchange.bring(coco(box(1), box(2, 1, 9), box(3, 3, 9)), "标注.json")
    before = drawn_on(dataset)
    choice = {"yolo_task": "detect"} if name == "yolo" else {}
    files = exchange.take(dataset="street@v2", format=name, **choice)
    assert files

    other = make_dataset(exchange.project, "again")
    # YOLO tells no sizes: they are read from the pictures.
    make_version(other, dict.fromkeys(PATHS), contents=dict.fromkeys(PATHS, picture()))
    done = exchange.look(
        exchange.ok(
            "POST",
            f"projects/{exchange.project.slug}/labelx/imports/",
            {
                "dataset": "again", "upload": exchange.upload(zipped(files), "again"),
                "filename": f"{name}.zip", "format": name, "confirmed": True, **choice,
            },
        )
    )  # fmt: skip
    assert done["state"] == "done", done["error"]
    assert shapes(drawn_on(other)) == shapes(before)


def test_an_export_counts_its_losses_before_it_is_written(exchange: Exchange) -> None:
    exchange.dataset()
    exchange.bring(coco(box(1, segmentation=[[1, 1, 9, 1, 9, 9]])), "a.json")
    shown = exchange.look(exchange.ask_export(dataset="street@v2", format="voc"))
    assert shown["state"] == "waiting"
    assert [row["code"] for row in shown["report"]["written"]["changed"]] == [
        "formats.polygons_as_boxes"
    ]
    early = exchange.api("GET", f"labelx/transfers/{shown['id']}/download/")
    assert (early.status_code, early.json()["code"]) == (409, "export_not_there")
    exchange.act(shown, "confirm")
    done = exchange.look(shown)
    assert (done["state"], done["outcome"]["written"]) == ("done", shown["report"]["written"])
    assert done["result_bytes"] > 0


def test_a_query_chooses_the_pictures_and_a_viewer_may_export(exchange: Exchange) -> None:
    exchange.dataset()
    exchange.bring(coco(box(1), box(2, 1)), "a.json")
    viewer = Exchange(exchange.project, "viewer")
    asked = viewer.ask_export(dataset="street@v2", format="coco", where="path LIKE 'val/%'")
    assert viewer.look(asked)["report"]["written"]["pictures"] == 1
    viewer.act(asked, "confirm")
    assert viewer.look(asked)["state"] == "done"


def test_a_version_without_objects_has_nothing_to_export(exchange: Exchange) -> None:
    exchange.dataset()
    done = exchange.look(exchange.ask_export(dataset="street@v1", format="coco"))
    assert (done["state"], done["error"]["code"]) == ("failed", "no_labels_to_export")
