"""Publishing labels as a new version."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from django.utils import timezone

from atom.core import clock
from atom.datasets.commits.actions.commit_root import CommitDetails
from atom.datasets.commits.actions.layers import NamedLayer, publish_layer
from atom.datasets.errors import StagingBranchReserved
from atom.datasets.models import Dataset, Version
from atom_sdk.errors import LayerKindError
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, new_pusher, png

UNLABELLED = {f"unlabelled/{n}.png": png(900 + n) for n in range(3)}


@pytest.fixture
def pusher(committing_db: None) -> Pusher:
    """Version 1: three class folders, and three images without a label."""
    return made_once(push_labelled)


def push_labelled() -> Pusher:
    pusher = new_pusher()
    pusher.push(
        class_files() | UNLABELLED,
        labels_from="folder",
        unlabelled_prefixes=["unlabelled/"],
    )
    return pusher


@pytest.fixture
def dataset(pusher: Pusher) -> Dataset:
    return Dataset.objects.select_related("project").get(project=pusher.project)


def labels(dataset: Dataset, pusher: Pusher, **by_name: str) -> pa.Table:
    """Return label rows as the labeling app makes them: digests in hex, few columns."""
    rows = []
    for name, label in by_name.items():
        path = f"unlabelled/{name.removeprefix('n')}.png"
        digest = pusher.get("versions/v1/entries/at/", path=path)["digest"]
        rows.append({"path": path, "digest": digest, "label": label, "source": "human"})
    return pa.Table.from_pylist(rows)


def publish(dataset: Dataset, table: pa.Table, pusher: Pusher, **options: Any) -> Version:
    """Publish rows of the layer `labels`."""
    branch = options.pop("branch", "main")
    layer = NamedLayer(options.pop("name", "labels"), options.pop("kind", "classification"), table)
    fixed: dict[str, Any] = {"author": pusher.user, "message": "labels", "provenance": {}}
    details = CommitDetails(**(fixed | {"created_at": clock.now()} | options))
    return publish_layer(dataset, branch, layer, details)


def test_published_labels_are_a_new_version_of_the_same_files(
    dataset: Dataset, pusher: Pusher
) -> None:
    before = pusher.get("versions/v1/")

    version = publish(dataset, labels(dataset, pusher, n0="7", n1="3"), pusher)

    after = pusher.get("versions/v2/")
    assert (version.number, after["content_digest"]) == (2, before["content_digest"])
    assert (after["added"], after["removed"], after["changed"]) == (0, 0, 0)
    assert {layer["name"]: layer["rows"] for layer in after["layers"]} == {
        "folder": 12,
        "labels": 2,
    }
    row = pusher.get("versions/v2/entries/at/", path="unlabelled/0.png")
    assert row["label"] == "7"
    assert pusher.get("versions/v2/stats/")["unlabelled"] == 1
    diff = pusher.get("diff/", **{"from": "v1", "to": "v2"})
    assert diff["summary"]["labels_changed"] == 2


def test_a_staging_branch_takes_no_labels(dataset: Dataset, pusher: Pusher) -> None:
    staging = pusher.post("writers/", {})["staging"]
    with pytest.raises(StagingBranchReserved):
        publish(dataset, labels(dataset, pusher, n0="7"), pusher, branch=staging)


def test_what_a_person_said_counts_more_than_a_folder(dataset: Dataset, pusher: Pusher) -> None:
    entry = pusher.get("versions/v1/entries/at/", path="1/000.png")
    row = {"path": "1/000.png", "digest": entry["digest"], "label": "9", "source": "human"}

    publish(dataset, pa.Table.from_pylist([row]), pusher)

    assert pusher.get("versions/v2/entries/at/", path="1/000.png")["label"] == "9"
    stats = pusher.get("versions/v2/stats/")["labels"]
    assert (stats["1"], stats["9"]) == (3, 1)
    page = pusher.get("versions/v2/entries/", label="1")
    assert (len(page["results"]), page["total"]) == (3, 3)


def test_later_rows_replace_earlier_ones_and_keep_the_rest(
    dataset: Dataset, pusher: Pusher
) -> None:
    publish(dataset, labels(dataset, pusher, n0="7", n1="3"), pusher)

    publish(dataset, labels(dataset, pusher, n1="4"), pusher)

    stats = pusher.get("versions/v3/stats/")["labels"]
    assert (stats["7"], stats["4"]) == (1, 1)
    assert "3" not in stats


def test_the_same_labels_again_are_the_present_head(dataset: Dataset, pusher: Pusher) -> None:
    table = labels(dataset, pusher, n0="7")
    first = publish(dataset, table, pusher)

    assert publish(dataset, table, pusher) == first
    assert Version.objects.count() == 2


def test_a_retry_with_the_same_time_is_the_same_commit(dataset: Dataset, pusher: Pusher) -> None:
    table = labels(dataset, pusher, n0="7")
    at = timezone.now()

    first = publish(dataset, table, pusher, created_at=at)
    again = publish(dataset, table, pusher, created_at=at)

    assert first.commit == again.commit


def test_labels_of_bytes_that_have_changed_are_left_out(dataset: Dataset, pusher: Pusher) -> None:
    table = labels(dataset, pusher, n0="7", n1="3")
    pusher.push({"unlabelled/0.png": png(1234)})

    publish(dataset, table, pusher)

    assert pusher.get("versions/v3/entries/at/", path="unlabelled/0.png")["label"] is None
    assert pusher.get("versions/v3/entries/at/", path="unlabelled/1.png")["label"] == "3"


def test_labels_survive_the_next_push(dataset: Dataset, pusher: Pusher) -> None:
    publish(dataset, labels(dataset, pusher, n0="7"), pusher)

    pusher.push({"3/new.png": png(77)}, labels_from="folder")

    assert pusher.get("versions/v3/entries/at/", path="unlabelled/0.png")["label"] == "7"
    assert pusher.get("versions/v3/stats/")["labels"]["3"] == 1


def test_an_unknown_kind_of_layer_is_refused(dataset: Dataset, pusher: Pusher) -> None:
    with pytest.raises(LayerKindError):
        publish(dataset, labels(dataset, pusher, n0="7"), pusher, kind="poems")
