"""Garbage is removed after a window in which it can be taken back; all else stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from blake3 import blake3
from django.core.management import CommandError, call_command
from django.db.models import F

from atom.accounts.models import AuditEvent
from atom.core import clock, storage
from atom.datasets.catalog.reads import packs_of
from atom.datasets.gc_guard import hold_gc
from atom.datasets.models import CondemnedObject, GarbageRun, Pack, Upload, Version
from atom.datasets.retention.actions import garbage, sweep
from atom.datasets.retention.actions.garbage import (
    add_garbage_run,
    collect_garbage,
    pardon,
    require_near,
)
from atom.datasets.retention.errors import ClocksDiffer, GarbageRunPresent, PardonTooLate
from atom.datasets.retention.garbage_roots import GarbageRules
from tests.datasets.commits.test_recovery import held_by_another_thread
from tests.datasets.pushing import Pusher, class_files, make_pack, png, put_rows

AT_ONCE = GarbageRules(grace=timedelta(0), undo_window=timedelta(0))
NO_GRACE = GarbageRules(grace=timedelta(0))


def collect(pusher: Pusher, *, apply: bool = True, rules: GarbageRules = AT_ONCE) -> GarbageRun:
    run = add_garbage_run(pusher.project, None, is_dry_run=not apply)
    return collect_garbage(run.pk, rules)


def stored(pusher: Pusher) -> set[str]:
    prefix = storage.project_prefix(pusher.project)
    listing = storage.objects().list_prefix(prefix)
    return {item.key.removeprefix(prefix) for item in listing}


def orphan(pusher: Pusher) -> str:
    """Upload a pack that no commit takes, so long ago that nobody waits for it."""
    pack = make_pack({"orphan.png": png(77)})
    pusher.upload(pack.data)
    forget_uploads()
    return pack.digest


def forget_uploads() -> None:
    Upload.objects.update(updated_at=F("updated_at") - timedelta(days=8))


def test_a_dry_run_reports_and_changes_nothing(pusher: Pusher) -> None:
    pusher.push(class_files())
    digest = orphan(pusher)
    before = stored(pusher)

    run = collect(pusher, apply=False)

    assert (run.state, run.garbage_count, run.examples) == ("done", 1, [f"packs/{digest}"])
    assert run.garbage_bytes > len(make_pack({"orphan.png": png(77)}).data)
    assert run.examined_count > run.garbage_count
    assert not CondemnedObject.objects.exists()
    assert stored(pusher) == before


def test_what_nobody_needs_is_condemned_and_goes_a_window_later(pusher: Pusher) -> None:
    version = pusher.push(class_files())
    digest = orphan(pusher)
    before = stored(pusher)

    first = collect(pusher, rules=NO_GRACE)
    assert stored(pusher) == before
    second = collect(pusher)

    assert (first.garbage_count, first.deleted.count()) == (1, 0)
    assert second.deleted.count() == 1
    assert before - stored(pusher) == {f"packs/{digest}.tar", f"packs/{digest}.index.parquet"}
    assert not Pack.objects.filter(digest=digest).exists()
    assert pusher.get(f"versions/{version['ref']}/entries/")["results"]
    event = AuditEvent.objects.get(verb="garbage.deleted")
    assert event.data == {"kind": "packs", "digests": [digest]}


def test_every_object_of_every_version_stays(pusher: Pusher) -> None:
    pusher.push(class_files())
    second = pusher.push({"x.png": png(9)})
    pusher.post("branches/", {"name": "side", "at": "v1"})
    pusher.push({"y.png": png(10)}, branch="side")
    pusher.post("tags/", {"name": "first", "at": "v1"})
    pusher.commit([{"op": "delete", "path": "x.png"}], expected_head=second["commit"])
    forget_uploads()
    before = stored(pusher)

    run = collect(pusher)

    assert (run.state, run.garbage_count) == ("done", 0)
    assert stored(pusher) == before


def test_what_is_younger_than_the_grace_stays(pusher: Pusher) -> None:
    orphan(pusher)
    assert collect(pusher, rules=GarbageRules()).garbage_count == 0


def test_a_pack_that_a_push_waits_to_commit_stays(pusher: Pusher) -> None:
    pack = make_pack(class_files())
    pusher.upload(pack.data)
    rules = GarbageRules(grace=timedelta(minutes=5), undo_window=timedelta(0))

    assert collect(pusher, rules=rules).garbage_count == 0
    assert pusher.commit(put_rows(pack))["state"] == "published"


def test_a_push_that_reuses_a_condemned_pack_wins(pusher: Pusher) -> None:
    pack = make_pack({"orphan.png": png(77)})
    orphan(pusher)
    collect(pusher, rules=NO_GRACE)

    assert pusher.upload(pack.data)["state"] == "verified"
    rules = GarbageRules(grace=timedelta(minutes=5), undo_window=timedelta(0))
    run = collect(pusher, rules=rules)

    assert run.deleted.count() == 0
    assert CondemnedObject.objects.get().state == "spared"
    assert pusher.commit(put_rows(pack))["state"] == "published"


def test_a_version_that_comes_between_the_marks_and_the_deletion_is_followed(
    pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = make_pack({"orphan.png": png(77)})
    orphan(pusher)
    collect(pusher, rules=NO_GRACE)
    really = sweep.sweep

    def commit_first(*given: object) -> None:
        assert pusher.commit(put_rows(pack))["state"] == "published"
        forget_uploads()
        really(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(garbage, "sweep", commit_first)
    run = collect(pusher)

    assert run.deleted.count() == 0
    version = Version.objects.select_related("dataset__project").get()
    assert {f"packs/{digest}.tar" for digest in packs_of(version)} <= stored(pusher)


def test_a_version_that_comes_meanwhile_is_followed_for_every_batch(
    pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "_BATCH", 1)
    made = [make_pack({"orphan.png": png(number)}) for number in (77, 78, 79)]
    for pack in made:
        pusher.upload(pack.data)
    forget_uploads()
    collect(pusher, rules=NO_GRACE)
    *others, last = sorted(made, key=lambda pack: pack.digest)
    really = sweep.sweep

    def commit_first(*given: object) -> None:
        assert pusher.commit(put_rows(last))["state"] == "published"
        forget_uploads()
        really(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(garbage, "sweep", commit_first)
    collect(pusher)

    packs = {key for key in stored(pusher) if key.startswith("packs/") and key.endswith(".tar")}
    assert packs == {f"packs/{last.digest}.tar"}
    deleted = CondemnedObject.objects.filter(kind="packs", state="deleted")
    assert {row.digest for row in deleted} == {pack.digest for pack in others}


def test_nothing_is_deleted_while_a_version_is_built(
    pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "_TRIES", 2)
    monkeypatch.setattr(sweep, "_TRY_AGAIN_S", 0.01)
    orphan(pusher)
    with held_by_another_thread(lambda: hold_gc(pusher.project)):
        assert collect(pusher).deleted.count() == 0
    assert collect(pusher).deleted.count() == 1


def test_a_deleted_pack_can_be_pushed_again(pusher: Pusher) -> None:
    orphan(pusher)
    collect(pusher)
    assert not any(key.startswith("packs/") for key in stored(pusher))

    version = pusher.push({"orphan.png": png(77)})

    assert version["number"] == 1
    assert any(key.endswith(".tar") for key in stored(pusher))


def test_a_pardon_keeps_what_was_condemned_for_another_window(pusher: Pusher) -> None:
    orphan(pusher)
    run = collect(pusher, rules=NO_GRACE)

    assert pardon(run, pusher.user) == 1
    assert collect(pusher, rules=NO_GRACE).deleted.count() == 0

    CondemnedObject.objects.update(settled_at=F("settled_at") - timedelta(days=31))
    again = collect(pusher, rules=NO_GRACE)
    assert (again.condemned.count(), again.deleted.count()) == (1, 0)
    with pytest.raises(PardonTooLate):
        pardon(run, pusher.user)


def test_other_objects_of_the_project_and_of_others_are_never_touched(pusher: Pusher) -> None:
    prefix = storage.project_prefix(pusher.project)
    other = "p/0190a000-0000-7000-8000-000000000000/"
    digest = blake3(b"x").hexdigest()
    strangers = [
        f"{prefix}packs/readme.txt",
        f"{prefix}packs/{digest}.tar.bak",
        f"{prefix}logs/a/{digest}.json",
        f"{prefix}refs/{digest}.json",
        f"{other}packs/{digest}.tar",
        f"packs/{digest}.tar",
    ]
    for key in strangers:
        storage.objects().put(key, b"x")

    assert collect(pusher).garbage_count == 0
    assert all(storage.objects().exists(key) for key in strangers)


def test_a_manifest_that_cannot_be_read_stops_everything(pusher: Pusher) -> None:
    pusher.push(class_files())
    orphan(pusher)
    damaged = next(key for key in stored(pusher) if key.startswith("ranges/"))
    storage.objects().put(storage.project_prefix(pusher.project) + damaged, b"not a range")
    before = stored(pusher)

    run = collect(pusher)

    assert (run.state, run.error_code) == ("failed", "manifest_unreadable")
    assert damaged in run.error_detail
    assert stored(pusher) == before


def test_clocks_that_differ_are_told_and_small_skew_is_not() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    require_near(now + timedelta(minutes=59), now)
    for skew in (timedelta(hours=2), -timedelta(days=400)):
        with pytest.raises(ClocksDiffer):
            require_near(now + skew, now)


def test_a_wrong_clock_of_the_worker_changes_nothing(
    pusher: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan(pusher)
    collect(pusher, rules=NO_GRACE)
    years_ahead = clock.now() + timedelta(days=900)
    monkeypatch.setattr("django.utils.timezone.now", lambda: years_ahead)

    assert collect(pusher, rules=NO_GRACE).deleted.count() == 0


def test_one_run_at_a_time(pusher: Pusher) -> None:
    add_garbage_run(pusher.project, None, is_dry_run=True)
    with pytest.raises(GarbageRunPresent):
        add_garbage_run(pusher.project, None, is_dry_run=True)


def test_the_command_reports_and_applies_when_told(pusher: Pusher) -> None:
    pusher.push(class_files())
    out = StringIO()
    call_command("collect_garbage", project=pusher.project.slug, stdout=out)
    call_command("collect_garbage", "--apply", project=pusher.project.slug, stdout=out)

    assert "0 of " in out.getvalue()
    assert "nothing was changed" in out.getvalue()
    assert "0 newly condemned, 0 deleted" in out.getvalue()
    with pytest.raises(CommandError, match="no project nowhere"):
        call_command("collect_garbage", project="nowhere")
