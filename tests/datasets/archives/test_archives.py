"""A dataset moves with its history: saved into a folder, checked, loaded elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from pytest_django.live_server_helper import LiveServer

from atom.accounts.actions import create_token
from atom.accounts.models import AuditEvent
from atom.datasets.archives.actions.archives import version_id
from atom.datasets.integrity.actions.rebuild import compare_catalogue
from atom.datasets.models import Branch, Dataset, Upload, Version
from atom_sdk.archive import ArchiveFolder, check_archive, decode_history, encode_history
from atom_sdk.archive.errors import ArchiveCorruptError, ArchiveHistoryDiffersError
from atom_sdk.archive.folder import history_key
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.archives.save import SaveOptions
from atom_sdk.client.errors import ApiError, CommitFailedError
from atom_sdk.manifests.objects import digest_of
from tests.datasets.pushing import Pusher, class_files, delete_row, png
from tests.factories.accounts import make_member, make_project

_MOVED = ("commit", "number", "root", "content_digest", "parents", "file_count", "size_bytes")
_TOLD = ("added", "removed", "changed", "message", "provenance", "layers", "created_at")


@pytest.fixture
def history(pusher: Pusher) -> Pusher:
    """Three versions of `main`, one on `side`, one on a branch that is gone, and tags."""
    pusher.push(class_files(), labels_from="folder", message="first", provenance={"run": "a"})
    pusher.push({"x.png": png(9)}, split={"test": 2, "seed": 1})
    for name in ("side", "gone"):
        pusher.post("branches/", {"name": name, "at": "v1"})
        pusher.push({f"{name}.png": png(len(name))}, branch=name)
    head = pusher.head("gone")
    pusher.post("tags/", {"name": "aside", "at": "side"})
    answer = pusher.client.delete(f"{pusher.base}branches/gone/?expected_head={head}")
    assert answer.status_code == 204
    pusher.commit([delete_row("x.png")])
    return pusher


@pytest.fixture
def short(pusher: Pusher) -> Pusher:
    """Two versions of `main`."""
    pusher.push({"a.png": png(1), "b.png": png(2)})
    pusher.push({"c.png": png(3)})
    return pusher


@pytest.fixture
def other(live_server: LiveServer, pusher: Pusher) -> Iterator[Client]:
    """A client of another project, as another person."""
    project = make_project()
    user = make_member(project, "researcher")
    secret = create_token(user, "tests", ["write"]).secret
    with Client(live_server.url, secret, project.slug) as client:
        yield client


def moved(dataset: Dataset) -> list[dict[str, Any]]:
    return list(dataset.versions.order_by("commit").values(*_MOVED, *_TOLD))


def test_a_dataset_moves_with_its_whole_history(
    history: Pusher, client: Client, other: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "archive"
    saved = client.archives.save("digits", folder)
    assert (saved.versions, saved.branches, saved.versions_with_files) == (5, 3, 5)
    again = client.archives.save("digits", folder)
    assert (again.objects_written, again.history) == (0, saved.history)
    assert check_archive(ArchiveFolder(folder)).problems == []

    loaded = other.archives.load(folder, name="copied")

    first, second = Dataset.objects.order_by("created_at").select_related("project")
    assert (second.name, second.loading, loaded.unchanged) == ("copied", "", False)
    assert moved(second) == moved(first)
    assert not second.versions.filter(author__isnull=False).exists()
    assert set(second.versions.values_list("author_name", flat=True)) == {history.user.username}
    heads = ("name", "head__commit", "seq")
    assert set(second.branches.values_list(*heads)) == set(first.branches.values_list(*heads))
    tags = ("name", "version__commit", "created_at")
    assert list(second.tags.values_list(*tags)) == list(first.tags.values_list(*tags))
    assert compare_catalogue(second.project).is_equal
    rows = [
        [(row["path"], row["digest"], row["label"], row["split"]) for row in each]
        for each in (client.datasets.entries("digits@v2"), other.datasets.entries("copied@v2"))
    ]
    assert rows[0] == rows[1]

    uploads = Upload.objects.count()
    twice = other.archives.load(folder, name="copied")
    assert (twice.unchanged, Upload.objects.count()) == (True, uploads)
    assert AuditEvent.objects.filter(verb="dataset.loaded").count() == 1

    before = moved(second)
    branches = set(second.branches.values_list("name", "head__commit", "seq"))
    # As a worker leaves it that dies before its transaction ends: the log is written, no row is.
    second.branches.filter(name="main").update(head=None, seq=0)
    second.branches.exclude(name="main").delete()
    second.tags.all().delete()
    second.commit_requests.all().delete()
    Version.objects.filter(dataset=second).delete()

    assert other.archives.load(folder, name="copied").unchanged is False

    assert moved(second) == before
    assert set(second.branches.values_list("name", "head__commit", "seq")) == branches
    assert compare_catalogue(second.project).is_equal
    commit = before[0]["commit"]
    assert second.versions.get(commit=commit).pk == version_id(second, commit)

    pusher = Pusher(second.project, make_member(second.project, "researcher"), "copied")
    assert pusher.push({"new.png": png(77)})["number"] == 4
    assert other.archives.load(folder, name="copied").unchanged


def test_what_came_later_is_added_and_another_history_is_refused(
    short: Pusher, client: Client, other: Client, tmp_path: Path
) -> None:
    client.archives.save("digits", tmp_path, SaveOptions(refs=("v1",)))
    part = other.archives.load(tmp_path)
    assert (part.versions, part.versions_with_files) == (2, 1)
    assert list(other.datasets.entries("digits@v1"))
    with pytest.raises(ApiError, match="was collected"):
        list(other.datasets.entries("digits@v2"))

    short.push({"later.png": png(70)})
    saved = client.archives.save("digits", tmp_path)
    assert (saved.versions, saved.versions_with_files) == (3, 3)
    later = other.archives.load(tmp_path)
    assert (later.unchanged, later.head and later.head["number"]) == (False, 3)

    mine = Pusher(Dataset.objects.latest("created_at").project, short.user, "own")
    mine.user = make_member(mine.project, "researcher")
    mine.client.force_authenticate(mine.user)
    mine.create().push({"own.png": png(71)})
    uploads = Upload.objects.count()
    with pytest.raises(ArchiveHistoryDiffersError):
        other.archives.load(tmp_path, name="own")
    assert Upload.objects.count() == uploads
    # A client that does not look first is told the same by the worker.
    pack = Upload.objects.filter(dataset__name="digits", dataset__project=mine.project)
    body = {"history": saved.history, "bundle": pack.latest("created_at").digest}
    request = mine.post("archive/loads/", body)
    assert mine.get(f"commits/{request['id']}/")["error"]["code"] == "archive_history_differs"


class Failing(httpx.BaseTransport):
    """The network, on which the `fails`-th PUT is refused; notes what was asked for."""

    def __init__(self, fails: int = 0) -> None:
        self._rest = httpx.HTTPTransport()
        self._fails = fails
        self.asked: list[tuple[str, str]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append((request.method, request.url.path))
        puts = sum(method == "PUT" for method, _ in self.asked)
        if request.method == "PUT" and puts == self._fails:
            return httpx.Response(400, text="no")
        return self._rest.handle_request(request)

    def close(self) -> None:
        self._rest.close()

    def of(self, client: Client) -> Failing:
        """Use this network between a client and the object store."""
        client.http.objects.close()
        client.http.objects = httpx.Client(transport=self)
        return self


def test_a_dataset_is_copied_to_another_atom_and_a_copy_goes_on(
    short: Pusher, client: Client, other: Client, tmp_path: Path
) -> None:
    read = Failing().of(client)
    Failing(fails=2).of(other)
    with pytest.raises(ApiError, match="no"):
        client.archives.copy_to(other, "digits", "copied")
    half = Dataset.objects.latest("created_at")
    assert (half.name, half.versions.count()) == ("copied", 0)
    sent = {row.digest for row in Upload.objects.filter(dataset=half, state="verified")}
    assert len(sent) <= 1

    Failing().of(other)
    read.asked.clear()
    copied = client.archives.copy_to(other, "digits", "copied")

    packs = {path for _, path in read.asked if "/packs/" in path}
    assert packs
    assert not [path for path in packs if any(digest in path for digest in sent)]
    assert (copied.versions, copied.unchanged, copied.head and copied.head["ref"]) == (
        2,
        False,
        "v2",
    )
    first = Dataset.objects.earliest("created_at")
    assert moved(half) == moved(first)
    assert compare_catalogue(half.project).is_equal
    rows = [
        [(row["path"], row["digest"]) for row in each]
        for each in (client.datasets.entries("digits@v2"), other.datasets.entries("copied@v2"))
    ]
    assert rows[0] == rows[1]
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]

    uploads = Upload.objects.count()
    assert client.archives.copy_to(other, "digits", "copied").unchanged
    assert Upload.objects.count() == uploads
    short.push({"later.png": png(70)})
    assert client.archives.copy_to(other, "digits", "copied").versions == 3
    member = make_member(half.project, "researcher")
    Pusher(half.project, member, "taken").create().push({"a": b"a"})
    with pytest.raises(ArchiveHistoryDiffersError):
        client.archives.copy_to(other, "digits", "taken")


def test_the_command_gives_the_logins_token_to_no_other_server(
    short: Pusher, client: Client, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("url", "token", "project"):
        monkeypatch.setenv(f"ATOM_{name.upper()}", getattr(client.config, name))
    monkeypatch.setenv("OTHER", other.config.token)

    def run(*arguments: str) -> Result:
        with closing(Context()) as context:
            words = ["data", "copy-to", "digits", *arguments]
            return CliRunner().invoke(cli, words, obj=context)

    place = other.config.project
    refused = run("http://127.0.0.1:9", place)
    assert (refused.exit_code, "ATOM_TARGET_TOKEN" in refused.output) == (2, True)
    assert run(client.config.url, f"{place}/a/b", "--token-env", "OTHER").exit_code == 2
    done = run(f"{client.config.url}/", f"{place}/mine", "--token-env", "OTHER", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["versions_with_files"] == 2
    # Our own token is good for this server, though not in that project.
    stranger = run(client.config.url, place).exception
    assert isinstance(stranger, ApiError)
    assert stranger.status == 404


def test_nothing_of_an_archive_that_lies_is_seen(
    short: Pusher, client: Client, other: Client, tmp_path: Path
) -> None:
    saved = client.archives.save("digits", tmp_path)
    archive = ArchiveFolder(tmp_path)
    # Each reader reports that a file in the folder was changed.
    pack = next((tmp_path / "packs").iterdir())
    whole = pack.read_bytes()
    changed = whole[:-5000] + bytes([whole[-5000] ^ 1]) + whole[-4999:]
    pack.write_bytes(changed)
    with pytest.raises(ArchiveCorruptError, match=pack.stem):
        other.archives.load(tmp_path)
    pack.write_bytes(whole)

    honest = archive.history(saved.history)
    document = json.loads(encode_history(honest))
    # A history that names a commit which nobody sent.
    for move in document["moves"]:
        for name in ("old", "new"):
            if move[name] == honest.commits[0]:
                move[name] = "0" * 64
    document["kept"] = document["tags"] = []
    data = json.dumps(document).encode()
    decode_history(data)
    digest = digest_of(data).hex()
    archive.put(history_key(digest), data)
    archive.point("digits", digest, archive.pointed("digits")[1])

    with pytest.raises(CommitFailedError) as refused:
        other.archives.load(tmp_path)

    assert refused.value.reason == "archive_refused"
    assert "0000" in str(refused.value)
    half = Dataset.objects.latest("created_at")
    assert (half.versions.count(), half.loading) == (0, digest)
    assert Branch.objects.get(dataset=half).head is None
    assert other.datasets.get("digits")["is_loading"] is True

    # The right one still can be loaded into it.
    archive.point("digits", saved.history, archive.pointed("digits")[1])
    assert other.archives.load(tmp_path).versions == 2
    assert other.datasets.get("digits")["is_loading"] is False

    # The load of a cut pack does not begin; a check finds a changed one, and saving repairs it.
    pack.write_bytes(whole[:-1])
    with pytest.raises(ArchiveCorruptError, match="cut off"):
        other.archives.load(tmp_path)
    pack.write_bytes(changed)
    problems = check_archive(archive).problems
    assert len(problems) == 1
    assert pack.stem in problems[0]
    assert client.archives.save("digits", tmp_path).objects_written == 1
    assert check_archive(archive).problems == []


def test_only_objects_of_the_project_get_addresses(pusher: Pusher) -> None:
    for key, status, code in (
        (f"secrets/{'0' * 64}.json", 400, "invalid"),
        (f"../commits/{'0' * 64}.json", 400, "invalid"),
        (f"histories/{'0' * 64}.json", 400, "archive_object_unknown"),
        (f"packs/{'0' * 64}.tar", 404, "pack_unknown"),
    ):
        answer = pusher.client.post(f"{pusher.base}archive/urls/", {"keys": [key]})
        told = answer.json()
        assert (answer.status_code, told.get("code", told)) == (status, code)
    bad = {"history": "0" * 64, "bundle": "1" * 64}
    answer = pusher.client.post(f"{pusher.base}archive/loads/", bad)
    assert (answer.status_code, answer.json()["code"]) == (409, "archive_refused")
