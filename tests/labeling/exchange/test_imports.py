"""Labels from files of other tools become the layer `objects` of a next version."""

from __future__ import annotations

import pytest

from atom.accounts.models import Project
from atom.datasets.models import Version
from atom.labeling.actions.transfer_runs import run_transfer
from atom.labeling.models import LabelTransfer
from tests.labeling.exchange.transferring import Exchange, box, coco, drawn_on, zipped

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.fixture
def exchange(project: Project) -> Exchange:
    return Exchange(project)


def test_an_import_shows_counts_and_waits_for_a_yes(exchange: Exchange) -> None:
    dataset = exchange.dataset()
    labels = coco(
        box(1), box(2, 3, 9), box(3, 4), box(4, 5),
        names=("train/a.png", "b.png", "images/val/a.png", "中文/街道.png", "a.png", "gone.png"),
    )  # fmt: skip
    shown = exchange.look(exchange.ask_import(labels, "标注.json"))
    assert (shown["state"], shown["error"]) == ("waiting", None)
    report = shown["report"]
    assert report["read"]["format"] == "coco"
    assert report["read"]["objects"] == {"box": 2}
    assert report["classes"] == {"car": 1, "行人": 1}
    assert [label["name"] for label in report["ontology"]["labels"]] == ["car", "行人"]
    matches = report["matches"]
    assert (matches["exact"], matches["by_end"] + matches["by_name"]) == (2, 2)
    assert {row["name"]: row["reason"] for row in matches["unmatched"]} == {
        "a.png": "ambiguous",
        "gone.png": "missing",
    }
    assert Version.objects.filter(dataset=dataset).count() == 1

    exchange.act(shown, "confirm")
    done = exchange.look(shown)
    assert (done["state"], done["output_version"]["ref"]) == ("done", "v2")
    documents = drawn_on(dataset)
    assert {path: len(it.objects) for path, it in documents.items()} == {
        "train/a.png": 1,
        "train/b.png": 0,
        "val/a.png": 0,
        "中文/街道.png": 1,
    }
    [person] = documents["中文/街道.png"].objects
    assert (person.label, person.geometry.bounds) == ("行人", (2.25, 20.5, 100, 50))


def test_the_same_labels_sent_twice_make_one_version(exchange: Exchange) -> None:
    dataset = exchange.dataset()
    assert exchange.bring(coco(box(1)), "a.json")["outcome"]["unchanged"] is False
    again = exchange.bring(coco(box(1)), "a.json")
    assert (again["state"], again["outcome"]) == ("done", {"version": "v2", "unchanged": True})
    added = exchange.bring(coco(box(1)), "a.json", existing="add")
    assert len(drawn_on(dataset)["train/a.png"].objects) == 1
    assert added["state"] == "done"


@pytest.mark.parametrize(
    ("existing", "xs"), [("replace", [2.25]), ("add", [1.25, 2.25]), ("refuse", [1.25])]
)
def test_pictures_that_have_objects_are_replaced_added_to_or_refused(
    exchange: Exchange, existing: str, xs: list[float]
) -> None:
    dataset = exchange.dataset()
    exchange.bring(coco(box(1), names=("train/a.png",)), "a.json")
    # The same number means another object: COCO's numbers are of one file only.
    changed = box(1, bbox=[2.25, 20.5, 100, 50])
    done = exchange.bring(coco(changed, names=("train/a.png",)), "b.json", existing=existing)
    objects = drawn_on(dataset)["train/a.png"].objects
    assert sorted(each.geometry.bounds[0] for each in objects) == xs
    assert len({each.id for each in objects}) == len(xs)
    if existing == "refuse":
        assert (done["state"], done["error"]["code"]) == ("failed", "labels_present")
        assert "train/a.png" in done["error"]["detail"]
    else:
        assert (done["state"], done["report"]["existing"]) == ("done", 1)


def test_a_worker_that_dies_after_the_version_adopts_it(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = exchange.dataset()
    shown = exchange.ask_import(coco(box(1)), "a.json")
    exchange.act(shown, "confirm")
    transfer = LabelTransfer.objects.get(pk=shown["id"])
    assert transfer.state == "done"
    # As a kill between the version and the row leaves it.
    LabelTransfer.objects.filter(pk=transfer.pk).update(state="working", output_version=None)
    run_transfer(transfer.pk)
    transfer.refresh_from_db()
    assert (transfer.state, transfer.outcome["unchanged"]) == ("done", False)
    assert Version.objects.filter(dataset=dataset).count() == 2


def test_a_cancelled_import_publishes_nothing(exchange: Exchange) -> None:
    dataset = exchange.dataset()
    shown = exchange.ask_import(coco(box(1)), "a.json")
    assert exchange.act(shown, "cancel")["state"] == "cancelled"
    refused = exchange.api("POST", f"labelx/transfers/{shown['id']}/confirm/")
    assert (refused.status_code, refused.json()["code"]) == (409, "transfer_not_waiting")
    run_transfer(LabelTransfer.objects.get(pk=shown["id"]).pk)
    assert drawn_on(dataset) == {}


def test_one_key_makes_one_import(exchange: Exchange) -> None:
    exchange.dataset()
    body = {"dataset": "street", "upload": exchange.upload(coco(box(1))), "filename": "a.json"}
    path = f"projects/{exchange.project.slug}/labelx/imports/"
    first = exchange.ok("POST", path, body, **{"Idempotency-Key": "k"})
    assert exchange.ok("POST", path, body, **{"Idempotency-Key": "k"})["id"] == first["id"]
    assert LabelTransfer.objects.count() == 1


def test_a_viewer_may_not_import_and_strangers_see_nothing(exchange: Exchange) -> None:
    exchange.dataset()
    shown = exchange.ask_import(coco(box(1)), "a.json")
    viewer = Exchange(exchange.project, "viewer")
    assert viewer.look(shown)["state"] == "waiting"
    for action in ("confirm", "cancel"):
        path = f"labelx/transfers/{shown['id']}/{action}/"
        assert viewer.api("POST", path).status_code == 403
    body = {"dataset": "street", "upload": shown["id"], "filename": "a.json"}
    path = f"projects/{exchange.project.slug}/labelx/imports/"
    assert viewer.api("POST", path, body).status_code == 403


def test_the_list_shows_the_newest_first_without_reports(exchange: Exchange) -> None:
    exchange.dataset()
    first = exchange.ask_import(coco(box(1)), "a.json")
    second = exchange.ask_import(coco(box(2)), "b.json")
    base = f"projects/{exchange.project.slug}/labelx/transfers/"
    rows = exchange.ok("GET", f"{base}?dataset=street&direction=import")["results"]
    assert [row["id"] for row in rows] == [second["id"], first["id"]]
    assert "report" not in rows[0]
    assert exchange.ok("GET", f"{base}?dataset=other")["results"] == []


def test_yolo_reads_the_sizes_of_the_pictures(exchange: Exchange) -> None:
    """The bytes of these pictures are nowhere: each is counted, and the import is refused."""
    exchange.dataset()
    files = {"data.yaml": "names: [car]\n", "labels/train/b.txt": "0 0.5 0.5 0.1 0.2\n"}
    done = exchange.bring(zipped(files), "yolo.zip", yolo_task="detect")
    assert (done["state"], done["error"]["code"]) == ("failed", "labels_unreadable")
