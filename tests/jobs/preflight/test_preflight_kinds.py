"""The look at a run's data answers for every kind of version, and its buttons lead somewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command

from atom.clusters.actions import beat_local_node
from atom.core import storage
from atom.datasets.commit_runner import run_commit
from atom.datasets.keys import pack_key
from atom.datasets.models import Source
from atom.datasets.sources.actions import scans
from tests.datasets.buckets import Bucket
from tests.datasets.pushing import Pusher, class_files, delete_row, make_pack, png, put_rows
from tests.factories.accounts import make_member, make_project

PICTURES = class_files(3, 20)
TEXTS = {f"notes/{n}.txt": f"note {n}".encode() for n in range(6)}
TRAINING: tuple[str, dict[str, str]] = ("image-classification", {})
MEASURING = ("evaluate-classifier", {"split": "test", "model_version": "shapes@v1"})
# Splits of files by their path.
Splits = Callable[[str], str]


@pytest.fixture
def pusher(committing_db: None) -> Pusher:
    call_command("sync_workflows")
    beat_local_node()
    project = make_project("vision")
    return Pusher(project, make_member(project, "researcher")).create()


def push(
    pusher: Pusher,
    files: dict[str, bytes],
    label: Callable[[str], str | None] = lambda path: path[0],
) -> None:
    pack = make_pack(files)
    pusher.stage(pack.data)
    rows = [row | {"label": label(row["path"])} for row in put_rows(pack)]
    assert pusher.commit(rows)["state"] == "published"


def edit(pusher: Pusher, **body: Any) -> None:
    asked = pusher.post("edits/", {"branch": "main", "edits": [body]})
    assert run_commit(asked["id"]).state == "published"


def mark(pusher: Pusher, splits: Splits) -> None:
    """Say each file's split, without drawing anything."""
    paths = [row["path"] for row in pusher.get("versions/main/entries/", limit=200)["results"]]
    for split in sorted({splits(path) for path in paths}):
        chosen = [path for path in paths if splits(path) == split]
        edit(pusher, op="split", value=split, paths=chosen)


def links(pusher: Pusher) -> None:
    push(pusher, {"a.png": png(1)})
    link = {"op": "put", "path": "b.png", "size": 0, "digest": None, "link": "nowhere.png"}
    assert pusher.commit([delete_row("a.png"), link])["state"] == "published"


def cut(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data[: len(data) // 2] for path, data in files.items()}


def lost_pack(pusher: Pusher) -> None:
    push(pusher, PICTURES)
    prefix = storage.project_prefix(pusher.project)
    storage.objects().delete(prefix + pack_key(make_pack(PICTURES).digest))


KINDS: dict[str, tuple[Callable[[Pusher], None], list[str]]] = {
    "texts": (lambda p: push(p, TEXTS), ["error:no_media"]),
    "names without an ending": (lambda p: push(p, {"a": b"1", "b": b"2"}), ["error:no_media"]),
    "videos": (lambda p: push(p, {"a/1.mp4": b"1", "b/2.mp4": b"2"}), ["error:no_media"]),
    "drawings in text form": (
        lambda p: push(p, {"a/1.svg": b"<svg/>", "b/2.svg": b"<svg></svg>"}),
        ["error:no_media"],
    ),
    "damaged pictures": (lambda p: push(p, cut(PICTURES)), ["error:none_readable"]),
    "pictures of 0 bytes": (
        lambda p: push(p, dict.fromkeys(PICTURES, b"")),
        ["error:none_readable"],
    ),
    "a picture of 0 bytes beside others": (
        lambda p: push(p, {**PICTURES, "0/empty.png": b""}),
        ["ok:fits", "warning:some_unreadable", "warning:no_test_split"],
    ),
    "pictures and texts": (
        lambda p: push(p, {**PICTURES, **TEXTS}, lambda path: None if "notes" in path else path[0]),
        ["ok:fits", "warning:no_test_split"],
    ),
    "texts with labels and pictures without": (
        lambda p: push(
            p, {**PICTURES, **TEXTS}, lambda path: path[-5] if "notes" in path else None
        ),
        ["error:no_labels"],
    ),
    "only links": (links, ["error:only_links"]),
    "numbers as labels": (
        lambda p: push(p, PICTURES, lambda path: {"0": "3.0"}.get(path[0], "7")),
        ["ok:fits", "warning:no_test_split"],
    ),
    "a pack that is lost": (lost_pack, ["ok:fits", "warning:no_test_split"]),
}


def look(pusher: Pusher, asked: tuple[str, dict[str, str]] = TRAINING, ref: str = "main") -> Any:
    workflow, more = asked
    body = {"workflow": workflow, "parameters": {"dataset": f"digits@{ref}", **more}}
    shown = pusher.post("/api/v1/projects/vision/runs/preflight/", body)
    (dataset,) = shown["datasets"]
    return dataset


def codes(looked: Any) -> list[str]:
    return [f"{one['level']}:{one['code']}" for one in looked["checks"]]


def remedies(looked: Any) -> list[list[str]]:
    return [one["remedies"] for one in looked["checks"] if one["level"] != "ok"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_version_has_findings_with_buttons(pusher: Pusher, kind: str) -> None:
    make, expected = KINDS[kind]
    make(pusher)
    shown = look(pusher)
    assert codes(shown) == expected
    assert all(remedies(shown))


@pytest.mark.parametrize("make", [lambda p: push(p, TEXTS), links], ids=["texts", "links"])
def test_no_split_is_offered_for_media_that_the_version_lacks(
    pusher: Pusher, make: Callable[[Pusher], None]
) -> None:
    make(pusher)
    shown = look(pusher, MEASURING)
    assert codes(shown)[0] in {"error:no_media", "error:only_links"}
    assert remedies(shown)[0] in (
        ["choose_version", "open_dataset"],
        ["open_dataset", "choose_version"],
    )


def test_files_of_a_source_are_counted_and_not_opened(pusher: Pusher, settings: Any) -> None:
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    bucket = Bucket()
    bucket.put(PICTURES)
    pusher.post("/api/v1/projects/vision/sources/", bucket.body(labels_from="folder"))
    source = Source.objects.get(name="photos")
    scans.request_scan(source, source.created_by)
    shown = look(pusher)
    assert (shown["files"], shown["labelled"]) == (60, 60)
    assert codes(shown) == ["ok:fits", "warning:no_test_split"]


SPLITS: dict[str, tuple[Splits, list[str], list[str]]] = {
    "all in train": (lambda _: "train", ["ok:fits", "warning:all_in_train"], ["draw_splits"]),
    "all in val": (
        lambda _: "val",
        ["error:nothing_to_train_on"],
        ["draw_splits", "choose_version"],
    ),
    "all in test": (
        lambda _: "test",
        ["error:nothing_to_train_on"],
        ["draw_splits", "choose_version"],
    ),
    "one class in train": (
        lambda path: "train" if path[0] == "0" else "val",
        ["error:training_one_class"],
        ["draw_splits", "choose_version"],
    ),
    "no test, all in a split": (
        lambda path: "val" if path.endswith("9.png") else "train",
        ["ok:fits", "warning:no_test_split"],
        ["draw_splits"],
    ),
}


@pytest.mark.parametrize("case", SPLITS)
def test_splits_that_do_not_fit_are_drawn_again(pusher: Pusher, case: str) -> None:
    splits, expected, buttons = SPLITS[case]
    push(pusher, PICTURES)
    mark(pusher, splits)
    shown = look(pusher)
    assert codes(shown) == expected
    assert remedies(shown) == [buttons]
    # As the button asks for them.
    body = {"test": "20%", "val": "10%", "seed": 7, "redraw": True}
    assert run_commit(pusher.post("splits/", body)["id"]).state == "published"
    drawn = look(pusher)
    assert codes(drawn) == ["ok:fits"]
    assert drawn["splits"] == {"test": 12, "train": 42, "val": 6}
    assert codes(look(pusher, MEASURING))[0] == "ok:fits"


def test_a_test_split_is_made_only_of_files_in_no_split(pusher: Pusher) -> None:
    push(pusher, PICTURES)
    assert remedies(look(pusher, MEASURING)) == [["make_test_split", "choose_version"]]
    mark(pusher, lambda _: "train")
    assert remedies(look(pusher, MEASURING)) == [["draw_splits", "choose_version"]]


def test_one_class_on_all_files_is_labelled_again(pusher: Pusher) -> None:
    flat = {path.replace("/", "-"): data for path, data in PICTURES.items()}
    push(pusher, flat, lambda _: "cat")
    (buttons,) = remedies(look(pusher))
    assert buttons == ["relabel", "choose_version"]
    # As the form of the button's page asks for it: with and without a label.
    task = {
        "name": "Again",
        "dataset": "digits@v1",
        "labels": [{"name": name, "color": "#112233", "hotkey": ""} for name in ("cat", "dog")],
        "filter": {"labelled": None},
    }
    made = pusher.post("/api/v1/projects/vision/labelx/tasks/", task)
    assert made["progress"]["total"] == 60
    edit(pusher, op="label", value="", paths=["0-000.png"])
    assert remedies(look(pusher)) == [["label", "relabel", "choose_version"]]
