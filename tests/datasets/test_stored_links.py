"""Links through what the server does with versions over years: collected, moved, merged, edited."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from django.db.models import F

from atom.core import clock, storage
from atom.datasets.catalog.reads import open_root, packs_of
from atom.datasets.commits.actions.commit_root import CommitDetails
from atom.datasets.commits.actions.compaction import compact_version
from atom.datasets.commits.actions.layers import NamedLayer, publish_layer
from atom.datasets.integrity.actions.rebuild import apply_catalogue, compare_catalogue
from atom.datasets.models import Dataset, Version
from atom.datasets.retention.actions.retention import (
    expire_versions,
    restore_version,
    set_retention,
)
from atom.datasets.retention.engines.pack_use import PackingRules
from atom.datasets.retention.engines.retention import Policy
from atom.datasets.retention.garbage_roots import GarbageRules
from atom_sdk.archive import ArchiveFolder, check_archive
from atom_sdk.client import Client
from atom_sdk.client.archive_save import SaveOptions
from atom_sdk.client.config import cache_path
from atom_sdk.manifests import apply_changes, build_root, entries_table, iter_ranges, layer_table
from atom_sdk.manifests.build import Changes
from atom_sdk.manifests.entries import Entry
from atom_sdk.manifests.links import link_entry
from atom_sdk.mount import unmount
from tests.datasets.archives.test_archives import other  # noqa: F401 - a fixture
from tests.datasets.commits.test_compaction import ALWAYS, committed
from tests.datasets.forks import carried_out, entry, published
from tests.datasets.integrity.test_rebuild import clean, forget_catalogue
from tests.datasets.pushing import Pusher, class_files, delete_row, make_pack, png, put_rows
from tests.datasets.retention.test_garbage import AT_ONCE, collect, forget_uploads, stored
from tests.sdk.manifests.strategies import RULE

Tree = dict[str, bytes | str]
SMALL_PACKS = GarbageRules(timedelta(0), timedelta(0), PackingRules(least_gain_bytes=1, many=2))
FILES = {"cat/a.png": png(1), "cat/b.png": png(2), "dog/a.png": png(3)}
LINKS = {"16/cat.png": "../cat/a.png", "gone.png": "nothing", "out": "/etc/hostname", "pets": "cat"}


def link_row(path: str, target: str) -> dict[str, Any]:
    return {"op": "put", "path": path, "link": target}


def push_tree(
    pusher: Pusher, files: Mapping[str, bytes], links: Mapping[str, str], **body: Any
) -> Version:
    """Put files and links in one commit."""
    rows = [link_row(*pair) for pair in links.items()]
    if files:
        pack = make_pack(files)
        pusher.stage(pack.data)
        rows += put_rows(pack)
    request = pusher.commit(rows, **body)
    assert request["state"] == "published", request["error"]
    return version(pusher, request["version"]["ref"])


def version(pusher: Pusher, ref: str) -> Version:
    dataset = Dataset.objects.get(project=pusher.project, name=pusher.name)
    found = Version.objects.select_related("dataset__project").filter(dataset=dataset)
    return found.get(commit=pusher.get(f"versions/{ref}/")["commit"])


def tree(one: Version) -> Tree:
    """Return the bytes of files, as their packs have them now, and the targets of links."""
    project = one.dataset.project
    found: Tree = {}
    for table in iter_ranges(open_root(one), storage.project_store(project)):
        for row in table.to_pylist():
            if row["link"] is not None:
                found[row["path"]] = row["link"]
                continue
            key = f"{storage.project_prefix(project)}packs/{row['pack'].hex()}.tar"
            data = storage.objects().get_range(key, row["offset"], row["offset"] + row["size"])
            assert blake3(data).digest() == row["digest"]
            found[row["path"]] = data
    return found


@pytest.fixture
def linked(pusher: Pusher) -> Pusher:
    """v1 has files and links; in v2 a target went, a link is a file and a file is a link."""
    push_tree(pusher, FILES, LINKS, labels_from="folder")
    pack = make_pack({"gone.png": png(4)})
    pusher.stage(pack.data)
    rows = [delete_row("cat/a.png"), link_row("dog/a.png", "../gone.png"), *put_rows(pack)]
    assert pusher.commit(rows)["state"] == "published"
    return pusher


SECOND: Tree = {
    "16/cat.png": "../cat/a.png",
    "cat/b.png": png(2),
    "dog/a.png": "../gone.png",
    "gone.png": png(4),
    "out": "/etc/hostname",
    "pets": "cat",
}


def test_garbage_takes_nothing_that_links_or_their_targets_need(linked: Pusher) -> None:
    orphan = make_pack({"orphan.png": png(77)})
    linked.upload(orphan.data)
    forget_uploads()
    before = stored(linked)

    run = collect(linked)

    assert run.state == "done"
    gone = {f"packs/{orphan.digest}.tar", f"packs/{orphan.digest}.index.parquet"}
    assert before - stored(linked) == gone
    assert tree(version(linked, "v1")) == {**FILES, **LINKS}
    assert tree(version(linked, "v2")) == SECOND


def test_a_link_holds_no_bytes_of_a_target_that_is_gone(linked: Pusher) -> None:
    long_ago = clock.now() - timedelta(days=400)
    first = packs_of(version(linked, "v1"))
    push_tree(linked, {"late.png": png(8)}, {"late": "cat/b.png"})
    linked.commit([delete_row("cat/b.png")])
    Version.objects.exclude(number=4).update(state="expired", expired_at=long_ago)
    forget_uploads()

    collect(linked)

    assert not {f"packs/{digest}.tar" for digest in first} & stored(linked)
    left = {path: value for path, value in SECOND.items() if path != "cat/b.png"}
    assert tree(version(linked, "v4")) == {**left, "late.png": png(8), "late": "cat/b.png"}


def test_a_version_of_links_alone_is_kept_collected_and_read(pusher: Pusher) -> None:
    only = push_tree(pusher, {}, LINKS)
    assert packs_of(only) == []
    forget_uploads()
    before = stored(pusher)
    assert collect(pusher).garbage_count == 0
    assert stored(pusher) == before
    assert tree(only) == LINKS
    assert compare_catalogue(pusher.project).is_equal
    forget_catalogue()
    apply_catalogue(pusher.project)
    assert tree(version(pusher, "v1")) == LINKS
    # The first file comes later, and goes again.
    push_tree(pusher, {"a.png": png(1)}, {})
    assert tree(version(pusher, "v2")) == {**LINKS, "a.png": png(1)}
    assert pusher.commit([delete_row("a.png")])["state"] == "published"
    assert open_root(version(pusher, "v3")).content == open_root(version(pusher, "v1")).content


def test_packs_are_packed_anew_below_links(linked: Pusher) -> None:
    push_tree(linked, {"late.png": png(8)}, {"late": "cat/b.png"})
    before = [tree(version(linked, ref)) for ref in ("v1", "v2", "v3")]
    digests = [version(linked, ref).content_digest for ref in ("v1", "v2", "v3")]
    old = packs_of(version(linked, "v3"))
    forget_uploads()

    run = collect(linked, rules=SMALL_PACKS)

    assert (run.state, run.repacked_count) == ("done", 3)
    assert not set(old) & set(packs_of(version(linked, "v3")))
    assert [tree(version(linked, ref)) for ref in ("v1", "v2", "v3")] == before
    roots = [open_root(version(linked, ref)) for ref in ("v1", "v2", "v3")]
    assert [root.content.hex() for root in roots] == digests
    assert [root.links for root in roots] == [4, 4, 5]
    assert compare_catalogue(linked.project).is_equal


def test_deltas_of_links_are_compacted(pusher: Pusher) -> None:
    """Links come, change and go in deltas; a link becomes a file and a file a link."""
    store = storage.project_store(pusher.project)
    pack = make_pack({f"{number:03d}": png(number) for number in range(60)})
    pusher.stage(pack.data)
    files = {
        member.path: Entry(
            member.path, member.size, member.digest, None, None, bytes.fromhex(pack.digest),
            member.offset,
        )
        for member in pack.members
    }  # fmt: skip
    expected: Tree = {path: png(int(path)) for path in files}
    root = build_root([entries_table(files.values())], store, rule=RULE)
    committed(pusher, root)
    steps: list[tuple[dict[str, str], list[str], list[str]]] = [
        ({f"{n:03d}": f"{n + 1:03d}" for n in range(0, 60, 10)} | {"new": "001"}, [], []),
        ({"000": "elsewhere", "005": "/out"}, ["010"], ["020"]),
        ({"zzz": "new"}, ["030"], ["new", "040"]),
    ]
    for links, as_files, gone in steps:
        entries = [link_entry(*pair) for pair in links.items()] + [files[p] for p in as_files]
        changes = Changes(entries_table(entries), frozenset(gone))
        root = apply_changes(root, changes, store, RULE, ALWAYS)
        last = committed(pusher, root)
        expected |= links | {path: png(int(path)) for path in as_files}
        for path in gone:
            del expected[path]
    last.refresh_from_db()
    compact_version(last.pk)
    last.refresh_from_db()

    assert last.layout
    found = open_root(last)
    assert (found.deltas, found.content) == ((), root.content)
    assert found.count == len(expected)
    assert found.links == sum(isinstance(value, str) for value in expected.values())
    last = Version.objects.select_related("dataset__project").get(pk=last.pk)
    assert tree(last) == expected
    forget_uploads()
    assert collect(pusher).state == "done"
    assert tree(last) == expected


def test_a_history_with_links_moves(
    linked: Pusher,
    client: Client,
    other: Client,  # noqa: F811
    tmp_path: Path,
) -> None:
    """One version in between is expired: its links go along as manifests do."""
    push_tree(linked, {}, {"late": "cat/b.png"})
    forget_uploads()
    collect(linked, rules=SMALL_PACKS)
    client.archives.save("digits", tmp_path)
    assert check_archive(ArchiveFolder(tmp_path)).problems == []

    other.archives.load(tmp_path, name="copied")
    project = Dataset.objects.select_related("project").get(name="copied").project
    assert compare_catalogue(project).is_equal
    for ref, expected in (("v1", {**FILES, **LINKS}), ("v2", SECOND)):
        found = Version.objects.select_related("dataset__project").get(
            dataset__name="copied", number=int(ref[1:])
        )
        assert tree(found) == expected
        assert found.content_digest == version(linked, ref).content_digest
    assert other.archives.load(tmp_path, name="copied").unchanged


def test_a_history_with_links_is_copied_and_a_copy_goes_on(
    linked: Pusher,
    client: Client,
    other: Client,  # noqa: F811
) -> None:
    client.archives.copy_to(other, "digits", "copied")
    push_tree(linked, {}, {"late": "cat/b.png", "pets": "dog"})
    linked.commit([delete_row("out")])
    client.archives.copy_to(other, "digits", "copied")

    found = Version.objects.select_related("dataset__project").filter(dataset__name="copied")
    left = {path: value for path, value in SECOND.items() if path != "out"}
    last: Tree = {**left, "late": "cat/b.png", "pets": "dog"}
    trees = {row.number: tree(row) for row in found}
    assert (trees[1], trees[2], trees[4]) == ({**FILES, **LINKS}, SECOND, last)
    counts = found.order_by("number").values_list("file_count", "link_count")
    assert list(counts) == [(3, 4), (2, 4), (2, 5), (2, 4)]
    assert compare_catalogue(found[0].dataset.project).is_equal


def test_links_alone_move_and_are_checked(
    pusher: Pusher,
    client: Client,
    other: Client,  # noqa: F811
    tmp_path: Path,
) -> None:
    push_tree(pusher, {}, LINKS)
    client.archives.save("digits", tmp_path, SaveOptions(refs=("v1",)))
    assert check_archive(ArchiveFolder(tmp_path)).problems == []
    other.archives.load(tmp_path, name="copied")
    found = Version.objects.select_related("dataset__project").get(dataset__name="copied")
    assert tree(found) == LINKS


def test_a_catalogue_of_links_comes_back_from_the_bucket(linked: Pusher) -> None:
    published(linked, "edits", edits=[{"op": "move", "paths": ["16/"], "to": "sizes/16/"}])
    assert compare_catalogue(linked.project).is_equal
    before = [clean(row) for row in Version.objects.order_by("number").values()]
    forget_catalogue()
    assert apply_catalogue(linked.project).is_equal
    assert [clean(row) for row in Version.objects.order_by("number").values()] == before
    assert tree(version(linked, "v1")) == {**FILES, **LINKS}


def test_files_and_links_are_counted_apart(linked: Pusher) -> None:
    counts = [linked.get(f"versions/{ref}/") for ref in ("v1", "v2")]
    assert [(row["file_count"], row["link_count"]) for row in counts] == [(3, 4), (2, 4)]
    stats = linked.get("versions/v2/stats/")
    assert (stats["files"], stats["links"]) == (2, 4)
    latest = linked.get("")["latest"]
    assert (latest["file_count"], latest["link_count"]) == (2, 4)


def test_versions_from_before_are_counted_when_they_are_read(linked: Pusher) -> None:
    """Such a row counts links as files, also in the comparison with the bucket."""
    Version.objects.update(file_count=F("file_count") + F("link_count"), link_count=None)
    assert compare_catalogue(linked.project).is_equal
    assert Version.objects.get(number=1).file_count == 7

    rows = linked.get("versions/")["results"]

    assert [(row["file_count"], row["link_count"]) for row in rows] == [(2, 4), (3, 4)]
    stored_counts = Version.objects.order_by("number").values_list("file_count", "link_count")
    assert list(stored_counts) == [(3, 4), (2, 4)]
    Version.objects.filter(number=1).update(file_count=4, link_count=3)
    commit = Version.objects.get(number=1).commit
    assert compare_catalogue(linked.project).only_in_catalogue == [f"links of {commit}"]


def test_a_mount_of_links_alone_is_complete(pusher: Pusher, client: Client, tmp_path: Path) -> None:
    push_tree(pusher, {}, {"a/b": "../c", "c": "a", "out": "/etc"})
    folder = tmp_path / "shown"
    record = client.datasets.mount("digits", folder)
    assert (record.files, record.links, record.links_left_out) == (0, 2, 1)
    assert {path: os.readlink(folder / path) for path in ("a/b", "c")} == {"a/b": "../c", "c": "a"}
    assert not (folder / "out").is_symlink()
    assert unmount(folder, cache_path())[1] == []
    assert not folder.exists()


def test_reverts_and_picks_bring_links_back(linked: Pusher) -> None:
    published(linked, "reverts", version="v2")
    assert tree(version(linked, "main")) == {**FILES, **LINKS}
    published(linked, "picks", source="v2", paths=["dog/a.png", "gone.png"])
    picked = {**FILES, **LINKS, "dog/a.png": "../gone.png", "gone.png": png(4)}
    assert tree(version(linked, "main")) == picked
    # A file that became a link has lost its label.
    assert entry(linked, "dog/a.png")["label"] is None
    assert entry(linked, "dog/a.png", "v1")["label"] == "dog"


@pytest.mark.parametrize(
    ("ours", "theirs", "conflicts"),
    [
        ("../dog/a.png", "../dog/a.png", 0),
        ("../dog/a.png", "../cat/b.png", 1),
        ("../dog/a.png", png(9), 1),
        (png(9), "../dog/a.png", 1),
        (None, "../dog/a.png", 1),
        ("../dog/a.png", None, 1),
        (None, None, 0),
    ],
)
def test_a_link_is_one_value_in_a_merge(
    pusher: Pusher, ours: str | bytes | None, theirs: str | bytes | None, conflicts: int
) -> None:
    push_tree(pusher, FILES, LINKS, labels_from="folder")
    pusher.post("branches/", {"name": "fix", "at": "main"})
    for branch, value, number in (("main", ours, 5), ("fix", theirs, 6)):
        beside = {f"{branch}.png": png(number)}
        if isinstance(value, str):
            push_tree(pusher, beside, {"16/cat.png": value}, branch=branch)
        elif value is not None:
            push_tree(pusher, {**beside, "16/cat.png": value}, {}, branch=branch)
        else:
            push_tree(pusher, beside, {}, branch=branch)
            pusher.commit([delete_row("16/cat.png")], branch=branch)

    request = carried_out(pusher, "merges", source="fix")
    if conflicts:
        assert request["error"]["code"] == "merge_conflict", request["error"]
        assert request["conflicts_total"] == 1
        (shown,) = request["conflicts"]
        assert (shown["path"], shown["layer"]) == ("16/cat.png", "")
        published(pusher, "merges", source="fix", on_conflict="theirs")
    else:
        assert request["state"] == "published", request["error"]
    expected: Tree = {**FILES, **LINKS, "main.png": png(5), "fix.png": png(6)}
    del expected["16/cat.png"]
    assert tree(version(pusher, "main")) == expected | (
        {} if theirs is None else {"16/cat.png": theirs}
    )


def test_a_folder_with_links_is_moved_copied_and_removed(linked: Pusher) -> None:
    push_tree(linked, {"16/real.png": png(5)}, {"16/near": "real.png"})
    published(linked, "edits", edits=[{"op": "move", "paths": ["16/"], "to": "sizes/16/"}])
    moved = tree(version(linked, "main"))
    # A target is text: what is relative to the folder stays right, the rest is as it was pushed.
    assert {path: moved[path] for path in moved if path.startswith("sizes/")} == {
        "sizes/16/cat.png": "../cat/a.png",
        "sizes/16/near": "real.png",
        "sizes/16/real.png": png(5),
    }
    near = entry(linked, "sizes/16/near")
    assert near["link"] == {
        "target": "real.png", "leads_to": "sizes/16/real.png", "leaves": False, "kind": "file",
    }  # fmt: skip
    published(linked, "edits", edits=[{"op": "copy", "paths": ["sizes/16/near"], "to": "again"}])
    assert tree(version(linked, "main"))["again"] == "real.png"
    published(linked, "edits", edits=[{"op": "remove", "paths": ["sizes", "again", "pets"]}])
    left = {path: value for path, value in SECOND.items() if path not in ("16/cat.png", "pets")}
    assert tree(version(linked, "main")) == left


def test_nothing_is_moved_below_a_link(linked: Pusher) -> None:
    step = {"op": "move", "paths": ["cat/b.png"], "to": "pets/b.png"}
    request = carried_out(linked, "edits", edits=[step])
    assert request["error"]["code"] == "path_taken", request["error"]
    assert "a file and a folder" in request["error"]["detail"]


def test_a_difference_shows_a_link_as_one_value(linked: Pusher) -> None:
    rows = linked.get("diff/", **{"from": "v1", "to": "v2"})["results"]
    kinds = {row["path"]: row["kind"] for row in rows}
    assert kinds == {"cat/a.png": "removed", "dog/a.png": "changed", "gone.png": "changed"}


def test_labels_and_splits_of_links_are_refused_by_edits(linked: Pusher) -> None:
    labelled = [{"op": "label", "paths": ["cat/b.png", "pets"], "value": "cat"}]
    published(linked, "edits", edits=labelled)
    assert entry(linked, "cat/b.png")["label"] == "cat"
    assert entry(linked, "pets")["label"] is None
    split = [{"op": "split", "paths": ["cat", "16", "pets"], "value": "test"}]
    published(linked, "edits", edits=split)
    assert entry(linked, "cat/b.png")["split"] == "test"
    assert entry(linked, "16/cat.png")["split"] is None


def test_a_copied_link_gets_no_split(linked: Pusher) -> None:
    published(linked, "edits", edits=[{"op": "split", "paths": ["cat"], "value": "test"}])
    copies = [{"op": "copy", "paths": ["16", "gone.png"], "to": "copies/"}]
    published(linked, "edits", edits=copies)
    assert entry(linked, "copies/16/cat.png")["split"] is None
    assert entry(linked, "copies/gone.png")["split"] == "train"


def test_a_push_of_classes_onto_links_keeps_them(linked: Pusher) -> None:
    files = class_files()
    pack = make_pack(files)
    linked.stage(pack.data)
    split = {"test": 3, "seed": 7}
    request = linked.commit(put_rows(pack), labels_from="folder", split=split)
    assert request["state"] == "published", request["error"]
    assert tree(version(linked, "main")) == {**SECOND, **files}
    stats = linked.get("versions/main/stats/")
    assert (stats["unlabelled"], stats["unsplit"]) == (1, 0)


def test_expired_links_are_collected(linked: Pusher) -> None:
    long_ago = clock.now() - timedelta(days=400)
    Version.objects.filter(number=1).update(state="expired", expired_at=long_ago)
    forget_uploads()
    collect(linked, rules=AT_ONCE)
    assert Version.objects.get(number=1).state == "collected"
    assert tree(version(linked, "v2")) == SECOND
    assert compare_catalogue(linked.project).is_equal


def test_a_write_job_and_a_source_version_keep_the_links(linked: Pusher, client: Client) -> None:
    job = client.datasets.write_job("digits", "etl", message="Features")
    for number in range(2):
        with job.task(number) as attempt:
            attempt.write(f"part-{number}", b"x" * (number + 1))
            attempt.write("16/cat.png", b"a file now")
    # Meanwhile somebody else adds a link, and a file where the job has none.
    push_tree(linked, {}, {"late": "part-0"})
    job.commit()
    assert tree(version(linked, "main")) == {
        **SECOND, "16/cat.png": b"a file now", "late": "part-0", "part-0": b"x", "part-1": b"xx",
    }  # fmt: skip
    assert entry(linked, "late")["link"]["kind"] == "file"


def test_published_labels_leave_links_without_one(linked: Pusher) -> None:
    """A label counts for the bytes that it was given for; a link has none of them."""
    dataset = Dataset.objects.select_related("project").get(name="digits")
    rows = [
        {"path": path, "digest": blake3(data).digest(), "label": "cat", "source": "people"}
        for path, data in (("cat/b.png", png(2)), ("dog/a.png", png(3)), ("pets", png(2)))
    ]
    table = layer_table("classification", rows)
    details = CommitDetails(linked.user, "labels", clock.now(), {})
    publish_layer(dataset, "main", NamedLayer("labels", "classification", table), details)
    assert entry(linked, "cat/b.png")["label"] == "cat"
    assert [entry(linked, path)["label"] for path in ("dog/a.png", "pets")] == [None, None]
    assert tree(version(linked, "main")) == SECOND
    stats = linked.get("versions/main/stats/")
    assert (stats["labels"], stats["unlabelled"]) == ({"cat": 1}, 1)


def test_retention_lets_links_go_and_a_restored_version_has_them(linked: Pusher) -> None:
    dataset = Dataset.objects.select_related("project").get(name="digits")
    push_tree(linked, {}, {"late": "cat/b.png"})
    expire_versions(set_retention(dataset, Policy("last", 1), linked.user))
    states = dict(Version.objects.values_list("number", "state"))
    assert states == {1: "expired", 2: "expired", 3: "kept"}
    restore_version(version(linked, "v1"), linked.user)
    assert tree(version(linked, "v1")) == {**FILES, **LINKS}
