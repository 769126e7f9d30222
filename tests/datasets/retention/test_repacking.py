"""Packs that are mostly garbage, or small and many, are packed anew; no version notices."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from blake3 import blake3
from django.core.management import call_command

from atom.core import clock, storage
from atom.datasets.browsing.reads import compare
from atom.datasets.catalog.reads import open_root, packs_of
from atom.datasets.commits.actions.compaction import compact_version
from atom.datasets.integrity.actions.rebuild import apply_catalogue, compare_catalogue
from atom.datasets.models import Dataset, GarbageRun, Pack, Version
from atom.datasets.retention.actions import garbage
from atom.datasets.retention.engines.pack_use import PackingRules
from atom.datasets.retention.garbage_roots import GarbageRules
from atom_sdk.client import Client
from atom_sdk.manifests import iter_ranges
from tests.datasets.forks import published
from tests.datasets.integrity.test_rebuild import forget_catalogue
from tests.datasets.pushing import Pusher, class_files, corrupted, delete_row, make_pack, png
from tests.datasets.retention.test_garbage import collect, forget_uploads, stored
from tests.factories.accounts import make_member

NOW = GarbageRules(timedelta(0), timedelta(0), PackingRules(least_gain_bytes=1, many=3))


def repack(pusher: Pusher, *, apply: bool = True, many: int = NOW.packing.many) -> GarbageRun:
    forget_uploads()
    rules = replace(NOW, packing=replace(NOW.packing, many=many))
    run = collect(pusher, apply=apply, rules=rules)
    assert run.state == "done"
    return run


def versions(pusher: Pusher) -> list[Version]:
    found = Version.objects.select_related("dataset__project").order_by("number")
    return list(found.filter(dataset__project=pusher.project).exclude(state="collected"))


def files(version: Version) -> dict[str, bytes]:
    """Return the files of a version, read from its packs, each as its digest says."""
    project = version.dataset.project
    found = {}
    for table in iter_ranges(open_root(version), storage.project_store(project)):
        for row in table.to_pylist():
            key = f"{storage.project_prefix(project)}packs/{row['pack'].hex()}.tar"
            begin = row["offset"]
            data = storage.objects().get_range(key, begin, begin + row["size"])
            assert blake3(data).digest() == row["digest"]
            found[row["path"]] = data
    return found


def packs(pusher: Pusher) -> set[str]:
    return {key[6:-4] for key in stored(pusher) if key.startswith("packs/") and key[-4:] == ".tar"}


@pytest.fixture
def small(pusher: Pusher) -> Pusher:
    """Four versions of small packs; one file changes in each, so its path comes three times."""
    pusher.push({"a.png": png(1), "b/c.png": png(2)})
    for number in (3, 4, 5):
        pusher.push({"a.png": png(number), f"new-{number}.png": png(10 + number)})
    return pusher


def test_many_small_packs_become_few_and_every_version_says_the_same(small: Pusher) -> None:
    before = [(version.content_digest, files(version)) for version in versions(small)]
    old = packs(small)
    assert len(old) == 4

    run = repack(small)

    new = packs(small)
    assert not new & old
    assert dict(Pack.objects.values_list("digest", "state")) == dict.fromkeys(new, "verified")
    assert (run.repacked_count, run.deleted.filter(kind="packs").count()) == (4, 4)
    assert run.repacked_bytes > run.repacked_needed_bytes > 0
    after = versions(small)
    assert [(version.content_digest, files(version)) for version in after] == before
    assert [open_root(version).content.hex() for version in after] == [old for old, _ in before]
    # One for the head, and one for what only earlier versions have.
    (of_head,) = packs_of(after[-1])
    assert set(packs_of(after[0])) == new
    assert Pack.objects.get(digest=of_head).size_bytes == 6 * 4096
    assert len(new) == 2
    # Nothing is left to do.
    assert repack(small).repacked_count == 0
    assert packs(small) == new
    assert compare_catalogue(small.project).is_equal


def test_what_is_built_upon_such_versions_names_the_new_pack(small: Pusher) -> None:
    repack(small)

    small.push({"x.png": png(20)})
    published(small, "reverts", version="v4")
    forget_uploads()
    collect(small, rules=GarbageRules(timedelta(0), timedelta(0)))

    first, *_, last = versions(small)
    assert files(last) == {**files(versions(small)[2]), "x.png": png(20)}
    assert files(last)["a.png"] == png(4)
    assert "a.png" in compare(first, last)["path"].to_pylist()
    assert compare_catalogue(small.project).is_equal


def test_what_is_needed_of_a_pack_that_is_mostly_garbage_moves(pusher: Pusher) -> None:
    content = class_files(classes=3, per_class=8)
    kept = {path: data for path, data in content.items() if path.startswith("1/")}
    pusher.push(content)
    pusher.commit([delete_row(path) for path in content if path not in kept])
    long_ago = clock.now() - timedelta(days=400)
    Version.objects.filter(number=1).update(state="expired", expired_at=long_ago)
    (old,) = packs(pusher)
    size = Pack.objects.get(digest=old).size_bytes

    sparse = GarbageRules(
        timedelta(0), timedelta(0), PackingRules(least_gain_bytes=1, small_bytes=0)
    )
    forget_uploads()
    run = collect(pusher, rules=sparse)

    (new,) = packs(pusher)
    assert new != old
    assert (run.repacked_count, run.repacked_bytes) == (1, size)
    assert Pack.objects.get(digest=new).size_bytes <= run.repacked_needed_bytes + 8192 < size
    assert [files(version) for version in versions(pusher)] == [kept]


def test_a_dry_run_counts_and_changes_nothing(small: Pusher) -> None:
    before = stored(small)
    run = repack(small, apply=False)
    assert (run.repacked_count, stored(small)) == (4, before)
    assert not Version.objects.filter(is_repacked=True).exists()


def test_the_command_and_the_api_say_how_many(
    small: Pusher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "settings_rules", lambda: NOW)
    forget_uploads()
    out = StringIO()
    call_command("collect_garbage", project=small.project.slug, stdout=out)
    assert "4 packs worth packing anew" in out.getvalue()
    call_command("collect_garbage", project=small.project.slug, apply=True, stdout=out)
    assert "4 packs packed anew" in out.getvalue()
    small.client.force_authenticate(make_member(small.project, "admin"))
    runs = small.client.get(f"/api/v1/projects/{small.project.slug}/garbage-runs/").json()
    assert [run["repacked_count"] for run in runs["results"]] == [4, 4]
    assert runs["results"][0]["repacked_bytes"] > runs["results"][0]["repacked_needed_bytes"]


def test_packs_of_late_pushes_and_few_small_ones_are_left_alone(small: Pusher) -> None:
    late = GarbageRules(timedelta(days=7), timedelta(0), NOW.packing)
    assert collect(small, rules=late).repacked_count == 0
    forget_uploads()
    assert collect(small, rules=GarbageRules(timedelta(0), timedelta(0))).repacked_count == 0


def test_the_catalogue_of_the_bucket_alone_reads_the_new_packs(small: Pusher) -> None:
    repack(small)
    before = [(version.commit, files(version)) for version in versions(small)]
    forget_catalogue()

    assert apply_catalogue(small.project).is_equal

    assert [(version.commit, files(version)) for version in versions(small)] == before
    small.push({"x.png": png(20)})
    assert files(versions(small)[-1])["x.png"] == png(20)


def test_a_layout_that_the_bucket_lost_is_told(small: Pusher) -> None:
    repack(small)
    one = versions(small)[0]
    prefix = storage.project_prefix(small.project)
    storage.objects().delete(f"{prefix}layouts/{one.dataset_id}/{one.commit}.json")
    assert compare_catalogue(small.project).only_in_catalogue == [f"layout of {one.commit}"]


def test_compaction_keeps_the_new_packs(small: Pusher) -> None:
    repack(small)
    before = [files(version) for version in versions(small)]
    for version in versions(small):
        compact_version(version.pk)
    collect(small, rules=NOW)
    assert [files(version) for version in versions(small)] == before
    assert all(version.is_repacked for version in versions(small))


def test_a_damaged_pack_stops_it_and_nothing_is_lost(small: Pusher) -> None:
    pack = make_pack({"a.png": png(4), "new-4.png": png(14)})
    prefix = storage.project_prefix(small.project)
    storage.objects().put(f"{prefix}packs/{pack.digest}.tar", corrupted(pack, 4096))
    before = packs(small)

    run = repack(small)

    assert (run.repacked_count, packs(small)) == (0, before)
    assert not Version.objects.filter(is_repacked=True).exists()


def test_files_that_are_the_same_lie_there_once(pusher: Pusher) -> None:
    for path in ("a.png", "b.png", "c.png"):
        pusher.push({path: png(1), f"other-{path}": png(ord(path[0]))})
    repack(pusher)
    (new,) = packs(pusher)
    assert len(files(versions(pusher)[-1])) == 6
    # Four contents with a block for each and for its head, and the end.
    assert Pack.objects.get(digest=new).size_bytes <= 9 * 4096


@pytest.mark.pushed
def test_a_client_pulls_what_was_packed_anew(
    client: Client, pusher: Pusher, folder: Path, tmp_path: Path
) -> None:
    for number in range(5):
        (folder / "0" / "000.png").write_bytes(png(100 + number))
        client.datasets.push(folder, "digits")
    assert repack(pusher).repacked_count == 4

    client.datasets.pull("digits@v6", tmp_path / "pulled")
    client.datasets.pull("digits@v1", tmp_path / "first")

    names = [path.relative_to(folder) for path in sorted(folder.rglob("*.png"))]
    for name in names:
        assert (tmp_path / "pulled" / name).read_bytes() == (folder / name).read_bytes()
    assert (tmp_path / "first" / "0" / "000.png").read_bytes() != png(104)
    assert client.datasets.push(folder, "digits").unchanged
    assert Dataset.objects.get(name="digits").versions.count() == 6
