"""A dataset with files at a source is moved with their bytes, and needs the source no more."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3
from click.testing import CliRunner, Result
from pytest_django.live_server_helper import LiveServer

from atom.accounts.actions import create_token
from atom.datasets.integrity.actions.rebuild import compare_catalogue
from atom.datasets.models import Dataset, Pack, Source, Version
from atom.datasets.sources.actions import scans
from atom.gateway.asgi import media_server
from atom_sdk.archive import ArchiveFolder, check_archive
from atom_sdk.archive.errors import (
    ArchiveCorruptError,
    ArchiveNameTakenError,
    ArchiveRegisteredError,
    ArchiveSourceChangedError,
)
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.archives.external_objects import SourceChoice
from atom_sdk.client.archives.save import SaveOptions
from tests.datasets.buckets import Bucket
from tests.datasets.gateways import Gateway
from tests.datasets.pushing import Pusher, png
from tests.datasets.retention.test_repacking import files, repack
from tests.factories.accounts import make_member, make_project

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("gateway")]
PUSHED = {"mine/a.txt": b"a", "mine/b.txt": b"bb"}
STAYS = {"far/c d+ü.txt": b"ccc", "far/e.png": png(5), "far/empty": b"", "near/z.txt": b"zzzz"}
WITH = SaveOptions(sources=SourceChoice(with_sources=True))
LEAVING_OUT = SaveOptions(sources=SourceChoice(with_sources=True, leave_out_changed=True))


@pytest.fixture
def other(live_server: LiveServer, pusher: Pusher) -> Iterator[Client]:
    """A client of another project, as another person."""
    project = make_project()
    secret = create_token(make_member(project, "researcher"), "tests", ["write"]).secret
    with Client(live_server.url, secret, project.slug) as client:
        yield client


@pytest.fixture
def bucket(pusher: Pusher, settings: Any) -> Bucket:
    """A bucket whose files stand beside the pushed ones: labelled by folder, split, and tagged."""
    settings.ATOM_SOURCE_ALLOW = ["127.0.0.0/8"]
    media_server.cache_clear()
    pusher.push(PUSHED)
    bucket = Bucket()
    bucket.put(STAYS)
    body = bucket.body(labels_from="folder")
    pusher.post(f"/api/v1/projects/{pusher.project.slug}/sources/", body)
    scan()
    pusher.push({"mine/later.txt": b"later"}, split={"test": 2, "seed": 1})
    pusher.post("tags/", {"name": "kept", "at": "v2"})
    return bucket


def scan() -> None:
    source = Source.objects.get()
    made = scans.request_scan(source, source.created_by)
    made.refresh_from_db()
    assert made.state == "done", made.error_detail


def entry_facts(client: Client, reference: str) -> list[tuple[Any, ...]]:
    rows = client.datasets.entries(reference)
    return [(row["path"], row["size_bytes"], row["label"], row["split"]) for row in rows]


def version(client: Client, reference: str) -> dict[str, Any]:
    name, _, ref = reference.partition("@")
    return dict(client.http.get(f"{client.datasets.base(name)}versions/{ref}/"))


def test_an_archive_with_the_bytes_of_a_source_needs_it_no_more(
    client: Client, other: Client, bucket: Bucket, pusher: Pusher, tmp_path: Path
) -> None:
    folder = tmp_path / "archive"
    with pytest.raises(ArchiveRegisteredError, match="stay at their source") as refused:
        client.archives.save("digits", folder)
    assert "--with-sources" in refused.value.hint
    labels = {"far/e.png": "far", "near/z.txt": "near"}
    assert labels.items() <= {row[0]: row[2] for row in entry_facts(client, "digits@v3")}.items()

    saved = client.archives.save("digits", folder, WITH)

    assert saved.brought_in is not None
    size_bytes = sum(map(len, STAYS.values()))
    assert (saved.versions_with_files, saved.brought_in.left_out) == (3, ())
    assert (saved.brought_in.files, saved.brought_in.bytes) == (len(STAYS), size_bytes)
    assert check_archive(ArchiveFolder(folder)).problems == []

    bucket.delete(*STAYS)
    before = {
        ref: (entry_facts(client, f"digits@{ref}"), version(client, f"digits@{ref}"))
        for ref in ("v1", "v2", "v3", "kept")
    }
    Source.objects.all().delete()
    assert other.archives.load(folder, name="moved").versions_with_files == 3
    for ref, (rows, was) in before.items():
        assert entry_facts(other, f"moved@{ref}") == rows
        now = version(other, f"moved@{ref}")
        for name in ("message", "number", "file_count", "size_bytes", "added", "changed"):
            assert now[name] == was[name], name
        if ref == "v1":
            assert (now["commit"], now["content_digest"]) == (was["commit"], was["content_digest"])
        else:
            assert now["content_digest"] != was["content_digest"]
            note = {"commit": was["commit"], "content": was["content_digest"]}
            assert now["provenance"] == {**was["provenance"], "brought_in": note}
    digests = {row["path"]: row["digest"] for row in other.datasets.entries("moved@v3")}
    for path, data in STAYS.items():
        assert digests[path] == blake3(data).hexdigest()
    opened = other.datasets.open("moved@v2")
    assert {one.path: bytes(one.data) for one in opened} == PUSHED | STAYS
    assert compare_catalogue(Dataset.objects.get(name="moved").project).is_equal


def test_a_later_save_asks_the_source_only_for_what_is_new(
    client: Client, other: Client, bucket: Bucket, gateway: Gateway,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder = tmp_path / "archive"
    first = client.archives.save("digits", folder, WITH)
    other.archives.load(folder, name="moved")
    read = gateway.reads
    # Another machine, and the source is not what it was.
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "elsewhere"))
    bucket.put({"near/z.txt": b"other"})
    same = client.archives.save("digits", folder, WITH)
    assert (same.history, same.objects_written, gateway.reads) == (first.history, 0, read)

    scan()
    later = client.archives.save("digits", folder, WITH)
    assert (later.versions_with_files, later.brought_in and later.brought_in.left_out) == (4, ())
    loaded = other.archives.load(folder, name="moved")
    assert (loaded.unchanged, loaded.head and loaded.head["number"]) == (False, 4)
    there = {one.path: bytes(one.data) for one in other.datasets.open("moved@v4")}
    assert there["near/z.txt"] == b"other"


def test_damage_that_nobody_can_mend_is_said_and_another_dataset_needs_another_name(
    client: Client, bucket: Bucket, pusher: Pusher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "archive"
    client.archives.save("digits", folder, WITH)
    stored = {pack.digest for pack in Pack.objects.filter(project=pusher.project)}
    for path in (folder / "packs").iterdir():
        if path.stem not in stored:
            path.unlink()
    assert client.archives.save("digits", folder, WITH).objects_written == 1
    assert check_archive(ArchiveFolder(folder)).problems == []
    for path in (folder / "packs").iterdir():
        path.unlink()
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "elsewhere"))
    with pytest.raises(ArchiveCorruptError, match="brought in"):
        client.archives.save("digits", folder, WITH)
    Pusher(pusher.project, pusher.user, "cats").create().push({"cat.txt": b"meow"})
    as_digits = replace(WITH, name="digits")
    with pytest.raises(ArchiveNameTakenError):
        client.archives.save("cats", folder, as_digits)


def test_what_changed_at_the_source_is_named_and_may_be_left_out(
    client: Client, other: Client, bucket: Bucket, pusher: Pusher, tmp_path: Path
) -> None:
    bucket.put({"near/z.txt": b"other", "near/y.txt": b"new"})
    bucket.delete("far/e.png")
    scan()
    folder = tmp_path / "archive"
    with pytest.raises(ArchiveSourceChangedError) as refused:
        client.archives.save("digits", folder, WITH)
    for named in ("v2: 'far/e.png', 'near/z.txt'; v3: 'far/e.png', 'near/z.txt'.",):
        assert named in str(refused.value)
    assert "v4" not in str(refused.value)
    assert not (folder / "datasets").exists()

    saved = client.archives.save("digits", folder, LEAVING_OUT)

    assert saved.brought_in is not None
    left_out = [(one["version"], one["files"]) for one in saved.brought_in.left_out]
    assert (left_out, saved.versions_with_files) == ([("v2", 2), ("v3", 2)], 2)
    assert check_archive(ArchiveFolder(folder)).problems == []
    other.archives.load(folder)
    states = [version(other, f"digits@v{number}")["state"] for number in (1, 2, 3, 4)]
    assert states == ["kept", "collected", "collected", "kept"]
    assert version(other, "digits@v3")["commit"] == version(client, "digits@v3")["commit"]
    there = {one.path: bytes(one.data) for one in other.datasets.open("digits@v4")}
    assert (there["near/z.txt"], there["near/y.txt"], "far/e.png" in there) == (
        b"other",
        b"new",
        False,
    )


def test_a_copy_brings_the_bytes_of_a_source_and_goes_on_later(
    client: Client, other: Client, bucket: Bucket, pusher: Pusher, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    for name in ("url", "token", "project"):
        monkeypatch.setenv(f"ATOM_{name.upper()}", getattr(client.config, name))
    monkeypatch.setenv("OTHER", other.config.token)

    def run(*words: str) -> Result:
        place = [other.config.url, f"{other.config.project}/moved", "--token-env", "OTHER"]
        with closing(Context()) as context:
            return CliRunner().invoke(cli, ["data", "copy-to", "digits", *place, *words],
                                      obj=context)  # fmt: skip

    assert isinstance(run().exception, ArchiveRegisteredError)
    wrong = run("--leave-out-changed")
    assert (wrong.exit_code, "--with-sources" in wrong.output) == (2, True)
    done = run("--with-sources", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    assert json.loads(done.stdout)["brought_in"]["files"] == len(STAYS)
    opened = {one.path: bytes(one.data) for one in other.datasets.open("moved@v2")}
    assert opened == PUSHED | STAYS

    bucket.delete(*STAYS)
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "elsewhere"))
    assert "nothing was changed" in run("--with-sources").output
    pusher.push({"mine/last.txt": b"last"})
    # The source is gone: only what was brought already has its files.
    refused = run("--with-sources").exception
    assert isinstance(refused, ArchiveSourceChangedError)
    assert str(refused).count("v4: ") == 1
    assert "v3" not in str(refused)
    left = run("--with-sources", "--leave-out-changed")
    assert left.exit_code == 0, (left.output, left.exception)
    assert "v4 is without files" in left.output
    assert version(other, "moved@v4")["state"] == "collected"


def test_what_was_packed_anew_is_brought_in_with_the_files_of_a_source(
    client: Client, other: Client, bucket: Bucket, pusher: Pusher,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder, mine = tmp_path / "archive", PUSHED | {"mine/later.txt": b"later"}
    pusher.push({"mine/more.txt": b"more"})
    assert repack(pusher).repacked_count == 3
    client.archives.save("digits", folder, WITH)
    assert client.archives.copy_to(other, "digits", "copied", sources=WITH.sources).versions == 4
    # Packed anew once more, here and where it was copied to; the source is gone meanwhile.
    for number in range(3):
        pusher.push({f"mine/{number}.txt": b"%d" % number})
    target = Dataset.objects.select_related("project").get(name="copied")
    there = Pusher(target.project, make_member(target.project, "researcher"), "own")
    there.create().push({"own.txt": b"own"})
    assert repack(pusher).repacked_count
    assert repack(there, many=2).repacked_count
    bucket.delete(*STAYS)
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "elsewhere"))

    saved = client.archives.save("digits", folder, LEAVING_OUT)
    copied = client.archives.copy_to(other, "digits", "copied", sources=LEAVING_OUT.sources)

    assert (saved.versions, saved.versions_with_files) == (7, 4)
    assert (copied.versions, copied.versions_with_files) == (7, 4)
    assert check_archive(ArchiveFolder(folder)).problems == []
    other.archives.load(folder, name="loaded")
    for name in ("loaded", "copied"):
        kept = Version.objects.filter(dataset__name=name, state="kept").order_by("number")
        read = [files(each) for each in kept.select_related("dataset__project")]
        assert read == [PUSHED, PUSHED | STAYS, mine | STAYS, mine | STAYS | {
            "mine/more.txt": b"more"}]  # fmt: skip
    assert compare_catalogue(target.project).is_equal


def test_files_of_a_removed_source_are_named(
    client: Client, bucket: Bucket, pusher: Pusher, tmp_path: Path
) -> None:
    address = f"/api/v1/projects/{pusher.project.slug}/sources/photos/"
    assert pusher.client.delete(address).status_code == 204
    with pytest.raises(ArchiveSourceChangedError, match="v2: 'far/c d"):
        client.archives.save("digits", tmp_path / "archive", WITH)
