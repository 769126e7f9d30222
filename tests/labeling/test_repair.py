"""Items of a damaged pack whose files were sent again are shown from the good one."""

from __future__ import annotations

from typing import Any

import pytest

from atom.datasets.models import Version
from atom.datasets.packs.actions.quarantine import quarantine_pack
from atom.labeling import tasks
from atom.labeling.actions.leases import lease_labels
from atom.labeling.actions.repair import tasks_to_repair
from atom.labeling.models import LabelTask, WorkItem, WorkSlot
from tests.datasets.pushing import MadePack, Pusher, make_pack, new_pusher, png, put_rows
from tests.factories.labeling import make_task
from tests.labeling.work import submit_all

FILES = {"a.png": png(1), "b.png": png(2)}


@pytest.fixture
def pusher(committing_db: None) -> Pusher:
    return new_pusher()


def labels_of(pusher: Pusher) -> LabelTask:
    """A task over the first version of two files in one pack."""
    pusher.push(FILES)
    version = Version.objects.select_related("dataset__project").get()
    return make_task(project=pusher.project, creator=pusher.user, version=version)


def send_again(pusher: Pusher, files: dict[str, bytes]) -> MadePack:
    pack = make_pack(files)
    pusher.stage(pack.data)
    assert pusher.commit(put_rows(pack))["state"] == "published"
    return pack


def media() -> dict[str, dict[str, Any]]:
    return {item.path: item.media for item in WorkItem.objects.all()}


def test_labelers_see_the_good_pack_and_keep_what_they_have(pusher: Pusher) -> None:
    task, damaged = labels_of(pusher), make_pack(FILES)
    first, second = lease_labels(task, pusher.user, 2)
    submit_all([first], pusher.user)
    quarantine_pack(pusher.project, damaged.digest, "found damaged")
    good = send_again(pusher, {**FILES, "c.png": png(3)})

    tasks.tick()

    offsets = {member.path: member.offset for member in good.members}
    for path, place in media().items():
        assert (place["pack"], place["offset"]) == (good.digest, offsets[path])
        assert (place["size_bytes"], place["media_type"]) == (len(FILES[path]), "image/png")
    assert WorkSlot.objects.get(pk=first.pk).revision is not None
    assert WorkSlot.objects.get(pk=second.pk).state == "leased"
    assert not tasks_to_repair().exists()


def test_files_that_come_one_after_the_other_are_mended_one_after_the_other(
    pusher: Pusher,
) -> None:
    labels_of(pusher)
    damaged = make_pack(FILES)
    quarantine_pack(pusher.project, damaged.digest, "found damaged")

    first = send_again(pusher, {"a.png": FILES["a.png"]})
    tasks.tick()
    half = {path: place["pack"] for path, place in media().items()}
    second = send_again(pusher, {"b.png": FILES["b.png"]})
    tasks.tick()

    assert half == {"a.png": first.digest, "b.png": damaged.digest}
    assert {path: place["pack"] for path, place in media().items()} == {
        "a.png": first.digest,
        "b.png": second.digest,
    }


def test_another_layout_with_the_same_places_changes_no_item(pusher: Pusher) -> None:
    labels_of(pusher)
    before = media()
    version = Version.objects.get()
    Version.objects.update(layout=version.root)

    tasks.tick()

    assert media() == before
    assert not tasks_to_repair().exists()
