"""A damaged pack whose files come in another pack: every version reads them from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from atom.datasets.catalog.reads import open_root, packs_of
from atom.datasets.commits.actions import commits
from atom.datasets.commits.actions.compaction import compact_version
from atom.datasets.commits.actions.repair import repair_everywhere
from atom.datasets.commits.engines.repair import PLACES, PackRepair
from atom.datasets.integrity.actions.rebuild import apply_catalogue
from atom.datasets.models import Branch, Pack, Version
from atom.datasets.packs.actions.quarantine import quarantine_pack
from atom.datasets.versions.engines.versions import build_version
from atom_sdk.client import Client
from atom_sdk.manifests import Changes, Root, apply_changes, build_root, iter_ranges
from atom_sdk.manifests.objects import MemoryObjectStore
from atom_sdk.manifests.ranges.deltas import DeltaRule
from tests.datasets.forks import published
from tests.datasets.integrity.test_rebuild import forget_catalogue
from tests.datasets.pushing import MadePack, Pusher, delete_row, make_pack, png, put_rows
from tests.datasets.retention.test_garbage import AT_ONCE, collect, forget_uploads, stored
from tests.sdk.manifests.strategies import RULE, table_of

FILES = {"a.png": png(1), "b.png": png(2)}


def version(pusher: Pusher, number: int, name: str = "digits") -> Version:
    found = Version.objects.select_related("dataset__project")
    return found.get(dataset__name=name, dataset__project=pusher.project, number=number)


def quarantine(pusher: Pusher, pack: MadePack) -> None:
    quarantine_pack(pusher.project, pack.digest, "found damaged")


def send_again(pusher: Pusher, files: dict[str, bytes]) -> tuple[MadePack, dict[str, object]]:
    """Push files in a pack of their own; returns it and the request at its end."""
    pack = make_pack(files)
    pusher.stage(pack.data)
    return pack, pusher.commit(put_rows(pack))


@pytest.fixture
def damaged(pusher: Pusher) -> MadePack:
    """A pack of two files; version 2 has one of them. It was found damaged."""
    pack = make_pack(FILES)
    pusher.push(FILES)
    assert pusher.commit([delete_row("b.png")])["state"] == "published"
    quarantine(pusher, pack)
    return pack


def test_a_push_that_changes_nothing_has_all_versions_read_the_new_pack(
    pusher: Pusher, damaged: MadePack
) -> None:
    before = {found.pk: found.content_digest for found in Version.objects.all()}

    good, request = send_again(pusher, {"a.png": FILES["a.png"]})

    assert (request["state"], request["unchanged"]) == ("published", True)
    head, first = version(pusher, 2), version(pusher, 1)
    assert packs_of(head) == [good.digest]
    assert packs_of(first) == sorted([good.digest, damaged.digest])
    for found in (head, first):
        assert open_root(found).content.hex() == found.content_digest == before[found.pk]
    forget_uploads()
    collect(pusher, rules=AT_ONCE)
    assert f"packs/{good.digest}.tar" in stored(pusher)


@pytest.mark.pushed
def test_the_same_folder_in_other_packs_is_read_again(
    client: Client, pusher: Pusher, folder: Path
) -> None:
    pack = Pack.objects.get(project=pusher.project)
    (folder / "0" / "000.png").unlink()
    assert client.datasets.push(folder, "digits").version["ref"] == "v2"
    client.datasets.open("digits@v2", stream=True)
    quarantine_pack(pusher.project, pack.digest, "found damaged")

    result = client.datasets.push(folder, "digits")
    again = client.datasets.push(folder, "digits")

    assert (result.version["ref"], result.unchanged, result.files_sent) == ("v2", True, 11)
    assert again.files_sent == 0
    assert len(list(client.datasets.open("digits@v2"))) == 11
    client.datasets.pull("digits@v2", folder.parent / "copy")


def test_what_comes_along_with_a_change_is_mended_too(pusher: Pusher, damaged: MadePack) -> None:
    good, request = send_again(pusher, {"a.png": FILES["a.png"], "c.png": png(3)})

    assert request["state"] == "published"
    assert packs_of(version(pusher, 3)) == packs_of(version(pusher, 2)) == [good.digest]


def test_other_datasets_and_earlier_names_are_mended_too(pusher: Pusher) -> None:
    pack = make_pack(FILES)
    pusher.push(FILES)
    published(pusher, "edits", edits=[{"op": "move", "paths": ["a.png"], "to": "x.png"}])
    published(pusher, "edits", edits=[{"op": "move", "paths": ["x.png"], "to": "y.png"}])
    published(pusher, "edits", edits=[{"op": "remove", "paths": ["b.png"]}])
    other = Pusher(pusher.project, pusher.user, "other").create()
    other.push({"kept.png": png(9)})
    edit = {"op": "copy", "paths": ["a.png"], "to": "from/", "source": "digits@v1"}
    published(other, "edits", edits=[edit])
    quarantine(pusher, pack)

    good, request = send_again(pusher, {"y.png": FILES["a.png"]})

    assert request["unchanged"]
    assert good.digest in packs_of(version(pusher, 1))
    assert good.digest in packs_of(version(pusher, 2))
    assert packs_of(version(pusher, 4)) == [good.digest]
    assert pack.digest not in packs_of(version(pusher, 2, "other"))


def test_edits_merges_and_writers_go_on_from_the_new_pack(
    pusher: Pusher, damaged: MadePack
) -> None:
    pusher.post("branches/", {"name": "side", "at": "v2"})
    good, _ = send_again(pusher, {"a.png": FILES["a.png"]})
    edit = {"op": "set", "paths": ["a.png"], "attributes": {"seen": True}}
    published(pusher, "edits", edits=[edit], branch="side")
    published(pusher, "edits", edits=[{"op": "copy", "paths": ["a.png"], "to": "c.png"}])
    published(pusher, "merges", source="side")

    heads = Version.objects.filter(pk__in=Branch.objects.values("head"))
    assert [packs_of(head) for head in heads] == [[good.digest], [good.digest]]


def test_a_commit_that_was_being_built_meanwhile_names_the_new_pack(
    pusher: Pusher, damaged: MadePack, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Root] = []

    def repaired_after(*given: Any) -> Root:
        root = build_version(*given)
        if not built:
            built.append(root)
            assert send_again(pusher, {"a.png": FILES["a.png"]})[1]["unchanged"]
        return root

    monkeypatch.setattr(commits, "build_version", repaired_after)
    pusher.push({"c.png": png(3)})

    assert damaged.digest not in packs_of(version(pusher, 3))


def test_a_compaction_keeps_what_was_mended(pusher: Pusher, damaged: MadePack) -> None:
    good, _ = send_again(pusher, {"a.png": FILES["a.png"]})

    assert not compact_version(version(pusher, 2).pk)
    assert packs_of(version(pusher, 2)) == [good.digest]


def test_a_rebuilt_catalogue_is_mended_again(pusher: Pusher, damaged: MadePack) -> None:
    good, _ = send_again(pusher, {"a.png": FILES["a.png"]})
    assert repair_everywhere(pusher.project.pk) == 0
    forget_catalogue()

    assert apply_catalogue(pusher.project).is_equal

    assert packs_of(version(pusher, 2)) == [good.digest]


def test_only_ranges_with_such_a_file_are_written_anew_and_deltas_go() -> None:
    store = MemoryObjectStore()
    files = {f"{number:03d}": 0 for number in range(60)}
    root = build_root([table_of(files)], store, rule=RULE)
    changes = Changes(table_of(dict.fromkeys(list(files)[::10], 1)))
    root = apply_changes(root, changes, store, RULE, DeltaRule(min_ranges=1, max_share=1.0))
    found = next(iter_ranges(root, store))
    bad, good = found["pack"][0].as_py(), b"g" * 32
    row = {"digest": found["digest"][0].as_py(), "pack": good, "offset": 7}
    places = pa.Table.from_pylist([row], schema=PLACES)

    repaired = PackRepair([bad], places, store).repaired(root, ["000"])

    assert repaired is not None
    assert repaired.content == root.content
    pairs = list(zip(root.ranges, repaired.ranges, strict=True))
    assert [old.layout == new.layout for old, new in pairs] == [False, *[True] * (len(pairs) - 1)]
    first = next(iter_ranges(repaired, store)).slice(0, 1)
    assert (first["pack"][0].as_py(), first["offset"][0].as_py()) == (good, 7)
    assert not repaired.ranges[0].deltas
    assert PackRepair([bad], places, store).repaired(repaired, ["000"]) is None
