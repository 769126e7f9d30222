"""Repacked or repaired versions are archived as they were committed, without the earlier packs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from atom.accounts.actions import create_token
from atom.datasets.browsing.reads import compare
from atom.datasets.integrity.actions.rebuild import apply_catalogue, compare_catalogue
from atom.datasets.models import Dataset, Version
from atom.datasets.packs.actions.quarantine import quarantine_pack
from atom_sdk.archive import ArchiveFolder, History, check_archive, encode_history
from atom_sdk.archive.errors import ArchiveDamagedSourceError
from atom_sdk.archive.folder import history_key
from atom_sdk.client import Client
from atom_sdk.client.archives.save import SaveOptions
from atom_sdk.client.errors import CommitFailedError
from atom_sdk.manifests.objects import digest_of
from tests.datasets.integrity.test_rebuild import forget_catalogue
from tests.datasets.pushing import Pusher, make_pack, png
from tests.datasets.retention.test_repacking import files, packs, repack
from tests.factories.accounts import make_member, make_project

_SAID = ("commit", "number", "root", "content_digest", "added", "removed", "changed", "layers")


@pytest.fixture
def other(live_server: LiveServer, pusher: Pusher) -> Iterator[Client]:
    """A client of another project, as another person."""
    project = make_project()
    secret = create_token(make_member(project, "researcher"), "tests", ["write"]).secret
    with Client(live_server.url, secret, project.slug) as client:
        yield client


@pytest.fixture
def repacked(pusher: Pusher) -> Pusher:
    """Four versions whose packs are gone: their files lie in one pack that no root names."""
    pusher.push({"a.png": png(1), "b/c.png": png(2)}, labels_from="folder")
    for number in (3, 4, 5):
        pusher.push({"a.png": png(number), f"new-{number}.png": png(10 + number)})
    old = packs(pusher)
    assert repack(pusher).repacked_count == 4
    assert not packs(pusher) & old
    return pusher


def versions(name: str) -> list[Version]:
    found = Version.objects.filter(dataset__name=name).select_related("dataset__project")
    return list(found.order_by("number"))


def everything(name: str) -> list[dict[str, bytes]]:
    return [files(version) for version in versions(name)]


def facts_of(name: str) -> list[dict[str, object]]:
    return [{field: getattr(each, field) for field in _SAID} for each in versions(name)]


def of(name: str) -> Pusher:
    """Somebody of the project of a dataset."""
    dataset = Dataset.objects.select_related("project").get(name=name)
    return Pusher(dataset.project, make_member(dataset.project, "researcher"), name)


def pulled(client: Client, reference: str, target: Path) -> dict[str, bytes]:
    client.datasets.pull(reference, target)
    found = (path for path in target.rglob("*.png") if path.is_file())
    return {path.relative_to(target).as_posix(): path.read_bytes() for path in found}


def point(folder: Path, history: History) -> None:
    """Say that the dataset has another history, over the same objects."""
    archive, data = ArchiveFolder(folder), encode_history(history)
    digest = digest_of(data).hex()
    archive.put(history_key(digest), data)
    archive.point(history.name, digest, archive.pointed(history.name)[1])


def test_versions_that_were_packed_anew_move_with_their_new_packs(
    repacked: Pusher, client: Client, other: Client,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder, before = tmp_path / "archive", everything("digits")
    saved = client.archives.save("digits", folder)
    assert (saved.versions, saved.versions_with_files) == (4, 4)
    assert {path.stem for path in (folder / "packs").iterdir()} == packs(repacked)
    assert check_archive(ArchiveFolder(folder)).problems == []

    client.archives.load(folder, name="beside")
    other.archives.load(folder, name="elsewhere")

    for name, reader in (("beside", client), ("elsewhere", other)):
        assert facts_of(name) == facts_of("digits")
        assert everything(name) == before
        assert [(each.layout, each.is_repacked) for each in versions(name)] == [
            (each.layout, True) for each in versions("digits")
        ]
        monkeypatch.setenv("ATOM_CACHE", str(tmp_path / f"cache-{name}"))
        for ref in ("v1", "v4"):
            read = pulled(reader, f"{name}@{ref}", tmp_path / f"{name}-{ref}")
            assert read == before[int(ref[1]) - 1]
        assert compare_catalogue(of(name).project).is_equal
    assert other.archives.load(folder, name="elsewhere").unchanged

    target = of("elsewhere")
    repack(target)
    assert everything("elsewhere") == before
    first, *_, last = versions("elsewhere")
    assert "a.png" in compare(first, last)["path"].to_pylist()
    target.push({"x.png": png(20)})
    repack(target)
    assert everything("elsewhere") == [*before, before[-1] | {"x.png": png(20)}]

    forget_catalogue()
    assert apply_catalogue(target.project).is_equal
    assert everything("elsewhere") == [*before, before[-1] | {"x.png": png(20)}]
    assert all(each.is_repacked for each in versions("elsewhere")[:4])


def test_such_versions_are_copied_and_later_ones_added(
    repacked: Pusher, client: Client, other: Client
) -> None:
    copied = client.archives.copy_to(other, "digits", "copied")
    assert (copied.versions, copied.versions_with_files) == (4, 4)
    assert everything("copied") == everything("digits")

    # Built upon the layout; then packed anew in both places, each in its own way.
    repacked.push({"later.png": png(70)})
    assert client.archives.copy_to(other, "digits", "copied").versions == 5
    for number in (71, 72, 73):
        repacked.push({"b/c.png": png(number)})
    repack(repacked)
    repack(of("copied"))
    assert client.archives.copy_to(other, "digits", "copied").versions == 8

    assert facts_of("copied") == facts_of("digits")
    assert everything("copied") == everything("digits")
    assert compare_catalogue(of("copied").project).is_equal


def test_only_the_layouts_of_chosen_versions_are_saved(
    repacked: Pusher, client: Client, other: Client, tmp_path: Path
) -> None:
    saved = client.archives.save("digits", tmp_path, SaveOptions(refs=("v2",)))
    second = versions("digits")[1]
    history = ArchiveFolder(tmp_path).history(saved.history)
    assert history.layouts == {second.commit: second.layout}
    assert check_archive(ArchiveFolder(tmp_path)).problems == []

    other.archives.load(tmp_path, name="part")

    kept = [each for each in versions("part") if each.state == "kept"]
    assert [files(each) for each in kept] == [files(second)]
    assert [each.is_repacked for each in versions("part")] == [False, True, False, False]


def test_versions_that_were_mended_move_without_the_damaged_pack(
    pusher: Pusher, client: Client, other: Client, tmp_path: Path
) -> None:
    content = {"a.png": png(1), "b.png": png(2)}
    pusher.push(content)
    damaged = make_pack(content)
    quarantine_pack(pusher.project, damaged.digest, "found damaged")
    with pytest.raises(ArchiveDamagedSourceError):
        client.archives.save("digits", tmp_path)
    pusher.push(content | {"c.png": png(3)})
    before = everything("digits")

    client.archives.save("digits", tmp_path)
    other.archives.load(tmp_path, name="mended")

    assert check_archive(ArchiveFolder(tmp_path)).problems == []
    assert damaged.digest not in {path.stem for path in (tmp_path / "packs").iterdir()}
    target = of("mended")
    repack(target)
    assert facts_of("mended") == facts_of("digits")
    assert everything("mended") == before == [content, content | {"c.png": png(3)}]
    forget_catalogue()
    assert apply_catalogue(target.project).is_equal
    assert everything("mended") == before


def test_a_layout_of_another_content_is_refused(
    repacked: Pusher, client: Client, other: Client, tmp_path: Path
) -> None:
    saved = client.archives.save("digits", tmp_path)
    honest = ArchiveFolder(tmp_path).history(saved.history)
    first, second, *_ = versions("digits")
    swapped = {**honest.layouts, first.commit: second.layout}
    point(tmp_path, replace(honest, layouts=swapped))

    (problem,) = check_archive(ArchiveFolder(tmp_path)).problems
    assert f"The layout of {first.commit[:12]} has another content" in problem
    with pytest.raises(CommitFailedError, match="has another content") as refused:
        other.archives.load(tmp_path, name="half")

    assert refused.value.reason == "archive_refused"
    assert not Version.objects.filter(dataset__name="half").exists()


def test_a_history_without_such_versions_names_no_layout(
    pusher: Pusher, client: Client, tmp_path: Path
) -> None:
    pusher.push({"a.png": png(1)})
    saved = client.archives.save("digits", tmp_path)
    assert b"layouts" not in (tmp_path / history_key(saved.history)).read_bytes()
    assert "layouts" not in pusher.get("archive/")
