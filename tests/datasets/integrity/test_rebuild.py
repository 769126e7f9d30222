"""The catalogue can be made again from the bucket alone, and is then the same."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from atom.core import clock, storage
from atom.datasets.catalog import ref_log
from atom.datasets.commits.actions.commit_root import CommitDetails
from atom.datasets.commits.actions.layers import NamedLayer, publish_layer
from atom.datasets.integrity.actions.rebuild import apply_catalogue, compare_catalogue
from atom.datasets.models import Branch, CommitRequest, Dataset, Pack, Tag, Upload, Version
from atom.datasets.retention.errors import CatalogueNotEmpty
from atom_sdk.manifests import layer_table
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, class_files, delete_row, new_pusher, png
from tests.factories.datasets import make_dataset, make_version


@pytest.fixture
def history(committing_db: None) -> Pusher:
    """Versions on two branches, with tags, labels, a split and a deletion."""
    return made_once(push_history)


def push_history() -> Pusher:
    pusher = new_pusher()
    pusher.push(class_files(), labels_from="folder", message="first", provenance={"run": "a"})
    pusher.push({"x.png": png(9)}, split={"test": 2, "seed": 1})
    pusher.post("branches/", {"name": "side", "at": "v1"})
    pusher.push({"y.png": png(10)}, branch="side")
    pusher.post("tags/", {"name": "first", "at": "v1"})
    pusher.post("tags/", {"name": "aside", "at": "side"})
    pusher.commit([delete_row("x.png")])
    label_one_file(pusher)
    return pusher


def label_one_file(pusher: Pusher) -> None:
    dataset = Dataset.objects.select_related("project").get(name=pusher.name)
    entry = pusher.get("versions/main/entries/")["results"][0]
    rows = [
        {
            "path": entry["path"],
            "digest": bytes.fromhex(entry["digest"]),
            "label": "seven",
            "source": "people",
        }
    ]
    table = layer_table("classification", rows)
    details = CommitDetails(pusher.user, "labels", clock.now(), {})
    publish_layer(dataset, "main", NamedLayer("labels", "classification", table), details)


def forget_catalogue() -> None:
    CommitRequest.objects.all().delete()
    Upload.objects.all().delete()
    Branch.objects.all().delete()
    Tag.objects.all().delete()
    Version.objects.all().delete()
    Dataset.objects.all().delete()
    Pack.objects.all().delete()


def test_the_bucket_says_the_same_as_the_catalogue(history: Pusher) -> None:
    found = compare_catalogue(history.project)

    assert found.is_equal, found
    assert found.counts["versions"] == Version.objects.count() == 5
    assert found.counts["tags"] == 2


def test_a_lost_catalogue_comes_back_with_every_id(history: Pusher) -> None:
    versions = list(Version.objects.order_by("pk").values())
    branches = list(Branch.objects.order_by("name").values("id", "name", "head_id", "seq"))
    tags = list(Tag.objects.order_by("name").values("id", "name", "version_id", "created_at"))
    entries = history.get("versions/v2/entries/")
    forget_catalogue()

    assert apply_catalogue(history.project).is_equal

    assert [clean(row) for row in Version.objects.order_by("pk").values()] == [
        clean(row) for row in versions
    ]
    assert list(Branch.objects.order_by("name").values("id", "name", "head_id", "seq")) == branches
    found = Tag.objects.order_by("name").values("id", "name", "version_id", "created_at")
    assert list(found) == tags
    assert history.get("versions/v2/entries/") == entries
    assert history.push({"z.png": png(12)})["number"] == 5


def clean(row: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name != "updated_at"}


def test_a_catalogue_that_is_there_is_not_replaced(history: Pusher) -> None:
    with pytest.raises(CatalogueNotEmpty):
        apply_catalogue(history.project)


def test_what_differs_is_named(history: Pusher) -> None:
    Version.objects.filter(number=2).update(message="rewritten")
    Tag.objects.filter(name="first").delete()
    pack = Pack.objects.order_by("pk").first()
    assert pack is not None
    prefix = storage.project_prefix(history.project)
    storage.objects().delete(f"{prefix}packs/{pack.digest}.tar")

    found = compare_catalogue(history.project)

    assert any("rewritten" in line for line in found.only_in_catalogue)
    assert f"pack {pack.digest}" in found.only_in_catalogue
    assert any(line.startswith("tag digits first") for line in found.only_in_bucket)


def test_a_log_that_cannot_be_followed_is_a_problem(history: Pusher) -> None:
    branch = Branch.objects.select_related("dataset__project").get(name="main")
    prefix = storage.project_prefix(history.project)
    move = ref_log.read_move(branch, 2)
    assert move is not None
    storage.objects().delete(f"{prefix}commits/{move.new}.json")

    found = compare_catalogue(history.project)

    assert any("move 2 of main" in line for line in found.problems)


def test_the_command_completes_what_an_older_version_did_not_write(pusher: Pusher) -> None:
    pusher.push(class_files())
    make_version(make_dataset(pusher.project, "older"), {"a.png": "a"})
    older = Branch.objects.select_related("dataset__project", "head").get(dataset__name="older")
    assert older.head is not None
    older.dataset.versions.update(message="made", added=1)
    ref_log.write_move(
        older, ref_log.RefMove(1, "", older.head.commit, 1, "", older.head.created_at.isoformat())
    )
    out = StringIO()

    with pytest.raises(CommandError, match="differ"):
        call_command("rebuild_catalogue", project=pusher.project.slug, stdout=out)
    call_command("rebuild_catalogue", "--write-missing", project=pusher.project.slug, stdout=out)

    assert "only in the catalogue: dataset older" in out.getvalue()
    assert "; equal" in out.getvalue()
